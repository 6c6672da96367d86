/* Moses' words: as sacremoses makes and joins them (compare_moses.py), where they come from, and that time does
 * not grow faster than texts. */
#include "tests/support/tokenizer_support.h"

#include <zlib.h>

#include "tests/support/check_ranges.h"
#include "tests/support/support.h"
#include "tokenizer/moses/moses.h"
#include "tokenizer/moses/moses_rules.h"

static ferry_moses *create(const char *language, bool fsmt)
{
    ferry_moses *moses;
    CHECK(ferry_moses_create(ferry_text_view(language), fsmt, &moses, &error));
    return moses;
}

/* ---- recorded texts ---- */

/* Offsets never descend, and end at the end; words and their bytes come from borders of characters. */
static void check_offsets(ferry_view text, const ferry_string *output, const size_t *offsets)
{
    assert_int_equal(offsets[output->size], text.size);
    for (size_t i = 0; i < output->size; i++) assert_true(offsets[i] <= offsets[i + 1] && is_border(text, offsets[i]));
}

static void check_recorded(const char *kind, const char *language, ferry_view text, ferry_view expected)
{
    ferry_moses *moses = create(language, strcmp(kind, "fsmt") == 0);
    const bool joins = strcmp(kind, "text") == 0;
    ferry_string output = {0};
    size_t *offsets;
    CHECK((joins ? ferry_moses_detokenize : ferry_moses_tokenize)(moses, text, &output, &offsets, &error));
    if (output.size != expected.size || memcmp(output.data, expected.data, output.size) != 0)
        fail_msg("%s %s '%.*s': expected '%.*s', found '%.*s'", kind, language, (int)text.size, text.data,
                 (int)expected.size, expected.data, (int)output.size, output.data);
    check_offsets(text, &output, offsets);
    free(offsets);
    free(output.data);
    ferry_moses_destroy(moses);
}

TEST(test_recorded)
{
    char *at = read_lines("tokenizer/moses.txt");
    int offset, count = 0;
    char kind[8], language[8];
    for (; sscanf(at, "%7s %7s%n", kind, language, &offset) == 2; count++) {
        at += offset + 1;
        const ferry_view text = read_digits(&at), expected = read_digits(&at);
        check_recorded(kind, language, text, expected);
    }
    assert_true(count > 1400 && *at == '\0');
}

/* Ill-formed bytes, which sacremoses does not get to see, Czech words that it raises an exception for, and rules that
 * few of the recorded texts need, as sacremoses has them. */
