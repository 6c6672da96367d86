/* The ids of a text, and the ranges of the text that they stand for. */
#ifndef FERRY_TOKENIZER_RANGES_H
#define FERRY_TOKENIZER_RANGES_H

#include "base/bytes.h"
#include "base/status.h"

/* A growing array. Empty when zeroed. Its owner frees `ids`. */
typedef struct ferry_ids {
    int32_t *ids; /* [count] */
    size_t count;
    size_t capacity;
} ferry_ids;

/* Bytes begin … end - 1 of a text; empty if begin == end. */
typedef struct ferry_range {
    size_t begin, end;
} ferry_range;

/* The parts of a text that ids stand for. Empty when zeroed. Its owner frees `ranges`.
 * - A range has no white space at either end and lies on borders of characters. An ill-formed byte is a character.
 * - A range begins at or after the end of the range before it, or equals that range. Ids of one character's bytes, or
 * of pieces that normalization made of one character, all have the range from its begin to the end of their last one.
 * - Every character but white space is in a range, unless normalization removes it at an end of the text.
 * - An id without text (a tag, an end of sentence, "▁") has an empty range, at its place among the others. */
typedef struct ferry_ranges {
    ferry_range *ranges; /* [count] */
    size_t count;
    size_t capacity;
} ferry_ranges;

/* Puts `range` before ranges->ranges[at], at ≤ count. Errors: MEMORY. */
ferry_status ferry_ranges_insert(ferry_ranges *ranges, size_t at, ferry_range range, ferry_error *error);
/* Maps ranges [count] in the repaired copy of `text` (ferry_utf8_repair) to ranges in `text`. */
void ferry_ranges_unrepair(ferry_view text, ferry_range *ranges, size_t count);

/* Puts `id` before ids->ids[at], at ≤ count. Errors: MEMORY. */
ferry_status ferry_ids_insert(ferry_ids *ids, size_t at, int32_t id, ferry_error *error);

/* The range begin … end - 1 of `text` without white space at either end. */
ferry_range ferry_range_trim(ferry_view text, size_t begin, size_t end);

#endif
