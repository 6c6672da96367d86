#include "unicode.h"

#include <utf8proc.h>

ferry_character ferry_unicode_character(uint32_t c)
{
    switch (utf8proc_category((utf8proc_int32_t)c)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LT: return FERRY_CHARACTER_UPPER;
    case UTF8PROC_CATEGORY_LL: return FERRY_CHARACTER_LOWER;
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO: return FERRY_CHARACTER_LETTER;
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME: return FERRY_CHARACTER_MARK;
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO: return FERRY_CHARACTER_NUMBER;
    case UTF8PROC_CATEGORY_PS:
    case UTF8PROC_CATEGORY_PI: return FERRY_CHARACTER_OPENING;
    case UTF8PROC_CATEGORY_PE:
    case UTF8PROC_CATEGORY_PF: return FERRY_CHARACTER_CLOSING;
    case UTF8PROC_CATEGORY_PD: return FERRY_CHARACTER_DASH;
    default: return FERRY_CHARACTER_OTHER;
    }
}

bool ferry_unicode_is_word_letter(uint32_t c)
{
    enum { THAI = 0x0E00, HANGUL = 0xAC00, HANGUL_END = 0xD7A4 };
    switch (ferry_unicode_character(c)) {
    case FERRY_CHARACTER_UPPER:
    case FERRY_CHARACTER_LOWER:
    case FERRY_CHARACTER_MARK: return true;
    case FERRY_CHARACTER_LETTER: /* of those above, most write no blanks */
        return c < THAI || (c >= HANGUL && c < HANGUL_END);
    default: return false;
    }
}

bool ferry_unicode_is_of_word(uint32_t c)
{
    return ferry_unicode_is_word_letter(c) || ferry_unicode_character(c) == FERRY_CHARACTER_NUMBER;
}

uint32_t ferry_unicode_lower(uint32_t c)
{
    return (uint32_t)utf8proc_tolower((utf8proc_int32_t)c);
}

uint32_t ferry_unicode_upper(uint32_t c)
{
    return c == 0xDF ? c
                     : (uint32_t)utf8proc_toupper((utf8proc_int32_t)c); /* no U+1E9E for sharp s, as in UnicodeData */
}

bool ferry_unicode_is_digit(uint32_t c)
{
    return utf8proc_category((utf8proc_int32_t)c) == UTF8PROC_CATEGORY_ND;
}

int ferry_unicode_digit(uint32_t c)
{
    /* The ten digits of a set are consecutive, 0 first; sets may follow one another. */
    uint32_t before = 0;
    if (c < 0x80) return c >= '0' && c <= '9' ? (int)c - '0' : -1;
    if (!ferry_unicode_is_digit(c)) return -1;
    while (ferry_unicode_is_digit(c - 1 - before)) before++;
    return (int)(before % 10);
}

bool ferry_unicode_is_control(uint32_t c)
{
    switch (utf8proc_category((utf8proc_int32_t)c)) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_CN: return true;
    default: return false;
    }
}

bool ferry_unicode_joins(uint32_t before, uint32_t c)
{
    const uint32_t zero_width_joiner = 0x200D;
    return before == zero_width_joiner || !utf8proc_grapheme_break((utf8proc_int32_t)before, (utf8proc_int32_t)c);
}

bool ferry_unicode_breaks(uint32_t before, uint32_t c, int32_t *state)
{
    return utf8proc_grapheme_break_stateful((utf8proc_int32_t)before, (utf8proc_int32_t)c, state);
}

bool ferry_unicode_is_within_word(ferry_view text, size_t at)
{
    uint32_t before, after;
    size_t begin = at, next = at;
    return at < text.size && ferry_utf8_previous(text, &begin, &before) && ferry_utf8_next(text, &next, &after) &&
           ferry_unicode_is_of_word(before) && ferry_unicode_is_of_word(after);
}

bool ferry_unicode_is_sign(uint32_t c)
{
    const utf8proc_property_t *property = utf8proc_get_property((utf8proc_int32_t)c);
    switch (property->category) {
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
    case UTF8PROC_CATEGORY_SM:
    case UTF8PROC_CATEGORY_SO: return true;
    default: break;
    }
    switch (property->decomp_type) {
    case UTF8PROC_DECOMP_TYPE_SUPER:
    case UTF8PROC_DECOMP_TYPE_SUB:
    case UTF8PROC_DECOMP_TYPE_CIRCLE:
    case UTF8PROC_DECOMP_TYPE_SQUARE:
    case UTF8PROC_DECOMP_TYPE_FRACTION: return true;
    default: return false;
    }
}

bool ferry_unicode_is_replaced_sign(uint32_t c)
{
    return utf8proc_get_property((utf8proc_int32_t)c)->decomp_type != 0 && ferry_unicode_is_sign(c);
}

bool ferry_unicode_has_digit(ferry_view text)
{
    for (size_t at = 0; at < text.size;)
        if (ferry_unicode_is_digit(ferry_unicode_next(text, &at))) return true;
    return false;
}