TEST(test_beyond_the_recorded)
{
    static const struct {
        const char *kind, *language;
        ferry_view text, expected;
    } rows[] = {
        {"words", "en", VIEW("a\xFF\xE2\x82 b"), VIEW("a \uFFFD \uFFFD \uFFFD b")},
        {"text", "en", VIEW("a\xFF &amp; b"), VIEW("a\uFFFD & b")},
        {"text", "cs", VIEW("d' - li"), VIEW("d'-li")},
        {"text", "cs", VIEW("D' - LI a' - mail"), VIEW("D'-LI a'-mail")},
        {"text", "cs", VIEW("x e' \u2013 Mailem y"), VIEW("x e'\u2013Mailem y")},
        {"text", "cs", VIEW("x y 5 : ,"), VIEW("x y 5:,")},
        {"text", "cs", VIEW("x y 5 / ,"), VIEW("x y 5 /,")},
        {"words", "de", VIEW("x.\" .\"b"), VIEW("x &quot; . . &quot; b")},
        {"words", "de", VIEW("Nr. Xy, Nr. 5 und z.B. so"), VIEW("Nr. Xy , Nr. 5 und z.B. so")},
        {"words", "en", VIEW("No. Xy, No. 5, Mr. X. a. B"), VIEW("No . Xy , No. 5 , Mr. X. a . B")},
        {"text", "en", VIEW("boys &apos; house &apos; x"), VIEW("boys' house 'x")},
        {"words", "languagewithoutend", VIEW("Mr. X isn't."), VIEW("Mr. X isn &apos; t .")},
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        check_recorded(rows[i].kind, rows[i].language, rows[i].text, rows[i].expected);
}

/* As they are searched for: in ascending order, of at most 128 bytes. */
TEST(test_abbreviations)
{
    assert_true(ferry_moses_prefix_count > 30);
    for (size_t i = 0; i < ferry_moses_prefix_count; i++) {
        ferry_view last = VIEW("");
        for (const char *at = ferry_moses_prefixes[i].words; *at != '\0'; at = last.data + last.size + 1) {
            at += *at == '#';
            const ferry_view word = {at, strcspn(at, "\n")};
            assert_true(word.size <= 128 && ferry_view_compare(last, word) < 0);
            last = word;
        }
    }
    for (size_t i = 0; i < ferry_moses_range_count; i++)
        assert_true(ferry_moses_ranges[i].first <= ferry_moses_ranges[i].last &&
                    (i == 0 || ferry_moses_ranges[i - 1].last < ferry_moses_ranges[i].first));
}

/* CRC-32 of sacremoses 0.2.0's own data, computed in Python: of "LANGUAGE\n" and its abbreviations as moses_data.py
 * lists them; of the classes of all code points, four bytes each. */
TEST(test_data)
{
    uLong words = 0, classes = 0;
    for (size_t i = 0; i < ferry_moses_prefix_count; i++) {
        const char *const parts[] = {ferry_moses_prefixes[i].language, "\n", ferry_moses_prefixes[i].words};
        for (size_t k = 0; k < COUNT(parts); k++) words = crc32(words, (const Bytef *)parts[k], (uInt)strlen(parts[k]));
    }
    for (uint32_t c = 0; c < 0x110000; c++) {
        const uint32_t bits = ferry_moses_classes(c);
        classes = crc32(classes, (const Bytef[]){(Bytef)bits, (Bytef)(bits >> 8), 0, 0}, 4);
    }
    assert_int_equal(words, 0x6AE28F1D);
    assert_int_equal(classes, 0x5C319FD3);
}

/* ---- a tokenizer ---- */

static const ferry_view pieces[] = {
    VIEW("<unk>"), VIEW("</s>"), VIEW("&@@"),    VIEW("amp@@"), VIEW(";"),   VIEW("a"),   VIEW("b@@"),
    VIEW("b"),     VIEW("."),    VIEW("&quot;"), VIEW(","),     VIEW("@-@"), VIEW("a@@"), VIEW("\u4E2D"),
};
static const ferry_view merges[] = {VIEW("a m"),    VIEW("am p"),        VIEW("& q"), VIEW("&q u"),    VIEW("&qu o"),
                                    VIEW("&quo t"), VIEW("&quot ;</w>"), VIEW("@ -"), VIEW("@- @</w>")};
static const int32_t end_of_sentence = 1;

static ferry_tokenizer_config small_config(void)
{
    ferry_tokenizer_config config = one_vocabulary(pieces, COUNT(pieces));
    config.special_ids = config.suffix_ids = &end_of_sentence;
    config.special_count = config.suffix_count = 1;
    config.kind = FERRY_TOKENIZER_SUBWORD_NMT_2;
    config.source_merges = config.target_merges = KEPT_TEXTS(merges);
    config.source_merge_count = config.target_merge_count = COUNT(merges);
    config.source_moses = VIEW("en");
    config.target_moses = VIEW("de");
    return config;
}

TEST(test_source_ranges)
{
    static const encoded_row rows[] = {
        {VIEW("a b."), "5:a|7:b|8:.|1:"},
        {VIEW("a&b"), "5:a|2:&|3:&|4:&|7:b|1:"},
        {VIEW(" a  \u201Cb\u201D"), "5:a|9:\u201C|7:b|9:\u201D|1:"},
        {VIEW("\"b\",a"), "9:\"|7:b|10:\",|9:\",|5:a|1:"}, /* "b," a: they change places */
        {VIEW("a\x01\u4E2D"), "5:a\x01|13:\u4E2D|1:"},
        {VIEW("a\xFF"), "5:a|0:\xFF|1:"},
        {VIEW(""), "1:"},
        /* A German apostrophe is a word, an English one begins one: a, the characters of &apos;b, the end. */
        {VIEW("a'b"), "5:a|2:'|12:'|0:'|0:'|0:'|0:'|7:b|1:"},
    };
    static const encoded_row targets[] = {
        {VIEW("a'b"), "5:a|2:'|12:'|0:'|0:'|0:'|4:'|7:b"},
        {VIEW("a \"b\""), "5:a|9:\"|7:b|9:\""},
    };
    const ferry_tokenizer_config config = small_config();
    check_encoded(&config, SOURCE, rows, COUNT(rows));
    check_encoded(&config, TARGET, targets, COUNT(targets));
}

TEST(test_translation_ranges)
{
    static const ferry_word words[] = {{{NULL, 0}, false}, {VIEW("&lt;"), true}};
    static const decoded_row rows[] = {
        {{5, 7, 8, 1}, 4, NULL, VIEW("a b."), "a|b|.|"},
        {{6, 5, 10, 2, 3, 4, 7}, 7, NULL, VIEW("ba, & b"), "b|a|,|&|&|&|b"},
        {{12, 2, 3, 4, 9, 5, 9}, 7, NULL, VIEW("a& \"a\""), "a|&|&|&|\"|a|\""},
        {{5, 11, 7}, 3, NULL, VIEW("a-b"), "a|-|b"},
        {{13, 13, 5}, 3, NULL, VIEW("\u4E2D\u4E2D a"), "\u4E2D|\u4E2D|a"},
        {{1}, 1, NULL, VIEW(""), ""},
        {{5, 0}, 2, words, VIEW("a &lt;"), "a|&lt;"}, /* a word of the source's text is what it is there */
    };
    const ferry_tokenizer_config config = small_config();
    check_translations(&config, rows, COUNT(rows));
}

/* FSMT's rules take hyphens apart and know full-width marks; its words end in "</w>". */
TEST(test_fsmt)
{
    static const ferry_view words[] = {VIEW("<unk>"), VIEW("a</w>"), VIEW("b</w>"), VIEW("@-@</w>"), VIEW("!</w>")},
                            joined[] = {VIEW("@ -"), VIEW("@- @</w>")};
    static const ferry_word copied[] = {{VIEW(""), false}, {VIEW("&lt;"), true}, {VIEW(""), false}};
    static const encoded_row row = {VIEW("a-b\uFF01"), "1:a|3:-|2:b|4:\uFF01"};
    static const decoded_row back = {{1, 0, 2}, 3, copied, VIEW("a &lt; b"), "a|&lt;|b"};
    ferry_tokenizer_config config = one_vocabulary(words, COUNT(words));
    config.kind = FERRY_TOKENIZER_FSMT;
    config.source_merges = config.target_merges = KEPT_TEXTS(joined);
    config.source_merge_count = config.target_merge_count = COUNT(joined);
    config.source_moses = config.target_moses = VIEW("en");
    check_encoded(&config, SOURCE, &row, 1);
    check_translations(&config, &back, 1);
}

TEST(test_any_text)
{
    const ferry_tokenizer_config config = small_config();
    check_any_texts(&config, VIEW("a b.,'\"&-\u2026\u201C\u201D\xE2\x82\xFF\u4E2D\t\x01()5%\u00A0\u2013"), 3000);
}

TEST(test_refused)
{
    ferry_tokenizer *tokenizer;
    ferry_tokenizer_config config = small_config();
    config.target_moses.size = 0;
    REFUSE_SAYING(ferry_tokenizer_create(&config, &tokenizer, &error), FERRY_ERROR_FORMAT,
                  "Moses' words: expected a language of the target side, too");
    config = small_config();
    config.kind = FERRY_TOKENIZER_NONE;
    REFUSE_SAYING(ferry_tokenizer_create(&config, &tokenizer, &error), FERRY_ERROR_FORMAT,
                  "Moses' words: expected merges of subword-nmt or FSMT");
    ferry_moses *moses = create("en", false);
    ferry_string output = {0};
    const ferry_view large = {"", ((size_t)64 << 20) + 1};
    REFUSE_SAYING(ferry_moses_tokenize(moses, large, &output, NULL, &error), FERRY_ERROR_LIMIT,
                  "a text to tokenize: expected at most 67108864 bytes, found 67108865");
    REFUSE(ferry_moses_detokenize(moses, large, &output, NULL, &error), FERRY_ERROR_LIMIT, "found 67108865");
    ferry_moses_destroy(moses);
}

/* ---- long texts ---- */

/* Each of these takes minutes where a rule looks at the rest of the text, or at a run, for every character. */
TEST(test_long_texts)
{
    static const char *const parts[] = {".",    "\"",    ".\"",  " ",    "\u00A0",  "DOT",   "DOTMULTI",
                                        ",",    "'",     "&",    "@-@ ", "a.",      "' \" ", "\"' ",
                                        "`'` ", "&amp;", ".\" ", "( ",   "nº\u00A0"};
    enum { SIZE = 100000 };
    char *text = kept_memory(SIZE);
    ferry_moses *moses[] = {create("en", true), create("de", false)};
    ferry_string output = {0};
    for (size_t i = 0; i < COUNT(parts); i++) {
        const size_t size = strlen(parts[i]), all = SIZE / size * size;
        for (size_t at = 0; at < all; at++) text[at] = parts[i][at % size];
        for (size_t m = 0; m < COUNT(moses); m++) {
            CHECK(ferry_moses_tokenize(moses[m], (ferry_view){text, all}, &output, NULL, &error));
            CHECK(ferry_moses_detokenize(moses[m], (ferry_view){text, all}, &output, NULL, &error));
        }
    }
    free(output.data);
    for (size_t m = 0; m < COUNT(moses); m++) ferry_moses_destroy(moses[m]);
}
