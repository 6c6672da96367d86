/* The framework of documents, by a format of a few characters: lines are paragraphs, "\" and a newline end a line
 * within one, *word* is an element, [x] stands alone, `code` is kept, \x is the character x; written, "*" gets its "\".
 */
#include "tests/support/document_support.h"

#include "tools/documents/kept_text.h"

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

TEST(test_elements)
{
    /* Within each other, empty, without a partner, a gap that the reader says nothing about. */
    assert_translated(&toy, "*a* *b", "<x0>a</x0> <x4/>b", "b <x4/><x0></x0>", "b ***");
    assert_translated(&toy, "*a*", "<x0>a</x0>", "A<x0></x0>", "A**");
}

/* Translations that lose, double, cross or invent elements: the block stays. */
TEST(test_damaged)
{
    static const char source[] = "a *b* [c] `d`", markup[] = "a <x1>b</x1> <x5/> <x7 translate=\"no\">d</x7>";
    static const char *const damaged[] = {
        "A <x1>B</x1> <x5/>",             /* lost */
        "A <x1>B</x1> <x5/> <x5/> <x7/>", /* doubled */
        "A <x1>B</x1></x1> <x5/> <x7/>",
        "A <x1>B <x5/> <x7/>",                            /* not closed */
        "A B</x1> <x5/> <x7/>",                           /* not opened */
        "<x1>A</x1> <x1>B</x1> <x5/> <x7/>",              /* twice */
        "A <x1>B</x1> <x5/> <x7/> <x9/>",                 /* not the block's */
        "A <x1>B</x1> <x5/> <x7/> <x2>d</x2>",            /* another number */
        "A <x1>B</x1> <x5></x5> <x7/>",                   /* of another kind */
        "A <x1>B</x1> <x5/> <x7 translate=\"no\">d</x5>", /* crossing */
        "A <x1>B</x1> <x5/> <x7 translate=\"no\">d",      /* not ended */
        "A <b>B</b> <x1></x1> <x5/> <x7/>",               /* no element of ours */
        "<x1></x1> <x5/> <x7/>",                          /* no text */
        "A <x1>B</x1> <x5/> <x7/> <",
        "A <x1>B</x1> <x5/> <x7/> <x",
        "A <x1>B</x1> <x5/> <x7/> <x99999999999999999999999/>",
    };
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++)
        assert_translated(&toy, source, markup, damaged[i], source);
    assert_translated(&toy, "*a* *b*", "<x0>a</x0> <x4>b</x4>", "<x0>A <x4>B</x0></x4>", "*a* *b*");
    assert_translated(&toy, "*a* *b*", "<x0>a</x0> <x4>b</x4>", "<x0>A <x4>B</x4></x0>", "*A *B**");
}

#define FIRST "\xEF\xA4\x80"
#define LAST "\xEF\xAB\xBF"

/* Lines are as long as the block's longest one; the blanks of the translation stay. */
TEST(test_lines)
{
    assert_document(&toy, "aaa bbb ccc\\\nddd eee", longer_markup, "aaaaaa\\\nbbbbbb\\\ncccccc\\\ndddddd\\\neeeeee");
    assert_document(&toy, "one two three", longer_markup, "oonnee ttwwoo tthhrreeee"); /* not wrapped */
    assert_document(&toy, "a b c d e f g\\\nh", longer_markup, "aa bb cc dd\\\nee ff gg hh");
    assert_document(&toy, "a b\\\nc d", upper_markup, "A B\\\nC D");
    assert_document(&toy, "*a b*\\\n`c d` e", longer_markup, "*aa\\\nbb*\\\n`c d`\\\nee");
    assert_translated(&toy, "a b\\\nc", "a b c", "", "a b\\\nc");
    /* An ideograph is two columns wide, and lines may end beside it; without a blank if both are. */
    assert_translated(&toy, "漢字\\\n漢字", "漢字漢字", "一二三四五", "一二\\\n三四\\\n五");
    /* So are the compatibility forms, U+F900 to U+FAFF. */
    assert_translated(&toy, "漢字\\\n漢字", "漢字漢字", FIRST LAST FIRST LAST FIRST,
                      FIRST LAST "\\\n" FIRST LAST "\\\n" FIRST);
    assert_translated(&toy, "漢字 a\\\nb", "漢字 a b", "一二三 四", "一二三\\\n四");
}

