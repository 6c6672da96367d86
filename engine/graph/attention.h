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
typedef struct ferry_sequence ferry_sequence;
typedef struct ferry_stack ferry_stack;

/* Consecutive query rows that see one sequence. */
typedef struct ferry_attention_span {
    int32_t row;   /* first query row */
    int32_t rows;  /* queries */
    int32_t first; /* position of the first query; its keys are 0 … first when causal */
    int32_t sequence;
} ferry_attention_span;

/* What the rows of a pass attend to: each span sees its sequence of the cache. */
typedef struct ferry_attended {
    ferry_cache *cache;
    ferry_sequence *sequences;
    const ferry_attention_span *spans;
    int32_t span_count;
} ferry_attended;

typedef enum ferry_attention_kind {
    FERRY_ATTENTION_ENCODER, /* self-attention; every layer in turn uses the one layer of the cache */
    FERRY_ATTENTION_DECODER, /* causal self-attention */
    FERRY_ATTENTION_CROSS    /* without positions */
} ferry_attention_kind;

/* Asks for the weights of one head or layer, or of all: they are written where layer, head and kind match. */
typedef struct ferry_attention_probe {
    ferry_attention_kind kind;
    int32_t layer, head; /* negative: all */
    float *weights;      /* [layers asked for, heads asked for, rows, ld]; 0 past the keys */
    size_t rows, ld;     /* rows: of a pass, at most */
    bool last;           /* of cross-attention: the pass ends when it has these weights */
} ferry_attention_probe;

typedef struct ferry_attention_call {
    ferry_attention_kind kind;
    const ferry_stack *stack;
    int32_t layer;
    const ferry_attended *attended;
    const ferry_position_state *position_state; /* of self-attention */
    const ferry_attention_probe *probe;         /* NULL if there is none */
} ferry_attention_call;

/* Layer `layer` of the network in the cache's blocks. */
static inline int32_t ferry_attention_cache_layer(ferry_attention_kind kind, int32_t layer)
{
    return kind == FERRY_ATTENTION_ENCODER ? 0 : layer;
}

/* q [rows, H·K] is scaled in place; output [rows, H·K] is written. Scratch comes from the context's arena. Errors:
 * MEMORY, LIMIT, CANCELLED. */
ferry_status ferry_attend(ferry_context *context, const ferry_attention_call *call, float *q, int32_t rows,
                          float *output, ferry_error *error);

#endif
