/* Texts and ids of models with merges: words between blanks (subword-nmt, FSMT), and words that rules make. */
#include "tests/support/tokenizer_support.h"

#include "tests/support/check_ranges.h"

static const ferry_view source_pieces[] = {VIEW("<unk>"), VIEW("</s>"), VIEW("lo@@"),   VIEW("low"),
                                           VIEW("er"),    VIEW("w@@"),  VIEW("\u00E9"), VIEW("x\ty")},
                        target_pieces[] = {VIEW("</s>"), VIEW("<unk>"), VIEW("n@@"), VIEW("ie"), VIEW("@@")},
                        source_merges[] = {VIEW("l o"), VIEW("e r</w>"), VIEW("lo w</w>"), VIEW("x \t"),
                                           VIEW("x\t y</w>")},
                        target_merges[] = {VIEW("i e</w>")};
static const int32_t end_of_sentence = 1, target_end = 0;

static ferry_tokenizer_config two_sides(void)
{
    return (ferry_tokenizer_config){.source_pieces = KEPT_TEXTS(source_pieces),
                                    .source_count = COUNT(source_pieces),
                                    .target_pieces = KEPT_TEXTS(target_pieces),
                                    .target_count = COUNT(target_pieces),
                                    .target_special = &target_end,
                                    .target_special_count = 1,
                                    .suffix_ids = &end_of_sentence,
                                    .suffix_count = 1,
                                    .bpe = FERRY_BPE_SUBWORD_NMT_2,
                                    .source_merges = KEPT_TEXTS(source_merges),
                                    .source_merge_count = COUNT(source_merges),
                                    .target_merges = KEPT_TEXTS(target_merges),
                                    .target_merge_count = COUNT(target_merges)};
}

/* Segments as "ID:TEXT ", where TEXT is what the range has. */
static void check_ids(const ferry_ids *ids, const ferry_ranges *ranges, ferry_view text, const char *expected)
{
    char found[512] = "";
    assert_int_equal(ids->count, ranges->count);
    for (size_t i = 0; i < ids->count; i++)
        snprintf(found + strlen(found), sizeof found - strlen(found), "%d:%.*s ", (int)ids->ids[i],
                 (int)(ranges->ranges[i].end - ranges->ranges[i].begin), text.data + ranges->ranges[i].begin);
    assert_string_equal(found, expected);
    assert_null(fault_of_ranges(text, ranges->ranges, ranges->count));
}

TEST(test_subword_source)
{
    static const struct {
        ferry_view text;
        const char *expected;
    } rows[] = {
        {VIEW("low lower"), "3:low 2:lo 5:w 4:er 1: "},
        {VIEW(" \r\nlow  \u00E9 \n"), "3:low 6:\u00E9 1: "},
        {VIEW(""), "1: "},
        {VIEW("  "), "1: "},
        {VIEW("x\ty zlo"), "7:x\ty 0:z 0:l 0:o 1: "},
        {VIEW("lo\xE2\x82"), "2:lo 0:\xE2\x82 1: "},
    };
    const ferry_tokenizer_config config = two_sides();
    ferry_tokenizer *tokenizer = create_tokenizer(&config);
    ferry_ids ids = {0};
    ferry_ranges ranges = {0};
    for (size_t i = 0; i < COUNT(rows); i++) {
        CHECK(ferry_tokenizer_encode_ranges(tokenizer, VIEW(""), rows[i].text, &ids, &ranges, &error));
        check_ids(&ids, &ranges, rows[i].text, rows[i].expected);
    }
    CHECK(ferry_tokenizer_encode_target(tokenizer, VIEW("nie nie\n"), &ids, &ranges, &error));
    check_ids(&ids, &ranges, VIEW("nie nie\n"), "2:n 3:ie 2:n 3:ie ");
    ferry_tokenizer_destroy(tokenizer);
    free(ids.ids);
    free(ranges.ranges);
}

static void check_decoded(const ferry_tokenizer *tokenizer, const int32_t *ids, size_t count, const ferry_word *words,
                          ferry_view expected, const ferry_range *expected_ranges)
{
    ferry_string text = {0};
    ferry_range ranges[8];
    CHECK(ferry_tokenizer_decode_ranges(tokenizer, ids, count, words, &text, ranges, &error));
    assert_text(&text, expected);
    for (size_t i = 0; i < count; i++)
        if (ranges[i].begin != expected_ranges[i].begin || ranges[i].end != expected_ranges[i].end)
            fail_msg("id %zu: found %zu to %zu", i, ranges[i].begin, ranges[i].end);
    assert_null(fault_of_ranges(expected, ranges, count));
    free(text.data);
}

