/* How a model decodes: what its file says in addition to the graph, and what follows from it for a sentence. Immutable,
 * shared by threads. */
#ifndef FERRY_SEARCH_DECODING_H
#define FERRY_SEARCH_DECODING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef struct ferry_arena ferry_arena;
typedef struct ferry_transformer ferry_transformer;

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

/* Which weights align source and target: the mean of some heads of one layer. */
typedef struct ferry_alignment {
    int32_t layer, head, heads; /* heads head … head + heads - 1 */
} ferry_alignment;

/* Those that the model's file names, else all heads of the last layer (docs/decoding.md says why). */
ferry_alignment ferry_alignment_choose(const ferry_generation *generation, const ferry_transformer *model);

/* Target tokens that a sentence of source_ids may have by the model's or the user's wish: max_length, or where it is 0
 * ⌈length_factor × source_ids⌉ + length_extra, from 1 to INT32_MAX. (Positions may end earlier.) */
int32_t ferry_decoding_limit(const ferry_options *options, int32_t source_ids);
/* The same, but not beyond the decoder's positions. */
int32_t ferry_decoding_target_limit(const ferry_options *options, const ferry_transformer *model, size_t source_ids);
/* The score of n tokens whose log-probabilities add up to `sum`; 0 of none. */
float ferry_decoding_score(const ferry_options *options, float sum, int32_t n);

/* *words [*count], ascending, from the arena: {0 … first - 1}, the lists of the source's ids and, with one vocabulary,
 * these ids, and those of the prefix [prefix_count], target ids; then, as in Marian, the smallest ids from `first` on
 * that are missing until 8 divides the count (at least one word, at most all). source [length]: ids of the encoder's
 * vocabulary; `vocab`: size of the target's, above every id that the shortlist names. Errors: MEMORY, LIMIT. */
ferry_status ferry_shortlist_words(const ferry_shortlist *shortlist, int32_t vocab, const int32_t *source,
                                   int32_t length, const int32_t *prefix, int32_t prefix_count, ferry_arena *arena,
                                   const int32_t **words, int32_t *count, ferry_error *error);

#endif
