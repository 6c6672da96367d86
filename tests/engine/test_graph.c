/* The cache of keys and values, and the memory that it takes. */
#include "engine/graph/cache.h"
#include "tests/support/random.h"
#include "tests/support/support.h"

static uint32_t random_state = 12345;

static float random_float(void)
{
    return (float)next_random(&random_state) / 8388608.0f - 1.0f;
}

/* ---- the cache ---- */

enum { LAYERS = 2, HEADS = 3, WIDTH = 5, ROW = HEADS * WIDTH, MOST = 6, STEPS = 60 };

/* A hypothesis' past, kept the plain way. */
typedef struct past {
    float k[STEPS][LAYERS][ROW], v[STEPS][LAYERS][ROW];
    int32_t length;
} past;

static void check_past(const ferry_cache *cache, const ferry_sequence *sequence, const past *expected)
{
    assert_int_equal(sequence->length, expected->length);
    for (int32_t layer = 0; layer < LAYERS; layer++) {
        const ferry_past keys = ferry_cache_keys(&cache->layout, sequence, layer, 0, HEADS, expected->length);
        const ferry_past values = ferry_cache_values(&cache->layout, sequence, layer, 0, HEADS, expected->length);
        for (int32_t p = 0; p < expected->length; p++)
            for (int32_t i = 0; i < ROW; i++) {
                const size_t h = (size_t)(i / WIDTH), d = (size_t)(i % WIDTH), slot = (size_t)(p % 4);
                const float *block = sequence->blocks[p / 4];
                const float *key = block + keys.offset + h * keys.head;
                const float *value = block + values.offset + h * values.head + slot * values.stride;
                assert_true(key[d / 4 * 16 + slot * 4 + d % 4] == expected->k[p][layer][i]);
                assert_true(value[d] == expected->v[p][layer][i]);
            }
    }
}

static void append_random(ferry_cache *cache, ferry_sequence *sequence, past *expected)
{
    const int32_t p = expected->length++;
    CHECK(ferry_sequence_extend(cache, sequence, expected->length, &error));
    for (int32_t layer = 0; layer < LAYERS; layer++) {
        for (int32_t i = 0; i < ROW; i++) {
            expected->k[p][layer][i] = random_float();
            expected->v[p][layer][i] = random_float();
        }
        ferry_sequence_write(cache, sequence, layer, p, 1, expected->k[p][layer], expected->v[p][layer]);
    }
}

/* Random reorders with splits, deaths and growth: every hypothesis keeps exactly its own past, and no block is lost. */
TEST(test_reordered_hypotheses_keep_their_past)
{
    ferry_cache cache;
    ferry_arena arena = {0};
    ferry_sequence sequences[MOST];
    static past pasts[MOST], next[MOST];
    ferry_cache_init(&cache, LAYERS, HEADS, WIDTH);
    for (int round = 0; round < 20; round++) {
        const ferry_arena_mark mark = ferry_arena_begin(&arena);
        int32_t rows = 1;
        memset(pasts, 0, sizeof pasts);
        for (int32_t i = 0; i < MOST; i++) CHECK(ferry_sequence_begin(&arena, STEPS, &sequences[i], &error));
        for (int32_t step = 0; step < STEPS && rows > 0; step++) {
            int32_t parents[MOST];
            for (int32_t i = 0; i < rows; i++) append_random(&cache, &sequences[i], &pasts[i]);
            for (int32_t i = 0; i < rows; i++) check_past(&cache, &sequences[i], &pasts[i]);
            const int32_t count = step == STEPS - 1 ? 0 : 1 + (int32_t)(next_random(&random_state) % MOST);
            for (int32_t i = 0; i < count; i++) {
                parents[i] = (int32_t)(next_random(&random_state) % (uint32_t)rows);
                next[i] = pasts[parents[i]];
            }
            CHECK(ferry_sequence_reorder(&cache, &arena, sequences, rows, parents, count, &error));
            memcpy(pasts, next, sizeof pasts);
            rows = count;
            for (int32_t i = 0; i < rows; i++) check_past(&cache, &sequences[i], &pasts[i]);
        }
        ferry_arena_end(&arena, mark);
    }
    /* All blocks are free again: as many can be taken as were made, without asking for memory. */
    const size_t allocations = cache.allocations;
    ferry_sequence all;
    CHECK(ferry_sequence_begin(&arena, (int32_t)cache.blocks * 4, &all, &error));
    CHECK(ferry_sequence_extend(&cache, &all, (int32_t)cache.blocks * 4, &error));
    assert_int_equal(cache.allocations, allocations);
    ferry_cache_destroy(&cache);
    ferry_arena_destroy(&arena);
}

