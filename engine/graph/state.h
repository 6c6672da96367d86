/* The run state of one thread: scratch memory, keys and values, SSRU states, tables by position, a profile. */
#ifndef FERRY_GRAPH_STATE_H
#define FERRY_GRAPH_STATE_H

#include "base/memory.h"
#include "cache.h"
#include "transformer.h"
#include "engine/kernels/linear.h"

typedef struct ferry_attention_probe ferry_attention_probe;

/* ---- profile: the time that one thread spends in each phase; off by default ---- */

#define FERRY_PHASE_LIST(PHASE)                                                                                        \
    PHASE(IDLE, "idle") /* not counted */                                                                              \
    PHASE(TOKENIZING, "tokenizing")                                                                                    \
    PHASE(ENCODER, "encoder")                                                                                          \
    PHASE(SOURCE_KEYS, "source_keys") /* keys and values of the source, for cross-attention */                         \
    PHASE(SELF_ATTENTION, "self_attention")                                                                            \
    PHASE(CROSS_ATTENTION, "cross_attention")                                                                          \
    PHASE(FEED_FORWARD, "feed_forward")                                                                                \
    PHASE(DECODER_REST, "decoder_rest") /* embeddings, the final norm, blocks for keys and values */                   \
    PHASE(SHORTLIST, "shortlist")       /* selecting its words and their rows of the output matrix */                  \
    PHASE(OUTPUT_LAYER, "output_layer")                                                                                \
    PHASE(SEARCH, "search")                                                                                            \
    PHASE(DETOKENIZING, "detokenizing")                                                                                \
    PHASE(OTHER, "other")

#define FERRY_PHASE_ENUMERATOR(name, text) FERRY_PHASE_##name,
typedef enum ferry_phase { FERRY_PHASE_LIST(FERRY_PHASE_ENUMERATOR) FERRY_PHASE_COUNT } ferry_phase;

/* All zeros: off, idle. The time of an inner phase does not count for the outer one. */
typedef struct ferry_profile {
    bool on;
    ferry_phase phase; /* the current one */
    double since;      /* its beginning */
    double seconds[FERRY_PHASE_COUNT];
    int64_t calls[FERRY_PHASE_COUNT];
} ferry_profile;

const char *ferry_phase_name(ferry_phase phase);
/* Ends the current phase, and begins or continues `next`. */
void ferry_profile_leave(ferry_profile *profile, ferry_phase next);

/* Begins a phase; returns the one around it, for ferry_profile_leave. */
static inline ferry_phase ferry_profile_enter(ferry_profile *profile, ferry_phase phase)
{
    const ferry_phase around = profile->phase;
    if (!profile->on) return around;
    ferry_profile_leave(profile, phase);
    profile->calls[phase]++;
    return around;
}

/* ---- the state ---- */

/* Requests the input of each layer of `stack`, and the output of the stack: states [layers + 1, R, D]. */
typedef struct ferry_hidden_probe {
    const ferry_stack *stack;
    float *states;
} ferry_hidden_probe;

typedef struct ferry_state {
    const ferry_transformer *model;
    ferry_account account; /* counts the memory of the fields below */
    ferry_context context;
    ferry_position_state encoder_positions;
    ferry_position_state decoder_positions;
    ferry_cache encoder_cache;          /* one layer, which all layers use in turn */
    ferry_cache decoder_cache;          /* self- and cross-attention, all layers */
    ferry_cache ssru_cache;             /* states of hypotheses, if the decoder's block is an SSRU */
    const ferry_attention_probe *probe; /* NULL if no weights are requested */
    const ferry_hidden_probe *hidden;   /* NULL if no states are requested */
    ferry_profile profile;
} ferry_state;

/* `model` and `kernels` must outlive the state. Allocates nothing before the first use. The address of the state
 * must not change. */
void ferry_state_init(ferry_state *state, const ferry_transformer *model, const ferry_kernels *kernels);
/* Releases all memory; the state can be used again. Allowed on a zeroed object. */
void ferry_state_destroy(ferry_state *state);
/* Whether its arena and caches hold no byte more than is used; while they hold none. */
void ferry_state_set_exact(ferry_state *state, bool exact);
/* Releases each part that holds more than `bytes`; decoder_cache only if it also holds more than the blocks of
 * `tokens`. No sequence may hold a block. */
void ferry_state_trim(ferry_state *state, size_t bytes, size_t tokens);
/* The cache of hypotheses. (Keys and values of cross-attention are always in decoder_cache.) */
static inline ferry_cache *ferry_state_hypothesis_cache(ferry_state *state)
{
    return state->model->ssru ? &state->ssru_cache : &state->decoder_cache;
}

#endif
