/* The graph's structs from the keys and tensors of a model file. */
#ifndef FERRY_FILE_BIND_H
#define FERRY_FILE_BIND_H

#include <stdbool.h>

#include "base/tensor.h"
#include "engine/graph/transformer.h"
#include "gguf.h"
#include "schema.h"

/* A matrix and its tensor in the file. */
typedef struct ferry_stored_matrix {
    const ferry_tensor *tensor;
    ferry_matrix *matrix; /* of an f16 tensor: `panels` points to where it is widened to float32 */
} ferry_stored_matrix;

typedef struct ferry_binder {
    const ferry_gguf *gguf;
    const ferry_schema_values *values; /* the structs to fill */
    const ferry_kernels *kernels;
    ferry_arena *arena;   /* of layers and ids */
    bool *used;           /* [gguf->tensor_count] */
    size_t type_bytes[3]; /* of the matrices bound so far: f32, f16, i8 */
    /* Results */
    int64_t parameters;            /* trained numbers, each counted once, without padding */
    ferry_type type;               /* the type with the largest share of the matrices' bytes */
    ferry_stored_matrix *matrices; /* [matrix_count] in the order of their use; the caller frees it */
    size_t matrix_count;
} ferry_binder;

/* Fills the structs of binder->values and the results from the file; the caller sets gguf, values, kernels and arena.
 * Every key, shape and id is checked, and no tensor may be left over. Float32 and int8 matrices point into the mapping.
 * The list of matrices is valid after a failure, too. A tied matrix is listed once. */
ferry_status ferry_model_bind(ferry_binder *binder, ferry_error *error);

/* Trained float32 numbers [n], counted in binder->parameters; for tests. Errors: FORMAT. */
ferry_status ferry_bind_vector(ferry_binder *binder, const char *name, int32_t n, const float **data,
                               ferry_error *error);

/* Reads every key of the group that applies into its struct in *values, and checks it against the range, choices and
 * count of its row in the schema. Numbers of arrays are copied into `arena`; other values point into the file.
 * Errors, naming file and key: FORMAT, UNSUPPORTED (a choice that this build lacks), MEMORY. */
ferry_status ferry_read_keys(const ferry_gguf *gguf, ferry_key_group group, const ferry_schema_values *values,
                             ferry_arena *arena, ferry_error *error);

#endif
