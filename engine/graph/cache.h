/* The past of hypotheses and sentences: keys and values of attention, in blocks of 4 positions, or the states of an
 * SSRU.
 *
 * A sequence (a hypothesis, or a sentence seen by cross-attention) is a list of blocks; a block holds 4 positions of
 * all layers:
 *
 *     layer 0: keys [H][⌈K/4⌉][4 positions][4 d] · values [4 positions][H][P]   (P: K rounded up to 16)
 *     layer 1: …
 *
 * So n positions fill the beginning of each layer, and attention (kernels.h) and copies read no more. Hypotheses with a
 * common past share its full blocks (reference counts); when a hypothesis splits, only the last, partially filled block
 * is copied. Memory grows with the tokens that exist, not with beam × maximum length; blocks are small because
 * sentences are short and half of a sequence's last block is empty on average.
 *
 * An SSRU keeps one state [D] for each layer, whatever the position. Its block holds any number of positions: it is
 * always partially filled, so a split copies it. */
#ifndef FERRY_GRAPH_CACHE_H
#define FERRY_GRAPH_CACHE_H

#include "base/memory.h"
#include "base/status.h"
#include "engine/kernels/kernels.h"

typedef struct ferry_cache_layout {
    int32_t layers;
    int32_t heads;
    int32_t head_width;  /* K */
    size_t key_floats;   /* of one head in a block: 16·⌈K/4⌉ */
    size_t value_floats; /* of one head of a value: P */
    size_t layer_floats; /* of one layer in a block; a multiple of 16 */
    int32_t positions;   /* of a block: 4, or INT32_MAX for states */
} ferry_cache_layout;

typedef struct ferry_cache_block ferry_cache_block;
typedef struct ferry_cache_slab ferry_cache_slab;

/* Bytes of a block's data. */
static inline size_t ferry_cache_block_bytes(const ferry_cache_layout *layout)
{
    return (size_t)layout->layers * layout->layer_floats * sizeof(float);
}

/* Blocks of one layout, owned by one thread. It grows when no block is free. */
typedef struct ferry_cache {
    ferry_cache_layout layout;
    ferry_cache_slab *slabs;
    ferry_cache_block *free;
    size_t blocks;          /* in all slabs */
    size_t untouched;       /* of them at the end of the newest slab, which were never taken */
    size_t reserved;        /* bytes of all slabs */
    bool frugal;            /* few blocks are expected: the first ones have no huge pages */
    size_t allocations;     /* requests to the system, in total (tests count them) */
    ferry_account *account; /* where slabs are counted; NULL: nowhere */
} ferry_cache;

/* One sequence. Zeroed: empty. The list lives in an arena, see ferry_sequence_begin. */
typedef struct ferry_sequence {
    float **blocks;   /* [capacity] */
    int32_t length;   /* positions that hold keys and values, or that the state has seen */
    int32_t capacity; /* of the list */
} ferry_sequence;

void ferry_cache_init(ferry_cache *cache, int32_t layers, int32_t heads, int32_t head_width);
/* Blocks of states [width], one for each layer. */
void ferry_cache_init_states(ferry_cache *cache, int32_t layers, int32_t width);
/* Releases all memory; no sequence may hold a block. The cache can be used again. */
void ferry_cache_destroy(ferry_cache *cache);
/* The same if it holds more than `bytes`, and more than the blocks of `tokens`. */
void ferry_cache_shrink(ferry_cache *cache, size_t bytes, size_t tokens);

/* The keys (values) at positions 0 … count - 1 of `heads` heads of a layer, from `head` on. */
ferry_past ferry_cache_keys(const ferry_cache_layout *layout, const ferry_sequence *sequence, int32_t layer,
                            int32_t head, int32_t heads, int32_t count);
ferry_past ferry_cache_values(const ferry_cache_layout *layout, const ferry_sequence *sequence, int32_t layer,
                              int32_t head, int32_t heads, int32_t count);

/* An empty sequence whose list, from `arena`, can hold `positions`. */
ferry_status ferry_sequence_begin(ferry_arena *arena, int32_t positions, ferry_sequence *sequence, ferry_error *error);
/* Blocks for positions up to `length` - 1 (within the list's capacity), not yet filled. sequence->length becomes
 * `length`. */
ferry_status ferry_sequence_extend(ferry_cache *cache, ferry_sequence *sequence, int32_t length, ferry_error *error);
/* Writes keys and values k, v [count, H·K] of one layer at positions first … first + count - 1. */
void ferry_sequence_write(const ferry_cache *cache, const ferry_sequence *sequence, int32_t layer, int32_t first,
                          int32_t count, const float *k, const float *v);
/* Returns the blocks to the cache; the list stays usable. */
void ferry_sequence_release(ferry_cache *cache, ferry_sequence *sequence);

/* Beam reorder: sequence i becomes a continuation of the former sequence parents[i], i < count. Former sequences
 * count … before - 1 are released; new ones (count > before) need a list from ferry_sequence_begin, empty. Scratch
 * comes from `arena`. */
ferry_status ferry_sequence_reorder(ferry_cache *cache, ferry_arena *arena, ferry_sequence *sequences, int32_t before,
                                    const int32_t *parents, int32_t count, ferry_error *error);

#endif
