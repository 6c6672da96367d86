/* What holds of the ranges of any text and any tokenizer. */
#ifndef FERRY_SUPPORT_CHECK_RANGES_H
#define FERRY_SUPPORT_CHECK_RANGES_H

#include "base/utf8.h"
#include "tokenizer/tokenizer.h"

/* Not inside of a character; ill-formed bytes are a character each. */
static inline bool is_border(ferry_view text, size_t place)
{
    for (size_t begin = place > 3 ? place - 3 : 0; begin < place; begin++) {
        size_t at = begin;
        uint32_t code_point;
        if (ferry_utf8_next(text, &at, &code_point) && at > place) return false;
    }
    return true;
}

/* What is wrong with them; NULL: nothing. */
static inline const char *fault_of_ranges(ferry_view text, const ferry_range *ranges, size_t count)
{
    ferry_range last = {0, 0}; /* of those that are not empty */
    size_t place = 0;
    for (size_t i = 0; i < count; i++) {
        const ferry_range range = ranges[i];
        if (range.begin > range.end || range.end > text.size) return "outside of the text";
        if (range.begin < place) return "not ascending";
        place = range.begin;
        if (range.begin == range.end) continue;
        if (!is_border(text, range.begin) || !is_border(text, range.end)) return "not on borders of characters";
        if (ferry_utf8_trim((ferry_view){text.data + range.begin, range.end - range.begin}).size !=
            range.end - range.begin)
            return "white space at an end";
        if (range.begin < last.end && (range.begin != last.begin || range.end != last.end)) return "overlapping";
        last = range;
    }
    return NULL;
}

#endif
