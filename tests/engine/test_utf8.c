/* UTF-8: repair, code points, blanks. */
#include "tests/support/tokenizer_support.h"

#include "base/utf8.h"

#define FFFD "\xEF\xBF\xBD"
/* The first and last character of every row of table 3-7 that has a border. */
#define WELL_FORMED                                                                                                    \
    "\0\x7F\xC2\x80\xDF\xBF\xE0\xA0\x80\xED\x9F\xBF\xEE\x80\x80\xEF\xBF\xBF\xF0\x90\x80\x80\xF4\x8F\xBF\xBF"

TEST(test_utf8_repair)
{
    /* The Unicode Standard 15.0, tables 3-8 to 3-11, and the borders of table 3-7. */
    static const struct {
        ferry_view text, repaired;
    } rows[] = {
        {VIEW("\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41"), VIEW(FFFD FFFD FFFD FFFD FFFD FFFD FFFD FFFD "A")},
        {VIEW("\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41"), VIEW(FFFD FFFD FFFD FFFD FFFD FFFD FFFD FFFD "A")},
        {VIEW("\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42"), VIEW(FFFD FFFD FFFD FFFD FFFD "A" FFFD FFFD "B")},
        {VIEW("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41"), VIEW(FFFD FFFD FFFD FFFD "A")},
        {VIEW("\xE2\x82"), VIEW(FFFD)},
        {VIEW("\xF0\x9F\x99"), VIEW(FFFD)},
        {VIEW("a\xC2"), VIEW("a" FFFD)},
        {VIEW("\xFF\xFE\xFD"), VIEW(FFFD FFFD FFFD)},
        {VIEW("a\0\x80\0"), VIEW("a\0" FFFD "\0")},
        {VIEW(WELL_FORMED), VIEW(WELL_FORMED)},
        {VIEW(FFFD), VIEW(FFFD)},
        {VIEW(""), VIEW("")},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char *output = malloc(3 * rows[i].text.size + 1);
        bool replaced, valid = ferry_view_equal(rows[i].text, rows[i].repaired);
        size_t size = ferry_utf8_repair(rows[i].text, output, &replaced);
        assert_true(ferry_view_equal((ferry_view){output, size}, rows[i].repaired));
        assert_int_equal(replaced, !valid);
        assert_int_equal(ferry_utf8_is_valid(rows[i].text), valid);
        free(output);
    }
}

TEST(test_utf8_next)
{
    static const ferry_view text = VIEW("A\xC3\x9C\xE6\xBC\xA2\xF0\x9F\x99\x82\xF4\x8F\xBF\xBF");
    static const uint32_t expected[] = {'A', 0xDC, 0x6F22, 0x1F642, 0x10FFFF};
    uint32_t code_point;
    size_t at = 0;
    for (size_t i = 0; i < COUNT(expected); i++) {
        assert_true(ferry_utf8_next(text, &at, &code_point));
        assert_int_equal(code_point, expected[i]);
    }
    assert_int_equal(at, text.size);
    for (size_t i = COUNT(expected); i-- > 0;) {
        char bytes[4];
        const size_t end = at;
        assert_true(ferry_utf8_previous(text, &at, &code_point));
        assert_int_equal(code_point, expected[i]);
        const size_t size = ferry_utf8_put(code_point, bytes);
        assert_true(ferry_view_equal((ferry_view){bytes, size}, (ferry_view){text.data + at, end - at}));
    }
    assert_int_equal(at, 0);
}

TEST(test_blank)
{
    static const ferry_view blank[] = {VIEW(""),
                                       VIEW(" "),
                                       VIEW("\t\r\n\v\f "),
                                       VIEW("\xC2\xA0"),
                                       VIEW("\xE3\x80\x80 "),
                                       VIEW("\xE2\x80\x83\xC2\x85\xE2\x80\xA8\xE1\x9A\x80\xE2\x80\xAF\xE2\x81\x9F")};
    static const ferry_view full[] = {VIEW("."), VIEW(" \0 "), VIEW("\x80"), VIEW(" \xE3\x80"), VIEW("\xE2\x80\x8B")};
    for (size_t i = 0; i < COUNT(blank); i++) assert_true(ferry_utf8_is_blank(blank[i]));
    for (size_t i = 0; i < COUNT(full); i++) assert_false(ferry_utf8_is_blank(full[i]));
    assert_true(ferry_utf8_is_blank((ferry_view){NULL, 0}));
    assert_true(ferry_view_equal(ferry_utf8_trim(VIEW("\xC2\xA0 a \t b\xE3\x80\x80\n")), VIEW("a \t b")));
}
