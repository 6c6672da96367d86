/* Tensors of a model file, looked up by name and checked. For bind.c only. */
#ifndef FERRY_FILE_BIND_TENSORS_H
#define FERRY_FILE_BIND_TENSORS_H

#include "bind.h"
#include "schema.h"

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

#endif
