/* The decoder: rows of several hypotheses at once, each standing at its own position of its own sentence.
 *
 * Generation gives every live hypothesis one row; scoring and prefixes give it several. Both run the same code. */
#ifndef FERRY_GRAPH_DECODER_H
#define FERRY_GRAPH_DECODER_H

#include "state.h"

/* Keys and values of cross-attention, all layers, once for each sentence and shared by its hypotheses.
 * encoder_output [offsets[count], D]; sentences [count], begun (ferry_sequence_begin) and empty, which the caller
 * releases with ferry_sequence_release(&state->decoder_cache, …), also after an error. */
ferry_status ferry_decoder_begin(ferry_state *state, const float *encoder_output, const int32_t *offsets, int32_t count,
                                 ferry_sequence *sentences, ferry_error *error);

typedef struct ferry_decoder_rows {
    const int32_t *ids; /* [rows] input ids; -1: a row of zeros for the embedding */
    int32_t rows;
    /* Of what follows, the call fills in the caches. */
    ferry_attended self; /* hypotheses, in ferry_state_hypothesis_cache, which the call extends. A span for each, in row
                            order: its rows at positions first …, where an SSRU's hypothesis must end */
    ferry_attended cross; /* sentences as ferry_decoder_begin left them, and the consecutive rows of each, in row order;
                             `first` is unused */
} ferry_decoder_rows;

/* hidden [rows, D]: the input of the output matrix, output_scale included. A row's bytes depend on its hypothesis and
 * its sentence alone. Errors: MEMORY, LIMIT. */
ferry_status ferry_decode(ferry_state *state, const ferry_decoder_rows *input, float *hidden, ferry_error *error);

#endif
