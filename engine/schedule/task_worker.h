/* A worker translates tasks of the queue: the source of ferry_generate. */
#ifndef FERRY_SCHEDULE_TASK_WORKER_H
#define FERRY_SCHEDULE_TASK_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ferry_generation ferry_generation;
typedef struct ferry_generator ferry_generator;
typedef struct ferry_job ferry_job;
typedef struct ferry_logit_bound ferry_logit_bound;
typedef struct ferry_options ferry_options;
typedef struct ferry_queue ferry_queue;
typedef struct ferry_task ferry_task;
typedef struct ferry_task_outcome ferry_task_outcome;

/* One worker: fields of its schedule, and the tasks that it holds. */
typedef struct ferry_worker {
    const ferry_generation *generation;
    const ferry_options *options;
    ferry_queue *queue;
    ferry_generator *generator;
    const ferry_logit_bound *bound;
    int32_t index;
    int32_t max_source; /* maximum source tokens of a task */
    ferry_job *job;     /* of the call; NULL: of a service */
    bool solo;          /* does only `first`, with all the schedule's memory */
    ferry_task *first;  /* the solo task, until it is taken */
    size_t held;        /* number of tasks that it holds */
} ferry_worker;

/* Takes the next task; NULL if there is none. */
ferry_task *ferry_worker_take(ferry_worker *worker);
/* Tells the caller how a task ended. If memory was refused beside other tasks (LIMIT), queues a solo task instead. */
void ferry_worker_end(ferry_worker *worker, ferry_task *task, const ferry_task_outcome *outcome);
/* Translates tasks of the queue until none is left for the worker. */
void ferry_worker_translate(ferry_worker *worker);

#endif
