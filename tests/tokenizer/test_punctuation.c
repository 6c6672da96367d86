/* Text as OPUS-MT's preprocess.sh leaves it: each substitution, what becomes a blank, and what stays. */
#include "tests/support/support.h"
#include "tests/support/tokenizer_support.h"

#include "base/utf8.h"
#include "tokenizer/moses/moses.h"

static void assert_clean(ferry_view text, ferry_view expected)
{
    ferry_string clean = {0};
    CHECK(ferry_punctuation_clean(text, &clean, NULL, &error));
    if (!ferry_view_equal((ferry_view){clean.data, clean.size}, expected))
        fail_msg("'%.*s': expected '%.*s', found '%.*s'", (int)text.size, text.data, (int)expected.size, expected.data,
                 (int)clean.size, clean.data);
    free(clean.data);
}

/* Between letters, so that nothing is trimmed. */
TEST(test_substitutions)
{
    static const struct {
        const char *from, *to;
    } table[] = {{"，", ","},  {"。", ". "}, {"、", ","},  {"”", "\""}, {"“", "\""}, {"《", "\""},
                 {"》", "\""}, {"「", "\""}, {"」", "\""}, {"∶", ":"},  {"：", ":"}, {"？", "?"},
                 {"）", ")"},  {"（", "("},  {"！", "!"},  {"；", ";"}, {"０", "0"}, {"１", "\""},
                 {"２", "2"},  {"３", "3"},  {"４", "4"},  {"５", "5"}, {"６", "6"}, {"７", "7"},
                 {"８", "8"},  {"９", "9"},  {"．", ". "}, {"～", "~"}, {"’", "'"},  {"…", "..."},
                 {"━", "-"},   {"〈", "<"},  {"〉", ">"},  {"【", "["}, {"】", "]"}, {"％", "%"}};
    assert_int_equal(COUNT(table), 36);
    for (size_t i = 0; i < COUNT(table); i++) {
        const ferry_name text = ferry_name_format("a%sz", table[i].from),
                         clean = ferry_name_format("a%sz", table[i].to);
        assert_clean(text_view(text.text), text_view(clean.text));
    }
}

/* Their neighbors among the code points, and quotation marks that the script does not know. */
TEST(test_what_stays)
{
    static const char *const texts[] = {
        "«»", "„", "‘", "–—", "ａ", "＇", "〝", "ﬁ", "漢字", "\u00A0x\u00A0", "\u3000x\u3000", "\u2028x", "e\u0301"};
    for (size_t i = 0; i < COUNT(texts); i++) assert_clean(text_view(texts[i]), text_view(texts[i]));
}

TEST(test_blanks)
{
    assert_clean(VIEW(""), VIEW(""));
    assert_clean(VIEW(" \t "), VIEW(""));
    assert_clean(VIEW("  a \t\0  b  "), VIEW("a b"));
    assert_clean(VIEW("a。   b．"), VIEW("a. b."));
    assert_clean(VIEW("。"), VIEW("."));
    assert_clean(VIEW("a\nb"), VIEW("a\nb"));
    assert_clean(VIEW("a\r\nb"), VIEW("a \nb"));
}

/* First and last of each range of categories Cc, Cf, Co and of the noncharacters, and their neighbors. */
TEST(test_categories)
{
    static const uint32_t blank[] = {0x00,    0x1F,    0x7F,    0x9F,    0xAD,    0x600,   0x605,   0x61C,
                                     0x6DD,   0x70F,   0x890,   0x891,   0x8E2,   0x180E,  0x200B,  0x200F,
                                     0x202A,  0x202E,  0x2060,  0x2064,  0x2066,  0x206F,  0xE000,  0xF8FF,
                                     0xFDD0,  0xFDEF,  0xFEFF,  0xFFF9,  0xFFFB,  0xFFFE,  0xFFFF,  0x110BD,
                                     0x110CD, 0x13430, 0x1343F, 0x1BCA0, 0x1BCA3, 0x1D173, 0x1D17A, 0x1FFFE,
                                     0x4FFFF, 0xE0001, 0xE0020, 0xE007F, 0xF0000, 0xFFFFD, 0x10FFFF};
    static const uint32_t kept[] = {0x21,    0x7E,    0xA0,    0xAC,    0xAE,    0x606,   0x61B,   0x61D,
                                    0x6DC,   0x6DE,   0x710,   0x892,   0x200A,  0x2010,  0x2029,  0x202F,
                                    0x205F,  0x2065,  0x2070,  0xD7FF,  0xF900,  0xFDCF,  0xFDF0,  0xFEFE,
                                    0xFF00,  0xFFF8,  0xFFFC,  0xFFFD,  0x10000, 0x110BC, 0x110BE, 0x1342F,
                                    0x1FFFD, 0x20000, 0xE0000, 0xE0002, 0xE001F, 0xE0080, 0xEFFFD};
    for (size_t i = 0; i < COUNT(blank) + COUNT(kept); i++) {
        const uint32_t c = i < COUNT(blank) ? blank[i] : kept[i - COUNT(blank)];
        char text[8] = "a";
        size_t size = 1;
        size += ferry_utf8_put(c, text + size);
        text[size++] = 'z';
        const ferry_view view = {text, size};
        assert_clean(view, i < COUNT(blank) ? VIEW("a z") : view);
    }
}

TEST(test_ill_formed_bytes_stay)
{
    assert_clean(VIEW("a\xff\xe3\x80 \xc2"), VIEW("a\xff\xe3\x80 \xc2"));
    assert_clean(VIEW("a\t\xff"), VIEW("a \xff")); /* not taken for its predecessor */
}

/* In the tokenizer: after the tag, before the pieces. */
TEST(test_in_the_tokenizer)
{
    static const ferry_view pieces[] = {{"<unk>", 5}, {">>d。<<", 8}, {"a,", 2}, {"b", 1}, {"a，", 4}};
    ferry_tokenizer_config config = one_vocabulary(pieces, COUNT(pieces));
    config.leading_tag = true;
    static const int32_t expected[2][3] = {{1, 4, 0}, {1, 2, 3}};
    for (size_t clean = 0; clean < 2; clean++) {
        config.opus_punctuation = clean != 0;
        const encoded_row target = {VIEW("a， \u00ADb"), clean ? "2:a，|3:b" : "4:a，|0:\u00ADb"};
        check_ids(create_tokenizer(&config), VIEW(">>d。<<a， \u00ADb"), expected[clean], 3);
        check_encoded(&config, TARGET, &target, 1);
    }
}
