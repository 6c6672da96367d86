#include "utf8.h"

#include <string.h>

/* What may follow a lead byte: the number of continuation bytes, and the range of the first of them (The Unicode
 * Standard 15.0, table 3-7). trailing 0: not a lead byte. */
typedef struct lead_rule {
    uint32_t trailing;
    uint8_t first_low, first_high;
} lead_rule;

static lead_rule rule_of(uint8_t lead)
{
    if (lead >= 0xC2 && lead <= 0xDF) return (lead_rule){1, 0x80, 0xBF};
    if (lead == 0xE0) return (lead_rule){2, 0xA0, 0xBF};
    if (lead == 0xED) return (lead_rule){2, 0x80, 0x9F};
    if (lead >= 0xE1 && lead <= 0xEF) return (lead_rule){2, 0x80, 0xBF};
    if (lead == 0xF0) return (lead_rule){3, 0x90, 0xBF};
    if (lead >= 0xF1 && lead <= 0xF3) return (lead_rule){3, 0x80, 0xBF};
    if (lead == 0xF4) return (lead_rule){3, 0x80, 0x8F};
    return (lead_rule){0, 0, 0};
}

bool ferry_utf8_next(ferry_view text, size_t *at, uint32_t *code_point)
{
    uint8_t lead = (uint8_t)text.data[(*at)++];
    if (lead < 0x80) {
        *code_point = lead;
        return true;
    }
    lead_rule rule = rule_of(lead);
    if (rule.trailing == 0) return false;
    uint32_t value = lead & (0x3Fu >> rule.trailing);
    uint8_t low = rule.first_low, high = rule.first_high;
    for (uint32_t i = 0; i < rule.trailing; i++) {
        if (*at >= text.size) return false;
        uint8_t byte = (uint8_t)text.data[*at];
        if (byte < low || byte > high) return false;
        value = value << 6 | (byte & 0x3Fu);
        (*at)++;
        low = 0x80;
        high = 0xBF;
    }
    *code_point = value;
    return true;
}

bool ferry_utf8_previous(ferry_view text, size_t *at, uint32_t *code_point)
{
    if (*at == 0) return false;
    do --*at;
    while (*at > 0 && ((unsigned char)text.data[*at] & 0xC0) == 0x80);
    size_t next = *at;
    return ferry_utf8_next(text, &next, code_point);
}

size_t ferry_utf8_put(uint32_t code_point, char *output)
{
    static const uint8_t leads[] = {0, 0, 0xC0, 0xE0, 0xF0}; /* by size */
    const size_t size = code_point < 0x80 ? 1 : code_point < 0x800 ? 2 : code_point < 0x10000 ? 3 : 4;
    for (size_t i = size; i-- > 1; code_point >>= 6) output[i] = (char)(0x80 | (code_point & 0x3F));
    output[0] = (char)(leads[size] | code_point);
    return size;
}

bool ferry_utf8_is_valid(ferry_view text)
{
    uint32_t code_point;
    for (size_t at = 0; at < text.size;)
        if (!ferry_utf8_next(text, &at, &code_point)) return false;
    return true;
}

size_t ferry_utf8_repair(ferry_view text, char *output, bool *replaced)
{
    size_t size = 0;
    uint32_t code_point;
    *replaced = false;
    for (size_t at = 0; at < text.size;) {
        size_t begin = at;
        bool valid = ferry_utf8_next(text, &at, &code_point);
        const char *bytes = valid ? text.data + begin : "\xEF\xBF\xBD";
        size_t count = valid ? at - begin : 3;
        memcpy(output + size, bytes, count);
        size += count;
        if (!valid) *replaced = true;
    }
    return size;
}

bool ferry_utf8_is_space(uint32_t c)
{
    return (c >= 0x09 && c <= 0x0D) || c == 0x20 || c == 0x85 || c == 0xA0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

size_t ferry_utf8_leading_space(ferry_view text)
{
    size_t end = 0;
    uint32_t c;
    for (size_t at = 0; at < text.size && ferry_utf8_next(text, &at, &c) && ferry_utf8_is_space(c);) end = at;
    return end;
}

ferry_view ferry_utf8_trim(ferry_view text)
{
    const size_t begin = ferry_utf8_leading_space(text);
    size_t end = begin;
    uint32_t code_point;
    for (size_t at = begin; at < text.size;)
        if (!ferry_utf8_next(text, &at, &code_point) || !ferry_utf8_is_space(code_point)) end = at;
    return (ferry_view){text.size == 0 ? text.data : text.data + begin, end - begin};
}

bool ferry_utf8_is_blank(ferry_view text)
{
    return ferry_utf8_leading_space(text) == text.size;
}
