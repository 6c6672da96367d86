/* 16-bit floats, exactly: IEEE 754 binary16 and bfloat16. Whole arrays: ferry_kernels.widen_f16. */
#ifndef FERRY_BASE_HALF_H
#define FERRY_BASE_HALF_H

#include <stdint.h>
#include <string.h>

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

/* Rounds to nearest, ties to even; values too large become infinity. */
uint16_t ferry_f32_to_f16(float value);

static inline float ferry_bf16_to_f32(uint16_t half)
{
    return ferry_f32_from_bits((uint32_t)half << 16);
}

#endif