TEST(test_untouched)
{
    assert_translated(&toy, "12 : *34*", "this is not shown", "nor this", "12 : *34*"); /* no letters */
    size_t warnings;
    const ferry_view ill_formed = ferry_text_view("a\xFF\nb");
    ferry_string out = translate_document(&toy, ill_formed, upper_markup, &warnings);
    assert_true(ferry_view_is((ferry_view){out.data, out.size}, "a\xFF\nB"));
    assert_int_equal(warnings, 1);
    free(out.data);
}

/* What is kept, between bars. */
TEST(test_kept)
{
    static const struct {
        const char *text, *marked;
    } rows[] = {
        {"%s", "|%s|"},
        {"%1$d of %-5.2f%%, %zu", "|%1$d| of |%-5.2f||%%|, |%zu|"},
        {"%(name)s, %{x}, %1 and %12", "|%(name)s|, |%{x}|, |%1| and |%12|"},
        {"100% of 50%d, 5 % and 3 % d", "100% of 50%d, 5 % and 3 % d"},
        {"{name} {0} {} {{ x }} {a{b}c} {", "|{name}| |{0}| |{}| |{{ x }}| |{a{b}c}| {"},
        {"${HOME} $x$ $HOME a$b $5 US$", "|${HOME}| |$x$| |$HOME| a$b $5 US$"},
        {"See https://a.b/c?d=e&f=(g). And", "See |https://a.b/c?d=e&f=(g)|. And"},
        {"(http://a.b/), \"www.a.b\" mailto:a@b.c.", "(|http://a.b/|), \"|www.a.b|\" |mailto:a@b.c|."},
        {"Write to a.b-c@d.org. Or a@b, c.", "Write to |a.b-c@d.org|. Or a@b, c."},
        {"A <a@b.c>, <https://a.b/>, <a@b.c d>", "A |<a@b.c>|, |<https://a.b/>|, <|a@b.c| d>"},
        {"/usr/share, ./a ../b ~/c and/or 1/2 / x", "|/usr/share|, |./a| |../b| |~/c| and/or 1/2 / x"},
        {"--help (--out-put) a--b -- c", "|--help| (|--out-put|) a--b -- c"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const ferry_view text = ferry_text_view(rows[i].text);
        ferry_string found = {0};
        ferry_kept kept;
        size_t at = 0;
        for (; ferry_kept_find(text, at, &kept); at = kept.end) {
            CHECK(ferry_string_append(&found, (ferry_view){text.data + at, kept.begin - at}, &error));
            CHECK(ferry_string_append(&found, ferry_text_view("|"), &error));
            CHECK(ferry_string_append(&found, (ferry_view){text.data + kept.begin, kept.end - kept.begin}, &error));
            CHECK(ferry_string_append(&found, ferry_text_view("|"), &error));
        }
        CHECK(ferry_string_append(&found, (ferry_view){text.data + at, text.size - at}, &error));
        if (!ferry_view_is((ferry_view){found.data, found.size}, rows[i].marked))
            fail_msg("found: %.*s, expected: %s", (int)found.size, found.data, rows[i].marked);
        free(found.data);
    }
}

/* The model sees the beginning of what is kept, in one line, without what would be markup. */
TEST(test_shown)
{
    assert_translated(&toy, "a `<b> &  c`", "a <x1 translate=\"no\">b c</x1>", "A <x1 translate=\"no\">b c</x1>",
                      "A `<b> &  c`");
    assert_translated(&toy, "a `<&>`", "a <x1/>", "<x1/> A", "`<&>` A");
    static const char longest[] = "a `123456789 123456789 123456789 123456789 123456789 123456789 123456789`";
    assert_translated(&toy, longest,
                      "a <x1 translate=\"no\">123456789 123456789 123456789 123456789 123456789 123456789</x1>",
                      "<x1/>", longest);
}
