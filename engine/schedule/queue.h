/* What the workers of a schedule take next: tasks of jobs. Jobs with a higher priority come first, then older jobs.
 *
 * A task is a sentence of ids. A task for which memory did not suffice beside others goes back, to be done solo: then
 * the jobs that follow its job wait. */
#ifndef FERRY_SCHEDULE_QUEUE_H
#define FERRY_SCHEDULE_QUEUE_H

#include <stdatomic.h>

#include "base/threads.h"
#include "engine/search/teacher_forcing.h"
#include "engine/search/search.h"

typedef struct ferry_job ferry_job;
typedef struct ferry_task ferry_task;

/* A sentence to translate or, with a target, to score. The caller fills in the first part; its arrays outlive the task.
 */
struct ferry_task {
    const int32_t *source; /* [source_count] at least one id */
    int32_t source_count;
    const int32_t *prefix; /* [prefix_count] of the translation */
    int32_t prefix_count;
    ferry_teacher_target target; /* of a job with forced targets; `sentence` is unused */
    int32_t no_repeat_ngram;     /* of its search; 0: that of the options */
    size_t item;                 /* the caller's number for it */
    void *tag;                   /* the caller's name for it */

    ferry_job *job;   /* the rest is set by ferry_job_sort */
    size_t order;     /* among tasks of equal length */
    ferry_task *next; /* in a list of its job */
};

/* How a task ended, for its caller. A task with a target has neither `search` nor `weights`. */
typedef struct ferry_task_outcome {
    const ferry_search *search;
    const float *const *weights; /* of each hypothesis [T, S]; NULL: not wanted */
    const ferry_error *why;      /* NULL, or the error; LIMIT: also solo */
    int32_t worker;
} ferry_task_outcome;

typedef enum ferry_task_answer { FERRY_TASK_FINISHED, FERRY_TASK_AGAIN } ferry_task_answer;

/* Tasks that belong together. The caller fills in the first part. */
struct ferry_job {
    ferry_task *tasks; /* [task_count], sorted by ferry_job_sort */
    size_t task_count;
    bool forced;                  /* tasks have targets */
    ferry_wanted_weights weights; /* of the search's hypotheses that are wanted */
    int32_t unknown_id;           /* of FERRY_WEIGHTS_OF_UNKNOWN */
    int32_t priority;
    atomic_bool *stop; /* set by anyone: the job ends soon, and no task is done any more */
    /* Called by a worker for each task that ended. AGAIN puts it back, with what the caller changed. */
    ferry_task_answer (*done)(ferry_job *job, ferry_task *task, const ferry_task_outcome *outcome);
    /* Called by a worker after each step of a translation, unless it is NULL. */
    void (*stepped)(ferry_job *job, const ferry_task *task, ferry_hypothesis so_far, int32_t worker);
    /* Of a service: called by a worker when no task is left; the job then belongs to the caller. NULL: a call's. */
    void (*ended)(ferry_job *job);
    void *user; /* the caller's */

    atomic_int status; /* the first failure (ferry_job_fail) */
    ferry_error error; /* written by whoever set `status` */
    /* The queue's mutex protects the following. */
    uint64_t number; /* of the job, ascending */
    ferry_job *next; /* in a list of the queue */
    ferry_task *waiting, *solo;
    size_t held; /* tasks with workers */
};

/* After a failure, and when the job is cancelled. */
static inline bool ferry_job_stopped(const ferry_job *job)
{
    return atomic_load(job->stop);
}

/* Ends the job with an error: workers stop. */
void ferry_job_fail(ferry_job *job, const ferry_error *error);
/* The first failure of a job, or OK. */
ferry_status ferry_job_status(ferry_job *job, ferry_error *error);
/* Sorts the tasks, longest source first, and makes them wait. The longest task starts first, so that scratch memory has
 * its final size early. */
void ferry_job_sort(ferry_job *job);

typedef struct ferry_queue {
    ferry_mutex mutex;
    ferry_condition changed;
    ferry_job *first, *last; /* with tasks, in the order in which they are taken */
    ferry_job *ended;        /* of a service, until it is reported */
    int32_t workers;         /* that may share the tasks */
    size_t waiting, held;    /* tasks of all jobs: in the queue, and with workers */
    int32_t working;         /* workers of a service that have tasks */
    bool solo;               /* one of them has a solo task: the others wait */
    bool closed;             /* workers leave when no job is left */
    uint64_t number;         /* of the last job */
} ferry_queue;

/* Where a task goes that was taken. */
typedef enum ferry_queue_target {
    FERRY_QUEUE_DONE,
    FERRY_QUEUE_AGAIN, /* it is the first of its job */
    FERRY_QUEUE_SOLO
} ferry_queue_target;

typedef enum ferry_queue_turn {
    FERRY_QUEUE_NOTHING, /* no task is left, and the queue is closed */
    FERRY_QUEUE_REPORT,  /* a job has ended */
    FERRY_QUEUE_TASKS,   /* tasks, taken as there is room for them */
    FERRY_QUEUE_SOLO_TASK
} ferry_queue_turn;

void ferry_queue_create(ferry_queue *queue, int32_t workers);
void ferry_queue_destroy(ferry_queue *queue);

/* Adds a sorted job. In a service, a job that was stopped or has no tasks has ended. */
void ferry_queue_add(ferry_queue *queue, ferry_job *job);
/* Takes the job's tasks out of the queue. Tasks with workers stay there. */
void ferry_queue_remove(ferry_queue *queue, ferry_job *job);

/* The next task for a worker that holds `held` tasks; NULL if the queue is empty or the worker has its fair share.
 * `solo`: the next solo task; NULL: there is none, or others come first. */
ferry_task *ferry_queue_take(ferry_queue *queue, size_t held, bool solo);
/* Each task that was taken is put somewhere. A task of a job that was stopped is done. */
void ferry_queue_put(ferry_queue *queue, ferry_task *task, ferry_queue_target target);

/* For workers of a service: waits for something to do. `last`: the worker's last turn. */
ferry_queue_turn ferry_queue_wait(ferry_queue *queue, ferry_queue_turn last);
/* Calls `ended` of the jobs that have ended. */
void ferry_queue_report(ferry_queue *queue);
/* Lets workers leave when there is nothing to do. */
void ferry_queue_close(ferry_queue *queue);

#endif
