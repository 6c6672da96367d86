/* How a change of the input changes what the model predicts, teacher-forced. */
#ifndef FERRY_LAB_PROBE_OUTPUT_H
#define FERRY_LAB_PROBE_OUTPUT_H

#include "probe_sentences.h"

/* Sums over tokens of a reference, nats. */
typedef struct ferry_output_sums {
    double tokens;
    double nll, changed_nll; /* -ln p(token) before and after the change */
    double divergence;       /* Σ p ln(p / q), p before and q after */
} ferry_output_sums;

/* Adds one token, predicted by logits before and after [V]. */
void ferry_output_sums_add(ferry_output_sums *sums, const float *before, const float *after, int32_t V, int32_t token);

/* Sums of each sentence [before->count], over the pieces that end the inputs both before and after the change (all
 * pieces of the reference before). Errors: MEMORY, and those of ferry_inspect_logits. */
ferry_status ferry_probe_output(const ferry_probe_sentences *sentences, const ferry_probe_batch *before,
                                const ferry_probe_batch *after, ferry_output_sums *sums, ferry_error *error);

#endif
