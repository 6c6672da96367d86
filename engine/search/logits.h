/* Rows of logits whose columns stand for tokens, the rules that change them before a token is chosen, and random draws.
 *
 * The rules are Hugging Face's logits processors in their order: repetition penalty, no repeated n-gram, suppressed
 * ids, minimum length. As there, the start token counts as a previous token (-1: no token). Forced tokens replace a
 * whole row; search.c handles them. */
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
    int32_t *order; /* [count] scratch, set if the row is whole */
} ferry_logits;

static inline int32_t ferry_logits_id(const ferry_logits *logits, int32_t column)
{
    return logits->ids != NULL ? logits->ids[column] : column;
}

/* The offset of token `id` in a row, 0 … count - 1; -1 if no column stands for it. */
int32_t ferry_logits_offset(const ferry_logits *logits, int32_t id);

/* x = x < 0 ? x · penalty : x / penalty for every token of ids [length], once for each token. before[i] receives the
 * value of token ids[i] before the penalty (0 if no column stands for it). */
void ferry_logits_penalize(const ferry_logits *logits, float *row, float penalty, const int32_t *ids, int32_t length,
                           float *before);

/* Sets tokens that may not follow ids [length], which are the start token and length - 1 generated ones, to -INFINITY:
 * - tokens that would complete an n-gram that occurs in ids (no_repeat_ngram);
 * - suppressed tokens;
 * - eos_ids [eos_count] before min_length. */
void ferry_logits_mask(const ferry_logits *logits, float *row, const ferry_options *options, const int32_t *eos_ids,
                       int32_t eos_count, const int32_t *ids, int32_t length);

/* Sets a token to -INFINITY. */
void ferry_logits_drop(const ferry_logits *logits, float *row, int32_t id);
/* Sets tokens whose bit in `ids` is 0 to -INFINITY. */
void ferry_logits_keep(const ferry_logits *logits, float *row, const uint64_t *ids);

/* Whether a logit in the sum is a NaN or INFINITY, which no intact model computes. -INFINITY marks a token that is
 * never chosen. */
bool ferry_log_sum_is_damaged(const ferry_log_sum *total);
#define FERRY_DAMAGED_LOGIT                                                                                            \
    "the model computed a logit that is not a finite number: its weights are broken or too large, as trained, "        \
    "or its file is damaged (ferry_model_verify)"

/* Drawing a token at random.
 *
 * The warpers of transformers decide, in their order, which tokens can be drawn:
 * - logits are divided by `temperature`;
 * - the top_k largest logits remain, and logits equal to the last of them;
 * - of the probabilities that these have among themselves, the largest remain until they add up to top_p, at least one
 *   (of equal ones the lower id comes first).
 * One of the remaining tokens is drawn by its probability among them.
 *
 * The random number of a draw depends on its coordinates alone: Philox4x32-10 (Salmon et al. 2011, "Parallel Random
 * Numbers: As Easy as 1, 2, 3") with the seed as key, and with the sentence, the number of the draw and the step as
 * counter. */

/* Philox4x32-10: `numbers` becomes the block of this counter. */
void ferry_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t numbers[4]);

/* A hash that identifies a sentence: 64-bit FNV-1a of its source ids, their number and the ids of its prefix. */
uint64_t ferry_sample_stream(const int32_t *ids, int32_t count, const int32_t *prefix, int32_t prefix_count);
/* The random number of draw `draw` at `step`, uniform in [0, 1), of 53 bits. */
double ferry_sample_uniform(uint64_t seed, uint64_t stream, uint32_t draw, uint32_t step);

/* Sets `indices`, with room for `count`, to the indices of values [count] that can be drawn, and returns their
 * number. At least one value is finite. */
int32_t ferry_sample_keep(const ferry_options *options, const float *values, int32_t count, int32_t *indices);
/* Draws one of indices [kept]: the one in whose share of the cumulative probability `uniform` lies. */
int32_t ferry_sample_choose(const ferry_options *options, const float *values, const int32_t *indices, int32_t kept,
                            double uniform);

#endif
