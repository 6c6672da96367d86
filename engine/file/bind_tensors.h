/* Tensors of a model file, found by name and checked: what binding (bind.c) asks for. For bind.c alone. */
#ifndef FERRY_FILE_BIND_TENSORS_H
#define FERRY_FILE_BIND_TENSORS_H

#include "bind.h"

/* One stack's place in the file: "ferry.encoder.heads", "enc.blk.0.attn_q.weight". */
typedef struct ferry_bind_section {
    const char *keys;    /* "encoder" */
    const char *tensors; /* "enc" */
} ferry_bind_section;

typedef struct ferry_binder {
    ferry_model_file *file;
    const ferry_gguf *gguf;
    const ferry_kernels *kernels;
    bool *used; /* [gguf->tensor_count] */
    ferry_widening *widenings;
    size_t widening_count;
    size_t type_bytes[3]; /* of matrices so far: f32, f16, i8 */
} ferry_binder;

typedef struct ferry_bind_name {
    char text[96];
} ferry_bind_name;

/* "enc.blk.0.attn_q", or "enc.output_norm" for layer -1; with "weight" or another part, if any, behind it. */
ferry_bind_name ferry_bind_tensor_name(const ferry_bind_section *section, int32_t layer, const char *what,
                                       const char *part);

/* The tensor `name` must exist, with this element type and shape; it counts as used. Errors: FORMAT. */
ferry_status ferry_bind_find(ferry_binder *binder, const char *name, ferry_type type, int32_t dims,
                             const int64_t *shape, const void **data, ferry_error *error);
/* float32 numbers that were trained: file->parameters counts them. */
ferry_status ferry_bind_f32(ferry_binder *binder, const char *name, int32_t dims, const int64_t *shape,
                            const float **data, ferry_error *error);
ferry_status ferry_bind_vector(ferry_binder *binder, const char *name, int32_t n, const float **data,
                               ferry_error *error);
/* "<name>.weight" [N, K] of any type, with what belongs to the type; no bias. Errors: FORMAT, UNSUPPORTED. */
ferry_status ferry_bind_weight(ferry_binder *binder, const char *name, int32_t N, int32_t K, ferry_matrix *matrix,
                               ferry_error *error);
/* The matrix `what` of a layer, with its bias if `bias`. */
ferry_status ferry_bind_matrix(ferry_binder *binder, const ferry_bind_section *section, int32_t layer, const char *what,
                               bool bias, int32_t N, int32_t K, ferry_matrix *matrix, ferry_error *error);
/* A norm [D]; rms has no bias. */
ferry_status ferry_bind_norm(ferry_binder *binder, const ferry_bind_section *section, int32_t layer, const char *what,
                             ferry_norm_kind kind, ferry_norm *norm, ferry_error *error);
/* A tensor that nobody asked for is an error. */
ferry_status ferry_bind_check_leftovers(const ferry_binder *binder, ferry_error *error);

#endif
