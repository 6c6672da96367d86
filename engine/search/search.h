/* The search for the translation of one sentence, as a state machine that never sees the network.
 *
 *     begin                      one row lives: the start token
 *     ┌─> the caller computes the logits that follow each living row
 *     └── step                   which rows go on, each with its next input token and its parent among the last rows
 *     step returned 0            the hypotheses are complete
 *
 * Greedy search when `beam` is 1, else beam search, which in one step ranks all continuations of all rows by their
 * sums. Three policies say what becomes of them; k is the beam.
 *
 * Hugging Face's `generate` (transformers 4.54 and later): of the best 2k, those among the first k that end compete for
 * k slots of finished hypotheses, and the best k that do not end live on; `early_stopping` says when that is settled.
 * Two departures, which matter only where fewer candidates exist than the beam is wide (tiny vocabularies, almost
 * everything masked): there, hypotheses of sum -1e9 fill the slots, here the slots stay empty; and where nothing may
 * follow any row, the rows end as they are unless something is finished already (so it is in all policies).
 *
 * Marian: the best k live on or, if they end, are finished, and k falls by one for each of these. Nothing takes their
 * slots, and nothing stops the search before no row lives.
 *
 * CTranslate2 (4.8): the best 2k as in Hugging Face's, but every one among the first k that ends is a hypothesis, and
 * the search stops when patience × k of them exist (rounded). With length_penalty 0 and coverage_penalty 0 it stops
 * when `nbest` exist and the best candidate of some step was one that ended. An end of sentence that is forced as the
 * first token does not end. The coverage penalty is added to the scores of all finished hypotheses in the end
 * (ferry_search_cover), before the best ones are chosen.
 *
 * In all of them a row of max_length tokens ends as it is. Equal scores: the older hypothesis, then the lower row, then
 * the lower id.
 *
 * Greedy search with `nbest` above 1 branches where nothing is given any more: its only row becomes `nbest` lanes, one
 * for each of the likeliest tokens (`alternatives`; none of them ends), or for each draw (`sample`), and each lane goes
 * on for itself. Lanes are hypotheses in this order, whatever their scores.
 *
 * A prefix is the beginning of every hypothesis. How its tokens count:
 * - Hugging Face (`generate` with decoder_input_ids): its tokens, and forced_first_id before them, add nothing to the
 *   sum and are not counted in n.
 * - Marian (--force-decode): they count as if they had been chosen.
 * - CTranslate2 (target_prefix): they add 0 and are counted. Directly after them, beam search loses a slot for each
 *   candidate that ends, except the best one.
 *
 * Scores are (sum - word_penalty·n) / n^length_penalty, n being the number of generated tokens, eos included (0 when n
 * is 0). The sum is in float32, of each token's log-probability
 * - CTranslate2: of the logits as the rules have changed them, the repetition penalty among them;
 * - beam search: as the rules have changed it (and not renormalized, unless `renormalize` is set);
 * - greedy search: as the network gave it, or as the rules have changed it when `renormalize` is set (the rules work on
 *   logits here, and decide the choice in both cases).
 * A forced token adds 0.
 *
 * A search is used by one thread at a time; different ones are independent. */
#ifndef FERRY_SEARCH_SEARCH_H
#define FERRY_SEARCH_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef struct ferry_arena ferry_arena;
typedef struct ferry_kernels ferry_kernels;
typedef struct ferry_logits ferry_logits;

typedef struct ferry_search_rules {
    ferry_options options; /* max_length ≥ 1: of this sentence (ferry_decoding_limit), eos counted; the fields of the
                            * search alone are read, `search` (not NULL) among them. scores 0: greedy search leaves
                            * scores 0, and omits their sums */
    const int32_t *eos_ids;
    int32_t eos_count;
    int32_t start_id; /* -1: a row of zeros, no token */
    /* [prefix_count] tokens that come first, after forced_first_id; with it, fewer than max_length. None of them ends
     */
    const int32_t *prefix;
    int32_t prefix_count;
    uint64_t stream; /* of the draws (ferry_sample_stream) */
} ferry_search_rules;

