/* Workers on a pool of threads that translate or score tasks of ids, with their queue and memory. A schedule knows
 * no text. */
#ifndef FERRY_SCHEDULE_SCHEDULE_H
#define FERRY_SCHEDULE_SCHEDULE_H

#include "base/memory.h"
#include "engine/kernels/coarse.h"
#include "queue.h"

typedef struct ferry_generation ferry_generation;
typedef struct ferry_generator ferry_generator;
typedef struct ferry_pool ferry_pool;
typedef struct ferry_profile ferry_profile;
typedef struct ferry_transformer ferry_transformer;

typedef struct ferry_schedule {
    const ferry_generation *generation;
    const ferry_options *options;
    int32_t max_source; /* maximum source tokens of a task */
    ferry_pool *pool;
    ferry_generator *generators; /* [options->threads] */
    ferry_queue queue;
    ferry_logit_bound bound; /* zeroed if there is none */
    ferry_memory memory;     /* of the generators and the bound */
    size_t source_tokens;    /* of all calls */
    ferry_thread service;    /* runs the pool while the schedule serves */
} ferry_schedule;

/* Fills in a zeroed schedule; the arguments must outlive it. options->memory_limit limits `memory`. Errors: MEMORY. */
ferry_status ferry_schedule_create(ferry_schedule *schedule, const ferry_transformer *model,
                                   const ferry_generation *generation, const ferry_kernels *kernels,
                                   const ferry_options *options, int32_t max_source, ferry_error *error);
/* Allowed after ferry_schedule_create failed. */
void ferry_schedule_destroy(ferry_schedule *schedule);

/* Does the tasks of a sorted job on the threads of the pool. ferry_job.done gets their outcomes. Errors: MEMORY. */
ferry_status ferry_schedule_run(ferry_schedule *schedule, ferry_job *job, ferry_error *error);

/* Starts a service: until ferry_schedule_close, workers do the tasks of jobs that are added to the queue. Errors:
 * MEMORY. */
ferry_status ferry_schedule_serve(ferry_schedule *schedule, ferry_error *error);
/* Waits until the workers have left; no job may be left. */
void ferry_schedule_close(ferry_schedule *schedule);

ferry_profile *ferry_schedule_profile(const ferry_schedule *schedule, int32_t worker);

#endif
