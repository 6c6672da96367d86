#include "decimal.h"

#include <math.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool read_sign(ferry_view text, size_t *at)
{
    const bool negative = *at < text.size && text.data[*at] == '-';
    if (negative || (*at < text.size && text.data[*at] == '+')) ++*at;
    return negative;
}

/* Digits from `at` on: false when there are none or when they exceed `most`. */
static bool read_digits(ferry_view text, size_t *at, int64_t most, int64_t *value)
{
    const size_t start = *at;
    *value = 0;
    for (; *at < text.size && is_digit(text.data[*at]); ++*at) {
        const int64_t digit = text.data[*at] - '0';
        if (*value > (most - digit) / 10) return false;
        *value = *value * 10 + digit;
    }
    return *at > start;
}

bool ferry_parse_integer(ferry_view text, int64_t *value)
{
    size_t at = 0;
    const bool negative = read_sign(text, &at);
    if (!read_digits(text, &at, INT64_MAX, value) || at != text.size) return false;
    if (negative) *value = -*value;
    return true;
}

/* The digits of "12.5" as 125 and the exponent -1; digits behind the eighteenth only move the point. */
static bool read_mantissa(ferry_view text, size_t *at, int64_t *mantissa, int64_t *exponent)
{
    bool point = false, any = false;
    *mantissa = *exponent = 0;
    for (; *at < text.size; ++*at) {
        const char c = text.data[*at];
        if (c == '.' && !point) {
            point = true;
            continue;
        }
        if (!is_digit(c)) break;
        any = true;
        if (*mantissa < 100000000000000000) {
            *mantissa = *mantissa * 10 + (c - '0');
            *exponent -= point;
        } else {
            *exponent += !point;
        }
    }
    return any;
}

static double scaled(int64_t mantissa, int64_t exponent)
{
    if (mantissa == 0) return 0;
    if (exponent > 400) return (double)INFINITY;
    if (exponent < -400) return 0;
    double result = (double)mantissa;
    for (int64_t left = exponent < 0 ? -exponent : exponent; left > 0;) {
        double power = 1;
        int64_t step = left < 22 ? left : 22; /* the largest power of ten that a double holds exactly */
        left -= step;
        while (step-- > 0) power *= 10;
        result = exponent < 0 ? result / power : result * power;
    }
    return result;
}

bool ferry_parse_decimal(ferry_view text, double *value)
{
    size_t at = 0;
    int64_t mantissa, exponent, shift = 0;
    const bool negative = read_sign(text, &at);
    if (!read_mantissa(text, &at, &mantissa, &exponent)) return false;
    if (at < text.size && (text.data[at] == 'e' || text.data[at] == 'E')) {
        at++;
        const bool down = read_sign(text, &at);
        if (!read_digits(text, &at, 1000000, &shift)) return false;
        exponent += down ? -shift : shift;
    }
    *value = negative ? -scaled(mantissa, exponent) : scaled(mantissa, exponent);
    return at == text.size && isfinite(*value);
}
