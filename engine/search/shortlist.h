/* The words of a sentence's output layer (generation.h: ferry_shortlist). */
#ifndef FERRY_SEARCH_SHORTLIST_H
#define FERRY_SEARCH_SHORTLIST_H

#include "base/memory.h"
#include "base/status.h"
#include "generation.h"

/* *words [*count], ascending, from the arena: {0 … first - 1}, the lists of the source's ids and, with one vocabulary,
 * these ids, and those of the prefix [prefix_count], target ids; then, as in Marian, the smallest ids from `first` on
 * that are missing until 8 divides the count (at least one word, at most all). source [length]: ids of the encoder's
 * vocabulary; `vocab`: size of the target's, above every id that the shortlist names. Errors: MEMORY. */
ferry_status ferry_shortlist_words(const ferry_shortlist *shortlist, int32_t vocab, const int32_t *source,
                                   int32_t length, const int32_t *prefix, int32_t prefix_count, ferry_arena *arena,
                                   const int32_t **words, int32_t *count, ferry_error *error);

#endif
