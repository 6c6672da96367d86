/* A translator's memory: it is counted, does not exceed its limit, and is given back; a limit loses the lines for which
 * it does not suffice, and no others. */
#include "tests/support/sanitized.h"
#include "tests/support/small_model.h"
#include "tests/support/support.h"

#include "base/memory.h"
#include "base/system.h"

enum { VOCAB = 2000, SENTENCES = 40, LONGEST = 200, MEGABYTE = 1 << 20 };

static int32_t ids[SENTENCES * LONGEST], offsets[SENTENCES + 1];
static int32_t aligned; /* options.alignment of the translators */

static ferry_model *open_model(int32_t ffn_width)
{
    for (int32_t s = 0, at = 0; s < SENTENCES; s++) {
        const int32_t length = s == 11 ? LONGEST : 1 + s * 11 % 30;
        for (int32_t i = 0; i < length; i++) ids[at++] = (s * 577 + i * 131) % VOCAB;
        offsets[s + 1] = at;
    }
    return open_small_model(
        &(small_model){
            .vocab = VOCAB, .layers = 2, .d_model = 64, .heads = 4, .head_width = 16, .ffn_width = ffn_width},
        NULL);
}

static ferry_translator *make_translator(const ferry_model *model, int32_t beam, int32_t threads, size_t limit)
{
    ferry_options options = default_options(model);
    options.beam = beam;
    options.threads = threads;
    options.memory_limit = limit;
    options.alignment = aligned;
    options.length_factor = 1;
    options.length_extra = 5;
    options.max_source = 8192;
    ferry_translator *translator = new_translator(model, &options);
    return translator;
}

static ferry_result *generate(ferry_translator *translator)
{
    ferry_result *result;
    CHECK(ferry_inspect_generate(translator, ids, offsets, SENTENCES, &result, &error));
    return result;
}

static void check_equal(const ferry_result *a, const ferry_result *b, size_t line)
{
    assert_same_line(a, line, b, line);
    for (size_t t = 0; aligned && t < ferry_result_token_count(a, line, 0); t++)
        assert_memory_equal(ferry_result_weights(a, line, 0, t, NULL, NULL),
                            ferry_result_weights(b, line, 0, t, NULL, NULL),
                            ferry_result_source_token_count(a, line) * sizeof(float));
}

/* Lines that fail under the limit; the others are as expected. */
static int32_t failures_under(const ferry_model *model, int32_t beam, int32_t threads, size_t limit,
                              const ferry_result *expected)
{
    int32_t failures = 0;
    size_t peak;
    ferry_translator *translator = make_translator(model, beam, threads, limit);
    for (int round = 0; round < 2; round++) {
        ferry_result *result = generate(translator);
        failures = 0;
        for (size_t i = 0; i < SENTENCES; i++) {
            const char *message = ferry_result_outcome(result, i)->error;
            if (message == NULL) {
                check_equal(result, expected, i);
                continue;
            }
            assert_int_equal(ferry_result_outcome(result, i)->status, FERRY_ERROR_LIMIT);
            assert_non_null(strstr(message, ferry_format("option memory_limit: %zu bytes do not suffice", limit).text));
            failures++;
        }
        assert_in_range(ferry_translator_memory(translator, &peak), 0, limit);
        assert_in_range(peak, 1, limit);
        ferry_result_destroy(result);
    }
    ferry_translator_destroy(translator);
    return failures;
}

/* Sixteenths of the memory that is needed; fewer for sanitizers, which take ten times as long. */
static size_t next_part(size_t part)
{
#ifdef SANITIZED
    return 2 * part;
#else
    return part + 1;
#endif
}

static void check_limits(int32_t beam, int32_t threads, int32_t alignment)
{
    size_t peak, before = 0, some = 0;
    ferry_model *model = open_model(512);
    aligned = alignment;
    ferry_translator *translator = make_translator(model, beam, threads, 0);
    assert_int_equal(ferry_translator_memory(translator, NULL), 0);
    ferry_result *expected = generate(translator);
    const size_t held = ferry_translator_memory(translator, &peak);
    assert_in_range(held, 1, peak);
    ferry_translator_destroy(translator);
    assert_int_equal(failures_under(model, beam, threads, peak + MEGABYTE, expected), 0);
    assert_int_equal(failures_under(model, beam, threads, 10000, expected), SENTENCES);
    for (size_t part = 1; part <= 16; part = next_part(part)) {
        const size_t failures = (size_t)failures_under(model, beam, threads, peak * part / 16, expected);
        if (part > 1) assert_in_range(failures, 0, before);
        some += failures > 0 && failures < SENTENCES;
        before = failures;
    }
    assert_true(some > 0); /* the long line alone */
    aligned = 0;
    ferry_result_destroy(expected);
    ferry_model_close(model);
}

