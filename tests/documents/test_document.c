/* The framework of documents, by a format of a few characters: lines are paragraphs, "\" and a newline end a line
 * within one, *word* is an element, [x] stands alone, `code` is kept, \x is the character x; written, "*" gets its "\".
 */
#include "tests/support/document_support.h"

#include "documents/document_parts.h"
#include "documents/inline_tags.h"
#include "documents/kept_text.h"

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

TEST(test_codes)
{
    assert_translated(&toy, "a *b* [c] `d` \\* %s",
                      "a <x1>b</x1> <x5/> <x7 translate=\"no\">d</x7> * <x11 translate=\"no\">%s</x11>",
                      "<x11/> <x7/>: A <x1>B</x1> * <x5/>", "%s `d`: A *B* \\* [c]");
    assert_translated(&toy, "a <b> & c", "a &lt;b&gt; &amp; c", "&amp; &lt; &gt;", "& < >");
    /* What is kept begins, goes on or ends in an escape. */
    assert_translated(&toy, "a \\%s", "a <x1 translate=\"no\">%s</x1>", "<x1/> A", "\\%s A");
    assert_translated(&toy, "\\{b\\} a", "<x0 translate=\"no\">{b}</x0> a", "A <x0/>", "A \\{b\\}");
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
    assert_translated(&toy, "漢\n\\\n字 b", "<p>漢</p>\n<p> 字 b</p>\n", "<p>一</p>\n<p>二</p>\n", "一\n二");
    assert_translated(&toy, "漢字\\\n", "漢字 ", "漢字 ", "漢字\\\n");
}

