/* The cache of keys and values, and the memory that it takes. */
#include "engine/graph/cache.h"
#include "tests/support/support.h"

/* Slabs of more than a large page: every block has memory of its own, and few slabs give many blocks. */
TEST(test_many_blocks_are_distinct)
{
    enum { BLOCKS = 700, FLOATS = 16 * (64 + 64) * 4 }; /* 32 kB each */
    ferry_cache cache;
    ferry_arena arena = {0};
    ferry_kv_sequence sequence, rest;
    ferry_cache_init(&cache, 1, 16, 64);
    assert_int_equal(cache.layout.layer_floats, FLOATS);
    CHECK(ferry_kv_begin(&arena, BLOCKS * 4, &sequence, &error));
    CHECK(ferry_kv_extend(&cache, &sequence, BLOCKS * 4, &error));
    const size_t allocations = cache.allocations;
    const int32_t left = (int32_t)cache.blocks - BLOCKS;
    assert_true(allocations < 40);
    assert_true(left <= (int32_t)cache.blocks / 8 + 64);
    CHECK(ferry_kv_begin(&arena, left * 4, &rest, &error));
    CHECK(ferry_kv_extend(&cache, &rest, left * 4, &error));
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
    ferry_kv_release(&cache, &sequence);
    ferry_kv_release(&cache, &rest);
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
        ferry_kv_sequence sequence;
        size_t huge = 0, last = 0, before = 0;
        ferry_cache_init(&cache, 1, 16, 64);
        cache.frugal = frugal == 1;
        CHECK(ferry_kv_begin(&arena, BLOCKS * 4, &sequence, &error));
        for (int32_t blocks = 1; blocks <= BLOCKS; blocks++, last = cache.reserved) {
            CHECK(ferry_kv_extend(&cache, &sequence, blocks * 4, &error));
            if (cache.reserved - last < HUGE_PAGE) continue;
            huge++;
            if (huge == 1) before = last;
        }
        assert_in_range(huge, 1, BLOCKS);
        assert_in_range(before, frugal == 1 ? FEW : 0, frugal == 1 ? FEW + HUGE_PAGE : FEW / 2);
        ferry_kv_release(&cache, &sequence);
        ferry_cache_destroy(&cache);
        ferry_arena_destroy(&arena);
    }
}

/* Where a large slab would exceed the limit, smaller ones use what is left of it. */
TEST(test_slabs_within_a_limit)
{
    enum { BLOCKS = 400, LEAST_SLAB = 64 << 10 }; /* 32 kB each */
    for (size_t limit = 1 << 20; limit <= 12 << 20; limit += 777777) {
        ferry_memory memory = {.limit = limit};
        ferry_account account = {.memory = &memory};
        ferry_cache cache;
        ferry_arena arena = {0};
        ferry_kv_sequence sequence;
        ferry_cache_init(&cache, 1, 16, 64);
        cache.account = &account;
        CHECK(ferry_kv_begin(&arena, BLOCKS * 4, &sequence, &error));
        REFUSE(ferry_kv_extend(&cache, &sequence, BLOCKS * 4, &error), FERRY_ERROR_LIMIT, "memory_limit");
        assert_int_equal(memory.held, cache.reserved);
        assert_in_range(memory.peak, limit - 2 * LEAST_SLAB, limit);
        ferry_kv_release(&cache, &sequence);
        ferry_cache_destroy(&cache);
        ferry_arena_destroy(&arena);
        assert_int_equal(memory.held, 0);
    }
}

/* Blocks that were never taken are no memory yet: of the last slab, at most a huge page. */
TEST(test_reserved_blocks_are_not_touched)
{
    enum { BLOCKS = 2000, MOST_UNUSED = (2 << 20) + (1 << 20) };
    ferry_cache cache;
    ferry_arena arena = {0};
    ferry_kv_sequence sequence;
    ferry_cache_init(&cache, 1, 16, 64);
    const size_t block = cache.layout.layer_floats * sizeof(float), before = own_memory();
    CHECK(ferry_kv_begin(&arena, BLOCKS * 4, &sequence, &error));
    for (int32_t blocks = 1; blocks <= BLOCKS; blocks += blocks / 2 + 1) {
        CHECK(ferry_kv_extend(&cache, &sequence, blocks * 4, &error));
        const size_t used = (size_t)blocks * block, unused = cache.reserved - used,
                     part = used + (64 << 10) + 2 * block;
        assert_int_equal(cache.blocks - cache.untouched, blocks);
        assert_in_range(unused, 0, part < MOST_UNUSED ? part : MOST_UNUSED);
        if (cache.reserved < 2 << 20) assert_in_range(own_memory(), 0, before + used + (256 << 10));
    }
    ferry_kv_release(&cache, &sequence);
    ferry_cache_destroy(&cache);
    ferry_arena_destroy(&arena);
}
