/* What depends on the languages of a call; the stand-in's model translates English into German, or Turkish. */
#include "document_support.h"

static void check(const char *from, const char *to, const char *source, const char *given, const char *expected)
{
    const ferry_document_options options = {.size = sizeof options, .from = from, .to = to};
    check_call(&options, "html", source, given, expected);
}

/* An element in another language than the page's stays; a page without one has that of the call. */
TEST(test_elements_in_other_languages)
{
    check(NULL, NULL, "<p>ab <i lang=en>cd</i> <i lang=fr>ef</i>", NULL, "<p>AB <i lang=en>CD</i> <i lang=fr>ef</i>");
    check(NULL, NULL, "<p lang=en-GB>ab<p lang=ENG>cd<p lang=eng-x>ef<p lang=English>gh<p lang=enx>ij</p>", NULL,
          "<p lang=en-GB>AB<p lang=ENG>CD<p lang=eng-x>EF<p lang=English>GH<p lang=enx>ij</p>");
    check("tr", NULL, "<p lang=tur>ab</p><p lang=en>cd</p>", NULL, "<p lang=tur>AB</p><p lang=en>cd</p>");
    check("none", NULL, "<p lang=tur>ab</p><p lang=en>cd</p>", NULL, "<p lang=tur>AB</p><p lang=en>CD</p>");
    check(NULL, NULL, "<html lang=fr><p>ab<p lang=fr>cd<p lang=en>ef</p>", NULL,
          "<html lang=fr><p>AB<p lang=fr>CD<p lang=en>ef</p>");
}

/* The simple mapping of capitals is not that of Turkish: such texts stay in capitals for the model, and its answer is
 * written as it is. */
TEST(test_capitals_of_turkish)
{
    check(NULL, NULL, "ABCD", "il", "IL");
    check("tr", NULL, "ABCD", "il", "il");
    check(NULL, "tr", "ABCD", "il", "il");
    check(NULL, "Turkish", "ABCD", "il", "il");
}
