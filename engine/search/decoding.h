/* How a model decodes: what its file says beside the graph (ferry_generation), and the limits, scores and shortlists
 * that follow for a sentence. A ferry_generation is immutable and shared by threads. */
#ifndef FERRY_SEARCH_DECODING_H
#define FERRY_SEARCH_DECODING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef struct ferry_arena ferry_arena;
typedef struct ferry_transformer ferry_transformer;

/* The target words that each source word allows. The output layer of a sentence has the words 0 … first - 1, the
 * lists of its source ids and, with one vocabulary for both sides, its source ids. This is Marian's lexical
 * shortlist (Junczys-Dowmunt et al. 2018, "Marian: Cost-effective High-Quality NMT in C++", section 4.4), made for
 * each sentence. */
typedef struct ferry_shortlist {
    int32_t first;
    bool shared;             /* one vocabulary for both sides */
    const uint32_t *offsets; /* [encoder V + 1]  shortlist.offsets; NULL if there is no shortlist */
    const int32_t *ids;      /* [offsets[V]] list of source id s: ids[offsets[s]] … ascending  shortlist.ids */
} ferry_shortlist;

/* Options that the model file sets: the defaults of its users. */
typedef struct ferry_decoding {
    ferry_options options; /* `search` unused */
    ferry_search_options search;
} ferry_decoding;

typedef struct ferry_generation {
    int32_t start_id;       /* the decoder's first input; -1: a row of zeros in place of an embedding */
    const int32_t *eos_ids; /* [eos_count] each ends a hypothesis; the first one ends a given target */
    int32_t eos_count;
    int32_t pad_id; /* -1 if there is none */
    /* The alignment is the mean of the cross-attention weights of heads alignment_head … alignment_head +
     * alignment_heads - 1 in layer alignment_layer. -1: unknown. */
    int32_t alignment_layer, alignment_head;
    int32_t alignment_heads;
    ferry_decoding decoding;
    ferry_shortlist shortlist;
} ferry_generation;

/* The alignment of source and target: the mean of the cross-attention weights of heads head … head + heads - 1 in
 * `layer`. */
typedef struct ferry_alignment {
    int32_t layer, head, heads;
} ferry_alignment;

/* The heads that the model file names, else all heads of the last layer (docs/decoding.md says why). */
ferry_alignment ferry_alignment_choose(const ferry_generation *generation, const ferry_transformer *model);

/* The maximum number of target tokens for `source_ids` source tokens: max_length, or if max_length is 0,
 * ⌈length_factor × source_ids⌉ + length_extra, clamped to 1 … INT32_MAX. */
int32_t ferry_decoding_limit(const ferry_options *options, int32_t source_ids);
/* ferry_decoding_limit, but at most the decoder's number of positions. */
int32_t ferry_decoding_target_limit(const ferry_options *options, const ferry_transformer *model, size_t source_ids);
/* The score of n tokens whose log-probabilities add up to `sum`; 0 if n <= 0. */
float ferry_decoding_score(const ferry_options *options, float sum, int32_t n);

/* *words [*count], ascending, from the arena: 0 … first - 1, the lists of the source ids, these ids themselves with one
 * vocabulary, and the ids of the prefix [prefix_count]. As in Marian, the smallest missing ids from `first` on pad the
 * list to a multiple of 8 (at least one word, at most all).
 * source [length]: ids of the encoder's vocabulary. `vocab`: size of the target vocabulary, above every id in the
 * shortlist. Errors: MEMORY, LIMIT. */
ferry_status ferry_shortlist_words(const ferry_shortlist *shortlist, int32_t vocab, const int32_t *source,
                                   int32_t length, const int32_t *prefix, int32_t prefix_count, ferry_arena *arena,
                                   const int32_t **words, int32_t *count, ferry_error *error);

#endif
