#include "attention.h"

#include <math.h>
#include <string.h>

#include "../base/bytes.h"

/* Queries that are computed together: bounds the scratch for long sentences. */
enum { TILE_QUERIES = 64 };

/* Keys that query `i` of a tile sees. */
static int32_t visible(const ferry_attention_call *call, const ferry_position_tile *tile, int32_t i)
{
    return call->causal ? tile->first + i + 1 : tile->keys;
}

static void normalise(const ferry_kernels *kernels, const ferry_attention_call *call, const ferry_position_tile *tile)
{
    for (int32_t i = 0; i < tile->queries; i++) {
        float *row = tile->scores + (size_t)i * tile->ld_scores;
        const int32_t keys = visible(call, tile, i);
        kernels->softmax(row, keys);
        memset(row + keys, 0, (size_t)(tile->keys - keys) * sizeof *row); /* masked: the future weighs nothing */
    }
}

static void answer_probe(const ferry_attention_call *call, const ferry_position_tile *tile, int32_t row)
{
    const ferry_attention_probe *probe = call->probe;
    if (probe == NULL || probe->kind != call->kind || probe->layer != call->layer || probe->head != tile->head) return;
    for (int32_t i = 0; i < tile->queries; i++)
        memcpy(probe->weights + (size_t)(row + i) * probe->ld, tile->scores + (size_t)i * tile->ld_scores,
               (size_t)tile->keys * sizeof(float));
}

/* One head of one tile. tile->q, key_offset, head and context are set; `values` is the offset of the head's values. */
static void attend_head(const ferry_kernels *kernels, const ferry_attention_call *call, const ferry_position_tile *tile,
                        size_t values, int32_t row)
{
    const int32_t K = call->cache->layout.head_width;
    const ferry_position_scheme *scheme = call->position != NULL ? call->position->scheme : NULL;
    kernels->scores(tile->scores, tile->ld_scores, tile->q, tile->ldq, tile->queries, tile->blocks, tile->key_offset, K,
                    tile->keys);
    if (scheme != NULL && scheme->score != NULL) scheme->score(call->position, call->position_state, kernels, tile);
    normalise(kernels, call, tile);
    answer_probe(call, tile, row);
    kernels->context(tile->context, tile->ld_context, tile->scores, tile->ld_scores, tile->queries, tile->blocks,
                     values, K, tile->keys);
    if (scheme != NULL && scheme->context != NULL) scheme->context(call->position, call->position_state, kernels, tile);
}

/* Room for the scores of any tile of the call, and for what the encoding needs beside them. */
static ferry_status take_scratch(ferry_context *context, const ferry_attention_call *call, float **scores,
                                 float **scratch, ferry_error *error)
{
    size_t floats = 0, position_floats = 0;
    for (int32_t s = 0; s < call->span_count; s++) {
        const ferry_attention_span *span = &call->spans[s];
        const int32_t queries = span->rows < TILE_QUERIES ? span->rows : TILE_QUERIES;
        const int32_t keys = call->sequences[span->sequence].length;
        const size_t tile = (size_t)queries * ferry_round_up((size_t)keys, FERRY_LANES);
        if (tile > floats) floats = tile;
        if (call->position == NULL) continue;
        const size_t position_tile = ferry_position_scratch(call->position, queries, keys);
        if (position_tile > position_floats) position_floats = position_tile;
    }
    *scores = ferry_arena_alloc(&context->arena, floats, sizeof **scores);
    *scratch = ferry_arena_alloc(&context->arena, position_floats, sizeof **scratch);
    if (*scores != NULL && *scratch != NULL) return FERRY_OK;
    return ferry_fail_memory(error, "attention scores", (floats + position_floats) * sizeof **scores);
}

ferry_status ferry_attend(ferry_context *context, const ferry_attention_call *call, float *q, int32_t rows,
                          float *output, ferry_error *error)
{
    const ferry_cache_layout *layout = &call->cache->layout;
    const size_t width = (size_t)layout->heads * (size_t)layout->head_width;
    context->kernels->scale(q, call->scale, (size_t)rows * width);

    const ferry_arena_mark mark = ferry_arena_begin(&context->arena);
    float *scores, *scratch;
    FERRY_TRY(take_scratch(context, call, &scores, &scratch, error));

    for (int32_t s = 0; s < call->span_count; s++) {
        const ferry_attention_span *span = &call->spans[s];
        const ferry_sequence *sequence = &call->sequences[span->sequence];
        for (int32_t done = 0; done < span->rows; done += TILE_QUERIES) {
            ferry_position_tile tile = {
                .layer = call->layer,
                .first = span->first + done,
                .queries = span->rows - done < TILE_QUERIES ? span->rows - done : TILE_QUERIES,
                .ldq = width,
                .blocks = (const float *const *)sequence->blocks,
                .scores = scores,
                .ld_context = width,
                .scratch = scratch,
            };
            tile.keys = call->causal ? tile.first + tile.queries : sequence->length;
            tile.ld_scores = ferry_round_up((size_t)tile.keys, FERRY_LANES);
            const int32_t row = span->row + done;
            for (tile.head = 0; tile.head < layout->heads; tile.head++) {
                const size_t column = (size_t)row * width + (size_t)tile.head * (size_t)layout->head_width;
                tile.q = q + column;
                tile.context = output + column;
                tile.key_offset = ferry_cache_keys(layout, call->cache_layer, tile.head);
                attend_head(context->kernels, call, &tile, ferry_cache_values(layout, call->cache_layer, tile.head),
                            row);
            }
        }
    }
    ferry_arena_end(&context->arena, mark);
    return FERRY_OK;
}
