/* What the workers of a translator take next: sentences of jobs, those of a higher priority first, then those of the
 * job that came first. A sentence for which memory did not suffice beside others goes back, to be translated alone:
 * then the jobs that follow its job wait. */
#ifndef FERRY_API_QUEUE_H
#define FERRY_API_QUEUE_H

#include <stdbool.h>

#include "base/threads.h"

typedef struct ferry_job ferry_job;
typedef struct ferry_job_sentence ferry_job_sentence;

typedef struct ferry_queue {
    ferry_mutex mutex;
    ferry_condition changed;
    ferry_job *first, *last;      /* with sentences, in the order in which they are taken */
    ferry_job *ended;             /* of a service, until it is told */
    void (*tell)(ferry_job *job); /* by a worker; NULL: there is no service */
    int32_t workers;              /* that may share the sentences */
    size_t waiting, held;         /* sentences of all jobs: in the queue, and with workers */
    int32_t working;              /* workers of a service that translate, */
    bool alone;                   /* one of them a sentence alone: the others wait */
    bool closed;                  /* workers leave when no job is left */
    uint64_t number;              /* of the last job */
} ferry_queue;

/* What becomes of a sentence that was taken. */
typedef enum ferry_queue_place {
    FERRY_QUEUE_DONE,
    FERRY_QUEUE_AGAIN, /* it is the first of its job */
    FERRY_QUEUE_ALONE
} ferry_queue_place;

typedef enum ferry_queue_task {
    FERRY_QUEUE_NOTHING,   /* is left, and the queue is closed */
    FERRY_QUEUE_TELL,      /* that a job has ended */
    FERRY_QUEUE_TRANSLATE, /* sentences that are taken as there is room for them */
    FERRY_QUEUE_TRANSLATE_ALONE
} ferry_queue_task;

void ferry_queue_create(ferry_queue *queue, int32_t workers);
void ferry_queue_destroy(ferry_queue *queue);

/* Adds a job with its list of sentences. In a service, one that was stopped or has none has ended. */
void ferry_queue_add(ferry_queue *queue, ferry_job *job);
/* Takes the job's sentences out of the queue; those with workers stay there. */
void ferry_queue_remove(ferry_queue *queue, ferry_job *job);

/* The next sentence for a worker that holds so many; NULL: there is none, or others hold fewer. */
ferry_job_sentence *ferry_queue_take(ferry_queue *queue, size_t held);
/* The next one that is to be translated alone; NULL: none is, or others come first. */
ferry_job_sentence *ferry_queue_take_alone(ferry_queue *queue);
/* Each sentence that was taken is put somewhere. One of a job that was stopped is done. */
void ferry_queue_put(ferry_queue *queue, ferry_job_sentence *sentence, ferry_queue_place place);

/* ---- workers of a service ---- */

/* Waits until there is something to do. `last`: what the worker did. */
ferry_queue_task ferry_queue_wait(ferry_queue *queue, ferry_queue_task last);
/* Tells of the jobs that have ended. */
void ferry_queue_tell(ferry_queue *queue);
/* Workers leave when there is nothing to do. */
void ferry_queue_close(ferry_queue *queue);

#endif
