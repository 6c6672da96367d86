/* A tensor in a file: type, shape and data, as readers return it to importers; and exact conversions of the two 16-bit
 * floats, IEEE 754 binary16 and bfloat16. (Of arrays: ferry_kernels.widen_f16.) */
#ifndef FERRY_BASE_TENSOR_H
#define FERRY_BASE_TENSOR_H

#include <stdint.h>
#include <string.h>

#include "bytes.h"

static inline float ferry_f32_from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t ferry_f32_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Branch-free, so that a loop over it is vectorized. A NaN keeps its payload. */
static inline float ferry_f16_to_f32(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000) << 16;
    uint32_t magnitude = (uint32_t)(half & 0x7fff) << 13;
    uint32_t subnormal = 0u - (magnitude < 1u << 23); /* all bits or none */
    uint32_t special = 0u - (magnitude >= 31u << 23); /* infinity, NaN */
    uint32_t normal = magnitude + (112u << 23) + (special & 112u << 23);
    uint32_t small = ferry_f32_bits(ferry_f32_from_bits(magnitude | 113u << 23) - 0x1p-14f);
    return ferry_f32_from_bits(sign | (subnormal & small) | (~subnormal & normal));
}

/* Rounds to nearest, ties to even. A magnitude of 65520 or more becomes infinity. */
uint16_t ferry_f32_to_f16(float value);

static inline float ferry_bf16_to_f32(uint16_t half)
{
    return ferry_f32_from_bits((uint32_t)half << 16);
}

#define FERRY_MAX_DIMS 4

/* Element types. The values are GGUF's (ggml_type): a model file stores them. */
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

size_t ferry_type_size(ferry_type type);      /* bytes of one element; 0: unknown type */
const char *ferry_type_name(ferry_type type); /* "f32", ...; "unsupported" */

typedef struct ferry_tensor {
    ferry_view name;
    ferry_type type;
    int32_t dims;
    int64_t shape[FERRY_MAX_DIMS]; /* slowest first (row-major), shape[dims..] = 1 */
    const void *data;              /* may be unaligned in other systems' files */
    size_t bytes;
} ferry_tensor;

/* Number of elements. The reader has checked the product for overflow. */
int64_t ferry_tensor_count(const ferry_tensor *tensor);
/* Writes the shape, as "[8001, 256]", to text [size]. Returns `text`. */
const char *ferry_tensor_shape_text(const ferry_tensor *tensor, char *text, size_t size);

#endif
