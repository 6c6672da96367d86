/* A pass takes rows x [R, D] through the layers of a stack. Each layer is self-attention or an SSRU, cross-attention in
 * a decoder, and a feed-forward; each of these sublayers f is added by
 *
 *     post-norm:  x = norm(x + f(x))      pre-norm:  x = x + f(norm(x))
 */
#ifndef FERRY_GRAPH_LAYER_H
#define FERRY_GRAPH_LAYER_H

#include "state.h"

typedef struct ferry_pass {
    ferry_state *state;
    const ferry_stack *stack;
    int32_t rows;              /* R */
    const int32_t *group_ends; /* of int8 inputs (ferry_sentence_groups) */
    ferry_attended self;       /* its rows of a span follow each other; its sequences are extended by the pass */
    ferry_attended cross;      /* of a decoder: what ferry_decoder_begin has prepared */
    ferry_position_state *position_state;
    float *x; /* [R, D] */
    /* Scratch, from ferry_pass_begin. */
    float *y;    /* [R, D] what a sublayer adds */
    float *h;    /* [R, D] normalized input of a pre-norm sublayer */
    float *work; /* q, k, v and context [R, H·K] each, an SSRU's two products [R, D], or the feed-forward's inner rows
                    [R, F], twice when gated */
} ferry_pass;

/* Takes scratch from the state's arena. */
ferry_status ferry_pass_begin(ferry_pass *pass, ferry_error *error);
/* y = SSRU(x) of one layer, whose states in self.cache then have seen the spans' rows; then x, by the formula. */
ferry_status ferry_layer_ssru(const ferry_pass *pass, int32_t layer, ferry_error *error);

/* The whole pass: x = embedding_scale·E[ids] (zeros for id -1) + positions, the embedding norm, all layers, the final
 * norm. Errors: MEMORY, LIMIT. */
ferry_status ferry_pass_run(ferry_pass *pass, const int32_t *ids /* [R] */, ferry_error *error);

#endif
