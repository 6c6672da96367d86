/* The framework of documents, by a format of a few characters: lines are paragraphs, "\" and a newline end a line
 * within one, *word* is an element, [x] stands alone, `code` is kept, \x is the character x; written, "*" gets its "\".
 * (tests/data/documents/toy.cases: what becomes of elements, of lines, of what is kept.)
 */
#include "document_support.h"

#include "documents/document_parts.h"

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
        FERRY_TRY(ferry_document_begin_segment(d, at));
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
        FERRY_TRY(ferry_document_end_segment(d, at));
    }
    return FERRY_OK;
}

static ferry_status write_toy(ferry_buffer *out, ferry_view text, bool begins_line, ferry_error *error)
{
    (void)begins_line;
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] == '*') FERRY_TRY(ferry_buffer_append(out, ferry_text_view("\\"), error));
        FERRY_TRY(ferry_buffer_append(out, (ferry_view){text.data + i, 1}, error));
    }
    return FERRY_OK;
}

static const ferry_document_format toy = {.name = "toy", .read = read_toy, .write_text = write_toy};

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

/* ---- calls ---- */

typedef struct left {
    ferry_translator translator;
    size_t count;     /* blocks that stay */
    char reason[256]; /* of the last one */
} left;

static ferry_buffer translate(const ferry_document_format *format, ferry_view source, left *l)
{
    ferry_document document;
    ferry_buffer out = {0};
    CHECK(ferry_document_read(&document, format, NULL, source, &error));
    CHECK(ferry_segments_translate(&document, &l->translator, &(ferry_document_options){.size = 0}));
    CHECK(ferry_document_write(&document, &out, &error));
    l->count = document.note_count;
    if (l->count > 0) snprintf(l->reason, sizeof l->reason, "%s", document.notes[l->count - 1].message);
    ferry_document_destroy(&document);
    return out;
}

static void check(const ferry_document_format *format, const char *source, left *l, const char *expected)
{
    ferry_buffer out = translate(format, ferry_text_view(source), l);
    if (!ferry_view_is((ferry_view){out.data, out.size}, expected))
        fail_msg("%s: expected %s, found %.*s", source, expected, (int)out.size, out.data);
    free(out.data);
}

TEST(test_ill_formed_blocks)
{
    left l = {.translator = {.way = STAND_IN_UPPER}};
    check(&toy, "a\xFF\nb", &l, "a\xFF\nB");
    assert_int_equal(l.count, 1);
}

/* Of at most 16 kB; only those with elements within their text are aligned. */
TEST(test_calls)
{
    enum { LINES = 40000 };
    ferry_buffer source = {0};
    left l = {.translator = {.way = STAND_IN_UPPER}};
    for (size_t i = 0; i < LINES; i++)
        CHECK(ferry_buffer_append(&source, ferry_text_view(i % 2 == 0 ? "ab *c*\n" : "*d*\n"), &error));
    ferry_buffer out = translate(&toy, (ferry_view){source.data, source.size}, &l);
    assert_int_equal(out.size, source.size);
    for (size_t at = 0; at < out.size; at += 11) assert_memory_equal(out.data + at, "AB *C*\n*D*\n", 11);
    assert_in_range(l.translator.aligned_calls, 5, 7);
    assert_in_range(l.translator.calls - l.translator.aligned_calls, 2, 3);
    free(source.data);
    free(out.data);
}