TEST(test_subword_translation)
{
    static const ferry_word words[] = {{{"", 0}, false}, {VIEW("Ad@@"), true}, {{"", 0}, false}};
    const ferry_tokenizer_config config = two_sides();
    ferry_tokenizer *tokenizer = create_tokenizer(&config);
    /* n@@ </s> ie | n@@ <unk> ie | ie n@@ | @@ ie; a "@@" at the end stays, as with subword-nmt's own replacement */
    check_decoded(tokenizer, (const int32_t[]){2, 0, 3}, 3, NULL, VIEW("nie"),
                  (const ferry_range[]){{0, 1}, {1, 1}, {1, 3}});
    check_decoded(tokenizer, (const int32_t[]){2, 1, 3}, 3, words, VIEW("nAd@@ ie"),
                  (const ferry_range[]){{0, 1}, {1, 5}, {6, 8}});
    check_decoded(tokenizer, (const int32_t[]){3, 2}, 2, NULL, VIEW("ie n@@"), (const ferry_range[]){{0, 2}, {3, 6}});
    check_decoded(tokenizer, (const int32_t[]){3, 4, 3}, 3, NULL, VIEW("ie ie"),
                  (const ferry_range[]){{0, 2}, {3, 3}, {3, 5}});
    check_decoded(tokenizer, (const int32_t[]){2, 2, 3}, 3, NULL, VIEW("nnie"),
                  (const ferry_range[]){{0, 1}, {1, 2}, {2, 4}});
    ferry_tokenizer_destroy(tokenizer);
}

TEST(test_fsmt_translation)
{
    static const ferry_view pieces[] = {VIEW("<unk>"), VIEW("n"), VIEW("ie</w>"), VIEW("a</w>")};
    static const ferry_word words[] = {{{"", 0}, false}, {VIEW("Ada"), true}, {{"", 0}, false}};
    static const ferry_word marked[] = {{{"", 0}, false}, {VIEW("A</w>"), true}, {{"", 0}, false}};
    static const ferry_view merges[] = {VIEW("i e</w>")};
    ferry_tokenizer_config config = {.bpe = FERRY_BPE_FSMT};
    config.source_pieces = config.target_pieces = KEPT_TEXTS(pieces);
    config.source_count = config.target_count = COUNT(pieces);
    config.source_merges = config.target_merges = KEPT_TEXTS(merges);
    config.source_merge_count = config.target_merge_count = 1;
    ferry_tokenizer *tokenizer = create_tokenizer(&config);
    ferry_ids ids = {0};
    ferry_ranges ranges = {0};
    CHECK(ferry_tokenizer_encode_target(tokenizer, VIEW("a nie b"), &ids, &ranges, &error));
    check_ids(&ids, &ranges, VIEW("a nie b"), "3:a 1:n 2:ie 0:b ");
    check_decoded(tokenizer, (const int32_t[]){3, 1, 2}, 3, NULL, VIEW("a nie"),
                  (const ferry_range[]){{0, 1}, {2, 3}, {3, 5}});
    check_decoded(tokenizer, (const int32_t[]){2, 0, 3}, 3, marked, VIEW("ie A</w> a"),
                  (const ferry_range[]){{0, 2}, {3, 8}, {9, 10}});
    check_decoded(tokenizer, (const int32_t[]){2, 0, 3}, 3, words, VIEW("ie Ada a"),
                  (const ferry_range[]){{0, 2}, {3, 6}, {7, 8}});
    check_decoded(tokenizer, (const int32_t[]){1, 0, 3}, 3, NULL, VIEW("n<unk>a"),
                  (const ferry_range[]){{0, 1}, {1, 6}, {6, 7}});
    ferry_tokenizer_destroy(tokenizer);
    free(ids.ids);
    free(ranges.ranges);
}

TEST(test_target_merges)
{
    ferry_tokenizer_config config = two_sides();
    ferry_tokenizer *tokenizer;
    ferry_ids ids = {0};
    config.target_merge_count = 0;
    tokenizer = create_tokenizer(&config);
    REFUSE(ferry_tokenizer_encode_target(tokenizer, VIEW("nie"), &ids, NULL, &error), FERRY_ERROR_UNSUPPORTED,
           "the model file has no merges of the target side");
    ferry_tokenizer_destroy(tokenizer);
    /* Another vocabulary, the same merges. */
    config.target_merges = config.source_merges;
    config.target_merge_count = COUNT(source_merges);
    tokenizer = create_tokenizer(&config);
    CHECK(ferry_tokenizer_encode_target(tokenizer, VIEW("nie"), &ids, NULL, &error));
    assert_true(ids.count == 3 && ids.ids[0] == 2 && ids.ids[2] == 1);
    ferry_tokenizer_destroy(tokenizer);
    config.source_merges = config.target_merges = kept_texts(&VIEW("ab"), 1);
    config.source_merge_count = 1;
    REFUSE(ferry_tokenizer_create(&config, &tokenizer, &error), FERRY_ERROR_FORMAT,
           "source merges: merge 1: expected two texts with one blank between them, found 'ab'");
    free(ids.ids);
}
