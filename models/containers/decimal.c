#define _GNU_SOURCE /* strtod_l */
#include "decimal.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* In the C locale, whatever the process's is. */
static double parse_in_c(const char *text, char **end)
{
    const locale_t locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    *end = (char *)(uintptr_t)text;
    if (locale == (locale_t)0) return 0;
    const double value = strtod_l(text, end, locale);
    freelocale(locale);
    return value;
}

bool ferry_parse_decimal(ferry_view text, double *value)
{
    char copy[512], *end;
    if (text.size == 0 || text.size >= sizeof copy) return false;
    memcpy(copy, text.data, text.size);
    copy[text.size] = '\0';
    if (strspn(copy, "0123456789+-.eE") != text.size)
        return false; /* strtod also reads inf, nan, blanks, hexadecimal */
    *value = parse_in_c(copy, &end);
    return end == copy + text.size && isfinite(*value);
}
