#include "attention.h"

#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "cache.h"
#include "transformer.h"
#include "engine/kernels/linear.h"

/* The maximum number of rows of a tile, queries × heads: bounds the scratch for long sentences. */
enum { TILE_ROWS = 64 };

/* The positional encoding; NULL in cross-attention. */
static const ferry_position *position_of(const ferry_attention_call *call)
{
    return call->kind == FERRY_ATTENTION_CROSS ? NULL : &call->stack->position;
}

/* Replaces the scores of `heads` heads, from tile->head on, by weights. */
static void normalize(const ferry_attention_call *call, const ferry_position_tile *tile, int32_t heads)
{
    const size_t ld = tile->ld_scores, ld_heads = (size_t)tile->queries * ld;
    if (call->kind != FERRY_ATTENTION_DECODER) {
        tile->kernels->softmax(tile->scores, ld, heads * tile->queries, tile->keys);
        return;
    }
    for (int32_t i = 0; i < tile->queries; i++) {
        float *row = tile->scores + (size_t)i * ld;
        const int32_t keys = tile->first + i + 1;
        tile->kernels->softmax(row, ld_heads, heads, keys);
        for (int32_t h = 0; h < heads; h++, row += ld_heads)
            memset(row + keys, 0, (size_t)(tile->keys - keys) * sizeof *row); /* the mask */
    }
}

static void answer_probe(const ferry_attention_call *call, const ferry_position_tile *tile, int32_t row)
{
    const ferry_attention_probe *probe = call->probe;
    if (probe->kind != call->kind || (probe->layer >= 0 && probe->layer != call->layer) ||
        (probe->head >= 0 && probe->head != tile->head))
        return;
    const size_t layer = probe->layer < 0 ? (size_t)call->layer : 0, head = probe->head < 0 ? (size_t)tile->head : 0;
    const size_t heads = probe->head < 0 ? (size_t)call->stack->heads : 1;
    float *weights = probe->weights + ((layer * heads + head) * probe->rows + (size_t)row) * probe->ld;
    const size_t keys = (size_t)tile->keys;
    for (int32_t i = 0; i < tile->queries; i++, weights += probe->ld) {
        memcpy(weights, tile->scores + (size_t)i * tile->ld_scores, keys * sizeof *weights);
        memset(weights + keys, 0, (probe->ld - keys) * sizeof *weights);
    }
}

/* The tile of head tile->head + h. */
static ferry_position_tile tile_of_head(const ferry_position_tile *tile, const ferry_kv_view *keys, int32_t h)
{
    ferry_position_tile one = *tile;
    const size_t at = (size_t)h, width = (size_t)keys->width;
    one.head += h;
    one.q += at * width;
    one.context += at * width;
    one.scores += at * (size_t)tile->queries * tile->ld_scores;
    one.kv = *keys;
    one.kv.heads = 1;
    one.kv.offset += at * keys->head;
    return one;
}

/* Attention of keys->heads heads, from tile->head on. All scores come before all contexts, so that keys, and then
 * values, are read in memory order. `tile` has the fields that the heads share. */
static void attend_heads(const ferry_attention_call *call, const ferry_position_tile *tile, const ferry_kv_view *keys,
                         const ferry_kv_view *values, int32_t row)
{
    const ferry_kernels *kernels = tile->kernels;
    const ferry_position *position = position_of(call);
    const ferry_position_scheme *scheme = position != NULL ? position->scheme : NULL;
    ferry_position_tile one;
    kernels->scores(tile->scores, tile->ld_scores, tile->q, tile->ldq, tile->queries, keys);
    for (int32_t h = 0; h < keys->heads && scheme != NULL && scheme->score != NULL; h++) {
        one = tile_of_head(tile, keys, h);
        scheme->score(position, &one);
    }
    normalize(call, tile, keys->heads);
    for (int32_t h = 0; h < keys->heads && call->probe != NULL; h++) {
        one = tile_of_head(tile, keys, h);
        answer_probe(call, &one, row);
    }
    kernels->context(tile->context, tile->ld_context, tile->scores, tile->ld_scores, tile->queries, values);
    for (int32_t h = 0; h < keys->heads && scheme != NULL && scheme->context != NULL; h++) {
        one = tile_of_head(tile, keys, h);
        scheme->context(position, &one);
    }
}

