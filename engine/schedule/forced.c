#include "forced.h"

#include "engine/graph/pass.h"
#include "engine/search/generate.h"
#include "queue.h"
#include "task_worker.h"
#include "engine/kernels/linear.h"

#include <string.h>

/* The maximum number of source tokens, and of target tokens, of several tasks that are scored together. */
enum { GROUP_TOKENS = 512 };

/* Tasks that are scored together. */
typedef struct group {
    ferry_task *tasks[GROUP_TOKENS];
    int32_t count;
    size_t source, target; /* numbers of tokens */
} group;

/* Encodes the sources, and forces the targets. */
static ferry_status run_group(const ferry_worker *worker, ferry_state *state, const group *g,
                              ferry_kv_sequence *sequences, ferry_error *error)
{
    const ferry_generation *generation = worker->generation;
    const ferry_search_options *search = worker->options->search;
    const ferry_teacher_force_rules rules = {
        .start_id = generation->start_id,
        .alignment = ferry_alignment_choose(generation, state->model),
        .suppressed_ids = search->suppressed_ids,
        .suppressed_count = search->renormalize != 0 ? search->suppressed_count : 0,
    };
    ferry_arena *arena = &state->context.arena;
    const size_t count = (size_t)g->count;
    bool failed = false;
    int32_t *ids = ferry_arena_take(arena, g->source, sizeof *ids, &failed);
    int32_t *offsets = ferry_arena_take(arena, count + 1, sizeof *offsets, &failed);
    ferry_teacher_target *targets = ferry_arena_take(arena, count, sizeof *targets, &failed);
    if (failed) return ferry_arena_fail(arena, "pairs to score", g->source, sizeof *ids, error);
    offsets[0] = 0;
    for (int32_t i = 0; i < g->count; i++) {
        const ferry_task *task = g->tasks[i];
        memcpy(ids + offsets[i], task->source, (size_t)task->source_count * sizeof *ids);
        offsets[i + 1] = offsets[i] + task->source_count;
        targets[i] = task->target;
        targets[i].sentence = i;
        FERRY_TRY(ferry_kv_begin(arena, task->source_count, &sequences[i], error));
    }
    FERRY_TRY(ferry_decoder_begin_sources(state, ids, offsets, g->count, sequences, error));
    return ferry_teacher_force(state, &rules, sequences, targets, g->count, error);
}

static ferry_status try_group(const ferry_worker *worker, ferry_state *state, const group *g, ferry_error *error)
{
    const ferry_arena_mark mark = ferry_arena_begin(&state->context.arena);
    ferry_kv_sequence *sequences = ferry_arena_alloc(&state->context.arena, (size_t)g->count, sizeof *sequences);
    if (sequences == NULL)
        return ferry_arena_fail(&state->context.arena, "pairs to score", (size_t)g->count, sizeof *sequences, error);
    memset(sequences, 0, (size_t)g->count * sizeof *sequences);
    const ferry_stop *stop = &g->tasks[0]->job->stop; /* all tasks are of the call's job */
    state->context.stops = &stop;
    state->context.stop_count = 1;
    const ferry_status status = run_group(worker, state, g, sequences, error);
    state->context.stop_count = 0;
    for (int32_t i = 0; i < g->count; i++) ferry_kv_release(&state->decoder_cache, &sequences[i]);
    ferry_arena_end(&state->context.arena, mark);
    return status;
}

/* Scores a group. If it fails with FORMAT (one of its pairs) or LIMIT (memory), scores each task by itself. */
static void score_group(ferry_worker *worker, const group *g)
{
    ferry_state *state = &worker->generator->state;
    ferry_error why;
    const ferry_status status = try_group(worker, state, g, &why);
    for (int32_t i = 0; i < g->count; i++) {
        ferry_task *task = g->tasks[i];
        if (g->count > 1 && (status == FERRY_ERROR_FORMAT || status == FERRY_ERROR_LIMIT)) {
            const group one = {.tasks = {task}, .count = 1, .source = (size_t)task->source_count};
            score_group(worker, &one);
        } else {
            ferry_worker_end(worker, task,
                             &(ferry_task_outcome){.why = status != FERRY_OK ? &why : NULL, .worker = worker->index});
        }
    }
}

void ferry_worker_score(ferry_worker *worker)
{
    const size_t batch = (size_t)worker->options->batch;
    ferry_task *next = ferry_worker_take(worker);
    while (next != NULL) {
        group g = {.count = 0};
        for (; next != NULL; next = ferry_worker_take(worker)) {
            const size_t source = (size_t)next->source_count, target = (size_t)next->target.length;
            const bool fits =
                (size_t)g.count < batch && g.source + source <= GROUP_TOKENS && g.target + target <= GROUP_TOKENS;
            if (g.count > 0 && !fits) break;
            g.tasks[g.count++] = next;
            g.source += source;
            g.target += target;
        }
        score_group(worker, &g);
        if (next == NULL) next = ferry_worker_take(worker);
    }
}
