/* Translates sentences of ids, many at a time: one decoder step serves all living hypotheses of all sentences; a
 * finished sentence leaves at once, and new ones enter in place of those that left. */
#ifndef FERRY_SEARCH_GENERATE_H
#define FERRY_SEARCH_GENERATE_H

#include <stdatomic.h>
#include <stdint.h>

#include "engine/graph/state.h"
#include "teacher_forcing.h"
#include "search.h"

typedef struct ferry_shortlist ferry_shortlist;

typedef struct ferry_generate_sentence {
    const int32_t *ids; /* [length] source ids, below the vocabulary's size; they stay until the sentence is finished */
    int32_t length;     /* ≥ 1 */
    ferry_search_rules rules;
    ferry_wanted_weights weights;
    int32_t unknown_id;      /* of FERRY_WEIGHTS_OF_UNKNOWN */
    int32_t priority;        /* while one of a higher priority is translated, it rests */
    const atomic_bool *stop; /* true: it leaves before its next step (`failed`, CANCELLED); NULL: never */
    void *tag;               /* the caller's name for it */
} ferry_generate_sentence;

/* A sentence whose search has ended. */
typedef struct ferry_generate_finished {
    const ferry_search *search;
    const float *const *weights; /* [ferry_search_count] of each hypothesis [T, S]; NULL: not wanted */
} ferry_generate_finished;

/* Where sentences come from, and where their hypotheses go. */
typedef struct ferry_generate_source {
    int32_t width; /* at most so many sentences at the same time; ≥ 1 */
    bool ranked;   /* priorities differ: up to `width` more may enter, while those of a lower one rest */
    /* At most so many positions of keys and values of all these sentences together, by an estimate of how long their
     * translations will be (ferry_forecast). A sentence that needs more enters alone. */
    int32_t positions;
    /* Upper bounds of all sentences' options: the lists of their hypotheses are taken once, before the first sentence,
     * and pass from row to row. */
    int32_t beam, max_length;
    const ferry_shortlist *shortlist;       /* for sentences whose rules want one; NULL if the model has none */
    const ferry_logit_bound *bound;         /* of the model's output matrix; NULL if there is none */
    const ferry_teacher_force_rules *force; /* how weights are made; NULL: no sentence wants or needs them */
    /* Fills in the next sentence; false: there is none now, and if no other is in progress, the loop ends. It may be
     * called before each step. Then one of give_back, finished and failed is called once for each sentence. */
    bool (*next)(void *user, ferry_generate_sentence *sentence);
    /* There is no room for the sentence yet. */
    void (*give_back)(void *user, void *tag);
    /* NULL, or called after each step for each sentence that goes on. */
    void (*stepped)(void *user, void *tag, const ferry_search *search);
    /* What `sentence` points to lives until it returns. */
    void (*finished)(void *user, void *tag, const ferry_generate_finished *sentence);
    /* A sentence could not be translated: FORMAT (a logit was not finite), LIMIT (the state's account refused the
     * memory that the sentences in progress needed together; or it is longer than the encoder's positions, its
     * max_length than the decoder's: callers check first), CANCELLED (the state's context or the sentence was
     * stopped), MEMORY. */
    void (*failed)(void *user, void *tag, const ferry_error *why);
    void *user;
} ferry_generate_source;

typedef struct ferry_generate_slot ferry_generate_slot;

/* What one thread needs to generate. It keeps its memory from call to call, up to what is usual (generate.c). It may
 * not be moved. */
typedef struct ferry_generator {
    ferry_state state;
    ferry_generate_slot *slots; /* [slot_count] of living sentences */
    int32_t slot_count;
} ferry_generator;

/* `model` and `kernels` must outlive the generator. No memory is taken before the first use. */
void ferry_generator_init(ferry_generator *generator, const ferry_transformer *model, const ferry_kernels *kernels);
/* Releases all memory; the generator can be used again. Allowed on a zeroed object. */
void ferry_generator_destroy(ferry_generator *generator);
/* How often memory was requested from the system, in total. */
size_t ferry_generator_allocations(const ferry_generator *generator);

/* Translates until the source has no sentence. A sentence's hypotheses depend on the sentence and its rules alone. */
void ferry_generate(ferry_generator *generator, const ferry_generate_source *source);

#endif
