/* Markdown without a model: what it would be shown, and what becomes of translations that are hard to write.
 * (test_document.c: cases.) */
#include "tests/support/document_support.h"
#include "tests/support/files.h"

static const ferry_document_format *const markdown = &ferry_format_markdown;

TEST(test_parts)
{
    assert_translated(markdown, "*a* [b](c \"d\")\\* `e` ![f](g) <h@i.j>",
                      "<x0>a</x0> <x4>b</x4>* <x9 translate=\"no\">e</x9> <x11/> "
                      "<x13 translate=\"no\">h@i.j</x13>",
                      "<x13/> <x11/> <x9/> 1* <x4>B</x4> <x0>A</x0>", "![f](g) <h@i.j> `e` 1\\* [B](c \"d\") *A*");
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
    assert_translated(markdown, "*b* ~~c~~", "<x0>b</x0> <x4>c</x4>", "<x0></x0> <x4>C D</x4>", "~~C~~ *D*");
    assert_translated(markdown, "[b](c) ~~c~~", "<x0>b</x0> <x4>c</x4>", "<x4>C</x4> <x0></x0>D E", "~~C~~ [D](c) E");
    assert_translated(markdown, "*a [b](c)* d", "<x0>a <x2>b</x2></x0> d", "<x0>A <x2></x2></x0> D", "*[A](c)* D");
    assert_translated(markdown, "[](b) a", "<x0></x0> a", "<x0></x0> A", "[](b) A");
    /* with an image between */
    assert_translated(markdown, "a *b* ![c](d) e", "a <x1>b</x1> <x5/> e", "A <x1></x1><x5/> E", "A ![c](d) *E*");
    assert_translated(markdown, "a *b* ![c](d) e", "a <x1>b</x1> <x5/> e", "A E <x5/><x1></x1>", "A ![c](d) *E*");
}

/* What would be read otherwise than the block was stays. */
TEST(test_structure)
{
    assert_translated(markdown, "a _b_ c", "a <x1>b</x1> c", "A<x1>B</x1>C", "_ABC_");
    assert_translated(markdown, "*a* *b* c", "<x0>a</x0> <x4>b</x4> c", "<x0>A</x0><x4>B</x4> C", "*AB* *C*");
    assert_translated(markdown, "a <b>c</b>", "a <x1>c</x1>", "A<x1>C</x1>", "<b>AC</b>");
    assert_translated(markdown, "a $b$ c", "a <x1 translate=\"no\">$b$</x1> c", "A<x1/> C", "A $b$ C");
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
        {"1) a 1) 1. a", "1\\) a 1) 1. a"},
        {"12. a", "12\\. a"},
        {"1.5 1a 1 a", "1.5 1a 1 a"},
        {"## a #", "\\#\\# a \\#"},
        {"#a a# a#b", "#a a# a#b"},
        /* by what is beside it */
        {"_a b_ é_é a_1 _", "\\_a b\\_ é_é a_1 \\_"},
        {"&lt;a &lt;/a &lt;! &lt;? &lt;1", "\\<a \\</a \\<! \\<? <1"},
        {"&amp;a; &amp;#1; &amp;; &amp;a &amp;a:b;", "\\&a; \\&#1; &; &a &a:b;"},
        {"a\\ \\( \\é", "a&#92; \\\\( \\é"},
        /* what is none of CommonMark's, and bare addresses */
        {"!!! a !!! b", "\\!!! a !!! b"},
        {": a :", "\\: a :"},
        {":::a ::", "\\:::a ::"},
        {":a ?? b", ":a ?? b"},
        {"{{a}} {%", "\\{\\{a}} \\{%"},
        {"$a$ $5 5$", "\\$a\\$ $5 5\\$"},
        {"c://d www.e ww.f a:b", "c\\://d www\\.e ww.f a:b"},
    };
    assert_translated(markdown, "\\* a", "* a", "* B", "\\* B");
    assert_translated(markdown, "a *b* c", "a <x1>b</x1> c", "A <x1>B</x1>_c d", "A *B*\\_c d");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_translated(markdown, "a b c", "a b c", rows[i][0], rows[i][1]);
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
        {"b", "b", true},    {"12", "12", true},    {"1a", "1a", true},    {".b", ".b", true},  {")b", ")b", true},
        {"*", "\\*", false}, {"1.5", "1.5", false}, {"1)b", "1)b", false}, {"1)", "1)", false}, {"+b", "+b", false},
        {"-b", "-b", false}, {"=b", "=b", false},   {":b", ":b", false},   {"#b", "#b", false}, {"&lt;1", "<1", false},
        {"|", "\\|", false}, {"_b", "\\_b", false}, {"(b", "(b", true},    {"é", "é", true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_translated(markdown, "a\nb\n", "a b", ferry_name_format(FILLED " %s", rows[i].word).text,
                          ferry_name_format(FILLED "%s%s\n", rows[i].begins ? "\n" : " ", rows[i].written).text);
    /* "[c]: " would be a definition. */
    assert_translated(markdown, "a\nb [c]\n\n[c]: d\n", "a b <x3 translate=\"no\">c</x3>", FILLED " <x3/>: e",
                      FILLED " [c]:\ne\n\n[c]: d\n");
    assert_translated(markdown, "a\nb [c]\n\n[c]: d\n", "a b <x3 translate=\"no\">c</x3>", FILLED " <x3/> e",
                      FILLED "\n[c] e\n\n[c]: d\n");
    /* The line may have 80 columns. */
    assert_translated(markdown, "a\nb\n", "a b", FORTY " aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa b",
                      FORTY " aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\nb\n");
    assert_translated(markdown, "a\nb\n", "a b", FORTY " aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa b",
                      FORTY "\naaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa b\n");
}

