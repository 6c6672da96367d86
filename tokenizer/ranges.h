/* From places in a text to ranges as ferry_ranges has them. */
#ifndef FERRY_TOKENIZER_RANGES_H
#define FERRY_TOKENIZER_RANGES_H

#include "tokenizer.h"

/* Bytes begin … end - 1 of a text, without white space at either end. */
ferry_range ferry_range_trim(ferry_view text, size_t begin, size_t end);

/* Goes through a text from border to border of its characters. */
typedef struct ferry_borders {
    ferry_view text;
    size_t at; /* the last one that was found */
} ferry_borders;

/* begin … end without white space at either end, on borders: a character whose middle is a place belongs to the range
 * before it. From one call to the next, `begin` is no smaller than the last `end`. */
ferry_range ferry_borders_range(ferry_borders *borders, size_t begin, size_t end);

#endif
