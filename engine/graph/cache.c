#include "cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/system.h"

/* A slab of MAX_SLAB is a huge page, which is resident as a whole when its first block is used. */
enum { MIN_SLAB = 1 << 16, MAX_SLAB = 1 << 21, FRUGAL_BYTES = 8 << 20 };

struct ferry_cache_block {
    ferry_cache_block *next; /* in the list of free blocks */
    int32_t references;      /* sequences that hold the block */
    _Alignas(64) float data[];
};

struct ferry_cache_slab {
    ferry_cache_slab *previous;
    size_t bytes;
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
    layout->key_floats = ferry_round_up((size_t)head_width, FERRY_LINE_ELEMENTS) * FERRY_BLOCK_POSITIONS;
    layout->value_floats = ferry_round_up((size_t)head_width, FERRY_LANES);
    layout->layer_floats = (size_t)heads * (layout->key_floats + layout->value_floats * FERRY_BLOCK_POSITIONS);
    layout->positions = FERRY_BLOCK_POSITIONS;
}

void ferry_cache_init_states(ferry_cache *cache, int32_t layers, int32_t width)
{
    memset(cache, 0, sizeof *cache);
    cache->layout.layers = layers;
    cache->layout.layer_floats = ferry_round_up((size_t)width, FERRY_LANES);
    cache->layout.positions = INT32_MAX;
}

void ferry_cache_destroy(ferry_cache *cache)
{
    while (cache->slabs != NULL) {
        ferry_cache_slab *slab = cache->slabs;
        cache->slabs = slab->previous;
        ferry_account_give(cache->account, slab->bytes);
        ferry_large_free(slab, slab->bytes);
    }
    cache->free = NULL;
    cache->blocks = cache->untouched = cache->reserved = 0;
}

static size_t block_bytes_of(const ferry_cache *cache)
{
    return sizeof(ferry_cache_block) + ferry_cache_block_bytes(&cache->layout);
}

void ferry_cache_shrink(ferry_cache *cache, size_t bytes, size_t tokens)
{
    if (cache->reserved <= bytes) return; /* true for a zeroed cache, which has no layout */
    if (cache->reserved > tokens * (block_bytes_of(cache) / (size_t)cache->layout.positions))
        ferry_cache_destroy(cache);
}

/* A slab is as large as all slabs before it together: at least MIN_SLAB and one block, at most MAX_SLAB (unless a
 * block takes half of that), or MAX_SLAB / 2 in a frugal cache below FRUGAL_BYTES. 0: the size overflows. */
static size_t next_slab_bytes(const ferry_cache *cache, size_t block_bytes)
{
    const size_t max = cache->frugal && cache->reserved < FRUGAL_BYTES ? MAX_SLAB / 2 : SIZE_MAX;
    const size_t grown = cache->reserved > MIN_SLAB ? cache->reserved : MIN_SLAB;
    const size_t default_size = grown < max ? grown : max;
    const size_t count = (default_size - 1) / block_bytes + 1;
    size_t bytes;
    if (!ferry_mul_size(count, block_bytes, &bytes) || !ferry_add_size(bytes, sizeof(ferry_cache_slab), &bytes))
        return 0;
    return ferry_large_size(default_size >= MAX_SLAB && block_bytes < MAX_SLAB / 2 ? MAX_SLAB : bytes);
}

/* A slab, smaller than planned if the account refuses more. */
static ferry_status add_slab(ferry_cache *cache, ferry_error *error)
{
    const size_t block_bytes = block_bytes_of(cache), least = sizeof(ferry_cache_slab) + block_bytes;
    size_t bytes = cache->exact ? ferry_large_size(least) : next_slab_bytes(cache, block_bytes);
    bool counted = bytes > 0 && ferry_account_take(cache->account, bytes);
    while (!counted && bytes / 2 >= MIN_SLAB && bytes / 2 >= least) {
        bytes = ferry_large_size(bytes / 2);
        counted = ferry_account_take(cache->account, bytes);
    }
    ferry_cache_slab *slab = counted ? ferry_large_alloc(bytes) : NULL;
    if (slab == NULL && (counted || bytes == 0)) ferry_account_undo(cache->account, bytes);
    if (slab == NULL)
        return ferry_account_fail(cache->account, "keys and values", bytes > 0 ? bytes : SIZE_MAX, 1, error);
    slab->bytes = bytes;
    slab->previous = cache->slabs;
    cache->slabs = slab;
    cache->untouched = (bytes - sizeof *slab) / block_bytes;
    cache->blocks += cache->untouched;
    cache->reserved += bytes;
    cache->allocations++;
    return FERRY_OK;
}

