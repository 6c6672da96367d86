/* Plain text: how it is wrapped, and how lines end. (test_document.c: what is a paragraph.) */
#include "tests/support/document_support.h"

/* Lines of a paragraph are one text for the model, and are wrapped at the width of the longest. */
TEST(test_wrapping)
{
    assert_translated(&ferry_format_text, "This line has forty columns, just fifty.\nThis one goes on.\n",
                      "This line has forty columns, just fifty. This one goes on.",
                      "Diese Zeile hat fast vierzig Spalten. Diese Zeile hier geht weiter.",
                      "Diese Zeile hat fast vierzig Spalten.\nDiese Zeile hier geht weiter.\n");
    assert_document(&ferry_format_text, "  > The quoted text with its marks is here\n  > and goes on.\n",
                    STAND_IN_LONGER,
                    "  > TThhee qquuootteedd tteexxtt wwiitthh\n  > iittss mmaarrkkss iiss hheerree aanndd\n"
                    "  > ggooeess oonn.\n");
    assert_document(
        &ferry_format_text,
        " * A bullet that has some lines, which are wrapped\n   here.\n * Another that has only one\r\n",
        STAND_IN_LONGER,
        " * AA bbuulllleett tthhaatt hhaass ssoommee\n   lliinneess, wwhhiicchh aarree wwrraappppeedd\n   hheerree.\n"
        " * AAnnootthheerr tthhaatt hhaass oonnllyy oonnee\r\n");
    /* No line begins with what would be a bullet. */
    assert_translated(&ferry_format_text, "This line has forty columns, just fifty.\nThis one goes on.\n",
                      "This line has forty columns, just fifty. This one goes on.",
                      "Diese Zeile hat fast vierzig Spalten bis - 1. &gt;a +",
                      "Diese Zeile hat fast vierzig Spalten bis - 1. >a\n+.\n");
    assert_document(&ferry_format_text, "one line that is not wrapped, as no other one is\n", STAND_IN_LONGER,
                    "oonnee lliinnee tthhaatt iiss nnoott wwrraappppeedd, aass nnoo ootthheerr oonnee iiss\n");
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
        "Diese Zeile hat fast vierzig Spalten. Diese Zeile hier geht weiter. Und diese Zeile auch noch, und noch eine",
        "Diese Zeile hat fast vierzig Spalten.\n Diese Zeile hier geht weiter. Und diese\n Zeile auch noch, und noch "
        "eine");
    /* A paragraph of one line is wrapped as the others of the document are. */
    assert_translated(
        &ferry_format_text, "This line has forty columns, just fifty.\nThis one goes on.\n\n> - One line.\n\nend\n",
        "<p>This line has forty columns, just fifty. This one goes on.</p>\n<p>One line.</p>\n<p>end</p>\n",
        "<p>This line has forty columns, just fifty. This one goes on.</p>\n"
        "<p>Eine Zeile, die laenger als vierzig Spalten ist.</p>\n<p>Ende</p>\n",
        "This line has forty columns, just fifty.\nThis one goes on.\n\n"
        "> - Eine Zeile, die laenger als vierzig\n>   Spalten ist.\n\nEnde\n");
}