typedef struct ferry_hypothesis {
    const int32_t *ids; /* [length] generated tokens: no start token, eos when it was generated */
    int32_t length;
    float score;
    const float *token_scores; /* [length] each token's part of the sum; added up in order they are the sum */
    float coverage;            /* the coverage penalty, a part of the score */
} ferry_hypothesis;

typedef struct ferry_search ferry_search;

/* Tokens of a hypothesis with a prefix that its score does not count. */
int32_t ferry_search_uncounted(const ferry_options *options, int32_t prefix_count);
/* How many finished hypotheses beam search waits for. */
int32_t ferry_search_awaited(const ferry_options *options);
/* The most rows that live at the same time. */
int32_t ferry_search_width(const ferry_options *options);

/* *search and all that it will need come from the arena, and live until the caller releases them there. The rules are
 * copied; the ids that they point to are not. Errors: MEMORY, LIMIT; a beam that cannot be represented: ARGUMENT. */
ferry_status ferry_search_begin(ferry_arena *arena, const ferry_search_rules *rules, ferry_search **search,
                                ferry_error *error);

/* Whether the search may see its logits in parts. (Hugging Face's beams with a repetition penalty may not: it works on
 * log-probabilities. Nor may draws and alternatives.) Scores have the same bytes whatever the parts if all but the last
 * are multiples of FERRY_LOG_SUM_BLOCK columns. */
bool ferry_search_takes_parts(const ferry_search *search);

/* Shows such a search a part of the logits, one row for each living row: the columns that follow those that it saw
 * since the last step. The step gets the last part. The values are overwritten. */
void ferry_search_see(ferry_search *search, const ferry_kernels *kernels, const ferry_logits *part);

/* Whether a search needs no more of its logits than which column holds the largest: greedy search without scores. (A
 * penalty on repetitions would change the order of logits that are known coarsely.) */
bool ferry_search_needs_largest_only(const ferry_options *options);

/* -INFINITY for those exact logits of a part that its rules do not admit. The step then gets the one column that holds
 * the largest; if there is none, any column with -INFINITY. */
void ferry_search_mask(ferry_search *search, const ferry_logits *part);

/* logits: one row for each living row, in order; the last columns, or all. The values are overwritten.
 * Returns how many rows go on (≤ beam), and for each its next input ids [beam] and its row in `logits`,
 * parents [beam]; 0 when the sentence is finished (it is after max_length steps at the latest). */
int32_t ferry_search_step(ferry_search *search, const ferry_kernels *kernels, const ferry_logits *logits, int32_t *ids,
                          int32_t *parents);

/* What a search that goes on has so far: its first living row. The ids live until the next step. */
ferry_hypothesis ferry_search_so_far(const ferry_search *search);

/* Whether a logit, as its rules left it, was a NaN or INFINITY; the search is then finished, without hypotheses. */
bool ferry_search_is_damaged(const ferry_search *search);
/* Whether the scores of the hypotheses lack the coverage penalty: ferry_search_cover is to be called once. */
bool ferry_search_lacks_coverage(const ferry_search *search);
/* weights: of each of the ferry_search_count hypotheses, those of cross-attention [T, S]. To each score is added
 * (Wu et al. 2016, eq. 14)
 *
 *     coverage_penalty · Σ_s log(min(Σ_t weights[t, s], 1))
 *
 * in which, as in CTranslate2, source tokens of weight 0 do not count. The hypotheses are sorted again, and `weights`
 * with them. */
void ferry_search_cover(ferry_search *search, const float **weights, int32_t source_ids);
/* How many hypotheses a finished search has that is not damaged, best first: nbest, or fewer (at least 1)
 * when the rules admit no more; all that are finished while they lack the coverage penalty. The ids and token scores
 * live as long as the search. */
int32_t ferry_search_count(const ferry_search *search);
ferry_hypothesis ferry_search_hypothesis(const ferry_search *search, int32_t index);

#endif
