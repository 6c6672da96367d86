/* The tensors of a plan: for each tensor of the model file, where its numbers are in the source. */
#ifndef FERRY_PLAN_PLAN_TENSORS_H
#define FERRY_PLAN_PLAN_TENSORS_H

#include "plan.h"

/* How a tensor is stored in the model file. */
typedef enum ferry_import_form {
    FERRY_IMPORT_VECTOR,  /* [N], float32 */
    FERRY_IMPORT_TABLE,   /* [N, K], float32 */
    FERRY_IMPORT_MATRIX,  /* [N, K] in panels: options->type, or int8 codes (write.h) */
    FERRY_IMPORT_INTEGERS /* [N], int32 */
} ferry_import_form;

/* A tensor of the model file and where its numbers are: W[n][k] is element offset + n·row + k·column of `source`.
 * Vectors: K = 1, integers: `integers`. source NULL: zeros (a bias that a family leaves out). */
typedef struct ferry_import_tensor {
    char name[FERRY_GGUF_MAX_TENSOR_NAME + 1]; /* in the model file */
    ferry_import_form form;
    int32_t N, K;
    const ferry_weights_entry *source;
    int64_t offset, row, column;
    /* Integer sources (FERRY_I8, FERRY_I16): W[n][k] = code / multipliers[n], or code / multipliers[0] for all when
     * multiplier_count is 1. The importer's choice of memory: the plan's arena or the file. May be unaligned. */
    const void *multipliers; /* float32 */
    int32_t multiplier_count;
    const float *scales;    /* [N] instead of multipliers: W[n][k] = code · scales[n] */
    float input_multiplier; /* of int8 inputs; 0: none */
    const int32_t *integers;
    const ferry_matrix *packed; /* of a model file, in its panels (f32, f16 or codes), each of them 16·`row` elements of
                                   `source`; of planes, of the upper one */
} ferry_import_tensor;

/* prefix + name, or NULL; a tensor that was found counts as used. */
const ferry_weights_entry *ferry_import_find(ferry_import_plan *plan, const char *prefix, const char *name);
/* The tensor must exist, hold floating-point numbers (f32, f16, bf16, f64) and have the shape [N, K], or [N] for K = 0;
 * leading dimensions of size 1 do not count. */
ferry_status ferry_import_take(ferry_import_plan *plan, const char *prefix, const char *name, int32_t N, int32_t K,
                               const ferry_weights_entry **entry, ferry_error *error);
ferry_status ferry_import_check_shape(const ferry_weights_entry *entry, int32_t N, int32_t K, ferry_error *error);
/* Fails with "FILE: tensor 'NAME': …". */
#define ferry_import_fail_tensor(entry, code, error, ...)                                                              \
    ferry_fail_named(error, code, (entry)->file, "tensor", (entry)->tensor.name, __VA_ARGS__)
/* All of `source`, by its shape and strides: the last two dimensions, or a vector's last one. Earlier dimensions must
 * be 1. A size that does not fit becomes 0, which ferry_import_add_tensor refuses. */
ferry_import_tensor ferry_import_whole(const ferry_weights_entry *source, ferry_import_form form);
/* The model file gets `source` as the tensor `name`. */
#define ferry_import_add(plan, source, form, error, ...)                                                               \
    ferry_import_add_tensor(plan, (ferry_import_tensor[]){ferry_import_whole(source, form)}, error, __VA_ARGS__)
/* Adds a tensor, under the formatted name. */
ferry_status ferry_import_add_tensor(ferry_import_plan *plan, const ferry_import_tensor *tensor, ferry_error *error,
                                     const char *name, ...) __attribute__((format(printf, 4, 5)));
/* A matrix as `source` holds it transposed: the model file's [N, K] is the source's [K, N] (Marian's y = x W). */
ferry_import_tensor ferry_import_transposed(const ferry_weights_entry *source, ferry_import_form form);
/* Rows first … first + N - 1 of a matrix or table, or elements of a vector. */
ferry_import_tensor ferry_import_rows(const ferry_import_tensor *whole, int32_t first, int32_t N);
/* Whether the name of a tensor begins with `prefix` and is longer. */
bool ferry_import_has_prefix(const ferry_import_plan *plan, const char *prefix);
/* FORMAT if a tensor was not used, unless `ignored` accepts its name. */
ferry_status ferry_import_check_unused(const ferry_import_plan *plan, bool (*ignored)(ferry_view name),
                                       ferry_error *error);
