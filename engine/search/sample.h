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
#ifndef FERRY_SEARCH_SAMPLE_H
#define FERRY_SEARCH_SAMPLE_H

#include "generation.h"

/* Philox4x32-10: `numbers` becomes the block of this counter. */
void ferry_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t numbers[4]);

/* Names a sentence: FNV-1a, 64 bits, of its source ids, their number and the ids of its prefix. */
uint64_t ferry_sample_stream(const int32_t *ids, int32_t count, const int32_t *prefix, int32_t prefix_count);
/* Of draw number `draw` at this step: from 0 to 1, without 1; 53 bits. */
double ferry_sample_uniform(uint64_t seed, uint64_t stream, uint32_t draw, uint32_t step);

/* Which of values [count], at least one of them finite, can be drawn: sets places [*kept] (room for `count`) to their
 * indices. Returns how many they are. */
int32_t ferry_sample_keep(const ferry_options *options, const float *values, int32_t count, int32_t *places);
/* The one of places [kept] that belongs to `uniform`. */
int32_t ferry_sample_choose(const ferry_options *options, const float *values, const int32_t *places, int32_t kept,
                            double uniform);

#endif