TEST(test_limits_lose_only_what_does_not_fit)
{
    check_limits(1, 1, 0);
    check_limits(3, 1, 0);
    check_limits(1, 1, 1);
}

TEST(test_limits_of_threads)
{
    check_limits(2, 3, 0);
    check_limits(3, 2, 1);
}

/* The feed-forward's inner rows of 1,000 tokens are 32 MB. */
TEST(test_the_memory_of_a_long_line_is_given_back)
{
    enum { LONG = 1100 };
    int32_t *line = kept_memory(LONG * sizeof *line), ends[] = {0, LONG};
    ferry_model *model = open_model(8192);
    ferry_translator *translator = make_translator(model, 1, 1, 0);
    ferry_result *expected = generate(translator), *result;
    const size_t usual = ferry_translator_memory(translator, NULL);
    size_t peak;
    for (int32_t i = 0; i < LONG; i++) line[i] = i * 131 % VOCAB;
    CHECK(ferry_inspect_generate(translator, line, ends, 1, &result, &error));
    ferry_result_destroy(result);
    const size_t held = ferry_translator_memory(translator, &peak);
    assert_in_range(peak, usual + 32 * MEGABYTE, SIZE_MAX);
    assert_in_range(held, 0, usual + 4 * MEGABYTE);
    result = generate(translator);
    for (size_t i = 0; i < SENTENCES; i++) check_equal(result, expected, i);
    ferry_result_destroy(result);
    ferry_result_destroy(expected);
    ferry_translator_destroy(translator);
    assert_int_equal(ferry_translator_memory(NULL, &peak), 0);
    assert_int_equal(peak, 0);
    ferry_model_close(model);
}

/* It takes memory when it translates: what the system and the account see before is small. */
TEST(test_a_second_translator_costs_little)
{
    enum { SECOND = 8 };
    ferry_model *model = open_model(512);
    ferry_translator *first = make_translator(model, 4, 2, 0), *second[SECOND];
    ferry_result_destroy(generate(first));
    const size_t before = own_memory();
    for (size_t i = 0; i < SECOND; i++) {
        second[i] = make_translator(model, 4, 2, 0);
        assert_int_equal(ferry_translator_memory(second[i], NULL), 0);
    }
    assert_in_range(own_memory(), 0, before + (size_t)SECOND * MEGABYTE); /* Windows counts whole stacks */
    for (size_t i = 0; i < SECOND; i++) ferry_translator_destroy(second[i]);
    ferry_translator_destroy(first);
    ferry_model_close(model);
}

#if defined(__linux__)
/* A long line's activations, and the keys and values of its encoder, do not stay in memory. */
TEST(test_one_line_leaves_little)
{
    enum { MOST = 5 * MEGABYTE / 2 };
    const small_model wide = {
        .vocab = VOCAB, .layers = 1, .d_model = 512, .heads = 8, .head_width = 64, .ffn_width = 8192};
    ferry_model *model = open_small_model(&wide, NULL);
    int32_t line[LONGEST];
    const int32_t ends[] = {0, LONGEST};
    for (int32_t i = 0; i < LONGEST; i++) line[i] = i * 131 % VOCAB;
    ferry_translator *translator = make_translator(model, 1, 1, 0);
    const size_t before = own_memory();
    for (int round = 0; round < 2; round++) { /* the first one ends with memory that was not used yet */
        ferry_result *result;
        CHECK(ferry_inspect_generate(translator, line, ends, 1, &result, &error));
        ferry_result_destroy(result);
        assert_in_range(own_memory(), 0, before + MOST);
    }
    ferry_translator_destroy(translator);
    ferry_model_close(model);
}
#endif

static size_t peak_of(const ferry_model *model, int32_t beam, int32_t count, int32_t length)
{
    size_t peak;
    int32_t *line = kept_memory((size_t)(count * length) * sizeof *line), *ends = kept_memory(((size_t)count + 1) * 4);
    for (int32_t i = 0; i < count * length; i++) line[i] = i * 131 % VOCAB;
    for (int32_t i = 0; i <= count; i++) ends[i] = i * length;
    ferry_translator *translator = make_translator(model, beam, 1, 0);
    ferry_result *result;
    CHECK(ferry_inspect_generate(translator, line, ends, count, &result, &error));
    ferry_translator_memory(translator, &peak);
    ferry_result_destroy(result);
    ferry_translator_destroy(translator);
    return peak;
}

