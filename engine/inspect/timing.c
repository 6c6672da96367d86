/* How long one computation takes, and what memory it needs: the graph's own steps, on one thread, with arbitrary ids;
 * and where the time of a translator's calls went. */
#include <stdlib.h>

#include "base/system.h"
#include "engine/api/argument_checks.h"
#include "engine/api/opening.h"
#include "engine/api/translator.h"
#include "engine/ferry_inspect.h"
#include "engine/graph/pass.h"
#include "engine/graph/state.h"
#include "engine/search/generate.h"
#include "engine/lines/model.h"

struct ferry_inspect_timer {
    ferry_state state;
    int32_t offsets[2]; /* 0, source tokens */
    int32_t target_tokens;
    int32_t *ids;                           /* [max(source tokens, target_tokens)] */
    float *output;                          /* [max(source tokens, target_tokens), D] */
    ferry_kv_sequence sentence, hypothesis; /* of a decoder's step */
};

/* Decoder inputs at positions first … first + rows - 1. */
static ferry_status decode(ferry_inspect_timer *timer, int32_t first, int32_t rows, ferry_error *error)
{
    const ferry_attention_span span = {.row = 0, .rows = rows, .first = first, .sequence = 0};
    const ferry_decoder_rows input = {
        .ids = timer->ids + first,
        .rows = rows,
        .self = {.sequences = &timer->hypothesis, .spans = &span, .span_count = 1},
        .cross = {.sequences = &timer->sentence, .spans = &span, .span_count = 1},
    };
    return ferry_decode(&timer->state, &input, timer->output, error);
}

/* Repeating a step is allowed: it overwrites its own keys and values. */
static ferry_status compute(ferry_inspect_timer *timer, ferry_error *error)
{
    if (timer->target_tokens > 0) return decode(timer, timer->target_tokens - 1, 1, error);
    return ferry_encode(&timer->state, timer->ids, timer->offsets, 1, timer->output, error);
}

static ferry_status prepare(ferry_inspect_timer *timer, ferry_error *error)
{
    ferry_arena *arena = &timer->state.context.arena;
    const ferry_transformer *model = timer->state.model;
    const int32_t tokens = timer->offsets[1], longest = tokens > timer->target_tokens ? tokens : timer->target_tokens;
    const int32_t source = model->encoder.vocab_size, target = model->decoder.vocab_size;
    const size_t floats = (size_t)longest * (size_t)model->d_model;
    timer->ids = ferry_arena_alloc(arena, (size_t)longest, sizeof *timer->ids);
    timer->output = ferry_arena_alloc(arena, floats, sizeof *timer->output);
    if (timer->ids == NULL || timer->output == NULL)
        return ferry_fail_memory(error, "a measurement", floats, sizeof *timer->output);
    for (int32_t i = 0; i < longest; i++) timer->ids[i] = i % (source < target ? source : target);
    FERRY_TRY(ferry_encode(&timer->state, timer->ids, timer->offsets, 1, timer->output, error));
    if (timer->target_tokens > 0) {
        FERRY_TRY(ferry_kv_begin(arena, tokens, &timer->sentence, error));
        FERRY_TRY(ferry_kv_begin(arena, timer->target_tokens, &timer->hypothesis, error));
        FERRY_TRY(ferry_decoder_begin(&timer->state, timer->output, timer->offsets, 1, &timer->sentence, error));
        if (timer->target_tokens > 1) FERRY_TRY(decode(timer, 0, timer->target_tokens - 1, error));
    }
    return compute(timer, error); /* the arena has its final size after the second time */
}

