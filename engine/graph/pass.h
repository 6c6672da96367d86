/* What one thread owns while it computes: scratch memory, keys and values or SSRU states, rows by position, profile. */
#ifndef FERRY_GRAPH_PASS_H
#define FERRY_GRAPH_PASS_H

#include "base/profile.h"
#include "attention.h"
#include "transformer.h"

/* Asks a pass through `stack` for what enters each layer, and for what it returns: states [layers + 1, R, D]. */
typedef struct ferry_hidden_probe {
    const ferry_stack *stack;
    float *states;
} ferry_hidden_probe;

typedef struct ferry_state {
    const ferry_transformer *model;
    ferry_account account; /* of the memory of all that follows */
    ferry_context context;
    ferry_position_state encoder_positions;
    ferry_position_state decoder_positions;
    ferry_cache encoder_cache;          /* one layer, reused by each */
    ferry_cache decoder_cache;          /* self- and cross-attention, all layers */
    ferry_cache ssru_cache;             /* states of hypotheses, if the decoder's block is an SSRU */
    const ferry_attention_probe *probe; /* NULL if no weights are requested */
    const ferry_hidden_probe *hidden;   /* NULL if no states are requested */
    ferry_profile profile;
} ferry_state;

/* `model` and `kernels` must outlive the state. No memory is taken before the first use. The state may not be moved. */
void ferry_state_init(ferry_state *state, const ferry_transformer *model, const ferry_kernels *kernels);
/* Releases all memory; the state can be used again. Allowed on a zeroed object. */
void ferry_state_destroy(ferry_state *state);
/* Releases every part that holds more than `bytes`, or in a cache of all layers the blocks of `tokens`; no sequence may
 * hold a block. */
void ferry_state_trim(ferry_state *state, size_t bytes, size_t tokens);
/* Lets memory that only the encoder needs go back to the system, each part from about `bytes` on. */
void ferry_state_spare(ferry_state *state, size_t bytes);
/* Where the past of hypotheses is. (Keys and values of cross-attention are always in decoder_cache.) */
static inline ferry_cache *ferry_state_hypothesis_cache(ferry_state *state)
{
    return state->model->ssru ? &state->ssru_cache : &state->decoder_cache;
}
/* How often memory was requested from the system, in total. */
size_t ferry_state_allocations(const ferry_state *state);

/* ---- encoder and decoder ---- */

/* Encodes sentences s < count, each ids[offsets[s]] … ids[offsets[s + 1] - 1], S ≥ 1 ids below the vocabulary's size.
 * output [offsets[count], D]. A sentence's rows do not depend on its neighbors. Errors: MEMORY, LIMIT. */
ferry_status ferry_encode(ferry_state *state, const int32_t *ids, const int32_t *offsets, int32_t count, float *output,
                          ferry_error *error);

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