/* So many sentences are in progress as their keys and values permit: more of them take no more memory. (2 layers of
 * 64: 1 kB a position. Of 512 positions and more for each hypothesis, and what else a batch needs.) */
TEST(test_memory_does_not_grow_with_the_number_of_sentences)
{
    ferry_model *model = open_model(512);
    for (int32_t beam = 1; beam <= 4; beam += 3) {
        const size_t few = peak_of(model, beam, 40, 30), many = peak_of(model, beam, 120, 30);
        assert_in_range(many, 1, few + few / 4);
        assert_in_range(many, 1, (size_t)(3 + beam) * MEGABYTE);
        assert_in_range(peak_of(model, beam, 1, 30), 1, (size_t)(2 + beam) * MEGABYTE / 2);
    }
    ferry_model_close(model);
}

TEST(test_accounts)
{
    ferry_memory memory = {.limit = 1000};
    ferry_account a = {.memory = &memory}, b = {.memory = &memory}, none = {0};
    assert_true(ferry_account_take(&a, 600));
    assert_false(ferry_account_take(&b, 401));
    REFUSE_SAYING(ferry_account_fail(&b, "rows", 401, 1, &error), FERRY_ERROR_LIMIT,
                  "option memory_limit: 1000 bytes do not suffice for this line, expected 1001");
    REFUSE_SAYING(ferry_account_fail(&a, "rows", 3, 4, &error), FERRY_ERROR_MEMORY, "out of memory: 12 bytes for rows");
    assert_false(ferry_account_take(&b, SIZE_MAX));
    assert_int_equal(b.refused, SIZE_MAX);
    assert_true(ferry_account_take(&b, 400));
    assert_int_equal(b.refused, SIZE_MAX);
    ferry_account_undo(&b, 400); /* the system has none */
    REFUSE(ferry_account_fail(&b, "rows", SIZE_MAX / 4 + 1, 4, &error), FERRY_ERROR_MEMORY,
           ferry_format("out of memory: %zu bytes for rows", SIZE_MAX).text);
    assert_true(ferry_account_take(&b, 400));
    ferry_account_give(&a, 600);
    assert_int_equal(memory.held, 400);
    assert_int_equal(memory.peak, 1000);
    assert_true(ferry_account_take(&none, SIZE_MAX));
    assert_true(ferry_account_take(NULL, SIZE_MAX));
}

/* Chunks double where they can, and are as small as they must be where not. */
TEST(test_an_arena_with_an_account)
{
    ferry_memory memory = {.limit = 300000};
    ferry_account account = {.memory = &memory};
    ferry_arena arena = {.account = &account};
    assert_non_null(ferry_arena_alloc(&arena, 1, 150000));
    assert_non_null(ferry_arena_alloc(&arena, 1, 100000));
    assert_null(ferry_arena_alloc(&arena, 1, 100000));
    assert_true(account.refused > memory.limit);
    assert_null(ferry_arena_alloc(&arena, SIZE_MAX, 2));
    REFUSE(ferry_arena_fail(&arena, "rows", SIZE_MAX, 2, &error), FERRY_ERROR_MEMORY, "bytes for rows");
    ferry_arena_end(&arena, (ferry_arena_mark){0});
    assert_non_null(ferry_arena_alloc(&arena, 1, 240000));
    ferry_arena_destroy(&arena);
    assert_int_equal(memory.held, 0);
}

/* An exact one holds what it has handed out, and the chunks' headers. */
TEST(test_an_exact_arena)
{
    ferry_memory memory = {0};
    ferry_account account = {&memory, 0};
    ferry_arena arena = {.account = &account, .exact = true};
    assert_non_null(ferry_arena_alloc(&arena, 0, 1));
    assert_non_null(ferry_arena_alloc(&arena, 1, 100000));
    const ferry_arena_mark mark = ferry_arena_begin(&arena);
    const size_t before = memory.held;
    assert_in_range(before, 100000, 101000);
    assert_non_null(ferry_arena_alloc(&arena, 1, 10));
    assert_non_null(ferry_arena_alloc(&arena, 1, 300000));
    assert_in_range(memory.held, before + 300000, before + 301000);
    ferry_arena_end(&arena, mark);
    assert_int_equal(memory.held, before);
    ferry_arena_destroy(&arena);
    assert_int_equal(memory.held, 0);
}

