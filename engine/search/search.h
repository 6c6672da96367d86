/* The search for the translation of one sentence, as a state machine that never sees the network.
 *
 *     begin                      one row lives: the start token
 *     ┌─> the caller computes the logits that follow each living row
 *     └── step                   which rows go on, each with its next input token and its parent among the last rows
 *     step returned 0            the hypotheses are complete
 *
 * The rules are those of Hugging Face's `generate` (transformers 4.54 and later): greedy search when `beam` is 1, else
 * beam search with finished hypotheses in slots that better ones replace. Two departures, which matter only where fewer
 * candidates exist than the beam is wide (tiny vocabularies, almost everything masked): there, hypotheses of
 * sum -1e9 fill the places, here the places stay empty; and where nothing may follow any row, the rows end as they are
 * unless something is finished already. Equal scores: the older hypothesis, then the lower row, then the lower id.
 *
 * Scores are sum / n^length_penalty, n being the number of generated tokens, eos included (0 when n is 0). The sum is
 * in float32, of each token's log-probability
 * - beam search: as the rules have changed it (and not renormalised, unless `renormalize` is set);
 * - greedy search: as the network gave it, or as the rules have changed it when `renormalize` is set (the rules work on
 *   logits here, and decide the choice in both cases).
 * A forced token adds 0.
 *
 * A search is used by one thread at a time; different ones are independent. */
#ifndef FERRY_SEARCH_SEARCH_H
#define FERRY_SEARCH_SEARCH_H

#include "../base/arena.h"
#include "../base/status.h"
#include "../kernels/kernels.h"
#include "logits.h"

typedef struct ferry_search_rules {
    ferry_decoding decoding; /* its max_length is not read; min_length: tokens that come before eos at the earliest */
    const int32_t *eos_ids;
    int32_t eos_count;
    int32_t start_id;
    int32_t max_length; /* target tokens, eos counted, ≥ 1 */
    int32_t nbest;      /* 1…beam */
} ferry_search_rules;

typedef struct ferry_hypothesis {
    const int32_t *ids; /* [length] generated tokens: no start token, eos when it was generated */
    int32_t length;
    float score;
} ferry_hypothesis;

typedef struct ferry_search ferry_search;

/* *search and all that it will need come from the arena, and live until the caller releases them there. The rules are
 * copied; the ids that they point to are not. Out of memory: MEMORY; a beam that cannot be represented: ARGUMENT. */
ferry_status ferry_search_begin(ferry_arena *arena, const ferry_search_rules *rules, ferry_search **search,
                                ferry_error *error);

/* logits: one row for each living row, in order; the values are overwritten.
 * Returns how many rows go on (≤ beam), and for each its next input ids [beam] and its row in `logits`,
 * parents [beam]; 0 when the sentence is finished (it is after max_length steps at the latest). */
int32_t ferry_search_step(ferry_search *search, const ferry_kernels *kernels, const ferry_logits *logits, int32_t *ids,
                          int32_t *parents);

/* Of a finished search: how many hypotheses there are, best first: nbest, or fewer (at least 1) when the rules admit no
 * more. The ids live as long as the search. */
int32_t ferry_search_count(const ferry_search *search);
ferry_hypothesis ferry_search_hypothesis(const ferry_search *search, int32_t index);

#endif
