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
        char *output = kept_memory(3 * rows[i].text.size);
        const bool valid = ferry_view_equal(rows[i].text, rows[i].repaired);
        size_t size = ferry_utf8_repair(rows[i].text, output);
        assert_true(ferry_view_equal((ferry_view){output, size}, rows[i].repaired));
        assert_int_equal(ferry_utf8_is_valid(rows[i].text), valid);
    }
}

/* All characters, in both directions; some by their bytes. */
TEST(test_utf8_next)
{
    static const ferry_view text = VIEW("A\xC3\x9C\xE6\xBC\xA2\xF0\x9F\x99\x82\xF4\x8F\xBF\xBF");
    static const uint32_t expected[] = {'A', 0xDC, 0x6F22, 0x1F642, 0x10FFFF};
    uint32_t found;
    for (size_t i = 0, at = 0; i < COUNT(expected); i++)
        assert_true(ferry_utf8_next(text, &at, &found) && found == expected[i]);
    for (uint32_t c = 0; c <= 0x10FFFF; c++) {
        char bytes[5] = "x";
        const size_t end = 1 + ferry_utf8_put(c, bytes + 1);
        size_t next = 1, at = end;
        const bool valid = ferry_utf8_next((ferry_view){bytes, end}, &next, &found);
        assert_true(c >= 0xD800 && c <= 0xDFFF ? !valid : valid && found == c && next == end);
        if (valid) assert_true(ferry_utf8_previous((ferry_view){bytes, end}, &at, &found) && found == c && at == 1);
    }
}

/* Unicode 15.0, PropList.txt: White_Space. */
TEST(test_blank)
{
    static const uint32_t blanks[] = {0x09,   0x0A,   0x0B,   0x0C,   0x0D,   0x20,   0x85,   0xA0,   0x1680,
                                      0x2000, 0x2001, 0x2002, 0x2003, 0x2004, 0x2005, 0x2006, 0x2007, 0x2008,
                                      0x2009, 0x200A, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000};
    size_t found = 0;
    for (uint32_t c = 0; c <= 0x10FFFF; c++) {
        const bool blank = found < COUNT(blanks) && blanks[found] == c;
        assert_int_equal(ferry_utf8_is_space(c), blank);
        found += blank;
    }
    static const struct {
        ferry_view text, trimmed;
    } rows[] = {{VIEW("\xC2\xA0 a \t b\u3000\n"), VIEW("a \t b")},
                {VIEW(" \0 "), VIEW("\0")},
                {VIEW(" \xE3\x80"), VIEW("\xE3\x80")},
                {VIEW("\x80 "), VIEW("\x80")},
                {VIEW("\u200B"), VIEW("\u200B")},
                {VIEW(" \u2003\u205F"), VIEW("")},
                {VIEW("a"), VIEW("a")},
                {{NULL, 0}, VIEW("")}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_true(ferry_view_equal(ferry_utf8_trim(rows[i].text), rows[i].trimmed));
        assert_int_equal(ferry_utf8_is_blank(rows[i].text), rows[i].trimmed.size == 0);
    }
}

TEST(test_previous)
{
    const ferry_view text = ferry_text_view("a\xC3\xA9\xE2\x82\xAC");
    size_t at = text.size;
    uint32_t c;
    assert_true(ferry_utf8_previous(text, &at, &c));
    assert_int_equal(c, 0x20AC);
    assert_true(ferry_utf8_previous(text, &at, &c));
    assert_int_equal(c, 0xE9);
    assert_true(ferry_utf8_previous(text, &at, &c));
    assert_int_equal(c, 'a');
    assert_int_equal(at, 0);
    assert_false(ferry_utf8_previous(text, &at, &c));
    assert_int_equal(at, 0);
}
