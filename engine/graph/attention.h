/* Scaled dot-product attention over cached keys and values (Vaswani et al. 2017, eq. 1), the same code for encoder,
 * decoder and cross-attention:
 *
 *     context_i = Σ_j softmax_j(q_i·k_j + position terms) v_j
 */
#ifndef FERRY_GRAPH_ATTENTION_H
#define FERRY_GRAPH_ATTENTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef struct ferry_cache ferry_cache;
typedef struct ferry_context ferry_context;
typedef struct ferry_position_state ferry_position_state;
typedef struct ferry_kv_sequence ferry_kv_sequence;
typedef struct ferry_stack ferry_stack;

/* Consecutive query rows that attend to one sequence. */
typedef struct ferry_attention_span {
    int32_t row;   /* first query row */
    int32_t rows;  /* number of query rows */
    int32_t first; /* position of the first query; its keys are 0 … first when causal */
    int32_t sequence;
} ferry_attention_span;

/* The keys and values of a pass: the rows of a span attend to its sequence of the cache. */
typedef struct ferry_kv_spans {
    ferry_cache *cache;
    ferry_kv_sequence *sequences;
    const ferry_attention_span *spans;
    int32_t span_count;
} ferry_kv_spans;

typedef enum ferry_attention_kind {
    FERRY_ATTENTION_ENCODER, /* self-attention; all layers use the cache's only layer in turn */
    FERRY_ATTENTION_DECODER, /* causal self-attention */
    FERRY_ATTENTION_CROSS    /* without a positional encoding */
} ferry_attention_kind;

/* Requests the attention weights of one layer and head, or of all. */
typedef struct ferry_attention_probe {
    ferry_attention_kind kind;
    int32_t layer, head; /* negative: all */
    float *weights;      /* [layers or 1, heads or 1, rows, ld]; 0 past the keys */
    size_t rows, ld;     /* rows: the maximum of a pass */
    bool last;           /* cross-attention only: the pass ends after these weights */
} ferry_attention_probe;

typedef struct ferry_attention_call {
    ferry_attention_kind kind;
    const ferry_stack *stack;
    int32_t layer;
    const ferry_kv_spans *kv;
    const ferry_position_state *position_state; /* of self-attention */
    const ferry_attention_probe *probe;         /* NULL if there is none */
} ferry_attention_call;

/* The layer of the cache's blocks for layer `layer` of the network. */
static inline int32_t ferry_attention_cache_layer(ferry_attention_kind kind, int32_t layer)
{
    return kind == FERRY_ATTENTION_ENCODER ? 0 : layer;
}

/* Scales q [rows, H·K] in place, and sets output [rows, H·K]. Scratch comes from the context's arena. Errors:
 * MEMORY, LIMIT, CANCELLED. */
ferry_status ferry_attend(ferry_context *context, const ferry_attention_call *call, float *q, int32_t rows,
                          float *output, ferry_error *error);

#endif
