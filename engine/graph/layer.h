/* The sublayers of a Transformer layer, as both stacks use them. A pass takes rows x [R, D] through a stack:
 *
 *     post-norm:  x = norm(x + f(x))      pre-norm:  x = x + f(norm(x))
 *
 * where f is attention, an SSRU or a feed-forward. */
#ifndef FERRY_GRAPH_LAYER_H
#define FERRY_GRAPH_LAYER_H

#include "state.h"

typedef struct ferry_pass {
    ferry_state *state;
    const ferry_stack *stack;
    int32_t rows; /* R */
    float *x;     /* [R, D] */
    float *y;     /* [R, D] what a sublayer adds */
    float *h;     /* [R, D] normalized input of a pre-norm sublayer */
    float *work;  /* q, k, v and context [R, H·K] each, an SSRU's two products [R, D], or the feed-forward's inner rows
                     [R, F], twice when gated */
} ferry_pass;

/* Scratch for a pass over `rows` rows, from the state's arena. */
ferry_status ferry_pass_begin(ferry_pass *pass, ferry_state *state, const ferry_stack *stack, int32_t rows,
                              ferry_error *error);

/* x = embedding_scale·E[ids], a row of zeros for id -1; the positions are added by the caller. */
void ferry_embed(const ferry_pass *pass, const int32_t *ids /* [R] */);

/* What self-attention needs beside the rows: where they stand, and where their keys and values go. */
typedef struct ferry_self_attention {
    ferry_cache *cache;
    ferry_sequence *sequences; /* long enough for the spans' rows */
    const ferry_attention_span *spans;
    int32_t span_count;
    const ferry_position_state *position_state;
} ferry_self_attention;

ferry_status ferry_layer_self_attention(const ferry_pass *pass, int32_t layer, const ferry_self_attention *self,
                                        ferry_error *error);
/* In its place: `self->cache` holds states, and the rows of a span, which follow each other, take its state on. */
ferry_status ferry_layer_ssru(const ferry_pass *pass, int32_t layer, const ferry_self_attention *self,
                              ferry_error *error);
/* Over keys and values that ferry_decoder_begin has prepared; span.sequence counts in `sentences`. */
ferry_status ferry_layer_cross_attention(const ferry_pass *pass, int32_t layer, const ferry_sequence *sentences,
                                         const ferry_attention_span *spans, int32_t span_count, ferry_error *error);
ferry_status ferry_layer_feed_forward(const ferry_pass *pass, int32_t layer, ferry_error *error);
/* The norms of a stack's beginning, after the positions, and of its end, where the model has them. */
void ferry_stack_embedding_norm(const ferry_pass *pass);
void ferry_stack_final_norm(const ferry_pass *pass);

#endif
