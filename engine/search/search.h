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

#include "base/memory.h"
#include "base/status.h"
#include "engine/graph/transformer.h"
#include "engine/kernels/kernels.h"

/* How a model generates translations: what its file says in addition to the graph. Immutable, shared by threads. */

/* Target words that a source word may become: a sentence's output layer then has only the words 0 … first - 1, those of
 * its source ids' lists, and, with one vocabulary for both sides, its source ids themselves. Marian's lexical shortlist
 * (Junczys-Dowmunt et al. 2018, "Marian: Cost-effective High-Quality NMT in C++", section 4.4), one for each sentence.
 */
typedef struct ferry_shortlist {
    int32_t first;
    bool shared;             /* one vocabulary */
    const uint32_t *offsets; /* [encoder V + 1]  shortlist.offsets; NULL if there is no shortlist */
    const int32_t *ids;      /* [offsets[V]] list of source id s: ids[offsets[s]] … ascending  shortlist.ids */
} ferry_shortlist;

/* The model's own choices: a user's defaults. */
typedef struct ferry_decoding {
    ferry_options options; /* `search` unused */
    ferry_search_options search;
} ferry_decoding;

typedef struct ferry_generation {
    int32_t start_id;       /* the decoder's first input; -1: a row of zeros in place of an embedding */
    const int32_t *eos_ids; /* [eos_count] each ends a hypothesis; the first one pads */
    int32_t eos_count;
    int32_t pad_id; /* -1 if there is none */
    /* The cross-attention whose weights are the model's alignment: the mean of `alignment_heads` heads from the first
     * on. -1: unknown */
    int32_t alignment_layer, alignment_head;
    int32_t alignment_heads;
    ferry_decoding decoding;
    ferry_shortlist shortlist;
} ferry_generation;

/* Rows of logits as columns of tokens, and the rules that change them before a token is chosen.
 *
 * The rules are Hugging Face's logits processors in their order: repetition penalty, no repeated n-gram, suppressed
 * ids, minimum length; as there, the start token counts among the tokens that have been seen (-1 stands for none).
 * Forced tokens replace a whole row and are the search's business. */

/* Columns first … first + count - 1 of rows of logits; row r starts at values + r · ld. Column c stands for token
 * ids[c], or for token c when ids is NULL. ids ascend, so that the order of columns is the order of ids. */
typedef struct ferry_logits {
    float *values;      /* [rows, count] */
    size_t ld;          /* floats from row to row, ≥ count */
    const int32_t *ids; /* [≥ first + count] or NULL */
    int32_t count;
    int32_t first;
    int32_t *order; /* [count] scratch, where the columns are all */
} ferry_logits;

static inline int32_t ferry_logits_id(const ferry_logits *logits, int32_t column)
{
    return logits->ids != NULL ? logits->ids[column] : column;
}

/* Where in a row, from 0 to count - 1, token `id` has its value; -1 when no column stands for it. */
int32_t ferry_logits_offset(const ferry_logits *logits, int32_t id);

/* x = x < 0 ? x · penalty : x / penalty for every token of ids [length], once for each token.
 * before [length] receives what stood there: before[i] is token ids[i]'s value (0 when it has none). */
void ferry_logits_penalize(const ferry_logits *logits, float *row, float penalty, const int32_t *ids, int32_t length,
                           float *before);

/* -INFINITY for every token that may not follow ids [length] (the start token and length - 1 generated ones):
 * it would complete an n-gram that occurs in ids, or is suppressed, or is one of eos_ids [eos_count] too early. */
void ferry_logits_mask(const ferry_logits *logits, float *row, const ferry_options *options, const int32_t *eos_ids,
                       int32_t eos_count, const int32_t *ids, int32_t length);

/* Drawing a token at random.
 *
 * Which logits can be drawn is decided by transformers' warpers, in their order: divided by `temperature`; then those
 * of the top_k largest (and those that equal the last of them); then, of the probabilities that these have among
 * themselves, the largest until they add up to top_p (of equal ones the lower id first), at least one. One of the rest
 * is drawn by its probability among them.
 *
 * The random number of a draw is a function of its coordinates, so that it depends on nothing else: Philox4x32-10
 * (Salmon et al. 2011, "Parallel Random Numbers: As Easy as 1, 2, 3") of the seed as key, and of the sentence, the
 * number of the draw and the step as counter. */

/* Philox4x32-10: `numbers` becomes the block of this counter. */
void ferry_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t numbers[4]);

/* Names a sentence: FNV-1a, 64 bits, of its source ids, their number and the ids of its prefix. */
uint64_t ferry_sample_stream(const int32_t *ids, int32_t count, const int32_t *prefix, int32_t prefix_count);
/* The random number of draw `draw` at this step: from 0 to 1, without 1; 53 bits. */
double ferry_sample_uniform(uint64_t seed, uint64_t stream, uint32_t draw, uint32_t step);

/* Which of values [count], at least one of them finite, can be drawn: sets `indices`, with room for `count`, to their
 * indices, and returns how many they are. */
int32_t ferry_sample_keep(const ferry_options *options, const float *values, int32_t count, int32_t *indices);
/* The one of indices [kept] that belongs to `uniform`. */
int32_t ferry_sample_choose(const ferry_options *options, const float *values, const int32_t *indices, int32_t kept,
                            double uniform);

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

/* Target tokens that a sentence of source_ids may have by the model's or the user's wish: max_length, or where it is 0
 * ⌈length_factor × source_ids⌉ + length_extra, from 1 to INT32_MAX. (Positions may end earlier.) */
int32_t ferry_decoding_limit(const ferry_options *options, int32_t source_ids);
/* The same, but not beyond the decoder's positions. */
int32_t ferry_decoding_target_limit(const ferry_options *options, const ferry_transformer *model, size_t source_ids);
/* The score of n tokens whose log-probabilities add up to `sum`; 0 of none. */
float ferry_decoding_score(const ferry_options *options, float sum, int32_t n);

/* Tokens of a hypothesis with a prefix that its score does not count. */
int32_t ferry_search_uncounted(const ferry_options *options, int32_t prefix_count);
/* How many finished hypotheses beam search waits for. */
int32_t ferry_search_awaited(const ferry_options *options);
/* The most rows that live at the same time. */
int32_t ferry_search_width(const ferry_options *options);

/* *search and all that it will need come from the arena, and live until the caller releases them there. The rules are
 * copied; the ids that they point to are not. Out of memory: MEMORY; a beam that cannot be represented: ARGUMENT. */
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

/* Whether the logits in the sum cannot be from an intact model: one is a NaN or INFINITY. -INFINITY is a token that is
 * never chosen. */
bool ferry_log_sum_is_damaged(const ferry_log_sum *total);
#define FERRY_DAMAGED_LOGIT                                                                                            \
    "the model computed a logit that is not a finite number: its weights are broken or too large, as trained, "        \
    "or its file is damaged (ferry_model_verify)"
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
