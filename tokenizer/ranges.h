/* The ids of a text, and the ranges of the text that they stand for. */
#ifndef FERRY_TOKENIZER_RANGES_H
#define FERRY_TOKENIZER_RANGES_H

#include "base/bytes.h"
#include "base/status.h"

/* A growing result; empty when zeroed. Its owner frees `ids`. */
typedef struct ferry_ids {
    int32_t *ids; /* [count] */
    size_t count;
    size_t capacity;
} ferry_ids;

/* Bytes begin … end - 1 of a text; begin == end: none of them. */
typedef struct ferry_range {
    size_t begin, end;
} ferry_range;

/* The parts of a text that ids stand for; empty when zeroed. Its owner frees `ranges`.
 * - A range has no white space at either end, and lies on borders of characters. An ill-formed byte is a character.
 * - A range begins where the one before it ends, or later, or is the same: ids that are bytes of one character, or
 *   pieces of what normalization made of it, all have its range, extended to the end of the last of them.
 * - Every character but white space is in a range, unless normalization removes it at an end of the text.
 * - Ids without text, like tags, ends of sentences and "▁", have begin == end, at the offset where they stand among the
 * others. */
typedef struct ferry_ranges {
    ferry_range *ranges; /* [count] */
    size_t count;
    size_t capacity;
} ferry_ranges;

/* Puts `range` before ranges->ranges[at], at ≤ count. Errors: MEMORY. */
ferry_status ferry_ranges_insert(ferry_ranges *ranges, size_t at, ferry_range range, ferry_error *error);
/* Turns ranges [count] in the repaired copy of `text` (ferry_utf8_repair) into those in `text` itself. */
void ferry_ranges_unrepair(ferry_view text, ferry_range *ranges, size_t count);

/* Puts `id` before ids->ids[at], at ≤ count. Errors: MEMORY. */
ferry_status ferry_ids_insert(ferry_ids *ids, size_t at, int32_t id, ferry_error *error);

/* Bytes begin … end - 1 of a text, without white space at either end. */
ferry_range ferry_range_trim(ferry_view text, size_t begin, size_t end);

#endif
