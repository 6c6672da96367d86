#include "decimal.h"

#include <math.h>
#include <string.h>

#include "base/system.h"

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

bool ferry_parse_decimal(ferry_view text, double *value)
{
    char copy[512], *end;
    if (text.size == 0 || text.size >= sizeof copy) return false;
    memcpy(copy, text.data, text.size);
    copy[text.size] = '\0';
    if (strspn(copy, "0123456789+-.eE") != text.size)
        return false; /* strtod also reads inf, nan, blanks, hexadecimal */
    *value = ferry_parse_double(copy, &end);
    return end == copy + text.size && isfinite(*value);
}
