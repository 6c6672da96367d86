/* What positional encodings cost: models with random weights that differ only by their encoding take turns. */
#ifndef FERRY_LAB_BENCH_COST_H
#define FERRY_LAB_BENCH_COST_H

#include "comparison.h"

/* Fills comparison->cost. `list`: names of encodings, separated by commas (NULL: all); the encoding `none`, with which
 * all are compared, comes first in any case. Sequences longer than `longest` are left out (0: none). Calls
 * begun(comparison) when the models are made, and case_done(comparison, case) after each case, unless they are NULL.
 * Prints a message and returns false on failure. */
bool ferry_measure_cost(ferry_comparison *comparison, const char *list, int32_t longest,
                        void (*begun)(const ferry_comparison *comparison),
                        void (*case_done)(const ferry_comparison *comparison, size_t index));

#endif
