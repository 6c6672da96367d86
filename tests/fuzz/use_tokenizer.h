/* What holds of a tokenizer that somebody published. */
#ifndef FERRY_FUZZ_USE_TOKENIZER_H
#define FERRY_FUZZ_USE_TOKENIZER_H

#include "fuzz.h"

#include "tests/support/check_ranges.h"

/* The text of these ids, whose ranges are within it; the caller frees it. */
static inline ferry_buffer decode(const ferry_tokenizer *tokenizer, const ferry_ids *ids, ferry_range *ranges)
{
    ferry_buffer decoded = {0};
    if (ferry_tokenizer_decode_ranges(tokenizer, ids->ids, ids->count, NULL, &decoded, ranges, NULL) != FERRY_OK)
        abort();
    for (size_t i = 0; i < ids->count; i++)
        if (ranges[i].begin > ranges[i].end || ranges[i].end > decoded.size) abort();
    return decoded;
}

/* A stranger's pieces may be parts of characters, and stand for bytes of a name. */
static inline bool are_whole(const ferry_view *pieces, const ferry_ids *ids)
{
    for (size_t i = 0; i < ids->count; i++)
        if (!ferry_utf8_is_valid(pieces[ids->ids[i]])) return false;
    return true;
}

/* The same ids with and without ranges, sound ranges, and a text of the ids: sound ones, too, if there are `pieces` (or
 * NULL) that are whole characters. Returns whether the text has ids. */
static inline bool use_tokenizer(const ferry_tokenizer *tokenizer, ferry_view text, const ferry_view *pieces)
{
    ferry_ids ids = {0}, target = {0};
    ferry_ranges ranges = {0};
    ferry_buffer decoded = {0};
    const bool encoded = ferry_tokenizer_encode_target(tokenizer, text, &target, NULL, NULL) == FERRY_OK;
    if (encoded) {
        if (ferry_tokenizer_encode_ranges(tokenizer, (ferry_view){"", 0}, text, &ids, &ranges, NULL) != FERRY_OK ||
            ids.count != target.count || ranges.count != ids.count ||
            (ids.count > 0 && memcmp(ids.ids, target.ids, ids.count * sizeof *ids.ids) != 0) ||
            fault_of_ranges(text, ranges.ranges, ranges.count) != NULL)
            abort();
        decoded = decode(tokenizer, &ids, ranges.ranges);
        if (pieces != NULL && are_whole(pieces, &ids) &&
            fault_of_ranges((ferry_view){decoded.data, decoded.size}, ranges.ranges, ranges.count) != NULL)
            abort();
    }
    free(ids.ids);
    free(target.ids);
    free(ranges.ranges);
    free(decoded.data);
    return encoded;
}

#endif