ferry_status ferry_inspect_timer_create(const ferry_model *model, int32_t source_tokens, int32_t target_tokens,
                                        ferry_inspect_timer **timer, ferry_error *error)
{
    FERRY_FENV;
    FERRY_NEEDS(timer);
    *timer = NULL;
    FERRY_NEEDS(model);
    FERRY_TRY(ferry_check_range("source_tokens", source_tokens, 1, INT32_MAX, error));
    FERRY_TRY(ferry_check_range("target_tokens", target_tokens, 0, INT32_MAX, error));
    ferry_inspect_timer *created = calloc(1, sizeof *created);
    if (created == NULL) return ferry_fail_memory(error, "a measurement", 1, sizeof *created);
    created->offsets[1] = source_tokens;
    created->target_tokens = target_tokens;
    ferry_model_widen(model);
    ferry_state_init(&created->state, &model->file.transformer, model->kernels);
    const ferry_status status = prepare(created, error);
    if (status == FERRY_OK)
        *timer = created;
    else
        ferry_inspect_timer_destroy(created);
    return status;
}

void ferry_inspect_timer_destroy(ferry_inspect_timer *timer)
{
    if (timer == NULL) return;
    ferry_state_destroy(&timer->state); /* with the sequences' blocks */
    free(timer);
}

ferry_status ferry_inspect_timer_run(ferry_inspect_timer *timer, double *seconds, ferry_error *error)
{
    FERRY_FENV;
    FERRY_NEEDS(timer);
    FERRY_NEEDS(seconds);
    const double start = ferry_clock();
    FERRY_TRY(compute(timer, error));
    *seconds = ferry_clock() - start;
    return FERRY_OK;
}

/* ---- memory ---- */

static size_t cache_bytes(const ferry_cache *cache)
{
    return cache->blocks * ferry_cache_block_bytes(&cache->layout);
}

static void add_encoding(const ferry_position *position, ferry_inspect_memory *memory)
{
    const ferry_position_cost cost = ferry_position_get_cost(position);
    memory->tables += (size_t)cost.model_bytes;
    memory->row += (size_t)cost.position_bytes;
}

ferry_inspect_memory ferry_inspect_timer_memory(const ferry_inspect_timer *timer)
{
    if (timer == NULL) return (ferry_inspect_memory){0};
    const ferry_state *state = &timer->state;
    const ferry_transformer *model = state->model;
    ferry_inspect_memory memory = {
        .token = model->ssru ? 0 : ferry_cache_block_bytes(&state->decoder_cache.layout) / FERRY_BLOCK_POSITIONS,
        .thread = state->context.arena.reserved + cache_bytes(&state->encoder_cache) +
                  cache_bytes(&state->decoder_cache) + cache_bytes(&state->ssru_cache),
    };
    add_encoding(&model->encoder.position, &memory);
    add_encoding(&model->decoder.position, &memory);
    return memory;
}

/* ---- the time of a translator's calls ---- */

void ferry_inspect_profile_start(ferry_translator *translator)
{
    for (int32_t i = 0; translator != NULL && i < translator->options.threads; i++) {
        *ferry_schedule_profile(&translator->schedule, i) = (ferry_profile){.on = true};
        translator->schedule.generators[i].state.context.work = (ferry_work){0};
    }
}

ferry_inspect_phase ferry_inspect_profile_phase(const ferry_translator *translator, size_t index)
{
    ferry_inspect_phase sum = {0};
    if (translator == NULL || index >= FERRY_PHASE_COUNT - 1) return sum;
    const ferry_phase phase = (ferry_phase)(index + 1); /* without idleness */
    sum.name = ferry_phase_name(phase);
    for (int32_t i = 0; i < translator->options.threads; i++) {
        sum.seconds += ferry_schedule_profile(&translator->schedule, i)->seconds[phase];
        sum.calls += ferry_schedule_profile(&translator->schedule, i)->calls[phase];
    }
    return sum;
}

ferry_inspect_work ferry_inspect_profile_work(const ferry_translator *translator)
{
    ferry_inspect_work sum = {0};
    for (int32_t i = 0; translator != NULL && i < translator->options.threads; i++) {
        const ferry_work *work = &translator->schedule.generators[i].state.context.work;
        sum.float_products += work->float_products;
        sum.int8_products += work->int8_products;
        sum.weight_bytes += work->weight_bytes;
        sum.steps += ferry_schedule_profile(&translator->schedule, i)->calls[FERRY_PHASE_DECODER_REST];
    }
    return sum;
}
