/* Markup becomes text and items: what ends sentences, what is not translated, references, white space, and any bytes.
 */
#include "tests/support/files.h"
#include "tests/support/support.h"

#include "base/utf8.h"
#include "engine/api/markup_parse.h"
#include "tests/support/random.h"

/* The text with each item in it as it is: "(…)" where it stands alone, "{…}" where it is one of a pair. "¶" is the end
 * of a sentence. */
static const char *shown(const char *data, size_t size)
{
    ferry_markup markup;
    const ferry_view source = {data, size};
    CHECK(ferry_markup_parse(source, &markup, &error));
    char *out = kept_memory(4 * size + 16 * markup.item_count + 3 * markup.text.size + 1), *next = out;
    size_t item = 0;
    for (size_t at = 0; at <= markup.text.size; at++) {
        for (; item < markup.item_count && markup.items[item].at == at; item++) {
            const ferry_markup_item *of = &markup.items[item];
            const bool alone = of->kind == FERRY_MARKUP_POINT;
            next += sprintf(next, alone ? "(" : "{");
            const bool kept = of->kept && of->kind == FERRY_MARKUP_OPEN;
            const size_t end = kept ? ferry_markup_source_begin(&markup, at) : of->end;
            memcpy(next, data + of->begin, end - of->begin);
            next += end - of->begin;
            next += sprintf(next, alone ? ")" : "}");
        }
        if (at < markup.text.size && markup.text.data[at] == '\n')
            next += sprintf(next, "¶");
        else if (at < markup.text.size)
            *next++ = markup.text.data[at];
    }
    assert_int_equal(item, markup.item_count);
    ferry_markup_destroy(&markup);
    return out;
}

static void check(const char *markup, const char *expected)
{
    assert_string_equal(shown(markup, strlen(markup)), expected);
}

TEST(test_tags)
{
    check("", "");
    check("plain", "plain");
    check("a <b>bold</b> word", "a {<b>}bold{</b>} word");
    check("<a href='x>y' title=\"</a>\">l</A  >", "{<a href='x>y' title=\"</a>\">}l{</A  >}");
    check("<g id=\"1\"><x id='2'/>t</g>", "{<g id=\"1\">}(<x id='2'/>)t{</g>}");
    check("<c.yellow>t</c.yellow>", "{<c.yellow>}t{</c.yellow>}");
    check("<a href=http://x.org/>t</a>", "{<a href=http://x.org/>}t{</a>}");
    check("<a href=\"x\"class=y checked>t</a>", "{<a href=\"x\"class=y checked>}t{</a>}");
    check("<b>one<i>two</i></b>three", "{<b>}one{<i>}two{</i>}{</b>}three");
}

TEST(test_what_begins_no_tag_is_text)
{
    check("1 < 2", "1 < 2");
    check("a<3", "a<3");
    check("x <y and <b>z</b>", "x <y and {<b>}z{</b>}");
    check("<<b>>", "<(<b>)>");
    check("<", "<");
    check("a </ b>", "a </ b>");
    check("a <b", "a <b");
    check("a <b title=\"c>d</b>", "a {<b title=\"c>}d{</b>}"); /* a quote that nothing closes is no quote */
    check("a <b title=\"c>d</b> e\">f", "a (<b title=\"c>d</b> e\">)f");
}

TEST(test_what_stands_alone)
{
    check("a<br>b", "a(<br>)¶b");
    check("a <img src=x> b<wbr>c", "a (<img src=x> )b(<wbr>)c");
    check("a<!-- <b>no</b> -->b", "a(<!-- <b>no</b> -->)b");
    check("a<!-->b", "a(<!-->)b");
    check("a<!-- b", "a(<!-- b)");
    check("a<![CDATA[ <b> > ]]>b", "a(<![CDATA[ <b> > ]]>)b");
    check("<!DOCTYPE html>a<?xml:namespace prefix = o />b", "(<!DOCTYPE html>)a(<?xml:namespace prefix = o />)b");
    check("a</b>c", "a(</b>)c");
    check("a<b>c", "a(<b>)c");
    check("a</br>c", "a(</br>)¶c");
    check("<b>one<i>two</b>three</i>", "{<b>}one(<i>)two{</b>}three(</i>)");
    check("a&unknown;b", "a(&unknown;)b");
}

TEST(test_words_are_not_joined)
{
    check("hello<img/>world", "hello(<img/>) world");
    check("hello<img/>, world", "hello(<img/>), world");
    check("hello <img/>world", "hello (<img/>)world");
    check("un<u>der</u>line", "un{<u>}der{</u>}line");
    check("hel<wbr>lo", "hel(<wbr>)lo");
    check("hel<!-- -->lo", "hel(<!-- -->)lo");
    check("wo<script>x</script>rd", "wo(<script>x</script>) rd");
    check("看<img>这", "看(<img>)这");
}

