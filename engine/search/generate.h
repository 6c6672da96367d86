/* Translates many sentences of ids together. One decoder step serves all living hypotheses of all active sentences.
 * A finished sentence leaves at once, and a new one takes its place. */
#ifndef FERRY_SEARCH_GENERATE_H
#define FERRY_SEARCH_GENERATE_H

#include <stdint.h>

#include "engine/graph/state.h"
#include "teacher_forcing.h"
#include "search.h"

typedef struct ferry_shortlist ferry_shortlist;

typedef struct ferry_generate_sentence {
    const int32_t *ids; /* [length] source ids, below the vocabulary's size; they stay until the sentence is finished */
    int32_t length;     /* ≥ 1 */
    ferry_search_rules rules;
    int32_t priority;       /* a sentence pauses while one of higher priority is translated */
    const ferry_stop *stop; /* if it stopped, the sentence fails before its next step (CANCELLED). A step in which all
                             * sentences stopped is abandoned. NULL: it cannot be stopped */
    void *tag;              /* for the callbacks of ferry_generate_source */
} ferry_generate_sentence;

/* A sentence whose search has ended. */
typedef struct ferry_generate_finished {
    const ferry_search *search;
    const float *const *weights; /* [ferry_search_count] cross-attention's, each [T, S]; NULL: not wanted */
} ferry_generate_finished;

/* Where sentences come from, and where their hypotheses go. */
typedef struct ferry_generate_source {
    int32_t width; /* maximum number of active sentences; ≥ 1 */
    bool ranked;   /* priorities differ: 2 × width sentences may live, paused ones among them */
    /* The maximum number of positions of keys and values of all active sentences, by ferry_forecast, which estimates
     * the lengths of their translations. A sentence that needs more enters alone. */
    int32_t positions;
    /* Upper bounds over all sentences: ferry_search_width and max_length. The lists of blocks of their hypotheses
     * are allocated once, before the first sentence, and pass from row to row. */
    int32_t beam, max_length;
    const ferry_shortlist *shortlist;       /* for sentences whose options ask for it; NULL if the model has none */
    const ferry_logit_bound *bound;         /* of the model's output matrix; NULL if there is none */
    const ferry_teacher_force_rules *force; /* for cross-attention weights; NULL: no sentence wants or needs them */
    /* Fills in the next sentence; false: none waits. ferry_generate ends when none waits and none is in progress.
     * `next` may be called before each step. `priority`: of the active sentences, INT32_MIN if there is none. For each
     * sentence that it fills in, one of give_back, finished and failed is called once. */
    bool (*next)(void *user, int32_t priority, ferry_generate_sentence *sentence);
    /* Takes back a sentence that has no room yet, or that was in progress when memory was refused; `next` hands it out
     * again later, and it begins anew. Of several, the one that came last is given back first. */
    void (*give_back)(void *user, void *tag);
    /* NULL: none, or whether the weights of the sentence's cross-attention are wanted. Its search has ended, and may
     * lack the coverage penalty. */
    bool (*wants_weights)(void *user, void *tag, const ferry_search *search);
    /* NULL, or called for a sentence that has ended with wanted weights: sets *targets [*count] to what is then scored,
     * as translations of the same sentence, before `finished` is called. Errors: MEMORY. */
    ferry_status (*choices)(void *user, void *tag, const ferry_generate_finished *sentence,
                            const ferry_teacher_target **targets, int32_t *count, ferry_error *error);
    /* NULL, or called after each step for each sentence that continues. */
    void (*stepped)(void *user, void *tag, const ferry_search *search);
    /* What `sentence` points to is valid until the function returns. */
    void (*finished)(void *user, void *tag, const ferry_generate_finished *sentence);
    /* A sentence could not be translated:
     * - FORMAT: a logit was not finite.
     * - LIMIT: the state's account refused memory to the sentence alone, or while it had more than half of the
     *   positions of all; or the sentence is longer than the encoder's positions, or its max_length than the decoder's,
     *   which callers check first.
     * - CANCELLED: it was stopped.
     * - MEMORY. */
    void (*failed)(void *user, void *tag, const ferry_error *why);
    void *user;
} ferry_generate_source;

typedef struct ferry_generate_slot ferry_generate_slot;

/* The generator of one thread. It keeps memory between calls, up to KEPT_BYTES and KEPT_TOKENS (generate.c). Its
 * address must not change. */
typedef struct ferry_generator {
    ferry_state state;
    ferry_generate_slot *slots; /* [slot_count] of living sentences */
    int32_t slot_count;
    /* Upper bounds of a source's width and positions: what memory has sufficed for. They outlive
     * ferry_generator_destroy. */
    int32_t width, positions;
    int32_t most, ended; /* numbers of sentences that lived at once, and that have ended, since these were set */
} ferry_generator;

/* `model` and `kernels` must outlive the generator. Allocates nothing before the first use. */
void ferry_generator_init(ferry_generator *generator, const ferry_transformer *model, const ferry_kernels *kernels);
/* Releases all memory; the generator can be used again. Allowed on a zeroed object. */
void ferry_generator_destroy(ferry_generator *generator);
/* The total number of requests for memory from the system. */
size_t ferry_generator_allocations(const ferry_generator *generator);

/* Translates until no sentence waits or is in progress. The hypotheses of a sentence depend on the sentence and its
 * rules alone. */
void ferry_generate(ferry_generator *generator, const ferry_generate_source *source);

#endif
