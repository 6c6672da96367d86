/* Markdown without a model: what it would be shown, and what becomes of translations that are hard to write. */
#include "tests/support/document_support.h"

static const ferry_document_format *const markdown = &ferry_format_markdown;

TEST(test_parts)
{
    assert_translated(markdown, "*a* [b](c \"d\")\\* `e` ![f](g) <h@i.j>",
                      "<x0>a</x0> <x4>b</x4>* <x9 translate=\"no\">e</x9> <x11/> "
                      "<x13 translate=\"no\">h@i.j</x13>",
                      "<x13/> <x11/> <x9/> 1* <x4>B</x4> <x0>A</x0>", "<h@i.j> ![f](g) `e` 1\\* [B](c \"d\") *A*");
}

/* Emphasis that has lost its word takes another one; what was empty stays so. */
TEST(test_empty_elements)
{
    assert_translated(markdown, "a *b* c", "a <x1>b</x1> c", "A <x1></x1>C", "A *C*");
    assert_translated(markdown, "a *b* c", "a <x1>b</x1> c", "A <x1></x1> C", "A *C*");
    assert_translated(markdown, "a *b* c", "a <x1>b</x1> c", "A C<x1></x1>", "A *C*");
    assert_translated(markdown, "a *b* c", "a <x1>b</x1> c", "A C <x1></x1>", "A *C*");
    assert_translated(markdown, "a *b* ~~c~~", "a <x1>b</x1> <x5>c</x5>", "A <x1></x1><x5>C</x5>", "*A* ~~C~~");
    assert_translated(markdown, "a *b* ~~c~~", "a <x1>b</x1> <x5>c</x5>", "A <x1></x1><x5></x5> C", "*A* ~~C~~");
    assert_translated(markdown, "a *b* ~~c~~", "a <x1>b</x1> <x5>c</x5>", "A C<x1></x1><x5></x5>", "*A* ~~C~~");
    assert_translated(markdown, "*b* ~~c~~", "<x0>b</x0> <x4>c</x4>", "<x0></x0> <x4>C D</x4>", "*~~C D~~*");
    assert_translated(markdown, "[b](c) ~~c~~", "<x0>b</x0> <x4>c</x4>", "<x4>C</x4> <x0></x0>D E", "~~C~~ [D](c) E");
    assert_translated(markdown, "*a [b](c)* d", "<x0>a <x2>b</x2></x0> d", "<x0>A <x2></x2></x0> D", "*[A](c)* D");
    assert_translated(markdown, "[](b) a", "<x0></x0> a", "<x0></x0> A", "[](b) A");
}

/* What would be read otherwise than the block was stays. */
TEST(test_structure)
{
    assert_translated(markdown, "a _b_ c", "a <x1>b</x1> c", "A<x1>B</x1>C", "a _b_ c");
    assert_translated(markdown, "*a* *b* c", "<x0>a</x0> <x4>b</x4> c", "<x0>A</x0><x4>B</x4> C", "*a* *b* c");
    assert_translated(markdown, "a <b>c</b>", "a <x1>c</x1>", "A<x1>C</x1>", "A<b>C</b>");
}

TEST(test_escapes)
{
    assert_translated(markdown, "\\* a", "* a", "* B", "\\* B");
    assert_translated(markdown, "a b c", "a b c", "# *b* `c`", "\\# \\*b\\* \\`c\\`");
    assert_translated(markdown, "a b c", "a b c", "1. a_b _b [c](d)", "1\\. a_b \\_b \\[c\\](d)");
    assert_translated(markdown, "a b c", "a b c", "&amp;amp; &lt;b&gt; a &lt; b \\. \\a",
                      "\\&amp; \\<b> a < b \\\\. \\a");
    assert_translated(markdown, "a b c", "a b c", "- ~~~ --- |", "\\- \\~\\~\\~ --- \\|");
}

TEST(test_same)
{
    static const char *const sources[] = {
        "a\\\nb\n",
        "| a\\|b | `c\\|d` |\n|-|-|\n",
        "a&nbsp;b &#65; &x;\n",
        "<b\nc='d'>a</b>\n",
        "\\\n",
        "[a]: <b\n",
        "a *b <i>c* d</i>\n",
        "``a ` b`` ` c\n",
        "1. a\r\n   b\r\n",
        "\tx\n\n - a\n\n   b\n",
        "[a](<b c> (d)) ![](e)f\n",
        "[^1]: a b\n",
        "***a** b*\n",
    };
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
        assert_document(markdown, sources[i], same_markup, sources[i]);
}
