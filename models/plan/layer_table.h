/* A family's layers as a table: each row says which tensor of the source becomes which tensor of the model file.
 *
 * Names are put together from a row's and its table's parts. For layer 3 of the decoder, table {"encoder", "decoder"},
 * ".layers.", "." and row {"ffn_up", "fc1", "FD"}:
 *
 *     source      decoder.layers.3.fc1 + the endings of the table: ".weight", ".bias"
 *     model file  dec.blk.3.ffn_up + ".weight", ".bias"
 *
 * A row of the whole stack (FERRY_ROW_STACK) leaves out the layer: decoder.layer_norm, dec.output_norm. */
#ifndef FERRY_PLAN_LAYER_TABLE_H
#define FERRY_PLAN_LAYER_TABLE_H

#include "plan.h"

/* What a row needs, joined by |. A row is used when everything it needs is true of the stack. */
typedef enum ferry_row_needs {
    FERRY_ROW_STACK = 1 << 0,    /* once for the stack, not for each layer */
    FERRY_ROW_OPTIONAL = 1 << 1, /* left out where the source has no such weight */
    FERRY_ROW_ENCODER = 1 << 2,
    FERRY_ROW_DECODER = 1 << 3,
    FERRY_ROW_PRE_NORM = 1 << 4,
    FERRY_ROW_POST_NORM = 1 << 5,
    FERRY_ROW_GATED = 1 << 6,
    FERRY_ROW_PLAIN = 1 << 7, /* not gated */
    FERRY_ROW_ATTENTION = 1 << 8,
    FERRY_ROW_SSRU = 1 << 9 /* in place of the decoder's self-attention */
} ferry_row_needs;

typedef struct ferry_layer_row {
    const char *to;    /* "attn_q" */
    const char *from;  /* "self_attn.q_proj" */
    const char *shape; /* "AD": a matrix [A, D]; "D": a norm [D]. A: heads · head width, D: d_model, F: ffn width */
    unsigned needs;    /* of ferry_row_needs */
    const char *bias;  /* its name where it is not `from` with the table's ending */
    int32_t slice;     /* which rows of a matrix [slices · A, D] that holds several: the first A, the second, … */
    int32_t slices;    /* 0: the row has its own matrix */
} ferry_layer_row;

typedef struct ferry_layer_endings {
    const char *weight; /* ".weight" */
    const char *bias;   /* ".bias"; NULL: none, unless the row names one */
} ferry_layer_endings;

/* Reads the source's matrix `name` (without the ending of weights), as the model file's [N, K]. */
typedef ferry_status ferry_layer_matrix(void *context, const char *name, int32_t N, int32_t K,
                                        ferry_import_tensor *matrix, ferry_error *error);

typedef struct ferry_layer_table {
    const ferry_layer_row *rows; /* [count] */
    size_t count;
    const char *layer;          /* between the stack's name and the layer's number: ".layers." */
    const char *separator;      /* after the number, or the stack's name: "." */
    ferry_layer_endings linear; /* of matrices */
    ferry_layer_endings norm;   /* of norms; an RMS norm has no bias */
    bool zero_bias;             /* a missing bias is zeros where another matrix of the stack has one, otherwise none */
    const int32_t *numbers;     /* [layer_count], of the source's layers; NULL: 0, 1, … */
    ferry_layer_matrix *matrix; /* NULL: floating-point numbers [N, K] as they are */
    void *context;              /* of `matrix` */
} ferry_layer_table;

/* The tensors of a stack, for the sizes and choices in plan->model, join the plan in the order of the table: rows of
 * the stack that precede those of layers, then layer after layer, then the rest. Names of the source begin with
 * plan->prefix. */
ferry_status ferry_import_layers(ferry_import_plan *plan, const ferry_layer_table *table, bool decoder,
                                 ferry_error *error);

#endif