/* Allocates the scores of the largest tile of the call, and the scratch of the positional encoding. */
static ferry_status take_scratch(ferry_context *context, const ferry_attention_call *call, float **scores,
                                 float **scratch, ferry_error *error)
{
    const ferry_position *position = position_of(call);
    int32_t queries = 0, keys = 0;
    for (int32_t s = 0; s < call->kv->span_count; s++) {
        const ferry_attention_span *span = &call->kv->spans[s];
        const int32_t length = call->kv->sequences[span->sequence].length;
        queries = span->rows > queries ? span->rows : queries;
        keys = length > keys ? length : keys;
    }
    queries = queries < TILE_ROWS ? queries : TILE_ROWS;
    const size_t heads = (size_t)call->kv->cache->layout.heads, rows = (size_t)queries * heads;
    const size_t floats = (rows < TILE_ROWS ? rows : TILE_ROWS) * ferry_round_up((size_t)keys, FERRY_LANES);
    const size_t position_floats = position != NULL ? ferry_position_scratch(position, queries, keys) : 0;
    *scores = ferry_arena_alloc(&context->arena, floats, sizeof **scores);
    *scratch = ferry_arena_alloc(&context->arena, position_floats, sizeof **scratch);
    if (*scores != NULL && *scratch != NULL) return FERRY_OK;
    return ferry_arena_fail(&context->arena, "attention scores", floats + position_floats, sizeof **scores, error);
}

/* Prefetches the keys and values of a span in memory order. Those of many hypotheses do not stay in the near caches
 * from step to step. */
static void prefetch_span(const ferry_attention_call *call, const ferry_attention_span *span)
{
    const ferry_cache_layout *layout = &call->kv->cache->layout;
    const ferry_kv_sequence *sequence = &call->kv->sequences[span->sequence];
    const int32_t layer = ferry_attention_cache_layer(call->kind, call->layer);
    const int32_t length = call->kind == FERRY_ATTENTION_DECODER ? span->first + span->rows : sequence->length;
    const ferry_kv_view keys = ferry_cache_keys(layout, sequence, layer, 0, 1, length);
    const ferry_kv_view values = ferry_cache_values(layout, sequence, layer, 0, 1, length);
    for (int32_t j = 0; j < length; j += FERRY_BLOCK_POSITIONS) {
        const float *first = sequence->blocks[j / FERRY_BLOCK_POSITIONS] + keys.offset;
        const size_t count = (size_t)(length - j < FERRY_BLOCK_POSITIONS ? length - j : FERRY_BLOCK_POSITIONS);
        const size_t floats = values.offset - keys.offset + count * values.stride;
        for (size_t i = 0; i < floats; i += FERRY_LANES) __builtin_prefetch(first + i, 0, 2);
    }
}

ferry_status ferry_attend(ferry_context *context, const ferry_attention_call *call, float *q, int32_t rows,
                          float *output, ferry_error *error)
{
    const ferry_cache_layout *layout = &call->kv->cache->layout;
    const size_t width = (size_t)layout->heads * (size_t)layout->head_width;
    const int32_t layer = ferry_attention_cache_layer(call->kind, call->layer);
    const ferry_position *position = position_of(call);
    const bool own_scale = position != NULL && position->scheme->score_scale != NULL;
    context->kernels->scale(q, own_scale ? position->scheme->score_scale(position) : call->stack->attention_scale,
                            (size_t)rows * width);

    const ferry_arena_mark mark = ferry_arena_begin(&context->arena);
    float *scores, *scratch;
    FERRY_TRY(take_scratch(context, call, &scores, &scratch, error));

    for (int32_t s = 0; s < call->kv->span_count; s++) {
        const ferry_attention_span *span = &call->kv->spans[s];
        const ferry_kv_sequence *sequence = &call->kv->sequences[span->sequence];
        if (s + 1 < call->kv->span_count) prefetch_span(call, span + 1);
        for (int32_t done = 0; done < span->rows; done += TILE_ROWS) {
            const size_t start = (size_t)(span->row + done) * width;
            FERRY_TRY(ferry_context_check(context, error));
            ferry_position_tile tile = {
                .layer = call->layer,
                .first = span->first + done,
                .queries = span->rows - done < TILE_ROWS ? span->rows - done : TILE_ROWS,
                .ldq = width,
                .scores = scores,
                .ld_context = width,
                .scratch = scratch,
                .state = call->position_state,
                .kernels = context->kernels,
            };
            tile.keys = call->kind == FERRY_ATTENTION_DECODER ? tile.first + tile.queries : sequence->length;
            tile.ld_scores = ferry_round_up((size_t)tile.keys, FERRY_LANES);
            const int32_t fit = TILE_ROWS / tile.queries, together = fit < layout->heads ? fit : layout->heads;
            for (; tile.head < layout->heads; tile.head += together) {
                const int32_t left = layout->heads - tile.head, heads = left < together ? left : together;
                const size_t column = start + (size_t)tile.head * (size_t)layout->head_width;
                const ferry_kv_view keys = ferry_cache_keys(layout, sequence, layer, tile.head, heads, tile.keys);
                const ferry_kv_view values = ferry_cache_values(layout, sequence, layer, tile.head, heads, tile.keys);
                tile.q = q + column;
                tile.context = output + column;
                attend_heads(call, &tile, &keys, &values, span->row + done);
            }
        }
    }
    ferry_arena_end(&context->arena, mark);
    return FERRY_OK;
}
