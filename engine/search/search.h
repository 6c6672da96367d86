/* The search for the translation of one sentence, as a state machine that never sees the network.
 *
 *     begin                      one hypothesis lives: the start token
 *     ┌─> the caller computes the logits that follow each living hypothesis
 *     └── step                   sets the hypotheses that continue, each with its next input token and its parent
 *     step returned 0            the hypotheses are complete
 *
 * Greedy search if `beam` is 1, else beam search, which in each step ranks all continuations of all hypotheses by their
 * sums. Three policies decide what becomes of them; k is the beam.
 *
 * Hugging Face's `generate` (transformers 4.54 and later): of the best 2k continuations, those among the first k that
 * end compete for k slots of finished hypotheses. The best k that do not end live on. `early_stopping` says when the
 * search ends. Ferry departs from it in two cases, with fewer candidates than k (tiny vocabularies, almost everything
 * masked). Slots stay empty that Hugging Face fills with hypotheses of sum -1e9. If nothing may follow any hypothesis,
 * the hypotheses end as they are unless one is finished already (in all policies).
 *
 * Marian: of the best k continuations, those that end are finished hypotheses, and each lowers k by one. The others
 * live on. The search ends when no hypothesis lives.
 *
 * CTranslate2 (4.8): of the best 2k continuations, each among the first k that ends is a finished hypothesis. The best
 * k that do not end live on. The search ends when patience × k hypotheses are finished (rounded). With length_penalty 0
 * and coverage_penalty 0 it ends when `nbest` are finished and the best candidate of some step ended. An eos that is
 * forced as the first token does not end a hypothesis. The coverage penalty is added to the scores of all finished
 * hypotheses after the search (ferry_search_cover), before the best ones are chosen.
 *
 * In all policies a hypothesis of max_length tokens ends as it is. Of equal scores, the one that finished first is
 * better. Of equal sums, the candidate of the better parent is better, then the candidate with the lower id.
 *
 * Greedy search with `nbest` above 1 branches at the first token that is not given. Its only hypothesis becomes `nbest`
 * lanes: one for each of the likeliest tokens without eos (`alternatives`), or one for each draw (`sample`). Each lane
 * continues independently. Hypotheses are in the order of lanes, whatever their scores.
 *
 * A prefix is the beginning of every hypothesis. How its tokens count:
 * - Hugging Face (`generate` with decoder_input_ids): its tokens, and forced_first_id before them, add nothing to the
 *   sum and are not counted in n.
 * - Marian (--force-decode): they count as if the search had chosen them.
 * - CTranslate2 (target_prefix): they add 0 and are counted. In the step after the prefix, beam search loses a slot for
 *   each candidate that ends, except the best one.
 *
 * Scores are (sum - word_penalty·n) / n^length_penalty, n being the number of generated tokens, eos included (0 if n is
 * 0). The sum, in float32, has a log-probability for each token:
 * - CTranslate2: of the logits after all rules, the repetition penalty among them;
 * - beam search: after the rules, not renormalized unless `renormalize` is set;
 * - greedy search: before the rules, or after them if `renormalize` is set (the rules change logits here, and decide
 *   the choice in both cases).
 * A forced token adds 0, except in a prefix of Marian.
 *
 * Only one thread at a time may use a search. Searches are independent. */
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
    ferry_options options; /* max_length ≥ 1: the limit of this sentence (ferry_decoding_limit), eos included. Only
fields !                            * about the search are read; `search` is not NULL. scores 0: greedy search leaves
all !                            * scores 0, and omits their sums */
    const int32_t *eos_ids;
    int32_t eos_count;
    int32_t start_id; /* -1: a row of zeros, no token */
    /* [prefix_count] the first tokens, after forced_first_id; together fewer than max_length. An eos in the prefix
     * does not end a hypothesis. */
    const int32_t *prefix;
    int32_t prefix_count;
    /* NULL, or a bit for each id: tokens that may follow a word, which a prefix with `ends_word` and each of `once` is
     */
    const uint64_t *word_begins;
    bool ends_word;
    const uint64_t *admitted; /* NULL, or a bit for each id: only these are generated after the prefix */
    const int32_t *once;      /* [once_count] words that occur at most once */
    size_t once_count;
    uint64_t stream; /* names the sentence in draws (ferry_sample_stream) */
} ferry_search_rules;

