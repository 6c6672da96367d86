/* What is kept in text. */
#include "document_support.h"

#include "base/utf8.h"
#include "tokenizer/unicode.h"
#include "tests/support/files.h"

/* A model that knows Latin letters, quotes and dashes, but no '{' and '@'; its normalizer changes signs. */
static size_t read_latin(void *user, ferry_view text)
{
    size_t *asked = user;
    size_t begin = 0;
    uint32_t c;
    for (size_t at = 0; at < text.size; begin = at)
        if (!ferry_utf8_next(text, &at, &c) || c == '{' || c == '@' || ferry_unicode_is_replaced_sign(c) ||
            !(c < 0xA9 || (c > 0xAE && c < 0x141) || (c >= 0x2013 && c < 0x2027)))
            break;
    *asked += begin + 1;
    return begin;
}

/* The text of a row, found again with bars around what is kept. */
static void check_row(const char *row, ferry_placeholder_rules rules)
{
    static char text[400], found[400];
    char *end = text;
    size_t at = 0, size = 0;
    for (const char *c = row; *c != '\0' && *c != '\n'; c++)
        if (*c != '|') *end++ = *c;
    ferry_placeholder_search search = {.text = {text, (size_t)(end - text)}, .rules = rules};
    for (ferry_placeholder kept; ferry_placeholder_next(&search, &kept); at = kept.end)
        size += (size_t)sprintf(found + size, "%.*s|%.*s|", (int)(kept.begin - at), text + at,
                                (int)(kept.end - kept.begin), text + kept.begin);
    sprintf(found + size, "%.*s", (int)(search.text.size - at), text + at);
    if (strncmp(found, row, strlen(found)) != 0 || row[strlen(found)] != '\n') fail_msg("%s", found);
}

TEST(test_kept)
{
    const made_file file = file_copy(data_file("documents/%s", "kept_text.cases"));
    size_t asked = 0;
    ferry_placeholder_rules rules = {.formulas = false};
    for (const char *row = whole(&file).data, *all = row + whole(&file).size; row < all; row = strchr(row, '\n') + 1)
        if (ferry_text_begins(row, "@@ formulas"))
            rules.formulas = true;
        else if (ferry_text_begins(row, "@@ latin"))
            rules = (ferry_placeholder_rules){.reads = read_latin, .user = &asked};
        else if (ferry_text_begins(row, "@@ marks"))
            rules.marks = true;
        else
            check_row(row, rules);
}

TEST(test_kinds_of_what_is_kept)
{
    size_t asked = 0;
    static const char text[] = "%s a@b.c 123 \xE2\x98\x95 \xC2\xA0 `x`";
    static const ferry_placeholder_kind kinds[] = {FERRY_PLACEHOLDER_TEMPLATE, FERRY_PLACEHOLDER_NAME,
                                                   FERRY_PLACEHOLDER_NUMBER,   FERRY_PLACEHOLDER_SYMBOL,
                                                   FERRY_PLACEHOLDER_SPACE,    FERRY_PLACEHOLDER_TEMPLATE};
    ferry_placeholder_search search = {.text = ferry_text_view(text), .rules = {.reads = read_latin, .user = &asked}};
    ferry_placeholder kept;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        assert_true(ferry_placeholder_next(&search, &kept));
        assert_int_equal(kept.kind, kinds[i]);
    }
    assert_false(ferry_placeholder_next(&search, &kept));
    search = (ferry_placeholder_search){.text = ferry_text_view(text), .at = 2};
    assert_true(ferry_placeholder_next(&search, &kept));
    assert_int_equal(kept.begin, 3);
}

/* What the model can read is asked once for each byte, and once more for each character that it cannot. */
TEST(test_readable_is_asked_once)
{
    char text[4000];
    size_t asked = 0, count = 0;
    for (size_t i = 0; i < sizeof text; i += 4) memcpy(text + i, i % 40 == 0 ? "\xE2\x98\x95 " : "ab 1", 4);
    ferry_placeholder_search search = {.text = {text, sizeof text}, .rules = {.reads = read_latin, .user = &asked}};
    for (ferry_placeholder kept; ferry_placeholder_next(&search, &kept);) count++;
    assert_int_equal(count, 100);
    assert_in_range(asked, sizeof text - 300, sizeof text + 200);
}

/* Braces and names end within 256 bytes, and what looks like one of them beyond that is text. */
TEST(test_bounds_of_what_is_kept)
{
    char text[300];
    ferry_placeholder found;
    for (size_t size = 255; size < 258; size++) {
        memset(text, 'a', size);
        text[0] = '{';
        text[size - 1] = '}';
        ferry_placeholder_search search = {.text = {text, size}};
        assert_int_equal(ferry_placeholder_next(&search, &found), size <= 256);
    }
    /* A name ends with a whole character. */
    for (size_t i = 0; i < sizeof text; i++) text[i] = i < 2 ? "*."[i] : i == 2 ? 'a' : "\xC3\xA9"[i % 2 == 0];
    ferry_placeholder_search search = {.text = {text, sizeof text}};
    assert_true(ferry_placeholder_next(&search, &found));
    assert_true((text[found.end] & 0xC0) != 0x80 && found.end > 250);
}
