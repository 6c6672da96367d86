/* Texts and ids of models with merges: words between blanks (subword-nmt, FSMT), and words that rules make. */
#include "tests/support/tokenizer_support.h"

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
                                    .special_ids = &target_end,
                                    .special_count = 1,
                                    .suffix_ids = &end_of_sentence,
                                    .suffix_count = 1,
                                    .kind = FERRY_TOKENIZER_SUBWORD_NMT_2,
                                    .source_merges = KEPT_TEXTS(source_merges),
                                    .source_merge_count = COUNT(source_merges),
                                    .target_merges = KEPT_TEXTS(target_merges),
                                    .target_merge_count = COUNT(target_merges)};
}

TEST(test_subword_source)
{
    static const encoded_row rows[] = {
        {VIEW("low lower"), "3:low|2:lo|5:w|4:er|1:"},
        {VIEW(" \r\nlow  \u00E9 \n"), "3:low|6:\u00E9|1:"},
        {VIEW(""), "1:"},
        {VIEW("  "), "1:"},
        {VIEW("x\ty zlo"), "7:x\ty|0:z|0:l|0:o|1:"},
        {VIEW("lo\xE2\x82"), "2:lo|0:\xE2\x82|1:"},
    };
    const encoded_row target = {VIEW("nie nie\n"), "2:n|3:ie|2:n|3:ie"};
    const ferry_tokenizer_config config = two_sides();
    check_encoded(&config, SOURCE, rows, COUNT(rows));
    check_encoded(&config, TARGET, &target, 1);
}

TEST(test_subword_translation)
{
    static const ferry_word words[] = {{{"", 0}, false}, {VIEW("Ad@@"), true}, {{"", 0}, false}};
    const ferry_tokenizer_config config = two_sides();
    /* n@@ </s> ie | n@@ <unk> ie | ie n@@ | @@ ie; a "@@" at the end stays, as with subword-nmt's own replacement */
    const decoded_row rows[] = {
        {{2, 0, 3}, 3, NULL, VIEW("nie"), "n||ie"},
        {{2, 1, 3}, 3, words, VIEW("nAd@@ ie"), "n|Ad@@|ie"},
        {{3, 2}, 2, NULL, VIEW("ie n@@"), "ie|n@@"},
        {{2, 0}, 2, NULL, VIEW("n@@"), "n@@|"},
        {{3, 4, 3}, 3, NULL, VIEW("ie ie"), "ie||ie"},
        {{4, 3, 4}, 3, NULL, VIEW("ie @@"), "|ie|@@"},
        {{2, 2, 3, 3}, 4, NULL, VIEW("nnie ie"), "n|n|ie|ie"},
        {{0}, 1, NULL, VIEW(""), ""},
    };
    check_translations(&config, rows, COUNT(rows));
}

TEST(test_fsmt_translation)
{
    static const ferry_view pieces[] = {VIEW("<unk>"), VIEW("n"), VIEW("ie</w>"), VIEW("a</w>")};
    static const ferry_word words[] = {{{"", 0}, false}, {VIEW("Ada"), true}, {{"", 0}, false}};
    static const ferry_word marked[] = {{{"", 0}, false}, {VIEW("A</w>"), true}, {{"", 0}, false}};
    static const ferry_view merges[] = {VIEW("i e</w>")};
    ferry_tokenizer_config config = one_vocabulary(pieces, COUNT(pieces));
    config.kind = FERRY_TOKENIZER_FSMT;
    config.source_merges = config.target_merges = KEPT_TEXTS(merges);
    config.source_merge_count = config.target_merge_count = 1;
    const encoded_row target = {VIEW("a nie b"), "3:a|1:n|2:ie|0:b"};
    check_encoded(&config, TARGET, &target, 1);
    const decoded_row rows[] = {
        {{3, 1, 2}, 3, NULL, VIEW("a nie"), "a|n|ie"},       {{2, 0, 3}, 3, marked, VIEW("ie A</w> a"), "ie|A</w>|a"},
        {{2, 0, 3}, 3, words, VIEW("ie Ada a"), "ie|Ada|a"}, {{1, 0, 3}, 3, NULL, VIEW("n<unk>a"), "n|<unk>|a"},
        {{2, 2, 1}, 3, NULL, VIEW("ie ie n"), "ie|ie|n"},
    };
    check_translations(&config, rows, COUNT(rows));
}

TEST(test_target_merges)
{
    ferry_tokenizer_config config = two_sides();
    ferry_tokenizer *tokenizer;
    /* Another vocabulary, the same merges. */
    config.target_merges = config.source_merges;
    config.target_merge_count = COUNT(source_merges);
    const encoded_row target = {VIEW("nie"), "2:n|1:i|1:e"};
    check_encoded(&config, TARGET, &target, 1);
    config.kind = FERRY_TOKENIZER_BPE;
    REFUSE_SAYING(ferry_tokenizer_create(&config, &tokenizer, &error), FERRY_ERROR_FORMAT,
                  "a tokenizer of words: expected one vocabulary for both sides");
}

/* The last id of each side, and the next: a source has 8, a target 5. */
TEST(test_ids_of_sides)
{
    static const int32_t ids[][2] = {{0, 4}, {0, 5}, {0, 7}, {0, 8}, {0, -1}};
    for (size_t i = 0; i < COUNT(ids); i++)
        for (size_t which = 0; which < 3; which++) {
            ferry_tokenizer_config config = two_sides();
            ferry_tokenizer *tokenizer;
            const int32_t **const lists[] = {&config.prefix_ids, &config.suffix_ids, &config.special_ids};
            int32_t *const counts[] = {&config.prefix_count, &config.suffix_count, &config.special_count};
            *lists[which] = ids[i];
            *counts[which] = 2;
            const int32_t last = ids[i][1];
            const bool allowed = last >= 0 && last < (which == 2 ? 5 : 8);
            REFUSE(ferry_tokenizer_create(&config, &tokenizer, &error), FERRY_ERROR_FORMAT, allowed ? NULL : "found");
            ferry_tokenizer_destroy(tokenizer);
        }
}

/* Whatever is called so first; "UNK" only where there is no "<unk>". */
TEST(test_target_unknown)
{
    static const struct {
        ferry_view pieces[3];
        int32_t unknown;
    } rows[] = {{{VIEW("UNK"), VIEW("a"), VIEW("<unk>")}, 2},
                {{VIEW("<unk>"), VIEW("UNK"), VIEW("<unk>")}, 0},
                {{VIEW("a"), VIEW("b"), VIEW("UNK")}, 2},
                {{VIEW("a"), VIEW("unk"), VIEW("<UNK>")}, -1}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        ferry_tokenizer_config config = two_sides();
        ferry_ids ids = {0};
        config.target_pieces = KEPT_TEXTS(rows[i].pieces);
        config.target_count = COUNT(rows[i].pieces);
        ferry_tokenizer *tokenizer = create_tokenizer(&config);
        assert_int_equal(ferry_tokenizer_target_unknown(tokenizer), rows[i].unknown);
        if (rows[i].unknown < 0)
            REFUSE_SAYING(ferry_tokenizer_encode_target(tokenizer, VIEW("z"), &ids, NULL, &error),
                          FERRY_ERROR_UNSUPPORTED, "the target vocabulary has no piece '<unk>'");
    }
    ferry_tokenizer_config config = one_vocabulary(source_pieces, COUNT(source_pieces));
    config.source_unk_id = 3;
    assert_int_equal(ferry_tokenizer_target_unknown(create_tokenizer(&config)), 3);
}
