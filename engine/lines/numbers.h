/* Whether the numbers of a translation are those of its source.
 *
 * A number is a run of decimal digits of any script, with marks between them (. , ' : / · hyphens), or a blank before
 * exactly three digits. In the order of the source, each number is paired with the first identical one of the
 * translation, else with the first one that shares a form with it: without leading zeros and groups' marks, the
 * decimals without trailing zeros, without groups of three trailing zeros (2 million), and times twelve hours later.
 * The numbers left are divided into their runs of digits, and equal runs are paired. */
#ifndef FERRY_LINES_NUMBERS_H
#define FERRY_LINES_NUMBERS_H

#include "base/bytes.h"
#include "base/status.h"

/* Numbers that the other text lacks, as they are written; empty: there is none. Both empty: no sign. Small numbers may
 * be words in the other text. So of two numbers, one has a run of digits above 12; one alone has four digits. */
typedef struct ferry_number_sign {
    ferry_view source, translation;
} ferry_number_sign;

/* The sign points into the texts. A text of more than 1,000 numbers gets none, which bounds time and memory. Texts
 * without digits take no memory. Errors: MEMORY. */
ferry_status ferry_numbers_compare(ferry_view source, ferry_view translation, ferry_number_sign *sign,
                                   ferry_error *error);

/* The numbers of a text, as views [*count] into it, which the caller frees; at most 1,000. Errors: MEMORY. */
ferry_status ferry_numbers_find(ferry_view text, ferry_view **found, size_t *count, ferry_error *error);

#endif
