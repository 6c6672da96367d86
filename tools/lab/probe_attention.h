/* How far attention looks, and how sharply, by head. */
#ifndef FERRY_LAB_PROBE_ATTENTION_H
#define FERRY_LAB_PROBE_ATTENTION_H

#include "probe_sentences.h"

/* Sums over queries. */
typedef struct ferry_attention_sums {
    double queries;
    double entropy, uniform_entropy;   /* of the weights, and of equal weights for the same keys */
    double distance, uniform_distance; /* the same for Σ a·|i - j| */
} ferry_attention_sums;

/* Adds the queries i of weights [rows, columns]: all keys of each, or with `causal` keys 0 … i. */
void ferry_attention_sums_add(ferry_attention_sums *sums, const float *weights, int32_t rows, int32_t columns,
                              bool causal);

/* Of all sentences; the array of *heads comes from `arena`. Errors: MEMORY, and those of ferry_inspect_attention:
 * UNSUPPORTED if the model has no such attention. */
ferry_status ferry_probe_attention(const ferry_probe_sentences *sentences, const ferry_probe_batch *all,
                                   ferry_inspect_attention_kind kind, ferry_arena *arena, ferry_probe_heads *heads,
                                   ferry_error *error);

#endif
