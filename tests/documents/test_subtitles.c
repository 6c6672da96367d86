/* SubRip and WebVTT: only what people say is translated. (test_document.c: cases.) */
#include "tests/support/document_support.h"

/* Lines of a cue are one text, unless another person speaks; lines have 42 columns, or those of the longest. */
TEST(test_cues)
{
    assert_translated(&ferry_format_srt, "0 --> 1\n- Who is <i>it\nnow?</i>\n <b>\xE2\x80\x93 You.</b>\n",
                      "<p>Who is <x1>it now?</x1></p>\n<p>You.<x1/></p>\n",
                      "<p>Wer <x1>ist das jetzt und hier und irgendwo</x1></p>\n<p>Du.<x1/></p>\n",
                      "0 --> 1\n- Wer <i>ist das jetzt und hier und\nirgendwo</i>\n <b>\xE2\x80\x93 Du.</b>\n");
    assert_translated(&ferry_format_srt, "0 --> 1\na b\n", "a b", "one two three four five six seven eight nine ten",
                      "0 --> 1\none two three four five six seven eight\nnine ten\n");
}

TEST(test_vtt)
{
    assert_translated(&ferry_format_vtt, "0 --> 1\n&lt;a&gt; <00:19.000>b&nbsp;&x;\n",
                      "&lt;a&gt; <x4/>b\xC2\xA0&amp;x;", "A &amp; B <x4/> &lt;&gt;",
                      "0 --> 1\nA &amp; B <00:19.000> &lt;&gt;\n");
}

#define CUE "0 --> 1\n"

/* A line may have 42 columns, tags 256 bytes; without an end of its own, a line is not wrapped. */
TEST(test_bounds)
{
#define TWENTY_ONE "aaaaaaaaaaaaaaaaaaaaa"
    char source[300], shown[300];
    assert_translated(&ferry_format_srt, CUE "a\n", "a", TWENTY_ONE " aaaaaaaaaaaaaaaaaaaa",
                      CUE TWENTY_ONE " aaaaaaaaaaaaaaaaaaaa\n");
    assert_translated(&ferry_format_srt, CUE "a\n", "a", TWENTY_ONE " " TWENTY_ONE,
                      CUE TWENTY_ONE "\n" TWENTY_ONE "\n");
    assert_translated(&ferry_format_srt, CUE "a", "a", TWENTY_ONE " " TWENTY_ONE, CUE TWENTY_ONE " " TWENTY_ONE);
    for (int size = 256; size < 258; size++) {
        snprintf(source, sizeof source, CUE "<%0*d>a", size - 2, 0);
        snprintf(shown, sizeof shown, size == 256 ? "<x0/>a" : "&lt;%0*d&gt;a", size - 2, 0);
        assert_translated(&ferry_format_srt, source, shown, shown, source);
    }
}
