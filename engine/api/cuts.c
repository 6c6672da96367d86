#include "cuts.h"

#include <uchar.h>

#include "base/utf8.h"

/* Quotes and brackets that are looked through between the end of a sentence and its stop. */
enum { MOST_CLOSING = 8 };

static const char32_t closing[] = U"\"')]}»«›”’“‘」』）】》〉］｝";
/* Those that end a sentence before white space, and those that need none. */
static const char32_t stops[] = U".!?…", wide_stops[] = U"。！？．｡।॥؟۔።។။";

/* ---- characters ---- */

static bool has(const char32_t *list, uint32_t c)
{
    while (*list != 0 && *list != c) list++;
    return *list != 0;
}

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

/* Moves *at > 0 back by a character. */
static uint32_t character_before(ferry_view text, size_t *at)
{
    do --*at;
    while (*at > 0 && !begins_character(text.data[*at]));
    return character_at(text, *at);
}

/* Whether `c` belongs to the character before it: marks of the scripts in wide use, joiners, variants (a part of the
 * Grapheme_Extend of Unicode's annex 29). */
static bool is_mark(uint32_t c)
{
    static const struct {
        uint32_t first, last;
    } marks[] = {
        {0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD},   {0x0610, 0x061A},   {0x064B, 0x065F},
        {0x0670, 0x0670}, {0x06D6, 0x06DC}, {0x06DF, 0x06E4},   {0x0E31, 0x0E31},   {0x0E34, 0x0E3A},
        {0x0E47, 0x0E4E}, {0x102B, 0x103E}, {0x1160, 0x11FF},   {0x17B4, 0x17D3},   {0x1AB0, 0x1AFF},
        {0x1DC0, 0x1DFF}, {0x200D, 0x200D}, {0x20D0, 0x20FF},   {0x302A, 0x302F},   {0x3099, 0x309A},
        {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0x1F3FB, 0x1F3FF}, {0xE0020, 0xE007F}, {0xE0100, 0xE01EF},
    };
    if (c < marks[0].first) return false;
    const uint32_t sign = c & 0x7F; /* the blocks of the Indic scripts have one order */
    if (c >= 0x0900 && c <= 0x0D7F)
        return sign <= 0x03 || sign == 0x3C || (sign >= 0x3E && sign <= 0x4D) || (sign >= 0x55 && sign <= 0x57) ||
               (sign >= 0x62 && sign <= 0x63);
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (c >= marks[i].first && c <= marks[i].last) return true;
    return false;
}

/* ---- cuts ---- */

/* `at` is not the text's end. */
static bool ends_sentence(ferry_view text, size_t at)
{
    const uint32_t next = character_at(text, at);
    uint32_t c = character_before(text, &at);
    for (int i = 0; i < MOST_CLOSING && at > 0 && has(closing, c); i++) c = character_before(text, &at);
    if (has(wide_stops, c)) return !has(wide_stops, next) && !has(closing, next);
    return has(stops, c) && ferry_utf8_is_space(next);
}

bool ferry_cut_is_at(ferry_view text, size_t at, ferry_cut cut)
{
    const uint32_t joiner = 0x200D;
    size_t before = at;
    if (at == text.size) return true;
    if (!begins_character(text.data[at])) return false;
    switch (cut) {
    case FERRY_CUT_SENTENCE: return ends_sentence(text, at);
    case FERRY_CUT_BLANK:
        return ferry_utf8_is_space(character_at(text, at)) && !ferry_utf8_is_space(character_before(text, &before));
    case FERRY_CUT_CLUSTER: return !is_mark(character_at(text, at)) && character_before(text, &before) != joiner;
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
