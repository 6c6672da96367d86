/* How a model generates translations: what its file says in addition to the graph. Immutable, shared by threads. */
#ifndef FERRY_SEARCH_GENERATION_H
#define FERRY_SEARCH_GENERATION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

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

#endif