static ferry_status take_block(ferry_cache *cache, float **data, ferry_error *error)
{
    ferry_cache_block *block = cache->free;
    if (block != NULL) {
        cache->free = block->next;
    } else {
        if (cache->untouched == 0) FERRY_TRY(add_slab(cache, error));
        /* The next block of the newest slab. Its pages need not be resident before. */
        const size_t block_bytes = block_bytes_of(cache);
        ferry_cache_slab *slab = cache->slabs;
        unsigned char *end = slab->data + (slab->bytes - sizeof *slab) / block_bytes * block_bytes;
        block = (ferry_cache_block *)(void *)(end - cache->untouched-- * block_bytes);
        memset(block, 0, block_bytes); /* kernels read empty slots, too, which must be finite */
    }
    block->references = 1;
    *data = block->data;
    return FERRY_OK;
}

static int32_t blocks_for(int32_t positions, int32_t block_positions)
{
    return positions / block_positions + (positions % block_positions != 0);
}

ferry_status ferry_kv_begin(ferry_arena *arena, int32_t positions, ferry_kv_sequence *sequence, ferry_error *error)
{
    memset(sequence, 0, sizeof *sequence);
    sequence->capacity = blocks_for(positions, FERRY_BLOCK_POSITIONS);
    sequence->blocks = ferry_arena_alloc(arena, (size_t)sequence->capacity, sizeof *sequence->blocks);
    if (sequence->blocks == NULL)
        return ferry_arena_fail(arena, "a list of blocks", (size_t)sequence->capacity, sizeof *sequence->blocks, error);
    return FERRY_OK;
}

ferry_status ferry_kv_extend(ferry_cache *cache, ferry_kv_sequence *sequence, int32_t length, ferry_error *error)
{
    const int32_t positions = cache->layout.positions;
    for (int32_t i = blocks_for(sequence->length, positions); i < blocks_for(length, positions); i++) {
        FERRY_TRY(take_block(cache, &sequence->blocks[i], error));
        /* Set for each block, so that the sequence can be released after a failure. */
        sequence->length = (i + 1) * positions;
    }
    sequence->length = length;
    return FERRY_OK;
}

/* The offset of values in a layer of a block. */
static size_t values_offset(const ferry_cache_layout *layout)
{
    return (size_t)layout->heads * layout->key_floats;
}

ferry_kv_view ferry_cache_keys(const ferry_cache_layout *layout, const ferry_kv_sequence *sequence, int32_t layer,
                               int32_t head, int32_t heads, int32_t count)
{
    return (ferry_kv_view){
        .blocks = (const float *const *)sequence->blocks,
        .offset = (size_t)layer * layout->layer_floats + (size_t)head * layout->key_floats,
        .head = layout->key_floats,
        .heads = heads,
        .width = layout->head_width,
        .count = count,
    };
}

ferry_kv_view ferry_cache_values(const ferry_cache_layout *layout, const ferry_kv_sequence *sequence, int32_t layer,
                                 int32_t head, int32_t heads, int32_t count)
{
    ferry_kv_view kv = ferry_cache_keys(layout, sequence, layer, 0, heads, count);
    kv.offset += values_offset(layout) + (size_t)head * layout->value_floats;
    kv.head = layout->value_floats;
    kv.stride = (size_t)layout->heads * layout->value_floats;
    return kv;
}

/* Writes key [K] of one head to its slot of a block. */
static void write_key(float *keys, size_t slot, const float *key, size_t K)
{
    float *to = keys + slot * FERRY_LINE_ELEMENTS;
    size_t d = 0;
    for (; d + FERRY_LINE_ELEMENTS <= K; d += FERRY_LINE_ELEMENTS)
        memcpy(to + d * FERRY_BLOCK_POSITIONS, key + d, FERRY_LINE_ELEMENTS * sizeof *to);
    if (d < K) memcpy(to + d * FERRY_BLOCK_POSITIONS, key + d, (K - d) * sizeof *to);
}

