/* PO files without a model: translations that programs could not use are given up. */
#include "tests/support/document_support.h"

TEST(test_placeholders)
{
    static const char entry[] = "msgid \"a %s b %d\"\nmsgstr \"\"\n";
    const char *const shown = "a <x1 translate=\"no\">%s</x1> b <x3 translate=\"no\">%d</x3>";
    assert_translated(&ferry_format_po, entry, shown, "A <x1/> B <x3/>",
                      "#, fuzzy\nmsgid \"a %s b %d\"\nmsgstr \"A %s B %d\"\n");
    assert_translated(&ferry_format_po, entry, shown, "B <x3/> A <x1/>", entry);
    assert_translated(&ferry_format_po, entry, shown, "A <x1/> % B <x3/>", entry);
    assert_translated(&ferry_format_po, "msgid \"a %2$s b %1$d\"\nmsgstr \"\"\n",
                      "a <x1 translate=\"no\">%2$s</x1> b <x3 translate=\"no\">%1$d</x3>", "B <x3/> A <x1/>",
                      "#, fuzzy\nmsgid \"a %2$s b %1$d\"\nmsgstr \"B %1$d A %2$s\"\n");
}

/* An entry of this msgid, which the model is shown so; `translation` becomes `expected`, or with NULL nothing. */
static void check_entry(const char *id, const char *shown, const char *translation, const char *expected)
{
    char source[512], filled[1024];
    snprintf(source, sizeof source, "msgid \"%s\"\nmsgstr \"\"\n", id);
    snprintf(filled, sizeof filled, "#, fuzzy\nmsgid \"%s\"\nmsgstr \"%s\"\n", id, expected != NULL ? expected : "");
    assert_translated(&ferry_format_po, source, shown, translation, expected != NULL ? filled : source);
}

/* The model sees what they stand for; the original keeps them. */
TEST(test_escapes)
{
    check_entry("a\\101b \\x42c \\1013", "aAb Bc A3", "x y", "x y");
    check_entry("a \\\"b\\\" \\\\ c", "a \"b\" \\ c", "\"x\\ y\"", "\\\"x\\\\ y\\\"");
    check_entry("a \\xg \\q\\8 \\41\\0413", "a xg q8 !!3", "x", "x");
    /* Control characters stay between texts. */
    static const char names[] = "abfnrtv", *const others[] = {"\\7", "\\37", "\\x1F", "\\x1f", "\\x9"};
    for (size_t i = 0; names[i] != '\0'; i++)
        check_entry(ferry_name_format("a\\%cb", names[i]).text, "<p>a</p>\n<p>b</p>\n", "<p>x</p>\n<p>y</p>\n",
                    ferry_name_format("x\\%cy", names[i]).text);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        check_entry(ferry_name_format("a%s-b", others[i]).text, "<p>a</p>\n<p>-b</p>\n", "<p>x</p>\n<p>y</p>\n",
                    ferry_name_format("x%sy", others[i]).text);
}

/* Which '_' and '&' mark a letter: the model sees the label without it. */
TEST(test_accelerators)
{
#define TWENTY "abcdefghij klmnopqrs"
    static const char *const rows[][2] = {
        {"_File", "File"},
        {"Save _as", "Save as"},
        {"a_b", "a_b"},
        {"é_b", "é_b"},
        {"a_", "a_"},
        {"a _1", "a _1"},
        {"_a _b", "_a _b"},
        {"E&xit", "Exit"},
        {"&Q a", "Q a"},
        {"Q&a", "Qa"},
        {"q&A", "qA"},
        {"Q&A", "Q&amp;A"},
        {"a &amp; b", "a &amp;amp; b"},
        {"&a & b", "&amp;a &amp; b"},
        {"a &", "a &amp;"},
        {"a &b;c", "a &amp;b;c"},
        {"_a &b", "_a &amp;b"},
        /* of 80 bytes, and of one more */
        {"_" TWENTY TWENTY TWENTY "abcdefghij klmnopqr", TWENTY TWENTY TWENTY "abcdefghij klmnopqr"},
        {"_" TWENTY TWENTY TWENTY TWENTY, "_" TWENTY TWENTY TWENTY TWENTY},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) check_entry(rows[i][0], rows[i][1], "x", "x");
    check_entry("_a\\nb", "<p>_a</p>\n<p>b</p>\n", "<p>x</p>\n<p>y</p>\n", "x\\ny");
}

