/* Translates sentences of ids, many at a time: one decoder step serves all living hypotheses of all sentences; a
 * finished sentence leaves at once, and new ones enter in place of those that left. */
#ifndef FERRY_SEARCH_GENERATE_H
#define FERRY_SEARCH_GENERATE_H

#include "engine/graph/state.h"
#include "force.h"
#include "screen.h"
#include "search.h"

typedef struct ferry_generate_sentence {
    const int32_t *ids; /* [length] source ids, below the vocabulary's size; they stay until the sentence is finished */
    int32_t length;     /* ≥ 1 */
    ferry_search_rules rules;
    size_t tag; /* the caller's name for it */
} ferry_generate_sentence;

/* A sentence whose search has ended. */
typedef struct ferry_generate_finished {
    const ferry_search *search;
    const float *const *weights; /* [ferry_search_count] of each hypothesis [T, S] (force.h); NULL: not wanted */
} ferry_generate_finished;

/* Where sentences come from, and where their hypotheses go. */
typedef struct ferry_generate_source {
    int32_t width; /* at most so many sentences at the same time; ≥ 1 */
    /* At most so many positions of keys and values of all these sentences together, by an estimate of how long their
     * translations will be (forecast.h). A sentence that needs more enters alone. */
    int32_t positions;
    /* Upper bounds of all sentences' options: the lists of their hypotheses are taken once, before the first sentence,
     * and pass from row to row. */
    int32_t beam, max_length;
    const ferry_shortlist *shortlist; /* for sentences whose rules want one; NULL if the model has none */
    const ferry_screen *screen;       /* of the model's output matrix (screen.h); NULL if there is none */
    /* Whether the weights of a search's hypotheses are wanted; NULL: never. */
    bool (*wants_weights)(void *user, const ferry_search *search);
    const ferry_force_rules *force; /* how they are made, and those that a coverage penalty needs; NULL: neither */
    /* Fills in the next sentence; false if there is none. */
    bool (*next)(void *user, ferry_generate_sentence *sentence);
    /* NULL, or called after each step for each sentence that goes on. An error that it returns ends the call. */
    ferry_status (*stepped)(void *user, size_t tag, const ferry_search *search, ferry_error *error);
    /* One of these two is called once for each sentence, in the order in which they finish. An error that it returns
     * (and has described in `error`) ends the call. */
    /* What `sentence` points to lives until it returns. */
    ferry_status (*finished)(void *user, size_t tag, const ferry_generate_finished *sentence, ferry_error *error);
    /* A sentence could not be translated: FORMAT (a logit was not finite), or LIMIT (the state's account refused the
     * memory that the sentences in progress needed together). */
    ferry_status (*failed)(void *user, size_t tag, const ferry_error *why, ferry_error *error);
    void *user;
} ferry_generate_source;

typedef struct ferry_generate_slot ferry_generate_slot;

/* What one thread needs to generate. It keeps its memory from call to call, up to what is usual (generate.c). It may
 * not be moved. */
typedef struct ferry_generator {
    ferry_state state;
    ferry_generate_slot *slots; /* [slot_count] places of living sentences */
    int32_t slot_count;
} ferry_generator;

/* `model` and `kernels` must outlive the generator. No memory is taken before the first use. */
void ferry_generator_init(ferry_generator *generator, const ferry_transformer *model, const ferry_kernels *kernels);
/* Allowed on a zeroed object. */
void ferry_generator_destroy(ferry_generator *generator);
/* Releases all memory; between calls. */
void ferry_generator_release(ferry_generator *generator);
/* How often memory was requested from the system, in total. */
size_t ferry_generator_allocations(const ferry_generator *generator);

/* LIMIT: why a line fails for which the account has refused memory. */
ferry_status ferry_generate_fail_refused(const ferry_account *account, ferry_error *error);

/* A sentence's hypotheses depend on the sentence and its rules alone. A sentence longer than the encoder's positions,
 * or a max_length longer than the decoder's, ends the call (LIMIT): callers check first. Errors: MEMORY, LIMIT,
 * CANCELLED (the state's context was stopped), and those of `finished` and `failed`. */
ferry_status ferry_generate(ferry_generator *generator, const ferry_generate_source *source, ferry_error *error);

#endif
