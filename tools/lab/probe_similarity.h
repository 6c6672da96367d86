/* How alike the states of one token are before and after a shift. */
#ifndef FERRY_LAB_PROBE_SIMILARITY_H
#define FERRY_LAB_PROBE_SIMILARITY_H

#include "probe_sentences.h"

/* Of ferry_probe_shift's batches and every state of a stack: similarity[n·stride], n ≤ layers, as
 * ferry_probe_stack.similarity; NAN if the batches are empty. Errors: MEMORY, and those of ferry_inspect_hidden. */
ferry_status ferry_probe_similarity(const ferry_probe_sentences *sentences, const ferry_probe_batch *before,
                                    const ferry_probe_batch *after, ferry_inspect_stack stack, double *similarity,
                                    size_t stride, ferry_error *error);

/* Mean cosine of rows a_rows[i] of a and b_rows[i] of b [.., D], i < count, both less the mean of these rows of a;
 * pairs without a direction are left out. NAN if there are none. Scratch: mean [D]. */
double ferry_centered_cosine(const float *a, const int32_t *a_rows, const float *b, const int32_t *b_rows,
                             int32_t count, int32_t D, double *mean);

#endif
