/* Keys and values of attention in blocks of 4 positions, or the states of an SSRU.
 *
 * A sequence (a hypothesis, or the source sentence of cross-attention) is a list of blocks; a block holds 4 positions
 * of all layers:
 *
 *     layer 0: keys [H][⌈K/4⌉][4 positions][4 d] · values [4 positions][H][P]   (P: K rounded up to 16)
 *     layer 1: …
 *
 * So n positions fill the beginning of each layer, and attention (kernels.h) and copies read no more. Hypotheses with a
 * common beginning share its full blocks (reference counts). When a hypothesis splits, only the last, partially filled
 * block is copied. Memory grows with the number of tokens, not with beam × maximum length. Blocks are small because
 * sentences are short, and on average half of a sequence's last block is empty.
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
    size_t untouched;       /* blocks at the end of the newest slab that were never taken */
    size_t reserved;        /* bytes of all slabs */
    bool frugal;            /* a single sentence is decoded: the first slabs are small, without huge pages */
    bool exact;             /* each slab has one block: least memory, most requests */
    size_t allocations;     /* requests to the system, in total (tests count them) */
    ferry_account *account; /* counts the slabs; may be NULL */
} ferry_cache;

/* One sequence. Zeroed: empty. The list lives in an arena, see ferry_kv_begin. */
typedef struct ferry_kv_sequence {
    float **blocks;   /* [capacity] */
    int32_t length;   /* positions with keys and values, or in the SSRU's state */
    int32_t capacity; /* of the list */
} ferry_kv_sequence;

void ferry_cache_init(ferry_cache *cache, int32_t layers, int32_t heads, int32_t head_width);
/* Blocks of states [width], one for each layer. */
void ferry_cache_init_states(ferry_cache *cache, int32_t layers, int32_t width);
/* Releases all memory; no sequence may hold a block. The cache can be used again. */
void ferry_cache_destroy(ferry_cache *cache);
/* ferry_cache_destroy if the cache holds more than `bytes`, and more than the blocks of `tokens` positions. */
void ferry_cache_shrink(ferry_cache *cache, size_t bytes, size_t tokens);

/* The keys (values) at positions 0 … count - 1 of `heads` heads of a layer, from `head` on. */
ferry_kv_view ferry_cache_keys(const ferry_cache_layout *layout, const ferry_kv_sequence *sequence, int32_t layer,
                               int32_t head, int32_t heads, int32_t count);
ferry_kv_view ferry_cache_values(const ferry_cache_layout *layout, const ferry_kv_sequence *sequence, int32_t layer,
                                 int32_t head, int32_t heads, int32_t count);

/* Makes an empty sequence; its list, from `arena`, has room for `positions`. */
ferry_status ferry_kv_begin(ferry_arena *arena, int32_t positions, ferry_kv_sequence *sequence, ferry_error *error);
/* Adds unfilled blocks for positions up to length - 1, within the list's capacity. Sets sequence->length to
 * `length`. */
ferry_status ferry_kv_extend(ferry_cache *cache, ferry_kv_sequence *sequence, int32_t length, ferry_error *error);
/* Writes keys and values k, v [count, H·K] of one layer at positions first … first + count - 1. */
void ferry_kv_write(const ferry_cache *cache, const ferry_kv_sequence *sequence, int32_t layer, int32_t first,
                    int32_t count, const float *k, const float *v);
/* Returns the blocks to the cache; the list stays usable. */
void ferry_kv_release(ferry_cache *cache, ferry_kv_sequence *sequence);

/* Beam reorder: sequence i becomes a continuation of the former sequence parents[i], i < count. If count < before,
 * sequences count … before - 1 become empty. If count > before, sequences before … count - 1 must be empty, with
 * lists from ferry_kv_begin. Scratch comes from `arena`. */
ferry_status ferry_kv_reorder(ferry_cache *cache, ferry_arena *arena, ferry_kv_sequence *sequences, int32_t before,
                              const int32_t *parents, int32_t count, ferry_error *error);

#endif
