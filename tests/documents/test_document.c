/* The framework of documents, by a format of a few characters: lines are paragraphs, "\" and a newline end a line
 * within one, *word* is an element, [x] stands alone, `code` is kept, \x is the character x; written, "*" gets its "\".
 */
#include "tests/support/document_support.h"

static size_t find(ferry_view source, size_t at, char c)
{
    while (at < source.size && source.data[at] != c) at++;
    return at;
}

static ferry_status read_toy(ferry_document *d)
{
    const ferry_view s = d->source;
    bool open = false;
    for (size_t at = 0, begin = 0; at < s.size; at++, begin = at) {
        FERRY_TRY(ferry_document_begin_block(d, at));
        for (; at < s.size && s.data[at] != '\n'; begin = at) {
            const char c = s.data[at];
            if (c == '\\' && at + 1 < s.size && s.data[at + 1] == '\n') {
                FERRY_TRY(ferry_document_break(d, at, at + 2, true));
                at += 2;
            } else if (c == '\\' && at + 1 < s.size) {
                FERRY_TRY(ferry_document_text(d, at, at + 2, (ferry_view){s.data + at + 1, 1}));
                at += 2;
            } else if (c == '*') {
                FERRY_TRY(open ? ferry_document_close(d, at, at + 1) : ferry_document_open(d, at, at + 1));
                open = !open;
                at++;
            } else if (c == '[') {
                at = find(s, at, ']') + 1;
                FERRY_TRY(ferry_document_point(d, begin, at));
            } else if (c == '`') {
                at = find(s, at + 1, '`') + 1;
                FERRY_TRY(ferry_document_kept(d, begin, at, (ferry_view){s.data + begin + 1, at - begin - 2}));
            } else {
                while (at < s.size && strchr("\\*[`\n", s.data[at]) == NULL) at++;
                FERRY_TRY(ferry_document_text(d, begin, at, (ferry_view){NULL, 0}));
            }
        }
        FERRY_TRY(ferry_document_end_block(d, at));
    }
    return FERRY_OK;
}

static ferry_status write_toy(ferry_string *out, ferry_view text, bool begins_line, ferry_error *error)
{
    (void)begins_line;
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] == '*') FERRY_TRY(ferry_string_append(out, ferry_text_view("\\"), error));
        FERRY_TRY(ferry_string_append(out, (ferry_view){text.data + i, 1}, error));
    }
    return FERRY_OK;
}

static const ferry_document_format toy = {.name = "toy", .read = read_toy, .write_text = write_toy};

TEST(test_same)
{
    assert_document(&toy, "a *b* [c] `d` \\* %s\\\ne\n\n1 2\n", same_markup, "a *b* [c] `d` \\* %s\\\ne\n\n1 2\n");
}

TEST(test_codes)
{
    assert_translated(&toy, "a *b* [c] `d` \\* %s",
                      "a <x1>b</x1> <x5/> <x7 translate=\"no\">d</x7> * <x11 translate=\"no\">%s</x11>",
                      "<x11/> <x7/>: A <x1>B</x1> * <x5/>", "%s `d`: A *B* \\* [c]");
    assert_translated(&toy, "a <b> & c", "a &lt;b&gt; &amp; c", "&amp; &lt; &gt;", "& < >");
}
