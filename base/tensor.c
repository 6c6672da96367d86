#include "tensor.h"

#include <inttypes.h>
#include <stdio.h>

uint16_t ferry_f32_to_f16(float value)
{
    uint32_t bits = ferry_f32_bits(value);
    uint32_t sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
    if (magnitude > 255u << 23) return (uint16_t)(sign | 0x7e00 | (magnitude >> 13 & 0x1ff)); /* a quiet NaN */
    if (magnitude >= 143u << 23) return (uint16_t)(sign | 0x7c00);                            /* 65536 or more */
    if (magnitude >= 113u << 23) {
        /* A carry out of the mantissa increments the exponent, up to infinity. */
        uint32_t odd = magnitude >> 13 & 1;
        return (uint16_t)(sign | (magnitude - (112u << 23) + 0xfff + odd) >> 13);
    }
    /* Subnormal: a step between floats from 0.5 to 1 is 2^-24, and so is one between subnormal halves. */
    uint32_t rounded = ferry_f32_bits(ferry_f32_from_bits(magnitude) + 0.5f);
    return (uint16_t)(sign | (rounded - (126u << 23)));
}

static const struct {
    size_t size;
    const char *name;
} types[] = {
    [FERRY_F32] = {4, "f32"}, [FERRY_F16] = {2, "f16"}, [FERRY_I8] = {1, "i8"},   [FERRY_I16] = {2, "i16"},
    [FERRY_I32] = {4, "i32"}, [FERRY_I64] = {8, "i64"}, [FERRY_F64] = {8, "f64"}, [FERRY_BF16] = {2, "bf16"},
};
enum { TYPE_COUNT = sizeof types / sizeof types[0] };

/* `type` may be an unchecked number from a file. */
size_t ferry_type_size(ferry_type type)
{
    return (size_t)type < TYPE_COUNT ? types[type].size : 0;
}

const char *ferry_type_name(ferry_type type)
{
    return ferry_type_size(type) > 0 ? types[type].name : "unsupported";
}

int64_t ferry_tensor_count(const ferry_tensor *tensor)
{
    /* Unsigned, because the product of the sizes before a 0 may overflow. */
    uint64_t count = 1;
    for (int32_t i = 0; i < tensor->dims; i++) count *= (uint64_t)tensor->shape[i];
    return (int64_t)count;
}

const char *ferry_tensor_shape_text(const ferry_tensor *tensor, char *text, size_t size)
{
    size_t at = 0;
    for (int32_t i = 0; i < tensor->dims && at < size; i++)
        at += (size_t)snprintf(text + at, size - at, "%s%" PRId64, i == 0 ? "[" : ", ", tensor->shape[i]);
    if (at < size) snprintf(text + at, size - at, "%s", tensor->dims == 0 ? "[]" : "]");
    return text;
}
