/* Rows of logits as columns of tokens, and the rules that change them before a token is chosen.
 *
 * The rules are Hugging Face's logits processors in their order: repetition penalty, no repeated n-gram, suppressed
 * ids, minimum length; as there, the start token counts among the tokens that have been seen (-1 stands for none).
 * Forced tokens replace a whole row and are the search's business. */
#ifndef FERRY_SEARCH_LOGITS_H
#define FERRY_SEARCH_LOGITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef struct ferry_log_sum ferry_log_sum;

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

/* Whether the logits in the sum cannot be from an intact model: one is a NaN or INFINITY. -INFINITY is a token that is
 * never chosen. */
bool ferry_log_sum_is_damaged(const ferry_log_sum *total);
#define FERRY_DAMAGED_LOGIT                                                                                            \
    "the model computed a logit that is not a finite number: its weights are broken or too large, as trained, "        \
    "or its file is damaged (ferry_model_verify)"

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

#endif