/* Slabs of more than a large page: every block has memory of its own, and few slabs give many blocks. */
TEST(test_many_blocks_are_distinct)
{
    enum { BLOCKS = 700, FLOATS = 16 * (64 + 64) * 4 }; /* 32 kB each */
    ferry_cache cache;
    ferry_arena arena = {0};
    ferry_sequence sequence, rest;
    ferry_cache_init(&cache, 1, 16, 64);
    assert_int_equal(cache.layout.layer_floats, FLOATS);
    CHECK(ferry_sequence_begin(&arena, BLOCKS * 4, &sequence, &error));
    CHECK(ferry_sequence_extend(&cache, &sequence, BLOCKS * 4, &error));
    const size_t allocations = cache.allocations;
    const int32_t left = (int32_t)cache.blocks - BLOCKS;
    assert_true(allocations < 40);
    assert_true(left <= (int32_t)cache.blocks / 8 + 64);
    CHECK(ferry_sequence_begin(&arena, left * 4, &rest, &error));
    CHECK(ferry_sequence_extend(&cache, &rest, left * 4, &error));
    assert_int_equal(cache.allocations, allocations);
    for (int32_t b = 0; b < BLOCKS + left; b++) {
        float *block = b < BLOCKS ? sequence.blocks[b] : rest.blocks[b - BLOCKS];
        for (int32_t i = 0; i < FLOATS; i++) block[i] = (float)b;
    }
    for (int32_t b = 0; b < BLOCKS + left; b++) {
        const float *block = b < BLOCKS ? sequence.blocks[b] : rest.blocks[b - BLOCKS];
        assert_int_equal((uintptr_t)block % 64, 0);
        for (int32_t i = 0; i < FLOATS; i++) assert_true(block[i] == (float)b);
    }
    ferry_sequence_release(&cache, &sequence);
    ferry_sequence_release(&cache, &rest);
    ferry_cache_destroy(&cache);
    ferry_arena_destroy(&arena);
}

/* The slabs of the first 8 MB have no huge pages, which begin at 2 MB; without `frugal` they have. */
TEST(test_frugal_slabs)
{
    enum { HUGE_PAGE = 2 << 20, FEW = 8 << 20, BLOCKS = 400 }; /* 32 kB each */
    for (int32_t frugal = 0; frugal < 2; frugal++) {
        ferry_cache cache;
        ferry_arena arena = {0};
        ferry_sequence sequence;
        size_t huge = 0, last = 0, before = 0;
        ferry_cache_init(&cache, 1, 16, 64);
        cache.frugal = frugal == 1;
        CHECK(ferry_sequence_begin(&arena, BLOCKS * 4, &sequence, &error));
        for (int32_t blocks = 1; blocks <= BLOCKS; blocks++, last = cache.reserved) {
            CHECK(ferry_sequence_extend(&cache, &sequence, blocks * 4, &error));
            if (cache.reserved - last < HUGE_PAGE) continue;
            huge++;
            if (huge == 1) before = last;
        }
        assert_in_range(huge, 1, BLOCKS);
        assert_in_range(before, frugal == 1 ? FEW : 0, frugal == 1 ? FEW + HUGE_PAGE : FEW / 2);
        ferry_sequence_release(&cache, &sequence);
        ferry_cache_destroy(&cache);
        ferry_arena_destroy(&arena);
    }
}

/* Blocks that were never taken are no memory yet: of the last slab, at most a huge page. */
TEST(test_reserved_blocks_are_not_touched)
{
    enum { BLOCKS = 2000, MOST_UNUSED = (2 << 20) + (1 << 20) };
    ferry_cache cache;
    ferry_arena arena = {0};
    ferry_sequence sequence;
    ferry_cache_init(&cache, 1, 16, 64);
    const size_t block = cache.layout.layer_floats * sizeof(float), before = own_memory();
    CHECK(ferry_sequence_begin(&arena, BLOCKS * 4, &sequence, &error));
    for (int32_t blocks = 1; blocks <= BLOCKS; blocks += blocks / 2 + 1) {
        CHECK(ferry_sequence_extend(&cache, &sequence, blocks * 4, &error));
        const size_t used = (size_t)blocks * block, unused = cache.reserved - used,
                     part = used + (64 << 10) + 2 * block;
        assert_int_equal(cache.blocks - cache.untouched, blocks);
        assert_in_range(unused, 0, part < MOST_UNUSED ? part : MOST_UNUSED);
        if (cache.reserved < 2 << 20) assert_in_range(own_memory(), 0, before + used + (256 << 10));
    }
    ferry_sequence_release(&cache, &sequence);
    ferry_cache_destroy(&cache);
    ferry_arena_destroy(&arena);
}
