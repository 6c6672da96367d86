/* A pass of rows through the layers of encoder or decoder, its attention, and what one thread owns while it computes.
 */
#ifndef FERRY_GRAPH_PASS_H
#define FERRY_GRAPH_PASS_H

#include "cache.h"
#include "engine/kernels/linear.h"
#include "transformer.h"

/* ---- attention ---- */

/* Consecutive query rows that see one sequence. */
typedef struct ferry_attention_span {
    int32_t row;   /* first query row */
    int32_t rows;  /* queries */
    int32_t first; /* position of the first query; its keys are 0 … first when causal */
    int32_t sequence;
} ferry_attention_span;

/* What the rows of a pass attend to: each span sees its sequence of the cache. */
typedef struct ferry_attended {
    ferry_cache *cache;
    ferry_sequence *sequences;
    const ferry_attention_span *spans;
    int32_t span_count;
} ferry_attended;

typedef enum ferry_attention_kind {
    FERRY_ATTENTION_ENCODER, /* self-attention; every layer in turn uses the one layer of the cache */
    FERRY_ATTENTION_DECODER, /* causal self-attention */
    FERRY_ATTENTION_CROSS    /* without positions */
} ferry_attention_kind;

/* Asks for the weights of one head or layer, or of all: they are written where layer, head and kind match. */
typedef struct ferry_attention_probe {
    ferry_attention_kind kind;
    int32_t layer, head; /* negative: all */
    float *weights;      /* [layers asked for, heads asked for, rows, ld]; 0 past the keys */
    size_t rows, ld;     /* rows: of a pass, at most */
    bool last;           /* of cross-attention: the pass ends when it has these weights */
} ferry_attention_probe;

typedef struct ferry_attention_call {
    ferry_attention_kind kind;
    const ferry_stack *stack;
    int32_t layer;
    const ferry_attended *attended;
    const ferry_position_state *position_state; /* of self-attention */
    const ferry_attention_probe *probe;         /* NULL if there is none */
} ferry_attention_call;

/* Layer `layer` of the network in the cache's blocks. */
static inline int32_t ferry_attention_cache_layer(ferry_attention_kind kind, int32_t layer)
{
    return kind == FERRY_ATTENTION_ENCODER ? 0 : layer;
}

/* q [rows, H·K] is scaled in place; output [rows, H·K] is written. Scratch comes from the context's arena. Errors:
 * MEMORY, CANCELLED. */
ferry_status ferry_attend(ferry_context *context, const ferry_attention_call *call, float *q, int32_t rows,
                          float *output, ferry_error *error);

/* ---- profile: where one thread's time goes, by a clock that is always in one phase; off by default ---- */

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

/* All zeros: off, idle. A phase within another stops the outer one's clock. */
typedef struct ferry_profile {
    bool on;
    ferry_phase phase; /* the current one */
    double since;      /* its beginning */
    double seconds[FERRY_PHASE_COUNT];
    int64_t calls[FERRY_PHASE_COUNT];
} ferry_profile;

/* The phase's name, static. */
const char *ferry_phase_name(ferry_phase phase);
/* Ends the current phase; `next` goes on, or begins. */
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

/* ---- the state of a thread: scratch memory, keys and values or SSRU states, rows by position, profile ---- */

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
/* The cache that holds the past of hypotheses. (Keys and values of cross-attention are always in decoder_cache.) */
static inline ferry_cache *ferry_state_hypothesis_cache(ferry_state *state)
{
    return state->model->ssru ? &state->ssru_cache : &state->decoder_cache;
}

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
    /* The call fills in the caches of the following two. */
    ferry_attended
        self; /* hypotheses, in ferry_state_hypothesis_cache, which the call extends. A span for each, in row
                 order: its rows are at positions first …; of an SSRU, `first` must be the hypothesis' length */
    ferry_attended cross; /* sentences as ferry_decoder_begin left them, and the consecutive rows of each, in row order;
                             `first` is unused */
} ferry_decoder_rows;

/* hidden [rows, D]: the input of the output matrix, output_scale included. A row's bytes depend on its hypothesis and
 * its sentence alone. Errors: MEMORY, LIMIT. */
ferry_status ferry_decode(ferry_state *state, const ferry_decoder_rows *input, float *hidden, ferry_error *error);

#endif
