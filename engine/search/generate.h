/* Translates sentences of ids, many at a time: one decoder step serves all living hypotheses of all sentences; a
 * finished sentence leaves at once, and new ones enter in place of those that left. */
#ifndef FERRY_SEARCH_GENERATE_H
#define FERRY_SEARCH_GENERATE_H

#include <stdint.h>

#include "engine/graph/state.h"
#include "search.h"
#include "output_columns.h"

/* How many positions of keys and values the sentences in progress will hold when they hold the most.
 *
 * A sentence holds those of its source from the beginning, and those of its hypotheses grow with each step until it
 * ends. Sentences that begin together are longest together, and hold then about twice what they held first; those that
 * begin one after the other hold less for the same work. So a sentence enters by what all will hold at most, not by
 * what they hold now. The lengths of translations are estimates: they change when a sentence is translated, never how.
 */

/* A sentence: how many steps from now it ends, and what it holds now. */
typedef struct ferry_forecast_end {
    int32_t steps;
    int64_t held; /* positions */
} ferry_forecast_end;

typedef struct ferry_forecast {
    ferry_forecast_end *ends; /* [count] by steps, ascending; room for all sentences that are added, the caller's */
    int32_t count;
    double growth; /* positions that each sentence takes in a step */
} ferry_forecast;

void ferry_forecast_add(ferry_forecast *forecast, ferry_forecast_end end);
/* The most positions that are held at the same time if one more sentence is added. */
double ferry_forecast_with(const ferry_forecast *forecast, ferry_forecast_end end);

/* Forced decoding: the target ids are given, and passes of the decoder over all their positions compute how likely
 * each is, and where the model looked when it chose it: the weights of cross-attention. Rows do not depend on their
 * number, so these are the values, bit for bit, that greedy search computes when it chooses the same ids. */

/* Which weights align source and target: the mean of some heads of one layer. */
typedef struct ferry_alignment {
    int32_t layer, head, heads; /* heads head … head + heads - 1 */
} ferry_alignment;

/* Those that the model's file names, else all heads of the last layer (docs/decoding.md says why). */
ferry_alignment ferry_alignment_choose(const ferry_generation *generation, const ferry_transformer *model);

/* Target ids of a sentence, as a hypothesis has them: without a start token. */
typedef struct ferry_forced {
    const int32_t *ids; /* [T] below the target vocabulary's size */
    int32_t length;     /* T */
    int32_t sentence;   /* index among the sentences */
    float *weights;     /* [T, S] result; NULL: not wanted */
    float *scores; /* [T] result: log-probabilities, changed by no other rule of a search; NULL, in all targets: not
                      wanted */
} ferry_forced;

typedef struct ferry_force_rules {
    int32_t start_id;
    ferry_alignment alignment;
    const int32_t
        *suppressed_ids; /* [suppressed_count] words without a share of the probability, unless they are forced */
    size_t suppressed_count;
} ferry_force_rules;

/* `sentences` hold what ferry_decoder_begin has prepared. Scratch comes from the state's arena, and is released, also
 * after an error. Errors: MEMORY, LIMIT, CANCELLED; FORMAT (a logit was not finite). */
ferry_status ferry_force(ferry_state *state, const ferry_force_rules *rules, ferry_sequence *sentences,
                         const ferry_forced *targets, int32_t count, ferry_error *error);

typedef struct ferry_generate_sentence {
    const int32_t *ids; /* [length] source ids, below the vocabulary's size; they stay until the sentence is finished */
    int32_t length;     /* ≥ 1 */
    ferry_search_rules rules;
    int32_t priority; /* while one of a higher priority is translated, it rests */
    void *tag;        /* the caller's name for it */
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
    const ferry_shortlist *shortlist; /* for sentences whose rules want one; NULL if the model has none */
    const ferry_logit_bound *bound;   /* of the model's output matrix; NULL if there is none */
    /* Whether the weights of a search's hypotheses are wanted; NULL: never. */
    bool (*wants_weights)(void *user, void *tag, const ferry_search *search);
    const ferry_force_rules *force; /* how they are made, and those that a coverage penalty needs; NULL: neither */
    /* Fills in the next sentence; false: there is none now, and if no other is in progress, the loop ends. It may be
     * called before each step. Then one of give_back, finished and failed is called once for each sentence. */
    bool (*next)(void *user, ferry_generate_sentence *sentence);
    /* There is no room for the sentence yet. */
    void (*give_back)(void *user, void *tag);
    /* Before each step, for each sentence: whether it leaves (`failed`, CANCELLED). */
    bool (*unwanted)(void *user, void *tag);
    /* NULL, or called after each step for each sentence that goes on. */
    void (*stepped)(void *user, void *tag, const ferry_search *search);
    /* What `sentence` points to lives until it returns. */
    void (*finished)(void *user, void *tag, const ferry_generate_finished *sentence);
    /* A sentence could not be translated: FORMAT (a logit was not finite), LIMIT (the state's account refused the
     * memory that the sentences in progress needed together; or it is longer than the encoder's positions, its
     * max_length than the decoder's: callers check first), CANCELLED (the state's context was stopped, or as above),
     * MEMORY. */
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

/* Whether *why is MEMORY that the account has refused since its `needed` was set to 0; *why then becomes LIMIT, and
 * says so. */
bool ferry_generate_refused(const ferry_account *account, ferry_error *why);

/* Translates until the source has no sentence. A sentence's hypotheses depend on the sentence and its rules alone. */
void ferry_generate(ferry_generator *generator, const ferry_generate_source *source);

#endif