/* What is taken after a mark, in blocks that do not fit into one chunk, and beside it what other marks take. */
static void use_chunks(ferry_arena *arena)
{
    const ferry_arena_mark outer = ferry_arena_begin(arena);
    assert_non_null(ferry_arena_alloc(arena, 1, 100000));
    const ferry_arena_mark inner = ferry_arena_begin(arena);
    assert_non_null(ferry_arena_alloc(arena, 1, 150000));
    assert_non_null(ferry_arena_alloc(arena, 1, 400000));
    ferry_arena_end(arena, inner);
    const ferry_arena_mark again = ferry_arena_begin(arena);
    memset(ferry_arena_alloc(arena, 1, 300000), 1, 300000);
    ferry_arena_end(arena, again);
    ferry_arena_end(arena, outer);
}

/* While something is held, too: what was before the mark stays, and the next round finds one chunk that suffices. */
TEST(test_released_chunks_become_one)
{
    ferry_arena arena = {0};
    unsigned char *held = ferry_arena_alloc(&arena, 1, 1000);
    memset(held, 7, 1000);
    use_chunks(&arena);
    const size_t allocations = arena.allocations;
    assert_in_range(arena.reserved, 650000, 800000);
    for (int round = 0; round < 3; round++) use_chunks(&arena);
    assert_int_equal(arena.allocations, allocations);
    for (int i = 0; i < 1000; i++) assert_int_equal(held[i], 7);
    ferry_arena_end(&arena, (ferry_arena_mark){0});
    use_chunks(&arena);
    assert_in_range(arena.reserved, 650000, 800000);
    ferry_arena_destroy(&arena);
}

#if defined(__linux__)
TEST(test_arenas_forget_what_is_free)
{
    enum { BEFORE = 10000, SIZE = 4 * MEGABYTE };
    ferry_arena arena = {0};
    ferry_arena_forget(&arena, 0);
    unsigned char *kept = ferry_arena_alloc(&arena, 1, BEFORE);
    memset(kept, 7, BEFORE);
    for (int round = 0; round < 2; round++) { /* in the first one a chunk is added, which the end joins */
        const ferry_arena_mark mark = ferry_arena_begin(&arena);
        memset(ferry_arena_alloc(&arena, 1, SIZE), 1, SIZE);
        ferry_arena_end(&arena, mark);
    }
    const size_t before = own_memory(), reserved = arena.reserved;
    ferry_arena_forget(&arena, 2 * SIZE);
    assert_in_range(own_memory(), before, before + MEGABYTE);
    ferry_arena_forget(&arena, SIZE / 2);
    assert_in_range(own_memory(), 0, before - (before > 0 ? SIZE - 2 * 4096 : 0));
    assert_int_equal(arena.reserved, reserved);
    for (int i = 0; i < BEFORE; i++) assert_int_equal(kept[i], 7);
    ferry_arena_destroy(&arena);
}

/* Blocks that malloc would keep, as each lies between two that stay. */
TEST(test_freed_memory_goes_back)
{
    enum { BLOCKS = 100, SIZE = 64000, STAYS = 64 };
    void *freed[BLOCKS], *stays[BLOCKS];
    for (int i = 0; i < BLOCKS; i++) {
        freed[i] = ferry_aligned_alloc(64, SIZE);
        stays[i] = malloc(STAYS);
        assert_true(freed[i] != NULL && stays[i] != NULL);
        memset(freed[i], 1, SIZE);
    }
    const size_t before = own_memory();
    for (int i = 0; i < BLOCKS; i++) ferry_large_free(freed[i], SIZE);
    assert_in_range(own_memory(), 0, before - (before > 0 ? BLOCKS * (SIZE - 2 * 4096) : 0));
    for (int i = 0; i < BLOCKS; i++) free(stays[i]);
    ferry_large_free(NULL, 0);
}
#endif

#if defined(__GLIBC__)
/* Though a block of the host's lies above theirs. */
TEST(test_closed_models_leave_nothing)
{
    enum { MODELS = 20 };
    ferry_model *models[MODELS];
    const size_t before = own_memory();
    for (int i = 0; i < MODELS; i++) models[i] = open_shipped();
    void *stays = malloc(1000);
    assert_non_null(stays);
    for (int i = 0; i < MODELS; i++) ferry_model_close(models[i]);
    assert_in_range(own_memory(), 0, before + 2 * MEGABYTE);
    free(stays);
}
#endif
