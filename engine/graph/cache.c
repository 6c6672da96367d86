#include "cache.h"

#include <stdlib.h>
#include <string.h>

#include "../base/bytes.h"

enum { SLAB_BYTES = 1 << 20 };

struct ferry_cache_block {
    ferry_cache_block *next; /* in the list of free blocks */
    int32_t references;      /* sequences that hold the block */
    _Alignas(64) float data[];
};

struct ferry_cache_slab {
    ferry_cache_slab *previous;
    _Alignas(64) unsigned char data[];
};

static ferry_cache_block *block_of(float *data)
{
    return (ferry_cache_block *)(void *)((unsigned char *)data - offsetof(ferry_cache_block, data));
}

void ferry_cache_init(ferry_cache *cache, int32_t layers, int32_t heads, int32_t head_width)
{
    memset(cache, 0, sizeof *cache);
    ferry_cache_layout *layout = &cache->layout;
    layout->layers = layers;
    layout->heads = heads;
    layout->head_width = head_width;
    layout->padded_width = (int32_t)ferry_round_up((size_t)head_width, FERRY_LANES);
    layout->layer_floats = (size_t)heads * (size_t)(head_width + layout->padded_width) * FERRY_BLOCK_POSITIONS;
}

void ferry_cache_destroy(ferry_cache *cache)
{
    while (cache->slabs != NULL) {
        ferry_cache_slab *slab = cache->slabs;
        cache->slabs = slab->previous;
        free(slab);
    }
    memset(cache, 0, sizeof *cache);
}

/* A slab is about as large as all slabs before it, so that their number stays logarithmic. */
static ferry_status add_slab(ferry_cache *cache, ferry_error *error)
{
    const size_t block_bytes =
        sizeof(ferry_cache_block) + (size_t)cache->layout.layers * cache->layout.layer_floats * sizeof(float);
    const size_t fit = SLAB_BYTES / block_bytes;
    size_t count = cache->blocks / 2 > fit ? cache->blocks / 2 : fit;
    if (count == 0) count = 1;
    size_t bytes;
    if (!ferry_mul_size(count, block_bytes, &bytes) || !ferry_add_size(bytes, sizeof(ferry_cache_slab), &bytes))
        return ferry_fail_memory(error, "keys and values", SIZE_MAX);
    ferry_cache_slab *slab = aligned_alloc(64, ferry_round_up(bytes, 64));
    if (slab == NULL) return ferry_fail_memory(error, "keys and values", bytes);
    memset(slab->data, 0, bytes - sizeof *slab); /* slots that hold no key yet are read too: let them be finite */
    slab->previous = cache->slabs;
    cache->slabs = slab;
    for (size_t i = 0; i < count; i++) {
        ferry_cache_block *block = (ferry_cache_block *)(void *)(slab->data + i * block_bytes);
        block->next = cache->free;
        cache->free = block;
    }
    cache->blocks += count;
    cache->allocations++;
    return FERRY_OK;
}

static ferry_status take_block(ferry_cache *cache, float **data, ferry_error *error)
{
    if (cache->free == NULL) FERRY_TRY(add_slab(cache, error));
    ferry_cache_block *block = cache->free;
    cache->free = block->next;
    block->references = 1;
    *data = block->data;
    return FERRY_OK;
}

static void drop_block(ferry_cache *cache, float *data)
{
    ferry_cache_block *block = block_of(data);
    if (--block->references > 0) return;
    block->next = cache->free;
    cache->free = block;
}

static int32_t blocks_for(int32_t positions)
{
    return positions / FERRY_BLOCK_POSITIONS + (positions % FERRY_BLOCK_POSITIONS != 0);
}

ferry_status ferry_sequence_begin(ferry_arena *arena, int32_t positions, ferry_sequence *sequence, ferry_error *error)
{
    memset(sequence, 0, sizeof *sequence);
    sequence->capacity = blocks_for(positions);
    sequence->blocks = ferry_arena_alloc(arena, (size_t)sequence->capacity, sizeof *sequence->blocks);
    if (sequence->blocks == NULL)
        return ferry_fail_memory(error, "a list of blocks", (size_t)sequence->capacity * sizeof *sequence->blocks);
    return FERRY_OK;
}

ferry_status ferry_sequence_extend(ferry_cache *cache, ferry_sequence *sequence, int32_t length, ferry_error *error)
{
    for (int32_t i = blocks_for(sequence->length); i < blocks_for(length); i++) {
        FERRY_TRY(take_block(cache, &sequence->blocks[i], error));
        /* One by one, so that a failure leaves a sequence that can be released. */
        sequence->length = (i + 1) * FERRY_BLOCK_POSITIONS;
    }
    sequence->length = length;
    return FERRY_OK;
}

