/* Scaled dot-product attention over cached keys and values (Vaswani et al. 2017, eq. 1), the same code for encoder,
 * decoder and cross-attention:
 *
 *     context_i = Σ_j softmax_j(q_i·k_j + position terms) v_j
 */
#ifndef FERRY_GRAPH_ATTENTION_H
#define FERRY_GRAPH_ATTENTION_H

#include "engine/kernels/linear.h"
#include "engine/position/position.h"
#include "cache.h"

/* Consecutive query rows that see one sequence. */
typedef struct ferry_attention_span {
    int32_t row;   /* first query row */
    int32_t rows;  /* queries */
    int32_t first; /* position of the first query; its keys are 0 … first when causal */
    int32_t sequence;
} ferry_attention_span;

/* Asks for the weights of one head: weights [rows of the call, ld] are written where layer, head and kind match. */
typedef enum ferry_attention_kind {
    FERRY_ATTENTION_ENCODER,
    FERRY_ATTENTION_DECODER,
    FERRY_ATTENTION_CROSS
} ferry_attention_kind;
typedef struct ferry_attention_probe {
    ferry_attention_kind kind;
    int32_t layer, head;
    float *weights; /* [rows, ld]; columns behind the keys stay as they are */
    size_t ld;
} ferry_attention_probe;

typedef struct ferry_attention_call {
    const ferry_cache *cache;
    const ferry_sequence *sequences;
    const ferry_attention_span *spans;
    int32_t span_count;
    int32_t layer;       /* the network's layer */
    int32_t cache_layer; /* where its keys lie in the blocks */
    bool causal;
    float scale;                    /* factor of q: 1/√K */
    const ferry_position *position; /* NULL: none (cross-attention) */
    const ferry_position_state *position_state;
    ferry_attention_kind kind;
    const ferry_attention_probe *probe; /* NULL: nobody asks */
} ferry_attention_call;

/* q [rows, H·K] is scaled in place; context [rows, H·K] is written. Scratch comes from the context's arena. */
ferry_status ferry_attend(ferry_context *context, const ferry_attention_call *call, float *q, int32_t rows,
                          float *output, ferry_error *error);

#endif
