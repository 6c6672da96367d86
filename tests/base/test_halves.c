/* 16-bit floats: every half, widened by every ISA that runs here, and how floats are rounded to halves. */
#include "base/tensor.h"
#include "tests/support/kernel_support.h"

RANDOM_TEST(halves_widen_exactly)
{
    static uint16_t halves[65536 + 7];
    static float wide[65536 + 8];
    for (uint32_t i = 0; i < 65536; i++) halves[i] = (uint16_t)i;
    for (uint32_t i = 0; i < 65536; i++) {
        uint32_t exponent = i >> 10 & 31, mantissa = i & 1023;
        double expected =
            ldexp((double)(exponent == 0 ? mantissa : 1024 + mantissa), (exponent == 0 ? 1 : (int)exponent) - 25);
        float value = ferry_f16_to_f32((uint16_t)i);
        if (exponent < 31) assert_true((double)value == (i & 0x8000 ? -expected : expected));
        if (exponent == 31) assert_true(mantissa == 0 ? value == (i & 0x8000 ? -INFINITY : INFINITY) : isnan(value));
        assert_int_equal(signbit(value) != 0, i >> 15);
        assert_int_equal(ferry_f32_to_f16(value), exponent == 31 && mantissa != 0 ? i | 0x200 : i);
        assert_int_equal(ferry_f32_bits(ferry_bf16_to_f32((uint16_t)i)), i << 16);
    }
    EACH_ISA(k)
    {
        for (size_t shift = 0; shift < 5; shift++) {
            size_t n = 65536 - shift;
            fill(wide, 65544, GUARD);
            (*k)->widen_f16(wide + 1, halves + shift, n);
            for (size_t i = 0; i < n; i++)
                assert_int_equal(ferry_f32_bits(wide[i + 1]), ferry_f32_bits(ferry_f16_to_f32(halves[i + shift])));
            assert_true(wide[0] == GUARD && wide[n + 1] == GUARD);
        }
    }
}

/* The multiple of the half's last place next to `value`, with ties to even by rint. */
static double nearest_half(float value)
{
    if (value == 0 || isinf(value)) return (double)value;
    int exponent = ilogb((double)value) < -14 ? -14 : ilogb((double)value);
    double nearest = ldexp(rint(ldexp((double)value, 10 - exponent)), exponent - 10);
    return fabs(nearest) > 65504 ? copysign((double)INFINITY, (double)value) : nearest;
}

/* At every exponent and around every tie. */
RANDOM_TEST(floats_round_to_the_nearest_half)
{
    static const uint32_t tails[] = {0,      1,      0xfff,  0x1000,   0x1001,   0x1fff,
                                     0x2000, 0x3000, 0x5555, 0x7fefff, 0x7ff000, 0x7fffff};
    for (uint32_t exponent = 0; exponent < 512; exponent++) {
        for (int32_t t = 0; t < COUNT(tails); t++) {
            for (uint32_t step = 0; step < 40; step++) {
                float value = ferry_f32_from_bits(exponent << 23 | ((tails[t] + step * 0x2f001) & 0x7fffff));
                if (isnan(value)) continue;
                float rounded = ferry_f16_to_f32(ferry_f32_to_f16(value));
                assert_true((double)rounded == nearest_half(value));
                assert_int_equal(signbit(rounded) != 0, signbit(value) != 0);
            }
        }
    }
    assert_int_equal(ferry_f32_to_f16(65519.996f), 0x7bff);
    assert_int_equal(ferry_f32_to_f16(65520.0f), 0x7c00);
    assert_int_equal(ferry_f32_to_f16(0x1p-25f), 0);
    assert_int_equal(ferry_f32_to_f16(0x1.000002p-25f), 1);
    assert_int_equal(ferry_f32_to_f16(NAN) & 0x7e00, 0x7e00);
}
