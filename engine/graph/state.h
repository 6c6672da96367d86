/* What one thread owns while it computes: scratch memory, keys and values or states, rows by position, its clock. */
#ifndef FERRY_GRAPH_STATE_H
#define FERRY_GRAPH_STATE_H

#include "base/profile.h"
#include "attention.h"
#include "transformer.h"

typedef struct ferry_state {
    const ferry_transformer *model;
    ferry_context context;
    ferry_position_state encoder_positions;
    ferry_position_state decoder_positions;
    ferry_cache encoder_cache;          /* one layer, used again by each */
    ferry_cache decoder_cache;          /* self- and cross-attention, all layers */
    ferry_cache ssru_cache;             /* states of hypotheses, if the decoder's block is an SSRU */
    const ferry_attention_probe *probe; /* NULL: nobody asks for weights */
    ferry_profile profile;
} ferry_state;

/* `model` and `kernels` must outlive the state. No memory is taken before the first use. */
void ferry_state_init(ferry_state *state, const ferry_transformer *model, const ferry_kernels *kernels);
void ferry_state_destroy(ferry_state *state);
/* Where hypotheses keep their past. Sentences' keys and values of cross-attention are in decoder_cache. */
static inline ferry_cache *ferry_state_hypothesis_cache(ferry_state *state)
{
    return state->model->ssru ? &state->ssru_cache : &state->decoder_cache;
}
/* Where the model wants it (sentence_inputs), the rows of sentence s < count, offsets[s] … offsets[s + 1] - 1, become a
 * group of int8 inputs (linear.h), until ferry_state_ungroup. `offsets` must live as long. */
void ferry_state_group_sentences(ferry_state *state, const int32_t *offsets, int32_t count);
void ferry_state_ungroup(ferry_state *state);
/* How often the system was asked for memory, ever. */
size_t ferry_state_allocations(const ferry_state *state);

#endif
