/* Terms by clipped distance, as Shaw and DeBERTa have them. A query at position i meets for key j the row
 *
 *     clamp(j - i + zero, 0, count - 1)
 *
 * of a table. As j grows the row grows or stays, so that a query's terms are a constant, a stretch of the table in
 * order, and another constant. */
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

/* The rows that a tile meets, from a multiple of 16 on. */
typedef struct ferry_clipped_range {
    int32_t base, rows;
} ferry_clipped_range;

enum { FERRY_CLIP_MAX = 1 << 16 };

/* The parameter `clip`, 1 … FERRY_CLIP_MAX. */
ferry_status ferry_clipped_parameter(const ferry_position_source *source, int32_t *clip, ferry_error *error);
/* position->parameters: `head` bytes, zeroed, then *tables: `floats` floats, 64-byte aligned. */
ferry_status ferry_clipped_allocate(ferry_position *position, size_t head, size_t floats, float **tables,
                                    ferry_error *error);

ferry_clipped_keys ferry_clipped_split(const ferry_clipped *clipped, int32_t position, int32_t keys);
ferry_clipped_range ferry_clipped_meets(const ferry_clipped *clipped, const ferry_position_tile *tile, bool causal);
/* Not less than the range's rows, rounded up to 16, of any tile of that size. */
size_t ferry_clipped_width(const ferry_clipped *clipped, int32_t queries, int32_t keys);

/* tile->scores[i, j] += q_i·table[row(i, j)] for the keys that a query sees; table as panels [⌈count/16⌉][K][16].
 * Scratch: [queries, ferry_clipped_width]. */
void ferry_clipped_scores(const ferry_clipped *clipped, const ferry_position *position, const ferry_kernels *kernels,
                          const float *panels, const ferry_position_tile *tile);

#endif
