/* BLEU as sacrebleu's corpus_bleu computes it by default: Papineni et al. 2002, one reference, words of mteval's
 * tokenizer 13a, exponential smoothing of orders without a match (Chen and Cherry 2014, method 3). */
#ifndef FERRY_LAB_BLEU_H
#define FERRY_LAB_BLEU_H

#include "base/status.h"

/* Words of the hypothesis and of the reference; then for n = 1 … 4 n-grams in both; then for each n those of the
 * hypothesis. */
enum { FERRY_BLEU_ORDERS = 4, FERRY_BLEU_COUNTS = 2 + 2 * FERRY_BLEU_ORDERS };

/* The counts of one sentence. Those of a corpus are their sums. Errors: MEMORY. */
ferry_status ferry_bleu_count(ferry_text hypothesis, ferry_text reference, double counts[FERRY_BLEU_COUNTS],
                              ferry_error *error);
/* 0 to 100. */
double ferry_bleu_score(const double sums[FERRY_BLEU_COUNTS]);

#endif
