/* engine/search, Hugging Face's policy: every rule on numbers computed by hand. */
#include "engine/search/logits.h"
#include "tests/support/scripted.h"

/* ---- beam search by hand ---- */

/* Log-probabilities of (eos, 1, 2, 3); ids 0 = eos. */
static void example_row(const scripted *network, const int32_t *prefix, int32_t n, float *row)
{
    (void)network;
    static const float start[] = {-3.5f, -0.2f, -1.9f, -9}, after_1[] = {-1.2f, -0.9f, -1.3f, -9},
                       after_2[] = {-0.1f, -3, -3.5f, -9}, after_11[] = {-0.3f, -2, -2.5f, -9},
                       after_12[] = {-0.4f, -2, -2.2f, -9}, other[] = {-0.5f, -1.5f, -2, -9};
    const float *source = other;
    if (n == 0) source = start;
    if (n == 1) source = prefix[0] == 1 ? after_1 : prefix[0] == 2 ? after_2 : other;
    if (n == 2 && prefix[0] == 1) source = prefix[1] == 1 ? after_11 : prefix[1] == 2 ? after_12 : other;
    memcpy(row, source, sizeof start);
}
static const scripted example = {.row = example_row, .vocab = 4, .kernels = &as_given};

TEST(test_example)
{
    static const ferry_early_stopping variants[] = {FERRY_EARLY_STOPPING_FALSE, FERRY_EARLY_STOPPING_TRUE,
                                                    FERRY_EARLY_STOPPING_NEVER};
    static const int32_t steps[] = {3, 3, 4};
    for (int i = 0; i < 3; i++) {
        ferry_search_rules rules = plain_rules(2, 7);
        rules.options.early_stopping = variants[i];
        outcome result = EXPECT_FIRST(&rules, &example, FOUND(-1.4 / 3, 1, 1, 0), FOUND(-1.9 / 3, 1, 2, 0));
        assert_int_equal(result.steps, steps[i]);
        assert_int_equal(result.count, 2);
    }
    ferry_search_rules rules = plain_rules(2, 2);
    EXPECT_FIRST(&rules, &example, FOUND(-0.55, 1, 1), FOUND(-0.7, 1, 0));
}

/* ---- rules ---- */

TEST(test_logits_places)
{
    static const int32_t ids[] = {2, 5, 9};
    ferry_logits shortlist = {.ld = 3, .ids = ids, .count = 3};
    ferry_logits all = {.ld = 3, .count = 3};
    assert_int_equal(ferry_logits_place(&shortlist, 2), 0);
    assert_int_equal(ferry_logits_place(&shortlist, 9), 2);
    assert_int_equal(ferry_logits_place(&shortlist, 4), -1);
    assert_int_equal(ferry_logits_place(&shortlist, 10), -1);
    assert_int_equal(ferry_logits_id(&shortlist, 1), 5);
    assert_int_equal(ferry_logits_place(&all, 2), 2);
    assert_int_equal(ferry_logits_place(&all, 3), -1);
    assert_int_equal(ferry_logits_place(&all, -1), -1);
    assert_int_equal(ferry_logits_id(&all, 1), 1);
    /* Columns 1 and 2 of them. */
    shortlist.first = all.first = 1;
    shortlist.count = all.count = 2;
    assert_int_equal(ferry_logits_place(&shortlist, 2), -1);
    assert_int_equal(ferry_logits_place(&shortlist, 5), 0);
    assert_int_equal(ferry_logits_place(&shortlist, 9), 1);
    assert_int_equal(ferry_logits_id(&shortlist, 2), 9);
    assert_int_equal(ferry_logits_place(&all, 0), -1);
    assert_int_equal(ferry_logits_place(&all, 2), 1);
    assert_int_equal(ferry_logits_id(&all, 2), 2);
}

TEST(test_penalize)
{
    float row[] = {-1.5f, 3, 0, -2, 4};
    float before[4];
    ferry_logits logits = {.values = row, .ld = 5, .count = 5};
    ferry_logits_penalize(&logits, row, 2, (int32_t[]){0, 1, 99, 1}, 4, before);
    const float expected[] = {-3, 1.5f, 0, -2, 4};
    assert_memory_equal(row, expected, sizeof row);
    const float expected_before[] = {-1.5f, 3, 0, 3};
    assert_memory_equal(before, expected_before, sizeof before);
}

/* Which of the 8 columns are masked, as bits. */
static unsigned masked(const ferry_options *decoding, const int32_t *ids, int32_t length)
{
    float row[8] = {0};
    ferry_logits logits = {.values = row, .ld = 8, .count = 8};
    ferry_logits_mask(&logits, row, decoding, (int32_t[]){0, 7}, 2, ids, length);
    unsigned bits = 0;
    for (unsigned i = 0; i < 8; i++)
        if (row[i] == -INFINITY) bits |= 1u << i;
    return bits;
}

TEST(test_mask)
{
    const int32_t ids[] = {4, 1, 2, 3, 1, 2, 5, 4, 1, 2};
    assert_int_equal(masked(&(ferry_options){.no_repeat_ngram = 1}, ids, 10), 0x3e);
    assert_int_equal(masked(&(ferry_options){.no_repeat_ngram = 2}, ids, 10), 1 << 3 | 1 << 5);
    assert_int_equal(masked(&(ferry_options){.no_repeat_ngram = 3}, ids, 10), 1 << 3 | 1 << 5);
    assert_int_equal(masked(&(ferry_options){.no_repeat_ngram = 4}, ids, 10), 1 << 3);
    assert_int_equal(masked(&(ferry_options){.no_repeat_ngram = 1}, ids, 1), 1 << 4); /* the start token counts */
    assert_int_equal(masked(&(ferry_options){.no_repeat_ngram = 2}, ids, 1), 0);
    assert_int_equal(masked(&(ferry_options){.no_repeat_ngram = 3}, ids, 2), 0);
    assert_int_equal(masked(&(ferry_options){.no_repeat_ngram = 2}, (int32_t[]){6, 6}, 2), 1 << 6);

    const int32_t suppressed[] = {5, 100, -1};
    ferry_options suppress = {.suppressed_ids = suppressed, .suppressed_count = 3};
    assert_int_equal(masked(&suppress, ids, 10), 1 << 5);

    ferry_options minimum = {.min_length = 3};
    assert_int_equal(masked(&minimum, ids, 3), 1 << 0 | 1 << 7); /* two tokens generated */
    assert_int_equal(masked(&minimum, ids, 4), 0);
}

TEST(test_begin_errors)
{
    ferry_arena arena = {0};
    ferry_error error;
    ferry_search *search;
    ferry_search_rules rules = plain_rules(INT32_MAX / 2 + 1, 10);
    assert_int_equal(ferry_search_begin(&arena, &rules, &search, &error), FERRY_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "beam"));
    assert_null(search);
    rules = plain_rules(INT32_MAX / 2, INT32_MAX);
    assert_int_equal(ferry_search_begin(&arena, &rules, &search, &error), FERRY_ERROR_MEMORY);
    assert_null(search);
    ferry_arena_destroy(&arena);
}