/* Time is linear in the document; if it were quadratic, this would take minutes. */
TEST(test_long_documents)
{
    enum { SIZE = 400000 };
    static const struct {
        const char *format, *before, *part, *after;
        size_t stay; /* texts */
    } rows[] = {
        {"html", "<p>", "%s word ", "</p>", 0},
        {"html", "<p>", "<i>1234</i> <code>x</code> a ", "</p>", 0},
        {"html", "<p>", "<i>a</i> <a href=b>c</a> ", "</p>", 0},
        {"html", "<p>", "<b>a ", "</p>", 0},
        {"html", "<p>", "a ", "</p>", 0},
        {"json", "[\"a", "<b><i>c</i></b> ", "\"]", 0},
        {"json", "[\"a", "<b>", "\"]", 0},
        {"markdown", "a ", "<i>b</i>c<u>d</u> ", "\n", 0}, /* each second element comes back empty */
        {"markdown", "a ", "<i> </i><u></u>", "\n", 0},
        {"markdown", "a ", "*b **c* d** ", "\n", 0},
        {"po", "msgid \"a", "<b>c ", "\"\nmsgstr \"\"\n", 0},
        {"srt", "1\n00:00:00,000 --> 00:00:01,000\n", "a</b>\n", "", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t stay;
        ferry_buffer source = {0};
        CHECK(ferry_buffer_append(&source, ferry_text_view(rows[i].before), &error));
        while (source.size < SIZE) CHECK(ferry_buffer_append(&source, ferry_text_view(rows[i].part), &error));
        CHECK(ferry_buffer_append(&source, ferry_text_view(rows[i].after), &error));
        ferry_buffer out = translate_document(ferry_document_format_named(rows[i].format),
                                              (ferry_view){source.data, source.size}, STAND_IN_UPPER, &stay);
        if (stay != rows[i].stay) fail_msg("%s, %s: %zu texts stay", rows[i].format, rows[i].part, stay);
        if ((stay > 0) != (out.size == source.size && memcmp(out.data, source.data, out.size) == 0))
            fail_msg("%s, %s", rows[i].format, rows[i].part);
        free(source.data);
        free(out.data);
    }
}

/* ---- what is kept ---- */

/* Placeholders stand for it, which the model may have in another order, but once each, and no others. */
TEST(test_kept_pieces)
{
    static const char lacks[] = "the translation lacks what has to be kept, or has it twice";
    static const struct {
        const char *source, *given, *expected;
        const char *reason; /* NULL: it is translated */
    } rows[] = {
        {"see `a` and `b`", "\f3 and \f1 see", "`b` and `a` see", NULL},
        {"`a`b c`d`", "c\1\f3 \f0 b", "c`d` `a`b", NULL},
        {"see `a` and `a`", "\f3 and \f1 see", "`a` and `a` see", NULL},
        {"see `a`", "him", "see `a`", lacks},
        {"see `a`", "\f1 sees \f1", "see `a`", lacks},
        {"see `a` and `b`", "\f1 and \f1", NULL, lacks},
        {"see `a`", "see \xF4\x80\x80\x80", "see `a`", NULL},
        {"see `a`", "\f1 sees \xF4\x80\x80\x81", "see `a`", lacks},
        {"see him", "sees \xF4\x80\x80\x80", NULL, lacks},
        {"see \xF4\x80\x80\x81 `a`", "sees \f1", "sees \xF4\x80\x80\x81 `a`", NULL},
        {"Boston sees `a`", "\f2 sees Boston", "`a` sees Boston", NULL},
        {"in `1234` days", "days\f2 \f1 in\f0", "days `1234` in", NULL},
        {"in 12 days", "days\f2 12\f1 in\f0", "days 12 in", NULL},
        {"in 12 days", "days\f2 1\f1 in\f0", "in 12 days", lacks},
        {"days *12*",
         "1\f1\1"
         "2\f1 days\f0",
         "*12* days", NULL},
        {"in 1.2.3 days", "days\f2 \f1 in\f0", "days 1.2.3 in", NULL}, /* opaque, as 18:30 and 4217 */
        {"in 18:30 days", "days\f2 \f1 in\f0", "days 18:30 in", NULL},
        {"in 404 days", "days\f2 \f1 in\f0", "days 404 in", NULL},
        {"12 days",
         "12\2"
         "12 12\f0 days\f1\ndays\f1 \f0",
         "days 12", NULL}, /* in a second call, opaque, too */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        left l = {.translator = {.way = STAND_IN_GIVEN, .given = rows[i].given}};
        check(&toy, rows[i].source, &l, rows[i].reason == NULL ? rows[i].expected : rows[i].source);
        assert_int_equal(l.count, rows[i].reason != NULL);
        if (rows[i].reason != NULL) assert_string_equal(l.reason, rows[i].reason);
    }
}

/* A translation has as many code characters, directives of printf and {name} as its text. */
TEST(test_counted_signs)
{
    static const char braces[] = "the translation has other signs: expected 0 of {, found 1";
    static const struct {
        const char *source, *given;
        const char *expected; /* NULL: the text stays */
        const char *reason;   /* NULL: any */
    } rows[] = {
        {"ab", "c {", NULL, braces},
        {"ab", "c }", NULL, NULL},
        {"ab", "c]", NULL, NULL},
        {"ab", "[c", NULL, NULL},
        {"ab", "c|", NULL, NULL},
        {"ab", "c\\", NULL, NULL},
        {"ab", "c@", NULL, NULL},
        {"ab", "^c", NULL, NULL},
        {"ab", "=c", NULL, "the translation has other signs: expected 0 of =, found 1"},
        {"ab", "c %1$s", NULL, "the translation has other signs: expected 0 of directives, found 1"},
        {"ab", "%(c)d", NULL, NULL},
        {"ab", "%-5.2lf", NULL, NULL},
        {"あ}い{う", "}{c}{", NULL, "the translation has other signs: expected 1 of {, found 2"},
        {"あ}い{う", "c {d}", NULL, "the translation has other signs: expected 0 of {name}, found 1"},
        {"あ}い{う", "c } {", "c } {", NULL},
        /* What is not counted. */
        {"ab", "< c > _ / ~ # & ` \" ' : ; $ %", "< c > _ / ~ # & ` \" ' : ; $ %", NULL},
        {"ab", "5 %-ige", "5 %-ige", NULL},
        {"ab", "50% %50'si %x", NULL, NULL},
        {"ab", "5%d %5'si %der 5 %x", "5%d %5'si %der 5 %x", NULL},
        {"ab", "c 50", NULL, "the translation has other numbers"},
        {"ab", "c 12", "c 12", NULL},
        /* What is lacking is kept in a second call. */
        {"^ b", "^\2B\n\2\f0 B\n", "^ B", NULL},
        {"!あ^い!, b", "!\2B\n", NULL, NULL},
        {"あ|い @ b", "あ\2B @\n", NULL, NULL},
        {"(a) b )", "(\2C\na\2A\f0 B\f1\n", "(A) B )", NULL}, /* elements, or alone */
        {"ab", "c (d)", "c (d)", NULL},
        {"x\n^ b", "x\2Y\n^\2B\n\2\f0 B\n", "Y\n^ B", NULL},
    };
    for (size_t i = 0; i < 3 * sizeof rows / sizeof *rows;
         i++) { /* alone; before and behind one that changes nothing */
        ferry_translator same = {.way = STAND_IN_SAME}, given = {.way = STAND_IN_GIVEN, .given = rows[i / 3].given};
        if (i % 3 == 1) given.next = &same;
        if (i % 3 == 2) same.next = &given;
        left l = {.translator = i % 3 == 2 ? same : given};
        check(&toy, rows[i / 3].source, &l, rows[i / 3].expected != NULL ? rows[i / 3].expected : rows[i / 3].source);
        if (l.count != (rows[i / 3].expected == NULL)) fail_msg("row %zu: %zu left", i, l.count);
        if (rows[i / 3].reason != NULL) assert_string_equal(l.reason, rows[i / 3].reason);
    }
}

/* Of a number, the last of two models knows, too. */
TEST(test_numbers_through_two_models)
{
    ferry_translator second = {.way = STAND_IN_GIVEN, .given = "days"};
    left l = {.translator = {.way = STAND_IN_SAME, .next = &second}};
    check(&toy, "in 1234 days", &l, "in 1234 days");
    assert_int_equal(l.count, 1);
}

/* ---- policies ---- */

/* A doubtful translation is not used; a short one is. */
TEST(test_quality)
{
    static const int flags[] = {FERRY_QUALITY_LOOP,   FERRY_QUALITY_CUT,   FERRY_QUALITY_TERM,
                                FERRY_QUALITY_NUMBER, FERRY_QUALITY_SHORT, FERRY_QUALITY_UNKNOWN};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        left l = {.translator = {.way = STAND_IN_UPPER, .quality = flags[i]}};
        check(&toy, "ab", &l, i < 4 ? "ab" : "AB");
        assert_int_equal(l.count, i < 4);
    }
}

