/* The contents of a model file: the graph's configuration and weights, and what the tokenizer needs; and how they are
 * bound to the keys and tensors of the file. */
#ifndef FERRY_FILE_BIND_H
#define FERRY_FILE_BIND_H

#include "base/memory.h"
#include "base/status.h"
#include "base/system.h"
#include "engine/graph/transformer.h"
#include "engine/search/decoding.h"
#include "gguf.h"
#include "schema.h"

/* A matrix and the tensor that the file holds of it. */
typedef struct ferry_stored_matrix {
    const ferry_tensor *tensor;
    ferry_matrix *matrix; /* of an f16 tensor: `panels` points to where it is widened to float32 */
} ferry_stored_matrix;

/* Everything belongs to the struct and is valid until ferry_model_file_close. Immutable: threads may share it. */
typedef struct ferry_model_file {
    ferry_mapped_file map;
    ferry_gguf gguf; /* all keys and tensors */
    ferry_view name; /* general.name */
    ferry_view hash; /* digits of ferry.hash, in the map; empty: the file carries none */
    ferry_transformer transformer;
    ferry_generation generation;
    ferry_tokenizer_config text;     /* the file's; `present` is false, and everything else zero, if it has none */
    ferry_model_languages languages; /* empty without a tokenizer */
    ferry_model_origin origin;
    int64_t parameters;   /* trained numbers: weights and biases, each counted once, without padding */
    ferry_type type;      /* of the matrices in the file */
    size_t widened_bytes; /* memory for matrices that are not float32 in the file */
    float *widened;
    ferry_stored_matrix *matrices; /* [matrix_count] */
    size_t matrix_count;
    ferry_arena arena; /* layers, ids, names of languages */
} ferry_model_file;

/* Fills *values (of `file`), parameters and type from file->gguf, checking every key, shape and id, and that no tensor
 * is left over. Float32 and int8 matrices point into the mapping; all are listed in file->matrices, in the order of
 * their use, also after a failure. Tied matrices have one use. */
ferry_status ferry_model_bind(ferry_model_file *file, const ferry_schema_values *values, const ferry_kernels *kernels,
                              ferry_error *error);

/* What binding needs; for tests. */
typedef struct ferry_binder {
    ferry_model_file *file;
    const ferry_gguf *gguf;
    const ferry_kernels *kernels;
    bool *used;           /* [gguf->tensor_count] */
    size_t type_bytes[3]; /* of matrices so far: f32, f16, i8 */
} ferry_binder;

/* Trained float32 numbers [n], counted in file->parameters. Errors: FORMAT. */
ferry_status ferry_bind_vector(ferry_binder *binder, const char *name, int32_t n, const float **data,
                               ferry_error *error);

/* Reads, by the rows of the schema, every key of the group that applies into its struct in *values, checked against the
 * row's range, choices and count; numbers of arrays are copied into `arena`, everything else points into the file.
 * Errors, naming file and key: FORMAT, UNSUPPORTED (a choice that this build lacks), MEMORY. */
ferry_status ferry_read_keys(const ferry_gguf *gguf, ferry_key_group group, const ferry_schema_values *values,
                             ferry_arena *arena, ferry_error *error);

#endif
