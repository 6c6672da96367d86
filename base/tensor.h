/* A tensor in a file: type, shape, and where its data are. Readers hand these to importers. */
#ifndef FERRY_BASE_TENSOR_H
#define FERRY_BASE_TENSOR_H

#include "bytes.h"

#define FERRY_MAX_DIMS 4

/* Element types. The values are GGUF's (ggml_type), so that the model file needs no second table. */
typedef enum ferry_type {
    FERRY_F32 = 0,
    FERRY_F16 = 1,
    FERRY_I8 = 24,
    FERRY_I16 = 25,
    FERRY_I32 = 26,
    FERRY_I64 = 27,
    FERRY_F64 = 28,
    FERRY_BF16 = 30
} ferry_type;

size_t ferry_type_size(ferry_type type);      /* bytes of one element; 0: not a type */
const char *ferry_type_name(ferry_type type); /* "f32", ...; "unsupported" */

typedef struct ferry_tensor {
    ferry_view name;
    ferry_type type;
    int32_t dims;
    int64_t shape[FERRY_MAX_DIMS]; /* slowest first (row-major), shape[dims..] = 1 */
    const void *data;              /* may be unaligned in other systems' files */
    size_t bytes;
} ferry_tensor;

/* Number of elements; the reader has checked that it does not overflow. */
int64_t ferry_tensor_count(const ferry_tensor *tensor);
/* "[8001, 256]" into `text`; returns `text`. */
const char *ferry_tensor_shape_text(const ferry_tensor *tensor, char *text, size_t size);

#endif
