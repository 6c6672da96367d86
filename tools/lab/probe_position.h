/* How well a linear regression (ridge.h) reads the position of a token from its hidden state.
 *
 * Rows are the ids of sources, or the decoder's inputs; their positions count from 0, and those of training end at
 * trained_length. Sentences are dealt into 4 folds. Each fold is measured with a regression on the three others, one of
 * which has chosen its strength: no row is measured by what its own sentence had a part in. */
#ifndef FERRY_LAB_PROBE_POSITION_H
#define FERRY_LAB_PROBE_POSITION_H

#include "probe_sentences.h"

/* From states [offsets[sentences], D] of ragged sentences. Errors: UNSUPPORTED (no OpenBLAS), MEMORY. */
ferry_status ferry_probe_position_measure(const float *states, const int32_t *offsets, int32_t sentences, int32_t D,
                                          int32_t trained_length, ferry_probe_position *position, ferry_error *error);
/* Of every state of a stack: positions [layers + 1]. Errors: as ferry_inspect_hidden, UNSUPPORTED. */
ferry_status ferry_probe_positions(const ferry_probe_sentences *sentences, const ferry_probe_batch *all,
                                   ferry_inspect_stack stack, ferry_probe_position *positions, ferry_error *error);

#endif
