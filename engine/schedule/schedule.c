#include "schedule.h"

#include <stdlib.h>
#include <string.h>

#include "forced.h"
#include "task_worker.h"
#include "base/pool.h"
#include "engine/search/generate.h"
#include "engine/search/output_layer.h"

/* ---- creation ---- */

ferry_status ferry_schedule_create(ferry_schedule *schedule, const ferry_transformer *model,
                                   const ferry_generation *generation, const ferry_kernels *kernels,
                                   const ferry_options *options, int32_t max_source, ferry_error *error)
{
    const size_t threads = (size_t)options->threads;
    schedule->generation = generation;
    schedule->options = options;
    schedule->max_source = max_source;
    schedule->memory.limit = options->memory_limit;
    ferry_queue_create(&schedule->queue, options->threads);
    schedule->generators = calloc(threads, sizeof *schedule->generators);
    if (schedule->generators == NULL) return ferry_fail_memory(error, "threads", threads, sizeof *schedule->generators);
    FERRY_TRY(ferry_pool_create(options->threads, &schedule->pool, error));
    for (size_t i = 0; i < threads; i++) {
        ferry_state *state = &schedule->generators[i].state;
        ferry_generator_init(&schedule->generators[i], model, kernels);
        state->context.pool = schedule->pool;
        state->account.memory = &schedule->memory;
    }
    return FERRY_OK;
}

static void destroy_generators(ferry_schedule *schedule)
{
    ferry_logit_bound_destroy(&schedule->bound);
    for (int32_t i = 0; schedule->generators != NULL && i < schedule->options->threads; i++)
        ferry_generator_destroy(&schedule->generators[i]);
}

void ferry_schedule_destroy(ferry_schedule *schedule)
{
    if (schedule->options == NULL) return;
    ferry_pool_destroy(schedule->pool);
    destroy_generators(schedule);
    free(schedule->generators);
    ferry_queue_destroy(&schedule->queue);
}

/* Makes the logit bound, if it pays for `tokens` source tokens. */
static ferry_status make_bound(ferry_schedule *schedule, size_t tokens, ferry_error *error)
{
    const ferry_shortlist *shortlist = &schedule->generation->shortlist;
    if (schedule->bound.exact != NULL) return FERRY_OK;
    return ferry_output_bound(&schedule->generators[0].state, schedule->options,
                              shortlist->offsets != NULL ? shortlist : NULL, tokens, &schedule->bound, error);
}

ferry_profile *ferry_schedule_profile(const ferry_schedule *schedule, int32_t worker)
{
    return &schedule->generators[worker].state.profile;
}

/* ---- workers ---- */

static ferry_worker worker_of(ferry_schedule *schedule, ferry_job *job, int32_t index)
{
    return (ferry_worker){.generation = schedule->generation,
                          .options = schedule->options,
                          .queue = &schedule->queue,
                          .generator = &schedule->generators[index],
                          .bound = &schedule->bound,
                          .index = index,
                          .max_source = schedule->max_source,
                          .job = job};
}

static void work(ferry_worker *worker, const ferry_job *job)
{
    ferry_profile *profile = &worker->generator->state.profile;
    ferry_profile_enter(profile, FERRY_PHASE_OTHER);
    (job != NULL && job->forced ? ferry_worker_score : ferry_worker_translate)(worker);
    ferry_profile_leave(profile, FERRY_PHASE_IDLE);
}

/* Does one solo task with all the memory. It needs no more than it would beside others, so that which tasks fail does
 * not depend on their order. `job`: of the call; NULL: of a service. */
static void work_solo(ferry_schedule *schedule, ferry_job *job, int32_t index)
{
    ferry_worker worker = worker_of(schedule, job, index);
    ferry_error error;
    worker.solo = true;
    worker.first = ferry_queue_take(&schedule->queue, 0, true);
    if (worker.first != NULL) {
        destroy_generators(schedule);
        ferry_state_set_exact(&worker.generator->state, true);
        work(&worker, worker.first->job);
        ferry_generator_destroy(worker.generator);
        ferry_state_set_exact(&worker.generator->state, false);
    }
    /* If this fails, the next texts of a service only take longer. */
    if (job == NULL) make_bound(schedule, SIZE_MAX, &error);
}

/* ---- a call ---- */

typedef struct run {
    ferry_schedule *schedule;
    ferry_job *job;
} run;

static void work_item(void *user, int32_t index, size_t item)
{
    const run *r = user;
    ferry_worker worker = worker_of(r->schedule, r->job, index);
    (void)item;
    work(&worker, r->job);
}

ferry_status ferry_schedule_run(ferry_schedule *schedule, ferry_job *job, ferry_error *error)
{
    const size_t threads = (size_t)schedule->options->threads;
    run r = {schedule, job};
    for (size_t i = 0; i < job->task_count; i++) schedule->source_tokens += (size_t)job->tasks[i].source_count;
    if (!job->forced) FERRY_TRY(make_bound(schedule, schedule->source_tokens, error));
    ferry_queue_add(&schedule->queue, job);
    do {
        ferry_pool_run(schedule->pool, work_item, &r, job->task_count < threads ? job->task_count : threads);
        while (job->waiting == NULL && job->solo != NULL) work_solo(schedule, job, 0);
    } while (job->waiting != NULL);
    ferry_queue_remove(&schedule->queue, job);
    return FERRY_OK;
}

/* ---- a service ---- */

static void serve(void *user, int32_t index, size_t item)
{
    ferry_schedule *schedule = user;
    ferry_queue_turn turn = FERRY_QUEUE_REPORT;
    (void)item;
    while ((turn = ferry_queue_wait(&schedule->queue, turn)) != FERRY_QUEUE_NOTHING) {
        ferry_worker worker = worker_of(schedule, NULL, index);
        if (turn == FERRY_QUEUE_TASKS) work(&worker, NULL);
        if (turn == FERRY_QUEUE_SOLO_TASK) work_solo(schedule, NULL, index);
        if (turn == FERRY_QUEUE_PREPARE) ferry_queue_prepare(&schedule->queue, INT32_MIN, index);
        ferry_queue_report(&schedule->queue);
    }
}

static void run_service(void *user)
{
    ferry_schedule *schedule = user;
    (void)ferry_fenv_begin();
    ferry_pool_run(schedule->pool, serve, schedule, (size_t)schedule->options->threads);
}

ferry_status ferry_schedule_serve(ferry_schedule *schedule, ferry_error *error)
{
    schedule->queue.closed = false;
    FERRY_TRY(make_bound(schedule, SIZE_MAX, error));
    const int failure = ferry_thread_start(&schedule->service, FERRY_THREAD_STACK, run_service, schedule);
    if (failure == 0) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_MEMORY, "cannot start the thread of a service: %s", strerror(failure));
}

void ferry_schedule_close(ferry_schedule *schedule)
{
    ferry_queue_close(&schedule->queue);
    ferry_thread_join(&schedule->service);
}