/* A newline behind a full line of prose, of 40 bytes, only wraps it; three blanks separate columns. */
TEST(test_blocks)
{
#define FULL "abcdefghij abcdefghij abcdefghij abcdefg"
    static const struct {
        const char *first, *gap, *second, *joined; /* NULL: they are two texts */
    } rows[] = {
        {FULL, "\\n", "b", FULL " b"},
        {FULL ",", "\\n", "b", FULL ", b"},
        {FULL ";", "\\n", "(b", FULL "; (b"},
        {FULL ")", "\\n", "1", FULL ") 1"},
        {FULL, "\\n", "é", FULL " é"},
        {"a", "  ", "b", "a  b"},
        {"abcdefghij abcdefghij abcdefghij abcdef", "\\n", "b", NULL},
        {FULL ".", "\\n", "b", NULL},
        {FULL, "\\n", "-b", NULL},
        {FULL, "\\n\\n", "b", NULL},
        {"a", "   ", "b", NULL},
        {"a", "    ", "b", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *first = rows[i].first, *gap = rows[i].gap, *second = rows[i].second, *joined = rows[i].joined;
        const ferry_name id = ferry_name_format("%s%s%s", first, gap, second);
        if (joined != NULL)
            check_entry(id.text, joined, "x", "x");
        else
            check_entry(id.text, ferry_name_format("<p>%s</p>\n<p>%s</p>\n", first, second).text,
                        "<p>x</p>\n<p>y</p>\n", ferry_name_format("x%sy", gap).text);
    }
}

/* One form for all numbers, two, and three, of which msgid shows that the first is for one alone, or does not. */
TEST(test_plural_forms)
{
    static const struct {
        const char *id, *plural, *forms, *shown, *filled;
    } rows[] = {
        {"a", "b", "0", "b", "0y"},
        {"%d a", "%d b", "0", "b", "0y"},
        {"a", "b", "01", "ab", "0x1y"},
        {"a", "%d b", "01", "ab", "0x1y"},
        {"a", "b", "012", "ab", "0x1y2y"},
        {"%d a", "%d b", "012", "ab", "0x1y2y"},
        {"a", "%d b", "012", "b", "0y1y2y"},
        {"a", "%d b", "0123", "b", "0y1y2y3y"},
        /* they stay */
        {"a", "b", "1", "", ""},
        {"a", "b", "10", "", ""},
        {"a", "b", "02", "", ""},
        {"a", "b", "00", "", ""},
        {"a", "", "01", "", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char source[512], expected[512], entry[256], shown[256] = "", translation[256] = "";
        const bool numbered[] = {rows[i].id[0] == '%', rows[i].plural[0] == '%'};
        snprintf(entry, sizeof entry, "msgid \"%s\"\nmsgid_plural \"%s\"\n", rows[i].id, rows[i].plural);
        strcpy(source, entry);
        snprintf(expected, sizeof expected, "%s%s", rows[i].filled[0] != '\0' ? "#, fuzzy\n" : "", entry);
        for (const char *form = rows[i].forms; *form != '\0'; form++)
            strcat(source, ferry_name_format("msgstr[%c] \"\"\n", *form).text);
        for (const char *text = rows[i].shown; *text != '\0'; text++) {
            const bool number = numbered[*text == 'b'];
            strcat(shown,
                   ferry_name_format("<p>%s%c</p>\n", number ? "<x0 translate=\"no\">%d</x0> " : "", *text).text);
            strcat(translation,
                   ferry_name_format("<p>%s%c</p>\n", number ? "<x0/> " : "", *text == 'a' ? 'x' : 'y').text);
        }
        for (const char *form = rows[i].filled; *form != '\0'; form += 2)
            strcat(expected,
                   ferry_name_format("msgstr[%c] \"%s%c\"\n", form[0], numbered[form[1] == 'y'] ? "%d " : "", form[1])
                       .text);
        assert_translated(&ferry_format_po, source, shown, translation, rows[i].filled[0] != '\0' ? expected : source);
    }
}

/* Where "fuzzy" goes, and what is no entry. In capitals what is filled. */
TEST(test_entries)
{
#define ENTRY "msgid \"a\"\nmsgstr \"\"\n"
#define FILLED_ENTRY "msgid \"a\"\nmsgstr \"A\"\n"
    static const char *const rows[][2] = {
        {ENTRY, "#, fuzzy\n" FILLED_ENTRY},
        {"\xEF\xBB\xBF" ENTRY, "\xEF\xBB\xBF#, fuzzy\n" FILLED_ENTRY},
        {"  " ENTRY, "#, fuzzy\n  " FILLED_ENTRY},
        {"#,c-format\n" ENTRY, "#, fuzzy,c-format\n" FILLED_ENTRY},
        {"#, fuzzy\n" ENTRY, "#, fuzzy\n" FILLED_ENTRY},
        {"#, c-format, fuzzy\n" ENTRY, "#, c-format, fuzzy\n" FILLED_ENTRY},
        {"#| msgid \"b\"\n#| \"c\"\n" ENTRY, "#, fuzzy\n#| msgid \"b\"\n#| \"c\"\n" FILLED_ENTRY},
        {"#\n" ENTRY, "#\n#, fuzzy\n" FILLED_ENTRY},
        {ENTRY ENTRY, "#, fuzzy\n" FILLED_ENTRY "#, fuzzy\n" FILLED_ENTRY},
        {"msgctxt \"c\"\n" ENTRY, "#, fuzzy\nmsgctxt \"c\"\n" FILLED_ENTRY},
        {"msgctxt \"\"\nmsgid \"\"\nmsgstr \"charset=x\"\n" ENTRY,
         "msgctxt \"\"\nmsgid \"\"\nmsgstr \"charset=x\"\n#, fuzzy\n" FILLED_ENTRY},
        {"msgid \"\"\n\"a \"\n\"b\"\nmsgstr \"\"", "#, fuzzy\nmsgid \"\"\n\"a \"\n\"b\"\nmsgstr \"\"\n\"A B\""},
        {"msgid \"a\" \"\" \"b\"\nmsgstr \"\" \"\"\n", "#, fuzzy\nmsgid \"a\" \"\" \"b\"\nmsgstr \"AB\"\n"},
        {"#~ " ENTRY, "#~ " ENTRY},
        {"msgid \"a\"\n# b\nmsgstr \"\"\n", "msgid \"a\"\n# b\nmsgstr \"\"\n"},
        {"x " ENTRY ENTRY, "x " ENTRY "#, fuzzy\n" FILLED_ENTRY},
        {"msgid \"a\\\n\"\nmsgstr \"\"\n" ENTRY, "msgid \"a\\\n\"\nmsgstr \"\"\n#, fuzzy\n" FILLED_ENTRY},
        {"msgid \"a\"\nmsgstr \"\" \"b\"\n", "msgid \"a\"\nmsgstr \"\" \"b\"\n"},
        {"msgid \"a\"\nmsgstr\n", "msgid \"a\"\nmsgstr\n"},
        {"msgid \"a", "msgid \"a"},
        {"msgid \"a\"\n", "msgid \"a\"\n"},
        {"msgid \"a\"\nmsgstr \"b\"\n", "msgid \"a\"\nmsgstr \"b\"\n"},
        {"msgid \"%s: %d\"\nmsgstr \"\"\n", "msgid \"%s: %d\"\nmsgstr \"\"\n"},
        {"msgid \"a\"\nmsgstr[0] \"\"\n", "msgid \"a\"\nmsgstr[0] \"\"\n"},
        {"msgid \"a\"\n? \"b\"\nmsgstr \"\"\n", "msgid \"a\"\n? \"b\"\nmsgstr \"\"\n"},
        {"msgid \"a\"\nmsgid_plural \"b\"\nmsgstr[0] \"c\"\nmsgstr[1] \"\"\n",
         "msgid \"a\"\nmsgid_plural \"b\"\nmsgstr[0] \"c\"\nmsgstr[1] \"\"\n"},
        {"#, fuzzy\n#~ " ENTRY ENTRY, "#, fuzzy\n#~ " ENTRY "#, fuzzy\n" FILLED_ENTRY},
        {"msgid \"a\"\r\nmsgstr \"\"\r\n", "#, fuzzy\r\nmsgid \"a\"\r\nmsgstr \"A\"\r\n"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_document(&ferry_format_po, rows[i][0], upper_markup, rows[i][1]);
}

TEST(test_charsets)
{
    static const struct {
        const char *text;
        bool read;
    } rows[] = {
        {"charset=UTF-8\\n", true}, {"charset=utf8", true},     {"charset=CHARSET\\n", true},
        {"charset=ascii; a", true}, {"charset=US-ASCII", true}, {"Language: de\\n", true},
        {"charset=", true},         {"charset=UTF-88", false},  {"charset=UTF-16", false},
        {"charset=LATIN1 ", false}, {"b; charset=UTF", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ferry_document document;
        ferry_error error = {0};
        const ferry_name source =
            ferry_name_format("msgid \"\"\nmsgstr \"Content-Type: a; %s\"\n\n" ENTRY, rows[i].text);
        const ferry_status status =
            ferry_document_read(&document, &ferry_format_po, ferry_text_view(source.text), &error);
        if (rows[i].read)
            assert_int_equal(status, FERRY_OK);
        else
            check_refusal(status, &error, FERRY_ERROR_UNSUPPORTED, "charset in the header: expected UTF-8, found ");
        ferry_document_destroy(&document);
    }
}

/* Placeholders that get their values by their order keep it; others may change places. */
TEST(test_order_of_placeholders)
{
    static const struct {
        const char *first, *second;
        bool ordered;
    } rows[] = {
        {"%s", "%d", true},      {"{}", "{:d}", true},    {"{!r}", "{}", true},  {"%s", "{}", true},
        {"%5.2f", "%-3d", true}, {"%1$s", "%2$d", false}, {"{a}", "{b}", false}, {"%(a)s", "%(b)d", false},
        {"%{a}", "%{b}", false}, {"%1", "%2", false},     {"$a", "${b}", false}, {"{0}", "{1}", false},
        {"%s", "{a}", false},    {"%d", "%d", false},     {"{a}", "%d", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *a = rows[i].first, *b = rows[i].second;
        check_entry(ferry_name_format("a %s %s", a, b).text,
                    ferry_name_format("a <x1 translate=\"no\">%s</x1> <x3 translate=\"no\">%s</x3>", a, b).text,
                    "x <x3/> <x1/>", rows[i].ordered ? NULL : ferry_name_format("x %s %s", b, a).text);
    }
}

TEST(test_tags)
{
    assert_translated(
        &ferry_format_po, "msgid \"<b>a</b> <c|d> <%s/> <e>\"\nmsgstr \"\"\n",
        "<x0>a</x0> <x4 translate=\"no\">c|d</x4> <x6 translate=\"no\">%s/</x6> <x8 translate=\"no\">e</x8>",
        "<x8/> <x6/> <x4/> <x0>A</x0>",
        "#, fuzzy\nmsgid \"<b>a</b> <c|d> <%s/> <e>\"\nmsgstr \"<e> <%s/> <c|d> <b>A</b>\"\n");
}
