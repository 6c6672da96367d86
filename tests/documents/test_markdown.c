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

/* What the model writes, as text of a paragraph: the escapes, and only those. */
TEST(test_escapes)
{
    static const char *const rows[][2] = {
        {"# *b* `c`", "\\# \\*b\\* \\`c\\`"},
        {"1. a_b _b [c](d)", "1\\. a_b \\_b \\[c\\](d)"},
        {"&amp;amp; &lt;b&gt; a &lt; b \\. \\a", "\\&amp; \\<b> a < b \\\\. \\a"},
        {"- ~~~ --- |", "\\- \\~\\~\\~ --- \\|"},
        /* at the beginning of a line, and not there */
        {"&gt; a &gt;", "\\> a >"},
        {"+ a +", "\\+ a +"},
        {"= a =", "\\= a ="},
        {"-- a", "\\-- a"},
        {"== a", "\\== a"},
        {"-a +a =a", "-a +a =a"},
        {"1) a 1) 1.", "1\\) a 1) 1."},
        {"12. a", "12\\. a"},
        {"1.5 1a 1 a", "1.5 1a 1 a"},
        {"## a #", "\\#\\# a \\#"},
        {"#a a# a#b", "#a a# a#b"},
        /* by what is beside it */
        {"_a b_ é_é a_1 _", "\\_a b\\_ é_é a_1 \\_"},
        {"&lt;a &lt;/a &lt;! &lt;? &lt;1", "\\<a \\</a \\<! \\<? <1"},
        {"&amp;a; &amp;#1; &amp;; &amp;a &amp;a:b;", "\\&a; \\&#1; &; &a &a:b;"},
        {"a\\ \\( \\é", "a\\\\ \\\\( \\é"},
    };
    assert_translated(markdown, "\\* a", "* a", "* B", "\\* B");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_translated(markdown, "a b c", "a b c", rows[i][0], rows[i][1]);
}