TEST(test_untouched)
{
    static const char *const not_shown[] = {"12 : *34*", "@`A`{}", "*`a`*",
                                            ""}; /* no letters, or only in what is kept */
    for (size_t i = 0; i < sizeof not_shown / sizeof *not_shown; i++)
        assert_translated(&toy, not_shown[i], "this is not shown", "nor this", not_shown[i]);
    assert_document(&toy, "a\n1\nz", upper_markup, "A\n1\nZ");
    assert_document(&toy, "A\nZ\n*é*", longer_markup, "AA\nZZ\n*é*");
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
    static const char *const rows[] = {"|%s|",
                                       "|%-5d| |%+d| |%#x| |%'d| |%.3f| |%*d| |%%|",
                                       "|%hd| |%ld| |%Lf| |%qd| |%jd| |%zd| |%td| |%Zd|",
                                       "|%hhd| |%llu| |%@| |%1$@| |%h|. |%l|",
                                       "|%<PRIu64>| |%5<x>|; %<a b %<PRI",
                                       "%()s %(a |%(b)s| %(c) %{x",
                                       "0|%o| 10%o 0",
                                       "|%12|3 %",
                                       "$",
                                       "|$a$|b |$_1| ${a $5",
                                       "{a\nb} }{",
                                       "|%1$d| of |%-5.2f||%%|, |%zu|",
                                       "|%(name)s|, |%{x}|, |%1| and |%12|",
                                       "100% of 50%d, 5 % and 3 % d",
                                       "|{name}| |{0}| |{}| |{{ x }}| |{a{b}c}| {",
                                       "|${HOME}| |$x$| |$HOME| a$b $5 US$",
                                       "See |https://a.b/c?d=e&f=(g)|. And",
                                       "(|http://a.b/|), \"|www.a.b|\" |mailto:a@b.c|.",
                                       "|FTP://a|, |WWW.A.B|, www. www mailto: ://a x://",
                                       "|http://a/|.,;:!?'*_)]} |http://a/(b.)|",
                                       "|http://a|\"b |http://a|<b |http://a|>b |http://a|`b |http://a|\x7F.",
                                       "Write to |a.b-c@d.org|. Or a@b, c.",
                                       "|a_1+b@c-d.e|1 @b.c <@b.c> a@ a@1.2",
                                       "|<www.a.b>| |<mailto:a@b.c>| <|a@b.c|",
                                       "A |<a@b.c>|, |<https://a.b/>|, <|a@b.c| d>",
                                       "|/usr/share|, |./a| |../b| |~/c| and/or 1/2 / x",
                                       "\"|/a|\" '|/b|' `|/c|` (|/d|) [|/e|] \t|/f|\n|/g| x/h",
                                       "/. ~/ ../ ./ |/./a| |/b:1|. é/c |/é/c|",
                                       "|--help| (|--out-put|) a--b -- c",
                                       "--1 |--a_b-2| -x |--c|"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[128] = "", found[128] = "", *end = text;
        for (const char *c = rows[i]; *c != '\0'; c++)
            if (*c != '|') *end++ = *c;
        const ferry_view all = ferry_text_view(text);
        size_t at = 0;
        for (ferry_kept kept; ferry_kept_find(all, at, &kept); at = kept.end)
            snprintf(found + strlen(found), sizeof found - strlen(found), "%.*s|%.*s|", (int)(kept.begin - at),
                     text + at, (int)(kept.end - kept.begin), text + kept.begin);
        strcat(found, text + at);
        assert_string_equal(found, rows[i]);
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
    /* 60 bytes at most, and no part of a character. */
#define TWENTY "abcdefghijklmnopqrst"
#define SHOWN(text) "a <x1 translate=\"no\">" text "</x1>"
    static const char *const rows[][2] = {
        {"a `" TWENTY TWENTY TWENTY "`", SHOWN(TWENTY TWENTY TWENTY)},
        {"a `" TWENTY TWENTY TWENTY "u`", SHOWN(TWENTY TWENTY TWENTY)},
        {"a `" TWENTY TWENTY "éabcdefghijklmnopqr`", SHOWN(TWENTY TWENTY "éabcdefghijklmnopqr")},
        {"a `" TWENTY TWENTY "abcdefghijklmnopqrsé`", SHOWN(TWENTY TWENTY "abcdefghijklmnopqrs")},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_translated(&toy, rows[i][0], rows[i][1], "<x1/>", rows[i][0]);
}

/* Braces end within 256 bytes, and what looks like one of them beyond that is text. */
TEST(test_bounds_of_what_is_kept)
{
    char text[300];
    ferry_kept found;
    for (size_t size = 255; size < 258; size++) {
        memset(text, 'a', size);
        text[0] = '{';
        text[size - 1] = '}';
        assert_int_equal(ferry_kept_find((ferry_view){text, size}, 0, &found), size <= 256);
    }
}

/* Unicode's blocks of CJK, full-width and compatibility forms: their first and last characters, and those beside. */
TEST(test_ideographs)
{
    static const uint32_t ranges[][2] = {
        {0x2E80, 0xA4CF}, {0xF900, 0xFAFF}, {0xFE30, 0xFE4F}, {0xFF00, 0xFF60}, {0x20000, 0x3FFFF}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        const uint32_t first = ranges[i][0], last = ranges[i][1];
        if (!ferry_is_ideograph(first) || !ferry_is_ideograph(last) || ferry_is_ideograph(first - 1) ||
            ferry_is_ideograph(last + 1))
            fail_msg("range %zu", i);
    }
}

/* ---- parts, places ---- */

typedef struct seen {
    size_t calls, fail_at;   /* fail_at: a byte of the markup; 0: none fails */
    const char *translation; /* NULL: the markup in capitals */
} seen;

static ferry_status translate_part(void *user, ferry_document *document, ferry_view markup, ferry_string *translation,
                                   ferry_error *error)
{
    seen *s = user;
    s->calls++;
    /* The first text of the part is behind "<p>". */
    assert_int_equal(ferry_document_source_place(document, 3), document->blocks[document->first_block].begin);
    if (s->fail_at > 0) ferry_document_fail(document, s->fail_at);
    if (s->translation != NULL) return ferry_string_append(translation, ferry_text_view(s->translation), error);
    upper_markup(markup, translation);
    return FERRY_OK;
}

static void ignore_warning(void *user, const ferry_document *document, size_t at, const char *message)
{
    (void)user, (void)document, (void)at, (void)message;
}

static ferry_status translate_toy(ferry_view source, seen *s, ferry_string *out, ferry_error *error)
{
    const ferry_document_translator translator = {.translate = translate_part, .warn = ignore_warning, .user = s};
    return try_document(&toy, source, &translator, out, error);
}

/* More than is translated together: 128 kB. */
TEST(test_parts)
{
    enum { LINES = 40000 };
    ferry_string source = {0}, out = {0};
    seen s = {0};
    for (size_t i = 0; i < LINES; i++)
        CHECK(ferry_string_append(&source, ferry_text_view(i % 2 == 0 ? "ab *c*\n" : "d\n"), &error));
    CHECK(translate_toy((ferry_view){source.data, source.size}, &s, &out, &error));
    assert_true(s.calls > 1);
    assert_int_equal(out.size, source.size);
    for (size_t at = 0; at < out.size; at += 9) assert_memory_equal(out.data + at, "AB *C*\nD\n", 9);
    free(source.data);
    free(out.data);
}

/* Of the first, the only one between others, and the last block; the second line has no letters, and no markup. */
TEST(test_failing_blocks)
{
    static const struct {
        size_t at; /* of "<p>ab <x1>c</x1></p>\n<p>d</p>\n<p>e</p>\n" */
        const char *expected;
    } rows[] = {{3, "ab *c*\n12\nD\nE"}, {15, "ab *c*\n12\nD\nE"}, {24, "AB *C*\n12\nd\nE"}, {33, "AB *C*\n12\nD\ne"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        seen s = {.fail_at = rows[i].at};
        ferry_string out = {0};
        CHECK(translate_toy(ferry_text_view("ab *c*\n12\nd\ne"), &s, &out, &error));
        if (!ferry_view_is((ferry_view){out.data, out.size}, rows[i].expected))
            fail_msg("row %zu: %.*s", i, (int)out.size, out.data);
        free(out.data);
    }
}

static ferry_status check_places(void *user, ferry_document *document, ferry_view markup, ferry_string *translation,
                                 ferry_error *error)
{
    /* "<p>ab <x1>c</x1></p>\n<p>d</p>\n": of each byte, where its item begins. */
    static const size_t places[][2] = {{0, 0},  {3, 0},  {5, 0},  {6, 3},   {9, 3},
                                       {10, 4}, {11, 5}, {22, 5}, {24, 10}, {28, 10}};
    (void)user;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        assert_int_equal(ferry_document_source_place(document, places[i][0]), places[i][1]);
    return ferry_string_append(translation, markup, error);
}

TEST(test_places)
{
    ferry_string out = {0};
    const ferry_document_translator translator = {.translate = check_places, .warn = ignore_warning};
    CHECK(try_document(&toy, ferry_text_view("ab *c*\n12\nd\n"), &translator, &out, &error));
    free(out.data);
}

TEST(test_other_paragraphs)
{
    static const char *const rows[] = {"", "<p>A</p>\n", "A", "<p>A</p>\n<p>B</p>", "<p>A</p>\n<p>B"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        seen s = {.translation = rows[i]};
        ferry_string out = {0};
        REFUSE(translate_toy(ferry_text_view("a\nb"), &s, &out, &error), FERRY_ERROR_FORMAT,
               "the translation has other paragraphs than the text");
        free(out.data);
    }
}

/* ---- formats ---- */

TEST(test_formats_of_files)
{
    static const char *const rows[] = {
        "html a.html",         "html a.HTM",       "html a.xhtml",   "srt a.srt", "vtt b/a.VTT", "markdown a.md",
        "markdown a.markdown", "markdown a.mdown", "markdown a.mkd", "po a.po",   "po a.pot",    "po a.b.po",
        "none a.txt",          "none a.text",      "none .html",     "none html", "none ",       "none a.html.gz",
        "none ahtml"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *path = strchr(rows[i], ' ') + 1;
        const ferry_document_format *found = ferry_document_format_of_file(path);
        const char *name = found != NULL ? found->name : "none";
        if (strncmp(rows[i], name, strlen(name)) != 0) fail_msg("%s: found %s", rows[i], name);
    }
    static const char *const names[] = {"text", "html", "srt", "vtt", "markdown", "po"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_string_equal(ferry_document_format_named(names[i])->name, names[i]);
    assert_null(ferry_document_format_named("lines"));
    assert_null(ferry_document_format_named(""));
}

/* Of each format, what is text, and what is before, behind and in it. */
TEST(test_cases)
{
    static const char *const names[] = {"markdown", "po", "srt", "text", "vtt"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) check_cases(names[i]);
}

/* Appends what is not ASCII: its first character, and one beyond 16 bits. */
static void append_letters(ferry_view markup, ferry_string *translation)
{
    same_markup(markup, translation);
    CHECK(ferry_string_append(translation, ferry_text_view("\x7F\xC2\x80\xF0\x9F\x99\x82"), &error));
}

static void check_html(const char *source, bool escaped)
{
    char expected[2048];
    snprintf(expected, sizeof expected, "%s\x7F%s", source, escaped ? "&#128;&#128578;" : "\xC2\x80\xF0\x9F\x99\x82");
    assert_document(&ferry_format_html, source, append_letters, expected);
}

/* Letters beyond ASCII are numbers in pages of ASCII which browsers may read in another encoding. */
TEST(test_html_encodings)
{
    static const char *const escaped[] = {"<html>a",
                                          "<!DOCTYPE html>a",
                                          "<HEAD>a",
                                          "<?xml version='1.0'?>a",
                                          "a <head",
                                          "<html><meta charset=utf-16>",
                                          "<meta charset=utf-7>a",
                                          "<html><meta charset>a",
                                          "<?xml encoding=\"latin1\"?>a",
                                          "<html encoding=utf-8>a"};
    static const char *const others[] = {"<p>a",
                                         "",
                                         "a <hea",
                                         "<meta charset=utf-8><html>",
                                         "<html><meta CHARSET = \"UTF-8\">",
                                         "<html><meta charset='utf8'>",
                                         "<html><meta content=\"text/html; charset=utf-8\">",
                                         "<html>charset charset=utf-8",
                                         "<?xml version=\"1.0\" encoding=\"utf-8\"?>a",
                                         "<?xml encoding=\"latin1\"?><meta charset=utf-8>",
                                         "<html>é"};
    for (size_t i = 0; i < sizeof escaped / sizeof *escaped; i++) check_html(escaped[i], true);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) check_html(others[i], false);
    /* In the first 1024 bytes. */
    char source[1100];
    for (int more = 0; more < 2; more++) {
        snprintf(source, sizeof source, "%*s<html", 1019 + more, "");
        check_html(source, more == 0);
        snprintf(source, sizeof source, "<html>%*scharset=utf-8", 1024 - 6 - 8 + more, "");
        check_html(source, more == 1);
    }
}

TEST(test_html_refusals)
{
    static const char forty[] = "a-234567890123456789012345678901234567890",
                      cut[] = "a-23456789012345678901234567890123456789;";
    static const struct {
        const char *source, *what; /* NULL: it is read */
    } rows[] = {
        {"é", NULL},
        {"\xE9", "expected UTF-8; change its encoding"},
        {"<meta charset=utf-8>\xE9", NULL},
        {"<meta charset=latin1>a", NULL},
        {"<meta charset=latin1>é", "found the declared encoding latin1; change its encoding"},
        {"<?xml encoding='koi8-r'?>é", "found the declared encoding koi8-r; "},
        {"<meta charset=az09AZ-_:.>é", "found the declared encoding az09AZ-_:; "},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_reading(&ferry_format_html, rows[i].source, rows[i].what);
    check_reading(&ferry_format_html, ferry_name_format("<meta charset=%s>é", forty).text, cut);
}

/* ---- tags within text ---- */

/* Kinds of tags, a letter each: s and e are a pair or may become one, a stands alone, w is kept as a word. */
static const char letters[] = "seaw";

TEST(test_tags)
{
    /* The kind, the tag, and what is behind it. */
    static const char *const rows[] = {
        "s <b>~x",       "e </b>~x",          "a <b/>~x",         "a <br />~",     "s <a:b-c_1 d>~",
        "s <a\tb\r\n>~", "s <a b=\"c>'d\">~", "s <a b='c>\"d'>~", "s <a b=c\"d>~", "a <!-- a > b -->~c",
        "a <!---->~c",   "a <!A b>~c",        "a <?a b?>~c",      "w <%s>~",       "w <%s/>~",
        "w <a|b>~"};
    static const char *const others[] = {"<a b=\"c>", "<a <b>",    "<b",     "<a ",    "<1>",   "< b>",
                                         "b<c>",      "<!-- a ->", "</a|b>", "<a\"b>", "<%a b>"};
    ferry_inline_tag tag;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *text = rows[i] + 2, *end = strrchr(text, '~');
        const size_t size = ferry_inline_tag_read(ferry_text_view(text), &tag);
        if (size != (size_t)(end - text) || letters[tag.kind] != rows[i][0])
            fail_msg("%s: %zu bytes, %c", rows[i], size, letters[tag.kind]);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (ferry_inline_tag_read(ferry_text_view(others[i]), &tag) != 0) fail_msg("%s", others[i]);
}

/* Words in brackets have 48 bytes before the last one, tags 4096 in all. */
TEST(test_longest_tags)
{
    static char text[4200];
    ferry_inline_tag tag;
    memset(text, 'a', sizeof text);
    text[0] = '<';
    for (size_t more = 0; more < 2; more++) {
        const size_t word = 49 + more, whole = 4096 + more;
        text[1] = '%';
        text[word - 1] = '>';
        assert_int_equal(ferry_inline_tag_read((ferry_view){text, sizeof text}, &tag), more == 0 ? word : 0);
        text[word - 1] = text[1] = 'a';
        text[whole - 1] = '>';
        text[2] = ' ';
        assert_int_equal(ferry_inline_tag_read((ferry_view){text, sizeof text}, &tag), more == 0 ? whole : 0);
        text[whole - 1] = text[2] = 'a';
    }
}

/* Reads the tags that the text consists of, and pairs them. */
static size_t pair_tags(const char *text, ferry_inline_tag *tags)
{
    size_t count = 0;
    for (ferry_view rest = ferry_text_view(text); rest.size > 0; count++) {
        const size_t size = ferry_inline_tag_read(rest, &tags[count]);
        assert_true(size > 0);
        rest = (ferry_view){rest.data + size, rest.size - size};
    }
    ferry_inline_tags_pair(tags, count);
    return count;
}

TEST(test_pairs)
{
    static const char *const rows[] = {"se <b></b>",
                                       "se <B></b>",
                                       "wa <b></c>",
                                       "aw </b><b>",
                                       "swe <a><b></a>",
                                       "swea <a><b></a></b>",
                                       "ssee <a><b></b></a>",
                                       "wse <a><a></a>",
                                       "ssee <a><a></a></a>",
                                       "aaaaaaa <br><hr><img><input><li><p><wbr>",
                                       "aaaw <LI><br ><x y><x>",
                                       "seaw <p></p><q/><%s>"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ferry_inline_tag tags[8];
        const char *text = strchr(rows[i], ' ') + 1;
        const size_t count = pair_tags(text, tags);
        assert_int_equal(count, text - rows[i] - 1);
        for (size_t t = 0; t < count; t++)
            if (letters[tags[t].kind] != rows[i][t]) fail_msg("%s: tag %zu is %c", rows[i], t, letters[tags[t].kind]);
    }
    /* An end tag looks among the innermost 64. */
    for (size_t inner = 63; inner < 65; inner++) {
        ferry_inline_tag tags[80];
        char text[400] = "<a>";
        for (size_t i = 0; i < inner; i++) strcat(text, "<b>");
        pair_tags(strcat(text, "</a>"), tags);
        assert_int_equal(tags[0].kind, inner == 63 ? FERRY_TAG_START : FERRY_TAG_WORD);
    }
}
