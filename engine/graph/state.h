/* What one thread owns while it computes: scratch memory, keys and values or SSRU states, rows by position, profile. */
#ifndef FERRY_GRAPH_STATE_H
#define FERRY_GRAPH_STATE_H

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

#endif