/* A line that ends behind what would be the target of a definition. */
TEST(test_definition_across_lines)
{
    assert_translated(markdown, "[a]: b c\nd\n\n[a]: e\n", "<x0 translate=\"no\">a</x0>: b c d",
                      "<x0/>: " FORTY " " FORTY " B", "[a]: b c\nd\n\n[a]: e\n");
    assert_translated(markdown, "[a]: b c\nd\n\n[a]: e\n", "<x0 translate=\"no\">a</x0>: b c d",
                      "<x0/>: B C " FORTY " " FORTY, "[a]: B C " FORTY "\n" FORTY "\n\n[a]: e\n");
}

static void put_often(made_file *file, const char *text, size_t count)
{
    for (size_t i = 0; i < count; i++) put_text(file, text);
}

/* Time is linear in the document: however often definitions are used, and however long paragraphs are. */
TEST(test_long_documents)
{
    made_file target = {0}, title = {0}, lines = {0};
    put_text(&target, "[a]: ");
    put_often(&target, "bbbbbbbbbb", 1000);
    put_text(&target, "\n\n");
    put_often(&target, "[c][a] ", 1000);
    ferry_string out = translate_document(markdown, whole(&target), STAND_IN_UPPER, NULL);
    assert_memory_equal(out.data + out.size - 7, "[C][a] ", 7);
    free(out.data);
    put_text(&title, "[a]: b '");
    put_often(&title, "bbbbbbbbbb", 1000);
    put_text(&title, "'\n\n");
    put_often(&title, "[c][a] ", 1000);
    put_bytes(&title, "", 1);
    check_reading(markdown, (const char *)whole(&title).data, "definitions of links");
    put_often(&lines, "aaaaaa\n", 1001);
    out = translate_document(markdown, whole(&lines), STAND_IN_UPPER, NULL);
    assert_memory_equal(out.data + out.size - 15, "\nAAAAAA AAAAAA\n", 15);
    free(out.data);
}

TEST(test_nul)
{
    ferry_string nul = translate_document(markdown, (ferry_view){"a\0b *c*\n", 8}, STAND_IN_UPPER, NULL);
    assert_int_equal(nul.size, 8);
    assert_memory_equal(nul.data, "A\0B *C*\n", 8);
    free(nul.data);
}
