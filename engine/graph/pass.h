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

/* Computes keys and values of cross-attention for all layers, once for each sentence; its hypotheses share them.
 * encoder_output [offsets[count], D]. sentences [count]: empty, from ferry_kv_begin. The caller releases them with
 * ferry_kv_release(&state->decoder_cache, …), also after an error. */
ferry_status ferry_decoder_begin(ferry_state *state, const float *encoder_output, const int32_t *offsets, int32_t count,
                                 ferry_kv_sequence *sentences, ferry_error *error);

/* ferry_encode, and ferry_decoder_begin with its output, in the profile's phases. */
ferry_status ferry_decoder_begin_sources(ferry_state *state, const int32_t *ids, const int32_t *offsets, int32_t count,
                                         ferry_kv_sequence *sentences, ferry_error *error);

typedef struct ferry_decoder_rows {
    const int32_t *ids; /* [rows] input ids; -1: a row of zeros for the embedding */
    int32_t rows;
    /* Hypotheses in ferry_state_hypothesis_cache, which the call extends. A span for each, in row order, at positions
     * first …; of an SSRU, `first` must be the length of the hypothesis. `cache` is not read. */
    ferry_kv_spans self;
    /* Sentences from ferry_decoder_begin, with the consecutive rows of each, in row order. `first` and `cache` are not
     * read. */
    ferry_kv_spans cross;
} ferry_decoder_rows;

/* hidden [rows, D]: the input of the output matrix, output_scale included. A row's bytes depend on its hypothesis and
 * its sentence alone. Errors: MEMORY, LIMIT. */
ferry_status ferry_decode(ferry_state *state, const ferry_decoder_rows *input, float *hidden, ferry_error *error);

#endif
