#include "cuts.h"

#include "base/utf8.h"
#include "tokenizer/unicode.h"

/* ---- characters ---- */

static bool begins_character(char byte)
{
    return ((unsigned char)byte & 0xC0) != 0x80;
}

static uint32_t character_at(ferry_view text, size_t at)
{
    uint32_t c = 0;
    ferry_utf8_next(text, &at, &c);
    return c;
}

static uint32_t character_before(ferry_view text, size_t at)
{
    uint32_t c = 0;
    ferry_utf8_previous(text, &at, &c);
    return c;
}

/* ---- cuts ---- */

bool ferry_cut_is_at(ferry_view text, size_t at, ferry_cut cut)
{
    if (at == text.size) return true;
    if (!begins_character(text.data[at])) return false;
    switch (cut) {
    case FERRY_CUT_BLANK:
        return ferry_utf8_is_space(character_at(text, at)) && !ferry_utf8_is_space(character_before(text, at));
    case FERRY_CUT_CLUSTER: return !ferry_unicode_joins(character_before(text, at), character_at(text, at));
    case FERRY_CUT_CHARACTER:
    case FERRY_CUTS: break;
    }
    return true;
}

size_t ferry_cut_near(ferry_view text, size_t low, size_t high, size_t guess, ferry_cut cut)
{
    for (size_t at = guess; at > low; at--)
        if (ferry_cut_is_at(text, at, cut)) return at;
    for (size_t at = guess + 1; at < high; at++)
        if (ferry_cut_is_at(text, at, cut)) return at;
    return low;
}
