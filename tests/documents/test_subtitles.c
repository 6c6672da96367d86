/* SubRip and WebVTT: only what people say is translated. (test_document.c: cases.) */
#include "tests/support/document_support.h"

/* Lines of a cue are one text, unless another person speaks; lines have 42 columns, or those of the longest. */
TEST(test_cues)
{
    assert_translated(&ferry_format_srt, "0 --> 1\n- Who is <i>it\nnow?</i>\n <b>\xE2\x80\x93 You.</b>\n",
                      "<p>Who is <x1>it now?</x1></p>\n<p>You.<x1/></p>\n",
                      "<p>Wer <x1>ist das jetzt und hier und irgendwo</x1></p>\n<p>Du.<x1/></p>\n",
                      "0 --> 1\n- Wer <i>ist das jetzt und hier und\nirgendwo?</i>\n <b>\xE2\x80\x93 Du.</b>\n");
    assert_translated(&ferry_format_srt, "0 --> 1\na b\n", "a b", "one two three four five six seven eight nine ten",
                      "0 --> 1\none two three four five six seven eight\nnine ten\n");
}

TEST(test_vtt)
{
    assert_translated(&ferry_format_vtt, "0 --> 1\n&lt;a&gt; <00:19.000>b&nbsp;&x;\n", "&lt;a&gt; <x4/>b<x6/>&amp;x;",
                      "A &amp; B <x4/> &lt;&gt;", "0 --> 1\nA &amp; B <00:19.000>&lt;&gt;;&nbsp;\n");
}

#define CUE "0 --> 1\n"

/* A line may have 42 columns, tags 256 bytes. */
TEST(test_bounds)
{
#define TWENTY_ONE "aaaaaaaaaaaaaaaaaaaaa"
    char source[300], shown[300], name[300];
    assert_translated(&ferry_format_srt, CUE "a\n", "a", TWENTY_ONE " aaaaaaaaaaaaaaaaaaaa",
                      CUE TWENTY_ONE " aaaaaaaaaaaaaaaaaaaa\n");
    assert_translated(&ferry_format_srt, CUE "a\n", "a", TWENTY_ONE " " TWENTY_ONE,
                      CUE TWENTY_ONE "\n" TWENTY_ONE "\n");
    assert_translated(&ferry_format_srt, CUE "a", "a", TWENTY_ONE " " TWENTY_ONE, CUE TWENTY_ONE "\n" TWENTY_ONE);
    assert_translated(&ferry_format_srt, CUE "a\n", "a", TWENTY_ONE " aaaaaaaaaaaaaaaaaaa - b",
                      CUE TWENTY_ONE " aaaaaaaaaaaaaaaaaaa -\nb\n"); /* not with a dash */
    for (int size = 256; size < 258; size++) {
        memset(name, 'x', sizeof name);
        snprintf(source, sizeof source, CUE "a <%.*s>a", size - 2, name);
        snprintf(shown, sizeof shown, size == 256 ? "a <x1/>a" : "a &lt;%.*s&gt;a", size - 2, name);
        assert_translated(&ferry_format_srt, source, shown, shown, source);
    }
}

/* What a model writes is no tag and no cue: WebVTT has references, in SubRip the text stays. */
TEST(test_hostile)
{
    static const char *const rows[] = {"A --&gt; B", "A &lt;i&gt;", "&lt;script&gt;", "A &lt;b",
                                       "A &lt;/b",   "{\\an8}A",    "A {\\",          "A\\NB"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_translated(&ferry_format_srt, CUE "a\n", "a", rows[i], CUE "a\n");
    assert_translated(&ferry_format_vtt, CUE "a\n", "a", "1 --&gt; &lt;b&gt;&amp;lt;",
                      CUE "1 --&gt; &lt;b&gt;&amp;lt;\n");
    assert_translated(&ferry_format_vtt, CUE "a\n", "a", "{\\an8}A", CUE "a\n");
}
