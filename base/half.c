#include "half.h"

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
    /* Subnormal: the last bit of a float between 0.5 and 1 is worth 2^-24, as is that of the half. */
    uint32_t rounded = ferry_f32_bits(ferry_f32_from_bits(magnitude) + 0.5f);
    return (uint16_t)(sign | (rounded - (126u << 23)));
}
