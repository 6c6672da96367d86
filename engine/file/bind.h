/* Fills the graph's structs from the keys and tensors of a model file. For model_file.c. */
#ifndef FERRY_FILE_BIND_H
#define FERRY_FILE_BIND_H

#include "model_file.h"
#include "schema.h"
#include "gguf.h"

/* Fills *values (of `file`), parameters and type from file->gguf, checking every key, shape and id, and that no tensor
 * is left over. Float32 and int8 matrices point into the mapping; all are listed in file->matrices, in the order of
 * their use, also after a failure. Tied output: ferry_model_tie. */
ferry_status ferry_model_bind(ferry_model_file *file, const ferry_schema_values *values, const ferry_kernels *kernels,
                              ferry_error *error);
/* After all matrices have their memory: gives tied ones their second use. */
void ferry_model_tie(ferry_model_file *file);

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