/* Characters for the model, but for what is better kept. */
TEST(test_entities)
{
    static const char *const rows[][2] = {
        {"&amp;", "&amp;"},
        {"&lt;", "&lt;"},
        {"&gt;", "&gt;"},
        {"&quot;", "\""},
        {"&apos;", "'"},
        {"&hellip;", "…"},
        {"&mdash;", "—"},
        {"&ndash;", "–"},
        {"&lsquo;", "‘"},
        {"&rsquo;", "’"},
        {"&ldquo;", "“"},
        {"&rdquo;", "”"},
        {"&#65;", "A"},
        {"&#x41;", "A"},
        {"&#X41;", "A"},
        {"&#33;", "!"},
        {"&#126;", "~"},
        {"&#xE9;", "é"},
        {"&#xD7FF;", "\xED\x9F\xBF"},
        {"&#xE000;", "\xEE\x80\x80"},
        {"&#x10FFFF;", "\xF4\x8F\xBF\xBF"},
        {"&#1114111;", "\xF4\x8F\xBF\xBF"},
    };
    static const char *const kept[] = {"&copy;",   "&nbsp;",   "&AMP;",      "&#32;",      "&#127;", "&#xA0;",
                                       "&#xD800;", "&#xDFFF;", "&#x110000;", "&#1114112;", "&#0;"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_translated(markdown, ferry_name_format("a %s b", rows[i][0]).text,
                          ferry_name_format("a %s b", rows[i][1]).text, "C", "C");
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        assert_translated(markdown, ferry_name_format("a %s b", kept[i]).text,
                          ferry_name_format("a <x1 translate=\"no\">%s</x1> b", kept[i] + 1).text, "C <x1/>",
                          ferry_name_format("C %s", kept[i]).text);
}

/* Words that could begin a block stay on a line, even if it becomes longer than 80 columns. */
TEST(test_beginnings_of_lines)
{
#define FORTY "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define FILLED FORTY FORTY
    static const struct {
        const char *word, *written;
        bool begins;
    } rows[] = {
        {"b", "b", true},      {"12", "12", true},  {"1a", "1a", true},     {"*", "\\*", false}, {"1.5", "1.5", false},
        {"1)b", "1)b", false}, {"1.", "1.", false}, {"+b", "+b", false},    {"-b", "-b", false}, {"=b", "=b", false},
        {":b", ":b", false},   {"#b", "#b", false}, {"&lt;1", "<1", false}, {"|", "\\|", false}, {"_b", "\\_b", false},
        {"(b", "(b", true},    {"é", "é", true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_translated(markdown, "a\nb\n", "a b", ferry_name_format(FILLED " %s", rows[i].word).text,
                          ferry_name_format(FILLED "%s%s\n", rows[i].begins ? "\n" : " ", rows[i].written).text);
    /* The line may have 80 columns. */
    assert_translated(markdown, "a\nb\n", "a b", FORTY " aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa b",
                      FORTY " aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\nb\n");
    assert_translated(markdown, "a\nb\n", "a b", FORTY " aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa b",
                      FORTY "\naaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa b\n");
}

/* What is before and behind the text of a block is not shown. */
TEST(test_trimmed)
{
    static const char *const rows[][2] = {
        {"[^1]: a b", "a b"},
        {"[^a-b]: a", "a"},
        {"[^ 1]: a", "[^ 1]: a"},
        {"> [!NOTE]\n> a b", "a b"},
        {"# 1. a", "a"},
        {"# 1.2.3 a", "a"},
        {"# 10) a", "a"},
        {"# 1 a", "a"},
        {"# 1st a", "1st a"},
        {"1.5 a", "1.5 a"},
        {"# a {#b}", "a"},
        {"# a {.b}", "a"},
        {"# a {:b}", "a"},
        {"# a {b}", "a <x1 translate=\"no\">{b}</x1>"},
        {"a {#b}", "a <x1 translate=\"no\">{#b}</x1>"},
        {"# a #", "a"},
        {":: a", ":: a"},
        {"{ % a", "{ % a"},
        {"a[^1] b", "a<x1/> b"},
        {"a[^] b[^c", "a[^] b[^c"},
        {"a <code>b</code> c", "a <x1 translate=\"no\">b</x1> c"},
        {"a <kbd>b</kbd> c", "a <x1 translate=\"no\">b</x1> c"},
        {"a <samp>b</samp> c", "a <x1 translate=\"no\">b</x1> c"},
        {"a <var>b</var> c", "a <x1 translate=\"no\">b</x1> c"},
        {"a <script>b</script> c", "a <x1 translate=\"no\">b</x1> c"},
        {"a <STYLE>b</style> c", "a <x1 translate=\"no\">b</x1> c"},
        {"a <kbd>b <i>c</i></kbd> d", "a <x1 translate=\"no\">b ic/i</x1> d"},
        {"a <cite>b</cite> c", "a <x1>b</x1> c"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_translated(markdown, rows[i][0], rows[i][1], rows[i][1], rows[i][0]);
}

/* What is read, in capitals; the rest stays. */
TEST(test_places)
{
    static const char *const rows[][2] = {
        {"a\\\nb\n", "A\\\nB\n"},
        {"a  \nb   \nc\n", "A  \nB   \nC\n"},
        {"a<br>b<BR/>c\n", "A<br>B<BR/>C\n"},
        {"a\nb\n", "A B\n"},
        {"> a\n>b\nc\n", "> A B C\n"},
        {"1. a\r\n   b\r\n", "1. A B\r\n"},
        {"| a\\|b | `c\\|d` |\n|---|---|\n", "| A\\|B | `c\\|d` |\n|---|---|\n"},
        {"a | b\n---|---\nc |\n", "A | B\n---|---\nC |\n"},
        {"|a|\n|:-:|\n", "|A|\n|:-:|\n"},
        {"a&nbsp;b &#65;\n", "A&nbsp;B A\n"},
        {"&amp;a &mdash;\n", "&A —\n"},
        {"<b\nc='d'>a</b>\n", "<b\nc='d'>A</b>\n"},
        {"a <!-- b --> c <?d?>\n", "A <!-- b --> C <?d?>\n"},
        {"a `b` ``c ` d`` e\n", "A `b` ``c ` d`` E\n"},
        {"[a](<b c> (d)) ![](e)f\n", "[A](<b c> (d)) ![](e)F\n"},
        {"[a](b\n\"c\") d\n", "[A](b\n\"c\") D\n"},
        {"> [a](b\n> 'c\\'') d\n", "> [A](b\n> 'c\\'') D\n"},
        {"[a](b\\)c) [d](e(f)g) [h]()\n", "[A](b\\)c) [D](e(f)g) [H]()\n"},
        {"[a][c] b ![d][c]\n\n[c]: d\n", "[A][c] B ![d][c]\n\n[c]: d\n"},
        {"[a][] [a] b\n\n[a]: d\n", "[a][] [a] B\n\n[a]: d\n"},
        {"<http://a.b> c\n", "<http://a.b> C\n"},
        {"__a__ _b_ **c** *d* ~e~ ~~f~~\n", "__A__ _B_ **C** *D* ~E~ ~~F~~\n"},
        {"***a** b*\n", "***A** B*\n"},
        {"\\*a b\\_\n", "\\*A B\\_\n"},
        {"[^1]: a b\n", "[^1]: A B\n"},
        {"a[^1] [^2]b\n", "A[^1] [^2]B\n"},
        {"- [ ] a\n- [x] b\n", "- [ ] A\n- [x] B\n"},
        {"a\n===\n\nb\n---\n", "A\n===\n\nB\n---\n"},
        {"---\na: b\n---\nc\n", "---\na: b\n---\nC\n"},
        {"+++\na\n---\nb\n+++ \nc", "+++\na\n---\nb\n+++ \nC"},
        {"---\na: b\n\nc\n", "---\nA: B\n\nC\n"},
        {"---a\n---\nb\n", "---A\n---\nB\n"},
        /* none of it is read */
        {"\tx\n", "\tx\n"},
        {"```\na\n```\n", "```\na\n```\n"},
        {"::: a\n", "::: a\n"},
        {"{% a %}\n", "{% a %}\n"},
        {"[a]: b \"c\"\n", "[a]: b \"c\"\n"},
        {"<p>a</p>\n", "<p>a</p>\n"},
        {"[![a](b.svg)](c)\n", "[![a](b.svg)](c)\n"},
        {"`a`\n", "`a`\n"},
        {"***\n", "***\n"},
        {"- a  \n  b\\\n  c\r\n", "- A  \n  B\\\n  C\r\n"},
        {"a *b <i>c* d</i>\n", "a *b <i>c* d</i>\n"},
        {"---\na\n---", "---\na\n---"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_document(markdown, rows[i][0], upper_markup, rows[i][1]);
}

TEST(test_same)
{
    static const char *const sources[] = {
        "| a\\|b | `c\\|d` |\n|-|-|\n", "a&nbsp;b &#65; &x;\n", "\\\n", "[a]: <b\n", "``a ` b`` ` c\n",
        "\tx\n\n - a\n\n   b\n",
    };
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
        assert_document(markdown, sources[i], same_markup, sources[i]);
}
