/* What a positional encoding does, measured through the hooks that every scheme has. */
#include "engine/ferry_inspect.h"

#include <stdio.h>
#include <string.h>

#include "engine/graph/cache.h"
#include "engine/api/argument_checks.h"
#include "engine/lines/model.h"

static const ferry_stack *find_stack(const ferry_model *model, ferry_inspect_stack stack)
{
    return stack == FERRY_INSPECT_ENCODER ? &model->file.transformer.encoder : &model->file.transformer.decoder;
}

ferry_inspect_scheme ferry_inspect_get_scheme(const ferry_model *model, ferry_inspect_stack stack)
{
    if (model == NULL || stack > FERRY_INSPECT_DECODER) return (ferry_inspect_scheme){.name = NULL};
    const ferry_position *position = &find_stack(model, stack)->position;
    const ferry_short_text parameters = ferry_position_parameters(position);
    const ferry_position_scheme *s = position->scheme;
    const bool relative = s->rotate != NULL || s->score != NULL;
    ferry_inspect_scheme scheme = {.name = s->name,
                                   .title = s->title != NULL ? s->title : s->name,
                                   .paper = s->paper != NULL ? s->paper : "",
                                   .kind = relative           ? FERRY_INSPECT_RELATIVE
                                           : s->embed != NULL ? FERRY_INSPECT_ABSOLUTE
                                                              : FERRY_INSPECT_NO_POSITIONS,
                                   .for_long_texts = s->for_long_texts,
                                   .limit = position->limit,
                                   .has_weights = ferry_position_has_weights(position),
                                   .has_values = s->context != NULL};
    snprintf(scheme.parameters, sizeof scheme.parameters, "%s", parameters.text);
    return scheme;
}

ferry_status ferry_inspect_position_rows(const ferry_model *model, ferry_inspect_stack stack, int32_t count,
                                         float *rows, ferry_error *error)
{
    FERRY_FENV;
    FERRY_NEEDS(model);
    FERRY_NEEDS(rows);
    FERRY_TRY(ferry_check_range("stack", (int32_t)stack, FERRY_INSPECT_ENCODER, FERRY_INSPECT_DECODER, error));
    const ferry_position *position = &find_stack(model, stack)->position;
    const ferry_position_scheme *scheme = position->scheme;
    ferry_position_state state = {0};
    if (scheme->embed == NULL)
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "positional encoding '%s' adds nothing to embeddings",
                          scheme->name);
    if (count < 1) return ferry_fail_argument(error, "count", "expected 1 or more, found %d", (int)count);
    const ferry_status status = ferry_position_extend(position, &state, model->kernels, count, error);
    if (status == FERRY_OK) {
        memset(rows, 0, (size_t)count * (size_t)model->file.transformer.d_model * sizeof *rows);
        scheme->embed(position, &state, model->kernels, rows, 0, count);
    }
    ferry_position_state_destroy(&state);
    return status;
}

/* One query among its keys, as attention sees them. */
typedef struct scene {
    const ferry_stack *stack;
    const ferry_kernels *kernels;
    ferry_arena arena;
    ferry_cache cache; /* one layer */
    ferry_kv_sequence sequence;
    ferry_position_state state;
    int32_t keys;
} scene;

/* x [rows, H·K]: the vector [K] in every head of every row; NULL: zeros. */
static void repeat(const ferry_stack *stack, const float *vector, int32_t rows, float *x)
{
    const size_t K = (size_t)stack->head_width, copies = (size_t)rows * (size_t)stack->heads;
    memset(x, 0, copies * K * sizeof *x);
    for (size_t i = 0; vector != NULL && i < copies; i++) memcpy(x + i * K, vector, K * sizeof *x);
}

/* Writes the keys, and scores the query `at` against them. */
static ferry_status score(scene *s, int32_t layer, int32_t head, int32_t at, const float *q, const float *k,
                          float *scores, ferry_error *error)
{
    const ferry_position *position = &s->stack->position;
    const ferry_position_scheme *scheme = position->scheme;
    const size_t width = (size_t)s->stack->heads * (size_t)s->stack->head_width, count = (size_t)s->keys;
    const size_t ld = ferry_round_up(count, FERRY_LANES), extra = ferry_position_scratch(position, 1, s->keys);
    bool failed = false;
    float *keys = ferry_arena_take(&s->arena, count, width * sizeof *keys, &failed);
    float *query = ferry_arena_take(&s->arena, width, sizeof *query, &failed);
    float *row = ferry_arena_take(&s->arena, ld, sizeof *row, &failed);
    float *scratch = ferry_arena_take(&s->arena, extra, sizeof *scratch, &failed);
    if (failed) return ferry_fail_memory(error, "attention scores", (count + 1) * width + ld + extra, sizeof *row);
    repeat(s->stack, k, s->keys, keys);
    repeat(s->stack, q, 1, query);
    if (scheme->rotate != NULL) scheme->rotate(position, &s->state, keys, 0, s->keys);
    FERRY_TRY(ferry_kv_begin(&s->arena, s->keys, &s->sequence, error));
    FERRY_TRY(ferry_kv_extend(&s->cache, &s->sequence, s->keys, error));
    ferry_kv_write(&s->cache, &s->sequence, 0, 0, s->keys, keys, keys);
    if (scheme->rotate != NULL) scheme->rotate(position, &s->state, query, at, 1);
    s->kernels->scale(query, scheme->score_scale != NULL ? scheme->score_scale(position) : s->stack->attention_scale,
                      width);
    const ferry_position_tile tile = {
        .layer = layer,
        .head = head,
        .first = at,
        .queries = 1,
        .keys = s->keys,
        .q = query + (size_t)head * (size_t)s->stack->head_width,
        .ldq = width,
        .kv = ferry_cache_keys(&s->cache.layout, &s->sequence, 0, head, 1, s->keys),
        .scores = row,
        .ld_scores = ld,
        .scratch = scratch,
        .state = &s->state,
        .kernels = s->kernels,
    };
    s->kernels->scores(tile.scores, tile.ld_scores, tile.q, tile.ldq, 1, &tile.kv);
    if (scheme->score != NULL) scheme->score(position, &tile);
    memcpy(scores, row, count * sizeof *scores);
    return FERRY_OK;
}

ferry_status ferry_inspect_position_scores(const ferry_model *model, ferry_inspect_stack stack, int32_t layer,
                                           int32_t head, int32_t count, const float *q, const float *k, float *scores,
                                           ferry_error *error)
{
    FERRY_FENV;
    FERRY_NEEDS(model);
    FERRY_NEEDS(scores);
    FERRY_TRY(ferry_check_range("stack", (int32_t)stack, FERRY_INSPECT_ENCODER, FERRY_INSPECT_DECODER, error));
    scene s = {.stack = find_stack(model, stack), .kernels = model->kernels};
    FERRY_TRY(ferry_check_range("layer", layer, 0, s.stack->layer_count - 1, error));
    FERRY_TRY(ferry_check_range("head", head, 0, s.stack->heads - 1, error));
    FERRY_TRY(ferry_check_range("count", count, 1, INT32_MAX / 4, error));
    s.keys = s.stack->position.stack.causal ? count : 2 * count - 1;
    ferry_cache_init(&s.cache, 1, s.stack->heads, s.stack->head_width);
    ferry_status status = ferry_position_extend(&s.stack->position, &s.state, s.kernels, s.keys, error);
    if (status == FERRY_OK) status = score(&s, layer, head, count - 1, q, k, scores, error);
    ferry_position_state_destroy(&s.state);
    ferry_cache_destroy(&s.cache);
    ferry_arena_destroy(&s.arena);
    return status;
}