void ferry_sequence_write(const ferry_cache *cache, const ferry_sequence *sequence, int32_t layer, int32_t first,
                          int32_t count, const float *k, const float *v)
{
    const ferry_cache_layout *layout = &cache->layout;
    const int32_t H = layout->heads, K = layout->head_width;
    for (int32_t i = 0; i < count; i++) {
        const int32_t position = first + i;
        float *block = sequence->blocks[position / FERRY_BLOCK_POSITIONS];
        const int32_t slot = position % FERRY_BLOCK_POSITIONS;
        const float *key = k + (size_t)i * (size_t)(H * K);
        const float *value = v + (size_t)i * (size_t)(H * K);
        float *keys = block + ferry_cache_keys(layout, layer, 0) + slot;
        for (int32_t d = 0; d < H * K; d++) keys[(size_t)d * FERRY_BLOCK_POSITIONS] = key[d];
        for (int32_t h = 0; h < H; h++)
            memcpy(block + ferry_cache_values(layout, layer, h) + (size_t)slot * (size_t)layout->padded_width,
                   value + (size_t)h * (size_t)K, (size_t)K * sizeof(float));
    }
}

void ferry_sequence_release(ferry_cache *cache, ferry_sequence *sequence)
{
    for (int32_t i = 0; i < blocks_for(sequence->length); i++) drop_block(cache, sequence->blocks[i]);
    sequence->length = 0;
}

/* `child` continues `parent`: full blocks are shared, the block being filled is copied. */
static ferry_status continue_from(ferry_cache *cache, const ferry_sequence *parent, ferry_sequence *child,
                                  ferry_error *error)
{
    const int32_t full = parent->length / FERRY_BLOCK_POSITIONS;
    for (int32_t i = 0; i < full; i++) {
        child->blocks[i] = parent->blocks[i];
        block_of(child->blocks[i])->references++;
    }
    child->length = full * FERRY_BLOCK_POSITIONS;
    if (full * FERRY_BLOCK_POSITIONS < parent->length) {
        FERRY_TRY(take_block(cache, &child->blocks[full], error));
        memcpy(child->blocks[full], parent->blocks[full],
               (size_t)cache->layout.layers * cache->layout.layer_floats * sizeof(float));
        child->length = parent->length;
    }
    return FERRY_OK;
}

ferry_status ferry_sequence_reorder(ferry_cache *cache, ferry_arena *arena, ferry_sequence *sequences, int32_t before,
                                    const int32_t *parents, int32_t count, ferry_error *error)
{
    bool identity = count == before;
    for (int32_t i = 0; identity && i < count; i++) identity = parents[i] == i;
    if (identity) return FERRY_OK;

    const int32_t most = count > before ? count : before;
    ferry_arena_mark mark = ferry_arena_begin(arena);
    ferry_sequence *old = ferry_arena_alloc(arena, (size_t)most, sizeof *old);
    int32_t *heir = ferry_arena_alloc(arena, (size_t)most, sizeof *heir);
    ferry_status status = FERRY_OK;
    if (old == NULL || heir == NULL) {
        status = ferry_fail_memory(error, "a reorder", (size_t)most * (sizeof *old + sizeof *heir));
        goto done;
    }
    /* The first child of a parent takes its lists as they are; the parents without a child leave theirs to the others.
     */
    for (int32_t i = 0; i < most; i++) {
        old[i] = sequences[i];
        heir[i] = -1;
    }
    for (int32_t i = count; i-- > 0;) heir[parents[i]] = i;
    int32_t spare = 0; /* old lists that nobody inherits, in order */
    for (int32_t i = 0; i < before; i++)
        if (heir[i] < 0) ferry_sequence_release(cache, &old[i]);
    for (int32_t i = 0; i < count; i++) {
        if (heir[parents[i]] == i) {
            sequences[i] = old[parents[i]];
            continue;
        }
        while (heir[spare] >= 0) spare++;
        sequences[i] = old[spare++];
        if (status == FERRY_OK) status = continue_from(cache, &old[parents[i]], &sequences[i], error);
    }
    for (int32_t i = count; i < most; i++) {
        while (heir[spare] >= 0) spare++;
        sequences[i] = old[spare++];
    }
done:
    ferry_arena_end(arena, mark);
    return status;
}