TEST(test_sentences)
{
    check("<p>one</p>two", "{<p>}one{</p>}¶two");
    check("one<DIV>two<div>three</div></DIV>", "one{<DIV>}¶two{<div>}¶three{</div>}{</DIV>}");
    check("<ul><li>one<li>two</ul>", "{<ul>}(<li>)one(<li>)¶two{</ul>}");
    check("one\ntwo", "one two");
    check("one\n \r\n two", "one¶two");
    check("one \r\n two", "one two");
    check("<pre>one\n  two</pre> three", "{<pre>}one¶  two{</pre>}¶three");
    check("<table><tr><td>1</td><td>2</td></tr></table>",
          "{<table>}{<tr>}{<td>}1{</td>}{<td>}¶2{</td>}{</tr>}{</table>}");
}

TEST(test_white_space)
{
    check("  a  \t b  ", "a b ");
    check("a <b> c</b>", "a {<b>}c{</b>}");
    check("a<b> c </b> d", "a{<b>} c {</b>}d");
    check("a&nbsp;b", "a\xC2\xA0"
                      "b");
    check("a&#32;&#10; b", "a b");
}

TEST(test_references)
{
    check("a &amp; b &lt;c&gt;", "a & b <c>");
    check("caf&eacute; &#233; &#xE9; &#XE9; &apos;", "café é é é '");
    check("AT&T R&D; &; &#; &#x; & &amp", "AT&T R(&D;) &; (&#; )(&#x; )& &amp");
    check("&#0;&#xD800;&#x110000;&#99999999999;", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
    check("&#xDC00;&#xDFFF;&#xD7FF;&#xE000;", "\xEF\xBF\xBD\xEF\xBF\xBD\xED\x9F\xBF\xEE\x80\x80");
    check("&#128512;", "😀");
    check("<a href='?a=1&amp;b'>&quot;</a>", "{<a href='?a=1&amp;b'>}\"{</a>}");
}

TEST(test_content_that_is_not_translated)
{
    check("a <script>if (a < b) '</b>' </SCRIPT >c", "a (<script>if (a < b) '</b>' </SCRIPT >)c");
    check("a <style>b", "a (<style>b)");
    check("a <textarea>b</text></textarea> c", "a (<textarea>b</text></textarea> )c");
    check("a <svg><text>b</text></svg> c", "a (<svg><text>b</text></svg> )c");
    check("a <var><var>b</var></var> c", "a (<var><var>b</var></var> )c");
    check("a <code>b &amp; c</code> d", "a (<code>b &amp; c</code> )d");
    check("<p>a <code>b<i>c</p>d", "{<p>}a (<code>b<i>c){</p>}¶d");
    check("x<p translate='no'>a<br>b</p>c", "x(<p translate='no'>a<br>b</p>)¶c");
    check("<b TRANSLATE=NO><i>a</i></b>c", "(<b TRANSLATE=NO><i>a</i></b>)c");
}

TEST(test_words_that_are_kept)
{
    check("Press <kbd>Enter</kbd> now", "Press {<kbd>}Enter{</kbd>} now");
    check("at <span translate=\"no\">Apple</span>.", "at {<span translate=\"no\">}Apple{</span>}.");
    check("x<p translate='no'>a</p>c", "x{<p translate='no'>}¶a{</p>}¶c");
    check("a <code>b\nc</code> d", "a (<code>b\nc</code> )d");
    check("a <code> </code> d", "a (<code> </code> )d");
}

/* ---- places ---- */

TEST(test_places_in_the_markup)
{
    static const char markup[] = "<p>A &lt;  b</p>\n\xFFz";
    ferry_markup parsed;
    CHECK(ferry_markup_parse((ferry_view){markup, sizeof markup - 1}, &parsed, &error));
    assert_true(parsed.repaired);
    assert_int_equal(parsed.text.size, strlen("A < b\n\xEF\xBF\xBDz"));
    assert_memory_equal(parsed.text.data, "A < b\n\xEF\xBF\xBDz", parsed.text.size);
    static const size_t begins[] = {3, 4, 5, 9, 11}, ends[] = {4, 5, 9, 11, 12};
    for (size_t i = 0; i < COUNT(begins); i++) {
        assert_int_equal(ferry_markup_source_begin(&parsed, i), begins[i]);
        assert_int_equal(ferry_markup_source_end(&parsed, i + 1), ends[i]);
    }
    assert_int_equal(ferry_markup_source_begin(&parsed, 6), 17);
    assert_int_equal(ferry_markup_source_end(&parsed, 9), 18);
    assert_int_equal(ferry_markup_source_begin(&parsed, 9), 18);
    assert_int_equal(ferry_markup_source_end(&parsed, 10), 19);
    ferry_markup_destroy(&parsed);
}
