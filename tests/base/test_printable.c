/* What a person sees of text from outside. tests/tools/hostile_text.py compares all characters with Unicode's data. */
#define _POSIX_C_SOURCE 200809L
#include "tests/support/support.h"

#include "base/utf8.h"

typedef struct output {
    char text[256]; /* NUL-terminated */
    size_t characters;
} output;

static output written(ferry_view text)
{
    output o = {.text = ""};
    FILE *out = fmemopen(o.text, sizeof o.text, "wb");
    assert_non_null(out);
    o.characters = ferry_printable_write(out, text);
    assert_int_equal(fclose(out), 0);
    return o;
}

TEST(test_shown)
{
    static const struct {
        const char *text, *shown;
        size_t characters;
    } rows[] = {
        {"", "", 0},
        {"plain, \xC3\xA9 \xE6\xBC\xA2 \xF0\x9F\x98\x80", "plain, \xC3\xA9 \xE6\xBC\xA2 \xF0\x9F\x98\x80", 12},
        {"C:\\new \\x1b", "C:\\new \\x1b", 11},
        {"\x1B]0;title\a", "\\x1b]0;title\\x07", 16},
        {"a\nb\tc\rd\x7F", "a\\nb\\tc\\rd\\x7f", 14},
        {"\xC2\x9Bm", "\\u009bm", 7},
        {"\xE2\x80\xAEtxt\xE2\x80\xA8", "\\u202etxt\\u2028", 15},
        {"\xF3\xA0\x81\x81\xEF\xBF\xBF", "\\U000e0041\\uffff", 16},
        {"\x9B[\xE2\x80 \xF0\x9F\x98", "\\x9b[\\xe2\\x80 \\xf0\\x9f\\x98", 26},
        /* Joiners stay: Persian, and a family of three. */
        {"\xD9\x85\xDB\x8C\xE2\x80\x8C\xD8\xB1", "\xD9\x85\xDB\x8C\xE2\x80\x8C\xD8\xB1", 4},
        {"\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x91\xA7", "\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x91\xA7", 3},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const output found = written(ferry_text_view(rows[i].text));
        assert_string_equal(found.text, rows[i].shown);
        assert_int_equal(found.characters, rows[i].characters);
        assert_string_equal(ferry_printable_view(ferry_text_view(rows[i].text)).text, rows[i].shown);
    }
    assert_string_equal(written((ferry_view){"a\0b", 3}).text, "a\\x00b");
}

/* Whatever the bytes: UTF-8 without anything to escape, and the same when it is shown again. */
static void check_any(ferry_view text)
{
    size_t found = 0;
    uint32_t c;
    const output shown = written(text);
    const ferry_view view = ferry_text_view(shown.text);
    for (size_t at = 0; at < view.size; found++) {
        assert_true(ferry_utf8_next(view, &at, &c));
        assert_true(ferry_is_printable(c));
    }
    assert_int_equal(found, shown.characters);
    assert_string_equal(written(view).text, shown.text);
}

TEST(test_any_bytes)
{
    static const char leads[] = "\xC2\xE0\xE2\xED\xEF\xF0\xF3\xF4\xFF";
    for (unsigned pair = 0; pair < 0x10000; pair++) {
        const char bytes[] = {(char)(pair >> 8), (char)pair};
        check_any((ferry_view){bytes, sizeof bytes});
    }
    for (const char *lead = leads; *lead != '\0'; lead++)
        for (unsigned rest = 0; rest < 0x10000; rest += 7) {
            const char bytes[] = {*lead, (char)(0x80 | (rest & 0x3F)), (char)(rest >> 8), (char)rest};
            check_any((ferry_view){bytes, sizeof bytes});
        }
}

/* Messages cut names between characters, and between escapes. */
TEST(test_view)
{
    static const struct {
        const char *one, *as;
        size_t count, shown;
    } rows[] = {{"a", "a", 76, 76},
                {"a", "a", 77, 76},
                {"\xC3\xA9", "\xC3\xA9", 38, 38},
                {"\xC3\xA9", "\xC3\xA9", 39, 38},
                {"\xE6\xBC\xA2", "\xE6\xBC\xA2", 26, 25},
                {"\x1B", "\\x1b", 20, 19}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[128] = "", expected[128] = "";
        for (size_t k = 0; k < rows[i].count; k++) strcat(text, rows[i].one);
        for (size_t k = 0; k < rows[i].shown; k++) strcat(expected, rows[i].as);
        if (rows[i].shown < rows[i].count) strcat(expected, "...");
        assert_string_equal(ferry_printable_view(ferry_text_view(text)).text, expected);
    }
}