/* `count` elements from element `first` on, `step` elements apart, as float32: floating-point numbers (f64: rounded),
 * or integers. */
void ferry_import_widen(const ferry_tensor *tensor, int64_t first, int64_t step, size_t count, float *values);

/* ---- layers ---- */

/* A family's layers as a table: each row says which tensor of the source becomes which tensor of the model file.
 *
 * Names are put together from a row's and its table's parts. For layer 3 of the decoder, table {"encoder", "decoder"},
 * ".layers.", "." and row {"ffn_up", "fc1", "FD"}:
 *
 *     source      decoder.layers.3.fc1 + the endings of the table: ".weight", ".bias"
 *     model file  dec.blk.3.ffn_up + ".weight", ".bias"
 *
 * A row of the whole stack (FERRY_ROW_STACK) leaves out the layer: decoder.layer_norm, dec.output_norm. */

/* Conditions of a row, joined by |. A row is used if the stack meets all of them. */
typedef enum ferry_row_needs {
    FERRY_ROW_STACK = 1 << 0,    /* once for the stack, not for each layer */
    FERRY_ROW_OPTIONAL = 1 << 1, /* skipped if the source has no such weight */
    FERRY_ROW_ENCODER = 1 << 2,
    FERRY_ROW_DECODER = 1 << 3,
    FERRY_ROW_PRE_NORM = 1 << 4,
    FERRY_ROW_POST_NORM = 1 << 5,
    FERRY_ROW_GATED = 1 << 6,
    FERRY_ROW_PLAIN = 1 << 7, /* not gated */
    FERRY_ROW_ATTENTION = 1 << 8,
    FERRY_ROW_SSRU = 1 << 9 /* instead of the decoder's self-attention */
} ferry_row_needs;

typedef struct ferry_layer_row {
    const char *to;    /* "attn_q" */
    const char *from;  /* "self_attn.q_proj" */
    const char *shape; /* "AD": a matrix [A, D]; "D": a norm [D]. A: heads · head width, D: d_model, F: ffn width */
    unsigned needs;    /* of ferry_row_needs */
    const char *bias;  /* its name; NULL: `from` with the table's ending */
    int32_t slice;     /* index of the A rows in a matrix [slices · A, D] */
    int32_t slices;    /* 0: the row has its own matrix */
} ferry_layer_row;

typedef struct ferry_layer_endings {
    const char *weight; /* ".weight" */
    const char *bias;   /* ".bias"; NULL: none, unless the row names one */
} ferry_layer_endings;

typedef struct ferry_layer_table {
    const ferry_layer_row *rows; /* [count] */
    size_t count;
    const char *layer;          /* between the stack's name and the layer's number: ".layers." */
    const char *separator;      /* after the number, or the stack's name: "." */
    ferry_layer_endings linear; /* of matrices */
    ferry_layer_endings norm;   /* of norms; an RMS norm has no bias */
    bool zero_bias;             /* a missing bias becomes zeros if another matrix of the stack has one */
    const int32_t *numbers;     /* [layer_count], of the source's layers; NULL: 0, 1, … */
    /* Reads the source's matrix `name` (without the ending of weights), as the model file's [N, K]; NULL:
     * floating-point numbers [N, K] as they are. */
    ferry_status (*matrix)(void *context, const char *name, int32_t N, int32_t K, ferry_import_tensor *matrix,
                           ferry_error *error);
    void *context; /* of `matrix` */
} ferry_layer_table;

/* The tensors of a stack, for the sizes and choices in plan->model, join the plan in the order of the table: rows of
 * the stack that precede those of layers, then layer after layer, then the rest. Names of the source begin with
 * plan->prefix. */
ferry_status ferry_import_layers(ferry_import_plan *plan, const ferry_layer_table *table, bool decoder,
                                 ferry_error *error);

#endif
