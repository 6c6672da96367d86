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
/* After all matrices have their place: gives tied ones their second use. */
void ferry_model_tie(ferry_model_file *file);

/* Tensors of a model file, looked up by name and checked. For bind.c only. */

typedef struct ferry_binder {
    ferry_model_file *file;
    const ferry_gguf *gguf;
    const ferry_kernels *kernels;
    bool *used;           /* [gguf->tensor_count] */
    size_t type_bytes[3]; /* of matrices so far: f32, f16, i8 */
} ferry_binder;

/* The tensor `name` must exist, with this element type and shape; it is marked as used. Errors: FORMAT. */
ferry_status ferry_bind_find(ferry_binder *binder, const char *name, ferry_type type, int32_t dims,
                             const int64_t *shape, const void **data, ferry_error *error);
/* Trained float32 numbers, counted in file->parameters. */
ferry_status ferry_bind_f32(ferry_binder *binder, const char *name, int32_t dims, const int64_t *shape,
                            const float **data, ferry_error *error);
ferry_status ferry_bind_vector(ferry_binder *binder, const char *name, int32_t n, const float **data,
                               ferry_error *error);
/* "<name>.weight" [N, K] of any type, with the scales of the type, without bias. Errors: FORMAT, UNSUPPORTED. */
ferry_status ferry_bind_weight(ferry_binder *binder, const char *name, int32_t N, int32_t K, ferry_matrix *matrix,
                               ferry_error *error);
/* The coarse matrix of the output matrix `exact`, if the file has one. Its numbers are not checked. Errors:
 * FORMAT. */
ferry_status ferry_bind_coarse(ferry_binder *binder, const ferry_matrix *exact, ferry_matrix *coarse,
                               ferry_error *error);
/* The row's matrix or norm of a layer or stack, `owner`; `prefix` comes before the row's name. */
ferry_status ferry_bind_row(ferry_binder *binder, const ferry_tensor_row *row, const char *prefix,
                            const ferry_stack *stack, void *owner, ferry_error *error);
/* An unused tensor is an error. */
ferry_status ferry_bind_check_leftovers(const ferry_binder *binder, ferry_error *error);

/* Reading the keys of a model file by the rows of its schema. */

/* Reads every key of the group that applies into its struct in *values, checked against the row's range, choices and
 * count; numbers of arrays are copied into `arena`, everything else points into the file. Errors, naming file and key:
 * FORMAT, UNSUPPORTED (a choice that this build lacks), MEMORY. */
ferry_status ferry_read_keys(const ferry_gguf *gguf, ferry_key_group group, const ferry_schema_values *values,
                             ferry_arena *arena, ferry_error *error);

#endif
