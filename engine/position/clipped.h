/* Terms by clipped distance, as in Shaw, DeBERTa and T5.
 *
 * For a query at position i, key j has the row
 *
 *     clamp(j - i + zero, 0, count - 1)
 *
 * of a table. The row never decreases as j grows, so a query's terms are a constant, consecutive rows of the table, and
 * another constant. */
#ifndef FERRY_POSITION_CLIPPED_H
#define FERRY_POSITION_CLIPPED_H

#include "position.h"

typedef struct ferry_clipped {
    int32_t count; /* rows, at least 2 */
    int32_t zero;  /* row of distance 0 */
} ferry_clipped;

/* Keys below `left` have row 0, keys from `right` on row count - 1, keys left … right - 1 rows first, first + 1, … */
typedef struct ferry_clipped_keys {
    int32_t left, right, first;
} ferry_clipped_keys;

/* The rows base … base + rows - 1 of a tile's queries and keys; base is a multiple of 16. */
typedef struct ferry_clipped_range {
    int32_t base, rows;
} ferry_clipped_range;

/* Splits keys 0 … keys - 1 of a query at `position`. */
ferry_clipped_keys ferry_clipped_find_keys(const ferry_clipped *clipped, int32_t position, int32_t keys);
ferry_clipped_range ferry_clipped_find_range(const ferry_clipped *clipped, const ferry_position_tile *tile,
                                             bool causal);
/* Upper bound of range.rows, rounded up to 16, for a tile of this size at any position. */
size_t ferry_clipped_width(const ferry_clipped *clipped, int32_t queries, int32_t keys);

/* scores[j] += terms[row of key j] for the visible keys of the query at `position`; terms [count]. */
void ferry_clipped_add(const ferry_clipped *clipped, const ferry_kernels *kernels, const float *terms, int32_t position,
                       int32_t keys, float *scores);
/* tile->scores[i, j] += q_i·table[row(i, j)] for the visible keys; table as panels [⌈count/16⌉][K][16].
 * Scratch: [queries, ferry_clipped_width]. */
void ferry_clipped_scores(const ferry_clipped *clipped, const ferry_position *position, const float *panels,
                          const ferry_position_tile *tile);

#endif
