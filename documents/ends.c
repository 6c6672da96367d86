#include "ends.h"

#include "base/utf8.h"
#include "kept_text.h"
#include "tokenizer/unicode.h"

static bool is_end(uint32_t c)
{
    return c == '.' || c == '!' || c == '?' || c == ':' || c == ';' || c == 0x061F || c == 0x0964 || c == 0x2026 ||
           c == 0x3002 || c == 0xFF01 || c == 0xFF0E || c == 0xFF1A || c == 0xFF1B || c == 0xFF1F;
}

/* The byte where the characters that end the text begin; *kind: the character before them. */
static size_t find_end(ferry_view text, ferry_character *kind)
{
    size_t at = text.size, end = at;
    uint32_t c = 0;
    while (ferry_utf8_previous(text, &at, &c) && is_end(c)) end = at;
    *kind = end == 0                  ? FERRY_CHARACTER_OTHER
            : ferry_is_placeholder(c) ? FERRY_CHARACTER_LETTER
                                      : ferry_unicode_character(c);
    return end;
}

ferry_status ferry_end_as(ferry_view source, ferry_buffer *target, ferry_error *error)
{
    ferry_character before, other;
    source = ferry_utf8_trim(source);
    const ferry_view made = {target->data != NULL ? target->data : "", target->size};
    const size_t trimmed = ferry_utf8_trim(made).size + ferry_utf8_leading_space(made);
    const size_t from = find_end(source, &before), to = find_end((ferry_view){made.data, trimmed}, &other);
    const ferry_view end = {source.data + from, source.size - from};
    if (to == 0 || from == 0) return FERRY_OK;
    if (end.size == 0) {
        const ferry_view made_end = {made.data + to, trimmed - to};
        if (before <= FERRY_CHARACTER_NUMBER && !ferry_view_contains(made_end, ":") &&
            !ferry_view_contains(made_end, ";"))
            target->size = to;
        return FERRY_OK;
    }
    const bool special = ferry_view_contains(end, "…") || ferry_view_contains(end, "...") ||
                         ferry_view_contains(end, ":") || ferry_view_contains(end, "：");
    if (!special && to < trimmed) return FERRY_OK;
    target->size = to;
    return ferry_buffer_append(target, end, error);
}
