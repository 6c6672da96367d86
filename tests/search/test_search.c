/* engine/search: the rules on logits, and the length limit, on numbers computed by hand. */
#include "base/memory.h"
#include "engine/search/decoding.h"
#include "engine/search/logits.h"
#include "engine/search/search.h"
#include "scripted.h"

TEST(test_logits_places)
{
    static const int32_t ids[] = {2, 5, 9};
    ferry_logits shortlist = {.ld = 3, .ids = ids, .count = 3};
    ferry_logits all = {.ld = 3, .count = 3};
    assert_int_equal(ferry_logits_offset(&shortlist, 2), 0);
    assert_int_equal(ferry_logits_offset(&shortlist, 9), 2);
    assert_int_equal(ferry_logits_offset(&shortlist, 4), -1);
    assert_int_equal(ferry_logits_offset(&shortlist, 10), -1);
    assert_int_equal(ferry_logits_id(&shortlist, 1), 5);
    assert_int_equal(ferry_logits_offset(&all, 2), 2);
    assert_int_equal(ferry_logits_offset(&all, 3), -1);
    assert_int_equal(ferry_logits_offset(&all, -1), -1);
    assert_int_equal(ferry_logits_id(&all, 1), 1);
    /* Columns 1 and 2 of them. */
    shortlist.first = all.first = 1;
    shortlist.count = all.count = 2;
    assert_int_equal(ferry_logits_offset(&shortlist, 2), -1);
    assert_int_equal(ferry_logits_offset(&shortlist, 5), 0);
    assert_int_equal(ferry_logits_offset(&shortlist, 9), 1);
    assert_int_equal(ferry_logits_id(&shortlist, 2), 9);
    assert_int_equal(ferry_logits_offset(&all, 0), -1);
    assert_int_equal(ferry_logits_offset(&all, 2), 1);
    assert_int_equal(ferry_logits_id(&all, 2), 2);
}

/* Which of the 8 columns are masked, as bits. */
static unsigned masked(ferry_options options, const int32_t *ids, int32_t length)
{
    static const ferry_search_options none;
    if (options.search == NULL) options.search = &none;
    float row[8] = {0};
    ferry_logits logits = {.values = row, .ld = 8, .count = 8};
    ferry_logits_mask(&logits, row, &options, (int32_t[]){0, 7}, 2, ids, length);
    unsigned bits = 0;
    for (unsigned i = 0; i < 8; i++)
        if (row[i] == -INFINITY) bits |= 1u << i;
    return bits;
}

/* What the definition (test_search_definition.c) lacks: longer repetitions, and ids that no vocabulary has. */
TEST(test_mask)
{
    const int32_t ids[] = {4, 1, 2, 3, 1, 2, 5, 4, 1, 2}, suppressed[] = {5, 100, -1};
    const ferry_search_options search = {.suppressed_ids = suppressed, .suppressed_count = 3};
    assert_int_equal(masked((ferry_options){.no_repeat_ngram = 3}, ids, 10), 1 << 3 | 1 << 5);
    assert_int_equal(masked((ferry_options){.no_repeat_ngram = 4}, ids, 10), 1 << 3);
    assert_int_equal(masked((ferry_options){.no_repeat_ngram = 2}, (int32_t[]){6, 6}, 2), 1 << 6);
    assert_int_equal(masked((ferry_options){.search = &search}, ids, 10), 1 << 5);
    assert_int_equal(masked((ferry_options){.min_length = 3}, ids, 3), 1 << 0 | 1 << 7); /* two tokens generated */
    assert_int_equal(masked((ferry_options){.min_length = 3}, ids, 4), 0);
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

/* ---- the length limit ---- */

TEST(test_limit)
{
    static const struct {
        int32_t max_length;
        float factor;
        int32_t extra, source, limit;
    } rows[] = {
        {7, 3, 50, 100, 7},
        {0, 3, 50, 1, 53},
        {0, 3, 50, 0, 50},
        {0, 2, 0, 6, 12},
        {0, 1.5f, 0, 5, 8},
        {0, 1.2f, 0, 5, 6},
        {0, 0.1f, 0, 5, 1},
        {0, 0, 0, 5, 1},
        {0, 0, 256, 5, 256},
        {0, -3, 10, 100, 1},
        {0, 3, 50, INT32_MAX, INT32_MAX},
        {0, 0, INT32_MAX, 1, INT32_MAX},
        {0, 1e30f, INT32_MAX, INT32_MAX, INT32_MAX},
        {0, INFINITY, 0, 1, INT32_MAX},
        {0, NAN, 0, 1, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const ferry_options decoding = {.max_length = rows[i].max_length,
                                        .length_factor = rows[i].factor,
                                        .length_extra = rows[i].extra};
        assert_int_equal(ferry_decoding_limit(&decoding, rows[i].source), rows[i].limit);
    }
}