typedef struct ferry_hypothesis {
    const int32_t *ids; /* [length] generated tokens, without the start token, with eos if it was generated */
    int32_t length;
    float score;
    const float *token_scores; /* [length] each token's term of the sum, in the order of addition */
    float coverage;            /* the coverage penalty, a term of the score */
} ferry_hypothesis;

typedef struct ferry_search ferry_search;

/* The number of tokens, with a prefix, that a score does not count. */
int32_t ferry_search_uncounted(const ferry_options *options, int32_t prefix_count);
/* The number of finished hypotheses that beam search waits for. */
int32_t ferry_search_awaited(const ferry_options *options);
/* The maximum number of living hypotheses. */
int32_t ferry_search_width(const ferry_options *options);

/* Allocates *search and its memory from the arena, where the caller releases them. Copies the rules, but not the ids
 * that they point to. Errors: MEMORY, LIMIT; ARGUMENT (the beam is too large to be represented). */
ferry_status ferry_search_begin(ferry_arena *arena, const ferry_search_rules *rules, ferry_search **search,
                                ferry_error *error);

/* Whether the search takes its logits in parts. (Beam search with a repetition penalty does not, except
 * CTranslate2's: that penalty applies to log-probabilities. Draws and alternatives do not, either.) Scores have the
 * same bytes for all parts that are multiples of FERRY_LOG_SUM_BLOCK columns; the last part may have any size. */
bool ferry_search_takes_parts(const ferry_search *search);

/* Shows a part of the logits, one row for each living hypothesis, to a search that takes parts. Parts come in the
 * order of columns; the last part goes to ferry_search_step. Overwrites the values. */
void ferry_search_see(ferry_search *search, const ferry_kernels *kernels, const ferry_logits *part);

/* Whether a search needs only the column of the largest logit: greedy search without scores, draws, alternatives or
 * repetition penalty. (The penalty would change the order of coarse logits.) */
bool ferry_search_needs_largest_only(const ferry_options *options);

/* Sets the exact logits of a part that the rules do not admit to -INFINITY. The step then gets one column, that of
 * the largest logit; if all are -INFINITY, any column with this value. */
void ferry_search_mask(ferry_search *search, const ferry_logits *part);

/* logits: one row for each living hypothesis, in order; the last part of the columns, or all. Overwrites the values.
 * Returns the number of hypotheses that continue, at most ferry_search_width, and for each its next input id in
 * `ids` and its row of `logits` in `parents`. Returns 0 if the sentence is finished, after max_length steps at the
 * latest. */
int32_t ferry_search_step(ferry_search *search, const ferry_kernels *kernels, const ferry_logits *logits, int32_t *ids,
                          int32_t *parents);

/* The first living hypothesis of a search that continues. Its ids live until the next step. */
ferry_hypothesis ferry_search_so_far(const ferry_search *search);

/* Whether a logit, after the rules, was a NaN or INFINITY. The search is then finished, without hypotheses. */
bool ferry_search_is_damaged(const ferry_search *search);
/* Whether the scores lack the coverage penalty. The caller then calls ferry_search_cover once. */
bool ferry_search_lacks_coverage(const ferry_search *search);
/* Adds the coverage penalty to each score (Wu et al. 2016, eq. 14)
 *
 *     coverage_penalty · Σ_s log(min(Σ_t weights[t, s], 1))
 *
 * in which, as in CTranslate2, source tokens of weight 0 do not count. weights [ferry_search_count]: the
 * cross-attention weights of each hypothesis [T, S]. Sorts the hypotheses again, and `weights` with them. */
void ferry_search_cover(ferry_search *search, const float **weights, int32_t source_ids);
/* The number of hypotheses of a finished search that is not damaged, best first: nbest, or fewer (at least 1) if the
 * rules admit no more; while they lack the coverage penalty, all finished ones. Their ids and token scores live as
 * long as the search. */
int32_t ferry_search_count(const ferry_search *search);
ferry_hypothesis ferry_search_hypothesis(const ferry_search *search, int32_t index);

#endif
