/* Rows of logits as columns of tokens, and the rules that change them before a token is chosen.
 *
 * The rules are Hugging Face's logits processors in their order: repetition penalty, no repeated n-gram, suppressed
 * ids, minimum length; as there, the start token counts among the tokens that have been seen (-1 stands for none).
 * Forced tokens replace a whole row and are the search's business. */
#ifndef FERRY_SEARCH_LOGITS_H
#define FERRY_SEARCH_LOGITS_H

#include <stddef.h>
#include <stdint.h>

#include "generation.h"

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
int32_t ferry_logits_place(const ferry_logits *logits, int32_t id);

/* x = x < 0 ? x · penalty : x / penalty for every token of ids [length], once for each token.
 * before [length] receives what stood there: before[i] is token ids[i]'s value (0 when it has none). */
void ferry_logits_penalize(const ferry_logits *logits, float *row, float penalty, const int32_t *ids, int32_t length,
                           float *before);

/* -INFINITY for every token that may not follow ids [length] (the start token and length - 1 generated ones):
 * it would complete an n-gram that occurs in ids, or is suppressed, or is one of eos_ids [eos_count] too early. */
void ferry_logits_mask(const ferry_logits *logits, float *row, const ferry_options *options, const int32_t *eos_ids,
                       int32_t eos_count, const int32_t *ids, int32_t length);

#endif
