/* The queue from which the workers of a schedule take tasks of jobs. Jobs of a higher priority come first. Of equal
 * priority, the first FERRY_QUEUE_HEAD tasks of each job come before the rest of any; otherwise older jobs come first.
 * What a function costs does not depend on the number of jobs.
 *
 * Before its tasks, a job of a service may need preparation: the worker that takes it does a portion of it and puts it
 * back. A worker does a portion of one job before it takes a task, so that preparation and tasks take turns. Of equal
 * priority, the first portion of each job comes before further ones of any; otherwise older jobs come first.
 *
 * A task is a sentence of ids. If memory does not suffice for a task beside others, the task returns as a solo task,
 * which one worker does with all the memory. Meanwhile, the jobs after its job wait. */
#ifndef FERRY_SCHEDULE_QUEUE_H
#define FERRY_SCHEDULE_QUEUE_H

#include "base/stop.h"
#include "base/threads.h"
#include "engine/search/teacher_forcing.h"
#include "engine/search/search.h"

enum { FERRY_QUEUE_HEAD = 32, FERRY_PRIORITY_LIMIT = 100 };

typedef struct ferry_job ferry_job;
typedef struct ferry_task ferry_task;

/* A sentence to translate or, with a target, to score. The caller fills in the first part; its arrays outlive the task.
 */
struct ferry_task {
    const int32_t *source; /* [source_count] at least one id */
    int32_t source_count;
    const int32_t *prefix; /* [prefix_count] the given beginning of the translation */
    int32_t prefix_count;
    ferry_teacher_target target;            /* of a job with forced targets; `sentence` is unused */
    int32_t no_repeat_ngram;                /* replaces the option of this name, unless 0 */
    const uint64_t *word_begins, *admitted; /* this and the next: of ferry_search_rules */
    bool ends_word;
    const int32_t *once;
    size_t once_count;
    size_t item; /* for the caller */
    void *tag;   /* for the caller */

    ferry_job *job;   /* from here on, set by ferry_job_sort */
    size_t order;     /* the order of tasks of equal length */
    ferry_task *next; /* in a list of its job */
};

/* How a task ended, for its caller. A task with a target has neither `search` nor `weights`. */
typedef struct ferry_task_outcome {
    const ferry_search *search;
    const float *const *weights; /* cross-attention's, of each hypothesis [T, S]; NULL: not wanted */
    const ferry_error *why;      /* the error, or NULL; LIMIT: the task failed as a solo task */
    int32_t worker;
} ferry_task_outcome;

typedef enum ferry_task_answer { FERRY_TASK_FINISHED, FERRY_TASK_AGAIN } ferry_task_answer;

typedef struct ferry_job_list {
    ferry_job *first, *last;
} ferry_job_list;

/* Tasks that belong together. The caller fills in the first part. */
struct ferry_job {
    ferry_task *tasks; /* [task_count], sorted by ferry_job_sort */
    size_t task_count;
    bool forced;          /* tasks have targets */
    int32_t priority;     /* -FERRY_PRIORITY_LIMIT … FERRY_PRIORITY_LIMIT */
    double deadline;      /* stopped, instead of being begun, if ferry_queue.clock is later; 0: none */
    atomic_size_t *begun; /* NULL, or counts this job from its first task on */
    ferry_stop stop;      /* if it stopped, the tasks of the job are dropped. The caller sets stop.above */
    /* NULL, or does a portion of the job's preparation. Returns whether more is left; false: the tasks are there,
     * sorted. Called by one worker at a time. */
    bool (*prepare)(ferry_job *job, int32_t worker);
    /* NULL: none, or whether the caller wants the cross-attention weights of a translation. Called by a worker. */
    bool (*wants_weights)(const ferry_job *job, const ferry_task *task, const ferry_search *search);
    /* NULL, or called by a worker for a translation with wanted weights: sets *targets [*count] to what is to be scored
     * before `done` is called. May be called again for the same task. Errors: MEMORY. */
    ferry_status (*choices)(const ferry_job *job, const ferry_task *task, const ferry_task_outcome *outcome,
                            const ferry_teacher_target **targets, int32_t *count, ferry_error *error);
    /* Called by a worker for each task that ended. AGAIN puts the task back; the caller may have changed it. */
    ferry_task_answer (*done)(ferry_job *job, ferry_task *task, const ferry_task_outcome *outcome);
    /* NULL, or called by a worker after each step of a translation. */
    void (*stepped)(ferry_job *job, const ferry_task *task, ferry_hypothesis so_far, int32_t worker);
    /* In a service: called by a worker when no task is left; the job then belongs to the caller. NULL: the job of a
     * call. */
    void (*ended)(ferry_job *job);
    void *user; /* the caller's */

