/* A pass of rows through the layers of the encoder or the decoder. */
#ifndef FERRY_GRAPH_PASS_H
#define FERRY_GRAPH_PASS_H

#include "attention.h"
#include "base/status.h"

typedef struct ferry_state ferry_state;

/* Encodes sentences s < count, each ids[offsets[s]] … ids[offsets[s + 1] - 1], S ≥ 1 ids below the vocabulary's size.
 * output [offsets[count], D]. A sentence's rows do not depend on its neighbors. Errors: MEMORY, LIMIT. */
ferry_status ferry_encode(ferry_state *state, const int32_t *ids, const int32_t *offsets, int32_t count, float *output,
                          ferry_error *error);

/* Keys and values of cross-attention, all layers, once for each sentence and shared by its hypotheses.
 * encoder_output [offsets[count], D]; sentences [count], begun (ferry_kv_begin) and empty, which the caller
 * releases with ferry_kv_release(&state->decoder_cache, …), also after an error. */
ferry_status ferry_decoder_begin(ferry_state *state, const float *encoder_output, const int32_t *offsets, int32_t count,
                                 ferry_kv_sequence *sentences, ferry_error *error);

/* ferry_encode, and ferry_decoder_begin with its output, in the profile's phases. */
ferry_status ferry_decoder_begin_sources(ferry_state *state, const int32_t *ids, const int32_t *offsets, int32_t count,
                                         ferry_kv_sequence *sentences, ferry_error *error);

typedef struct ferry_decoder_rows {
    const int32_t *ids; /* [rows] input ids; -1: a row of zeros for the embedding */
    int32_t rows;
    /* The call fills in the caches of the following two. */
    ferry_kv_spans
        self; /* hypotheses, in ferry_state_hypothesis_cache, which the call extends. A span for each, in row
                 order: its rows are at positions first …; of an SSRU, `first` must be the hypothesis' length */
    ferry_kv_spans cross; /* sentences as ferry_decoder_begin left them, and the consecutive rows of each, in row order;
                             `first` is unused */
} ferry_decoder_rows;

/* hidden [rows, D]: the input of the output matrix, output_scale included. A row's bytes depend on its hypothesis and
 * its sentence alone. Errors: MEMORY, LIMIT. */
ferry_status ferry_decode(ferry_state *state, const ferry_decoder_rows *input, float *hidden, ferry_error *error);

#endif
