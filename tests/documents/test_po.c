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

/* The model sees what they stand for; the original keeps them. */
TEST(test_escapes)
{
    static const char entry[] = "msgid \"a\\101b \\x42c \\1013\"\n";
    assert_translated(&ferry_format_po, "msgid \"a\\101b \\x42c \\1013\"\nmsgstr \"\"\n", "aAb Bc A3", "x y",
                      ferry_name_format("#, fuzzy\n%smsgstr \"x y\"\n", entry).text);
}

TEST(test_tags)
{
    assert_translated(
        &ferry_format_po, "msgid \"<b>a</b> <c|d> <%s/> <e>\"\nmsgstr \"\"\n",
        "<x0>a</x0> <x4 translate=\"no\">c|d</x4> <x6 translate=\"no\">%s/</x6> <x8 translate=\"no\">e</x8>",
        "<x8/> <x6/> <x4/> <x0>A</x0>",
        "#, fuzzy\nmsgid \"<b>a</b> <c|d> <%s/> <e>\"\nmsgstr \"<e> <%s/> <c|d> <b>A</b>\"\n");
}
