/* Plain text: what is a paragraph, and what is none. Blocks that are translated are in capitals. */
#include "tests/support/document_support.h"

static void upper(const char *source, const char *expected)
{
    assert_document(&ferry_format_text, source, upper_markup, expected);
}

TEST(test_paragraphs)
{
    upper("Title\n=====\n\none\n\n\ntwo\n", "TITLE\n=====\n\nONE\n\n\nTWO\n");
    upper("one\r\n\r\n two \t\r\n", "ONE\r\n\r\n TWO \t\r\n");
    upper("one\r\rtwo", "ONE\r\rTWO");
    upper("", "");
}

/* Lines of a paragraph are one text for the model, and are wrapped at the width of the longest. */
TEST(test_wrapping)
{
    assert_translated(&ferry_format_text, "This line has forty columns, just fifty.\nThis one goes on.\n",
                      "This line has forty columns, just fifty. This one goes on.",
                      "Diese Zeile hat fast vierzig Spalten. Diese Zeile hier geht weiter.",
                      "Diese Zeile hat fast vierzig Spalten.\nDiese Zeile hier geht weiter.\n");
    assert_document(&ferry_format_text, "  > The quoted text with its marks is here\n  > and goes on.\n", longer_markup,
                    "  > TThhee qquuootteedd tteexxtt wwiitthh\n  > iittss mmaarrkkss iiss hheerree aanndd\n"
                    "  > ggooeess oonn.\n");
    assert_document(
        &ferry_format_text,
        " * A bullet that has some lines, which are wrapped\n   here.\n * Another that has only one\r\n", longer_markup,
        " * AA bbuulllleett tthhaatt hhaass ssoommee\n   lliinneess, wwhhiicchh aarree wwrraappppeedd\n   hheerree.\n"
        " * AAnnootthheerr tthhaatt hhaass oonnllyy oonnee\r\n");
    assert_document(&ferry_format_text, "one line that is not wrapped, as no other one is\n", longer_markup,
                    "oonnee lliinnee tthhaatt iiss nnoott wwrraappppeedd, aass nnoo ootthheerr oonnee iiss\n");
}

/* Where a line ends early, a text ends. */
TEST(test_short_lines)
{
    assert_translated(&ferry_format_text, "Best regards\nPeter Smith\n", "<p>Best regards</p>\n<p>Peter Smith</p>\n",
                      "<p>A</p>\n<p>B</p>\n", "A\nB\n");
    assert_translated(&ferry_format_text,
                      "The people who made it are\nAnna\nBert and somebody else whom we do not know.\n",
                      "<p>The people who made it are</p>\n<p>Anna</p>\n"
                      "<p>Bert and somebody else whom we do not know.</p>\n",
                      "<p>A</p>\n<p>B</p>\n<p>C</p>\n", "A\nB\nC\n");
    assert_translated(&ferry_format_text, "1. one\n2) two\n(c) three\n- four\n\xE2\x80\xA2 five\n",
                      "<p>one</p>\n<p>two</p>\n<p>three</p>\n<p>four</p>\n<p>five</p>\n",
                      "<p>A</p>\n<p>B</p>\n<p>C</p>\n<p>D</p>\n<p>E</p>\n", "1. A\n2) B\n(c) C\n- D\n\xE2\x80\xA2 E\n");
}

TEST(test_what_stays)
{
    upper("Run this:\n\n    make install\n\nor\n$ make it\nx = a[1];\n",
          "RUN THIS:\n\n    make install\n\nOR\n$ make it\nx = a[1];\n");
    assert_translated(&ferry_format_text, "one   two\tthree\n12   4\n", "<p>one</p>\n<p>two</p>\n<p>three</p>\n",
                      "<p>A</p>\n<p>B</p>\n<p>C</p>\n", "A   B\tC\n12   4\n");
    assert_translated(&ferry_format_text, "> one more line of forty columns is here\n>> and this is quoted twice\n",
                      "<p>one more line of forty columns is here</p>\n<p>and this is quoted twice</p>\n",
                      "<p>A</p>\n<p>B</p>\n", "> A\n>> B\n");
    upper("see https://a.b/c and %s\n", "SEE https://a.b/c AND %s\n");
}

/* Early ends of lines, bullets, prose, code. */
TEST(test_cases)
{
    check_cases(&ferry_format_text, "text.cases");
    upper("", "");
}

/* Lines end as those of the document, and begin as each of the paragraph did. */
TEST(test_line_ends)
{
    static const char narrow[] = "Diese Zeile hat fast vierzig Spalten. Diese Zeile hier geht weiter.";
    assert_translated(&ferry_format_text, "This line has forty columns, just fifty.\r\nThis one goes on.\r\n",
                      "This line has forty columns, just fifty. This one goes on.", narrow,
                      "Diese Zeile hat fast vierzig Spalten.\r\nDiese Zeile hier geht weiter.\r\n");
    assert_translated(
        &ferry_format_text, "This line has forty columns, just fifty.\n This one goes on, and that too.\n and on",
        "This line has forty columns, just fifty. This one goes on, and that too. and on",
        "Diese Zeile hat fast vierzig Spalten. Diese Zeile hier geht weiter. Und diese Zeile auch noch, und noch eine.",
        "Diese Zeile hat fast vierzig Spalten.\n Diese Zeile hier geht weiter. Und diese\n Zeile auch noch, und noch "
        "eine.");
}