    atomic_int status; /* the first failure (ferry_job_fail) */
    ferry_error error; /* written by the thread that set `status` */
    /* The queue's mutex protects the following. */
    uint64_t number;            /* ascends from job to job */
    ferry_job *previous, *next; /* in a list of the queue */
    ferry_job_list *list;       /* of its level, if it is in one */
    bool prepared;              /* it needs no preparation, or no more */
    ferry_task *waiting, *solo;
    size_t queued;  /* number of tasks in these two lists */
    size_t held;    /* number of tasks that workers hold, or 1 while one prepares the job */
    size_t taken;   /* number of portions of preparation, then of tasks that were taken and not put back */
    bool has_begun; /* a task was taken */
};

/* Whether the job failed or was cancelled. */
static inline bool ferry_job_stopped(const ferry_job *job)
{
    return ferry_stopped(&job->stop);
}

/* Stops the job with an error; the first one becomes its status. */
void ferry_job_fail(ferry_job *job, const ferry_error *error);
/* The first failure of a job, or OK. */
ferry_status ferry_job_status(ferry_job *job, ferry_error *error);
/* Sorts the tasks, longest source first, and lists them in `waiting`. The longest task starts first, so that scratch
 * memory has its final size early. */
void ferry_job_sort(ferry_job *job);

/* Jobs of one priority, by their numbers; best first. */
typedef enum ferry_queue_list {
    FERRY_QUEUE_NEW,    /* to be prepared, without a portion so far */
    FERRY_QUEUE_PARTLY, /* partly prepared */
    FERRY_QUEUE_HEADS,  /* with queued tasks, fewer than FERRY_QUEUE_HEAD taken */
    FERRY_QUEUE_RESTS,  /* with queued tasks */
    FERRY_QUEUE_LISTS
} ferry_queue_list;
typedef struct ferry_queue_level {
    ferry_job_list lists[FERRY_QUEUE_LISTS];
} ferry_queue_level;

typedef struct ferry_queue {
    ferry_mutex mutex;
    ferry_condition changed;
    ferry_queue_level levels[2 * FERRY_PRIORITY_LIMIT + 1];
    int32_t highest;       /* no level above it has jobs; -1: none has */
    ferry_job_list ended;  /* jobs of a service that have ended, until ferry_queue_report */
    int32_t workers;       /* number of workers that share the tasks */
    size_t waiting, held;  /* numbers of tasks of all jobs: queued, and held by workers */
    int32_t working;       /* number of workers of a service that have tasks, or prepare a job */
    bool solo;             /* one of these has a solo task, and the others wait */
    bool closed;           /* workers leave when no job is left */
    uint64_t number;       /* of the newest job */
    double (*clock)(void); /* seconds, for deadlines: ferry_clock, or that of a test */
} ferry_queue;

/* What becomes of a task that was taken. */
typedef enum ferry_queue_target {
    FERRY_QUEUE_DONE,
    FERRY_QUEUE_AGAIN, /* queued as the first task of its job */
    FERRY_QUEUE_SOLO   /* queued as a solo task */
} ferry_queue_target;

typedef enum ferry_queue_turn {
    FERRY_QUEUE_NOTHING, /* no task is left, and the queue is closed */
    FERRY_QUEUE_REPORT,  /* jobs have ended */
    FERRY_QUEUE_TASKS,   /* tasks wait, to be taken when there is room for them */
    FERRY_QUEUE_PREPARE, /* no task, but a job that must be prepared */
    FERRY_QUEUE_SOLO_TASK
} ferry_queue_turn;

void ferry_queue_create(ferry_queue *queue, int32_t workers);
void ferry_queue_destroy(ferry_queue *queue);

/* Adds a job: sorted, or to be prepared. In a service, the job ends at once if it was stopped or has no tasks. */
void ferry_queue_add(ferry_queue *queue, ferry_job *job);
/* Removes the job's queued tasks. Workers keep the tasks that they hold. */
void ferry_queue_remove(ferry_queue *queue, ferry_job *job);

/* Prepares a portion of the first job that needs it, if its priority is at least `priority`, and no task of a higher
 * priority waits. Returns whether there was one. */
bool ferry_queue_prepare(ferry_queue *queue, int32_t priority, int32_t worker);

/* The next task for a worker that holds `held` tasks; NULL if the queue is empty or the worker has its fair share.
 * `solo`: the next solo task; NULL if there is none, or other tasks come first. */
ferry_task *ferry_queue_take(ferry_queue *queue, size_t held, bool solo);
/* Takes a task back from its worker. `target` is ignored if the job was stopped: the task is done. */
void ferry_queue_put(ferry_queue *queue, ferry_task *task, ferry_queue_target target);

/* Waits until a worker of a service has something to do. `last`: the previous turn of the worker. */
ferry_queue_turn ferry_queue_wait(ferry_queue *queue, ferry_queue_turn last);
/* Calls `ended` of each job that has ended. */
void ferry_queue_report(ferry_queue *queue);
/* Wakes the workers of a service: jobs were stopped. */
void ferry_queue_wake(ferry_queue *queue);
/* Lets the workers of a service leave when there is nothing to do. */
void ferry_queue_close(ferry_queue *queue);

#endif
