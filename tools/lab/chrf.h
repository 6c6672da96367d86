/* chrF as sacrebleu's corpus_chrf computes it by default (chrF2): Popović 2015, one reference, 6-grams of characters
 * without white space, recall twice as important as precision. */
#ifndef FERRY_LAB_CHRF_H
#define FERRY_LAB_CHRF_H

#include "base/status.h"

/* For each n: n-grams of the hypothesis (0 if the reference has none), of the reference, and in both. */
enum { FERRY_CHRF_ORDERS = 6, FERRY_CHRF_COUNTS = 3 * FERRY_CHRF_ORDERS };

/* The counts of one sentence. Those of a corpus are their sums. Errors: MEMORY. */
ferry_status ferry_chrf_count(ferry_text hypothesis, ferry_text reference, double counts[FERRY_CHRF_COUNTS],
                              ferry_error *error);
/* 0 to 100. */
double ferry_chrf_score(const double sums[FERRY_CHRF_COUNTS]);

#endif