/* The model sees small letters, and its words are written in capitals. */
TEST(test_capitals)
{
    static const char *const rows[][3] = {{"THE DOOR", "Die\f0 Tür\f1", "DIE TÜR"},
                                          {"THE DOOR", "\f0 \f1", "THE DOOR"},
                                          {"THE `x` IS", "\f0 \f1 \f2", "THE `x` IS"},
                                          {"DOOR", "straß", "STRAß"},
                                          {"USB", "das\f0", "das"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        left l = {.translator = {.way = STAND_IN_GIVEN, .given = rows[i][1]}};
        check(&toy, rows[i][0], &l, rows[i][2]);
    }
}

/* What a model writes has no line ends, and the format escapes the rest. */
TEST(test_hostile_models)
{
    left l = {.translator = {.way = STAND_IN_HOSTILE, .given = "a\n*\r\t\xE2\x80\xA8\x07"}};
    check(&toy, "b `c`", &l, "a \\* `c`");
}

/* ---- formats ---- */

TEST(test_formats_of_files)
{
    static const char *const rows[] = {
        "html a.html",         "html a.HTM",       "html a.xhtml",   "srt a.srt", "vtt b/a.VTT", "markdown a.md",
        "markdown a.markdown", "markdown a.mdown", "markdown a.mkd", "po a.po",   "po a.pot",    "po a.b.po",
        "text a.TXT",          "none a.text",      "none .html",     "none html", "none ",       "none a.html.gz",
        "none ahtml"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *path = strchr(rows[i], ' ') + 1;
        const ferry_document_format *found = ferry_document_format_of_file(path);
        const char *name = found != NULL ? found->name : "none";
        if (strncmp(rows[i], name, strlen(name)) != 0) fail_msg("%s: found %s", rows[i], name);
    }
    static const char *const names[] = {"text", "html", "srt", "vtt", "markdown", "po", "json"};
    assert_ptr_equal(ferry_document_format_named("md"), &ferry_format_markdown);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_string_equal(ferry_document_format_named(names[i])->name, names[i]);
    assert_null(ferry_document_format_named("lines"));
    assert_null(ferry_document_format_named(""));
}

/* Of each format, what is text, and what is before, behind and in it. */
TEST(test_cases)
{
    check_cases(&toy);
    for (size_t i = 0; ferry_document_formats[i] != NULL; i++)
        if (ferry_document_formats[i] != &ferry_format_html) check_cases(ferry_document_formats[i]);
}

static void check_html(const char *source, bool escaped)
{
    const char *at = strchr(source, 'Q');
    left l = {.translator = {.way = STAND_IN_GIVEN, .given = "\xC3\xA9\xF0\x9F\x99\x82"}};
    char expected[2048];
    snprintf(expected, sizeof expected, "%.*s%s%s", (int)(at - source), source,
             escaped ? "&#233;&#128578;" : "\xC3\xA9\xF0\x9F\x99\x82", at + 1);
    check(&ferry_format_html, source, &l, expected);
}

/* Letters beyond ASCII are numbers in pages of ASCII which browsers may read in another encoding. */
TEST(test_html_encodings)
{
    static const char *const escaped[] = {"<html>Q",
                                          "<!DOCTYPE html>Q",
                                          "<HEAD>Q",
                                          "<?xml version='1.0'?>Q",
                                          "Q<!--<head-->",
                                          "<meta charset=utf-7>Q",
                                          "<html><meta charset>Q",
                                          "<?xml encoding=\"latin1\"?>Q",
                                          "<html encoding=utf-8>Q"};
    static const char *const others[] = {"<p>Q",
                                         "Q",
                                         "Q",
                                         "<meta charset=utf-8><html>Q",
                                         "<html><meta CHARSET = \"UTF-8\">Q",
                                         "<html><meta charset='utf8'>Q",
                                         "<html><meta charset=utf-16>Q",
                                         "<html><meta content=\"text/html; charset=utf-8\">Q",
                                         "<html><!-- charset charset=utf-8 -->Q",
                                         "<?xml version=\"1.0\" encoding=\"utf-8\"?>Q",
                                         "<?xml encoding=\"latin1\"?><meta charset=utf-8>Q",
                                         "<html><!--é-->Q"};
    for (size_t i = 0; i < sizeof escaped / sizeof *escaped; i++) check_html(escaped[i], true);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) check_html(others[i], false);
    /* In the first 1024 bytes. */
    char source[1100];
    for (int more = 0; more < 2; more++) {
        snprintf(source, sizeof source, "Q<!--%*s<html-->", 1014 + more, "");
        check_html(source, more == 0);
        snprintf(source, sizeof source, "<html>Q<!--%*scharset=utf-8 -->", 1024 - 11 - 8 + more, "");
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
    check_reading(&ferry_format_html, ferry_format("<meta charset=%s>é", forty).text, cut);
}
