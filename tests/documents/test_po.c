/* PO files without a model: translations that programs could not use are given up. (test_document.c: cases.) */
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

/* Lines are wrapped within the strings: the blanks are in them. */
TEST(test_lines)
{
    assert_document(&ferry_format_po, "msgid \"abcdefghi abcdefghi abcdefghi abcdefghi\"\nmsgstr \"\"\n",
                    STAND_IN_LONGER,
                    "#, fuzzy\nmsgid \"abcdefghi abcdefghi abcdefghi abcdefghi\"\n"
                    "msgstr \"aabbccddeeffgghhii aabbccddeeffgghhii aabbccddeeffgghhii \"\n\"aabbccddeeffgghhii\"\n");
}

/* Of more forms of plural than languages have. */
TEST(test_forms)
{
    char text[512] = "msgid \"a\"\nmsgid_plural \"b\"\n";
    for (int i = 0; i < 7; i++) {
        if (i == 6) check_reading(&ferry_format_po, text, NULL);
        snprintf(text + strlen(text), sizeof text - strlen(text), "msgstr[%d] \"\"\n", i);
    }
    check_reading(&ferry_format_po, text, "line 9: expected at most 6 forms of plural");
}

/* What a model writes becomes no placeholder and no tag. */
TEST(test_hostile)
{
    static const char *const refused[] = {"b {0.__class__}", "b &lt;script&gt;", "b $a", "b ${a}", "b @a",
                                          "b &amp;lt;"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) check_entry("a", "a", refused[i], NULL);
    check_entry("100% a", "<x0 translate=\"no\">100</x0>% a", "b <x0/> % % c", "b 100 % % c");
    check_entry("100% a", "<x0 translate=\"no\">100</x0>% a", "<x0/> b %(a)s", NULL);
    check_entry("a \\74", "a &lt;", "&lt; B $5 @", "< B $5 @");
}

/* The model sees what they stand for; the original keeps them. */
TEST(test_escapes)
{
    check_entry("a\\101b \\x42c \\1013", "aAb Bc A3", "x y", "x y");
    check_entry("a \\\"b\\\" \\\\ c", "a \"b\" \\ c", "\"x\\ y\"", "\\\"x\\\\ y\\\"");
    check_entry("a \\xg \\q\\8 \\41\\0413", "a xg q8 !!3", "x", "x");
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
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_reading(&ferry_format_po,
                      ferry_name_format("msgid \"\"\nmsgstr \"Content-Type: a; %s\"\n", rows[i].text).text,
                      rows[i].read ? NULL : "charset in the header: expected UTF-8, found ");
}

/* Placeholders that get their values by their order keep it; others may change places. */
TEST(test_order_of_placeholders)
{
    static const struct {
        const char *first, *second;
        bool ordered;
    } rows[] = {{"%s", "%d", true},      {"{}", "{:d}", true},    {"{!r}", "{}", true},  {"%s", "{}", true},
                {"%5.2f", "%-3d", true}, {"%1$s", "%2$d", false}, {"{a}", "{b}", false}, {"%(a)s", "%(b)d", false},
                {"%{a}", "%{b}", false}, {"%1", "%2", false},     {"$a", "${b}", false}, {"{0}", "{1}", false},
                {"%s", "{a}", false},    {"%d", "%d", false},     {"{a}", "%d", false}};
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