void ferry_kv_write(const ferry_cache *cache, const ferry_kv_sequence *sequence, int32_t layer, int32_t first,
                    int32_t count, const float *k, const float *v)
{
    const ferry_cache_layout *layout = &cache->layout;
    const size_t H = (size_t)layout->heads, K = (size_t)layout->head_width;
    for (int32_t i = 0; i < count; i++) {
        const size_t slot = (size_t)(first + i) % FERRY_BLOCK_POSITIONS;
        float *keys = sequence->blocks[(first + i) / FERRY_BLOCK_POSITIONS] + (size_t)layer * layout->layer_floats;
        float *values = keys + values_offset(layout) + slot * H * layout->value_floats;
        for (size_t h = 0; h < H; h++) {
            const size_t at = ((size_t)i * H + h) * K;
            write_key(keys + h * layout->key_floats, slot, k + at, K);
            memcpy(values + h * layout->value_floats, v + at, K * sizeof *v);
        }
    }
}

void ferry_kv_release(ferry_cache *cache, ferry_kv_sequence *sequence)
{
    const int32_t held = blocks_for(sequence->length, cache->layout.positions);
    for (int32_t i = 0; i < held; i++) {
        ferry_cache_block *block = block_of(sequence->blocks[i]);
        if (--block->references > 0) continue;
        block->next = cache->free;
        cache->free = block;
    }
    sequence->length = 0;
}

/* Makes `child` a continuation of `parent`: shares full blocks, and copies a partially filled one. */
static ferry_status continue_from(ferry_cache *cache, const ferry_kv_sequence *parent, ferry_kv_sequence *child,
                                  ferry_error *error)
{
    const ferry_cache_layout *layout = &cache->layout;
    const int32_t positions = layout->positions, full = parent->length / positions;
    for (int32_t i = 0; i < full; i++) {
        child->blocks[i] = parent->blocks[i];
        block_of(child->blocks[i])->references++;
    }
    child->length = full * positions;
    if (child->length == parent->length) return FERRY_OK;
    FERRY_TRY(take_block(cache, &child->blocks[full], error));
    const size_t count = (size_t)(parent->length % positions); /* the first of each layer; states are whole layers */
    const size_t filled = values_offset(layout) + (size_t)layout->heads * layout->value_floats * count;
    const size_t copied = positions == FERRY_BLOCK_POSITIONS ? filled : layout->layer_floats;
    for (int32_t layer = 0; layer < layout->layers; layer++) {
        const size_t at = (size_t)layer * layout->layer_floats;
        memcpy(child->blocks[full] + at, parent->blocks[full] + at, copied * sizeof(float));
    }
    child->length = parent->length;
    return FERRY_OK;
}

ferry_status ferry_kv_reorder(ferry_cache *cache, ferry_arena *arena, ferry_kv_sequence *sequences, int32_t before,
                              const int32_t *parents, int32_t count, ferry_error *error)
{
    bool identity = count == before;
    for (int32_t i = 0; identity && i < count; i++) identity = parents[i] == i;
    if (identity) return FERRY_OK;

    const int32_t max = count > before ? count : before;
    ferry_arena_mark mark = ferry_arena_begin(arena);
    bool failed = false;
    ferry_kv_sequence *old = ferry_arena_take(arena, (size_t)max, sizeof *old, &failed);
    int32_t *heir = ferry_arena_take(arena, (size_t)max, sizeof *heir, &failed);
    if (failed) return ferry_arena_fail(arena, "a reorder", (size_t)max, sizeof *old + sizeof *heir, error);
    /* The first child of a parent takes its list as it is; other children take the lists of parents without a child. */
    for (int32_t i = 0; i < max; i++) {
        old[i] = sequences[i];
        heir[i] = -1;
    }
    for (int32_t i = count; i-- > 0;) heir[parents[i]] = i;
    for (int32_t i = 0; i < before; i++)
        if (heir[i] < 0) ferry_kv_release(cache, &old[i]);
    ferry_status status = FERRY_OK;
    for (int32_t i = 0, spare = 0; i < max; i++) { /* spare: the next old list without an heir */
        if (i < count && heir[parents[i]] == i) {
            sequences[i] = old[parents[i]];
            continue;
        }
        while (heir[spare] >= 0) spare++;
        sequences[i] = old[spare++];
        if (i < count && status == FERRY_OK) status = continue_from(cache, &old[parents[i]], &sequences[i], error);
    }
    ferry_arena_end(arena, mark);
    return status;
}
