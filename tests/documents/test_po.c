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

/* Accelerators, texts of a string, where "fuzzy" goes, what is no entry. */
TEST(test_cases)
{
    check_cases(&ferry_format_po, "po.cases");
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
        const ferry_name source = ferry_name_format("msgid \"\"\nmsgstr \"Content-Type: a; %s\"\n", rows[i].text);
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
