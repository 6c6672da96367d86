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

/* Keys 0 … left - 1 have row 0, keys from right on row count - 1, keys between the rows first, first + 1, … */
typedef struct ferry_clipped_keys {
    int32_t left, right, first;
} ferry_clipped_keys;

/* The rows that a tile needs, from a multiple of 16 on. */
typedef struct ferry_clipped_range {
    int32_t base, rows;
} ferry_clipped_range;

ferry_clipped_keys ferry_clipped_split(const ferry_clipped *clipped, int32_t position, int32_t keys);
ferry_clipped_range ferry_clipped_meets(const ferry_clipped *clipped, const ferry_position_tile *tile, bool causal);
/* At least the rows, rounded up to 16, that any tile of that size needs. */
size_t ferry_clipped_width(const ferry_clipped *clipped, int32_t queries, int32_t keys);

/* scores[j] += terms[row of key j] for the keys that a query sees; terms [count]. */
void ferry_clipped_add(const ferry_clipped *clipped, const ferry_kernels *kernels, const float *terms, int32_t position,
                       int32_t keys, float *scores);
/* tile->scores[i, j] += q_i·table[row(i, j)] for the keys that a query sees; table as panels [⌈count/16⌉][K][16].
 * Scratch: [queries, ferry_clipped_width]. */
void ferry_clipped_scores(const ferry_clipped *clipped, const ferry_position *position, const float *panels,
                          const ferry_position_tile *tile);

#endif
