/* Markup becomes text and items: what ends sentences, what is not translated, references, white space, and any bytes.
 */
#include "tests/support/files.h"
#include "tests/support/support.h"

#include <inttypes.h>

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
    check("<a\fhref=x\f>t</a\f>", "{<a\fhref=x\f>}t{</a\f>}");
    check("<b/ >a<b / x>c</b>", "(<b/ >)a{<b / x>}c{</b>}"); /* a slash that something follows is none */
    check("<b class=x/>a</b>", "{<b class=x/>}a{</b>}");
    check("<b x='>'y=\">\"z>a</b x='>'>", "{<b x='>'y=\">\"z>}a{</b x='>'>}");
    check("<b x = '>'>a</b>", "{<b x = '>'>}a{</b>}");
    check("<b>a</b", "(<b>)a</b");
    check("<b>a</b>", "{<b>}a{</b>}");
    check("<z>a</Z><Z>b</z>", "{<z>}a{</Z>}{<Z>}b{</z>}");
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
    check("</>a <[b]> <@> <{>", "</>a <[b]> <@> <{>");
    check("<`a> <1>", "<`a> <1>");
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
    check("a<!--->b<!---->c<!>d<?>e", "a(<!--->)b(<!---->)c(<!>)d(<?>)e");
    check("a<!- -- -->b<!-- > -- > --->c", "a(<!- -- -->)b(<!-- > -- > --->)c");
    check("a<![CDATA[]]>b<![CDATA[ ]] > ]]]>c<![CDATA[ ]>", "a(<![CDATA[]]>)b(<![CDATA[ ]] > ]]]>)c(<![CDATA[ ]>)");
    check("a<!", "a(<!)");
    check("a<?b", "a(<?b)");
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
    check("1<img>2<img>a<img>3", "1(<img>) 2(<img>) a(<img>) 3");
    check("a-<img>b<img>-c", "a-(<img>)b(<img>)-c");
    /* The last letters before Thai, the first of it; the first and the last syllable of Hangul. */
    check("\u0DC6<img>\u0DC6<img>\u0E01<img>\u0E01", "\u0DC6(<img>) \u0DC6(<img>)\u0E01(<img>)\u0E01");
    check("\uAC00<img>\uAC00<img>\uD7A3<img>\uD7A3", "\uAC00(<img>) \uAC00(<img>) \uD7A3(<img>) \uD7A3");
    check("é<img>é<img>א<img>e\u0301<img>e", "é(<img>) é(<img>) א(<img>) e\u0301(<img>) e");
    check("one<b></b>two<u/>three", "one{<b>}{</b>}two(<u/>) three");
}

TEST(test_sentences)
{
    check("<p>one</p>two", "{<p>}one{</p>}¶two");
    check("one<DIV>two<div>three</div></DIV>", "one{<DIV>}¶two{<div>}¶three{</div>}{</DIV>}");
    check("<ul><li>one<li>two</ul>", "{<ul>}(<li>)one(<li>)¶two{</ul>}");
    check("one\ntwo", "one two");
    check("one\n \r\n two", "one¶two");
    check("one \r\n two", "one two");
    check("one\r\rtwo\n\rthree\r\n\r\nfour\rfive", "one¶two¶three¶four five");
    check("one\n\n<b>two</b>\n\n", "one{<b>}¶two{</b>}");
    check("<pre>a<pre>b</pre>  c</pre>  d", "{<pre>}a{<pre>}¶b{</pre>}¶  c{</pre>}¶d");
    check("<pre>a<b>  b</pre>  c", "{<pre>}a(<b>)  b{</pre>}¶c");
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
    check("a\fb&#9;c&#12;d&#13;e", "a b c d e");
    check("a\vb&#11;c", "a\vb\vc"); /* none of HTML's */
    check("a <img> <img> b<img> c", "a (<img> )(<img> )b(<img>) c");
    check("a <b> </b> c", "a {<b>}{</b>}c");
}

TEST(test_references)
{
    check("a &amp; b &lt;c&gt;", "a & b <c>");
    check("caf&eacute; &#233; &#xE9; &#XE9; &apos;", "café é é é '");
    check("AT&T R&D; &; &#; &#x; & &amp", "AT&T R(&D;) &; (&#; )(&#x; )& &amp");
    check("&#0;&#xD800;&#x110000;&#99999999999;", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
    check("&#xDC00;&#xDFFF;&#xD7FF;&#xE000;", "\xEF\xBF\xBD\xEF\xBF\xBD\xED\x9F\xBF\xEE\x80\x80");
    check("&#128512;&#x10FFFF;&#1114112;&#x9f;&#xAf;", "😀\xF4\x8F\xBF\xBF\xEF\xBF\xBD\xC2\x9F\xC2\xAF");
    check("&#xg;&#4a;&#x4G;&#-1;", "(&#xg;)(&#4a;)(&#x4G;)&#-1;");
    check("&Eacute;&EACUTE;&lt&gt;", "É(&EACUTE;)&lt>");
    /* At most 16 bytes between & and ;. */
    check("&#00000000000065;&#000000000000065;&#0000000000000065;", "AA&#0000000000000065;");
    check("&abcdefghijklmnop;&abcdefghijklmnopq;", "(&abcdefghijklmnop;)&abcdefghijklmnopq;");
    check("&#000000000000065", "&#000000000000065");
    check("<a href='?a=1&amp;b'>&quot;</a>", "{<a href='?a=1&amp;b'>}\"{</a>}");
}

/* Of HTML 4.01's document type definition, as Python's html.entities has it, but for the angle brackets of HTML 5. */
TEST(test_every_name)
{
    const ferry_view list = mapped_bytes(data_file("markup/entities.txt"));
    char name[16], markup[24], expected[8] = "";
    uint32_t c;
    int size, count = 0;
    for (const char *at = list.data; at < list.data + list.size; at += size, count++) {
        assert_int_equal(sscanf(at, "%15s %" SCNu32 " %n", name, &c, &size), 2);
        sprintf(markup, "&%s;|", name);
        sprintf(expected + ferry_utf8_put(c, expected), "|");
        check(markup, expected);
    }
    assert_int_equal(count, 253);
}

/* ---- elements ---- */

/* Whether an element with this name ends sentences, has no end tag, is not translated; docs/markup.md. */
TEST(test_every_element)
{
    static const struct {
        const char *names, *shown; /* where the name is "#" */
    } rows[] = {
        {"b i u em a span g x blockquotes h7 h0 h pr scripts", "a{<#>}b{</#>}c"},
        {"address article aside blockquote body caption center colgroup dd details dialog dir div dl dt fieldset "
         "figcaption figure footer form frameset h1 h2 h3 h4 h5 h6 head header hgroup html legend li main menu nav ol "
         "optgroup option p search section select summary table tbody td tfoot th thead title tr ul",
         "a{<#>}¶b{</#>}¶c"},
        {"br col frame hr", "a(<#>)¶b(</#>)¶c"},
        {"area base basefont bgsound embed img input keygen link meta param source track", "a(<#>) b(</#>)c"},
        {"wbr", "a(<#>)b(</#>)c"},
        {"code kbd math samp svg tt var", "a{<#>} b{</#>} c"},
        {"iframe noembed noframes script style textarea xmp", "a(<#>b</#>) c"},
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        for (const char *at = rows[i].names; *at != '\0'; at += strspn(at, " ")) {
            char markup[64], expected[128], *next = expected;
            const int size = (int)strcspn(at, " ");
            snprintf(markup, sizeof markup, "a<%.*s>b</%.*s>c", size, at, size, at);
            for (const char *s = rows[i].shown; *s != '\0'; s++)
                next += sprintf(next, "%.*s", *s == '#' ? size : 1, *s == '#' ? at : s);
            check(markup, expected);
            at += size;
        }
    /* Tags within: of "kbd" others' are tags, and of "xmp" they are characters. */
    check("a<kbd><i></kbd>b</i>c", "a(<kbd><i></kbd>) b(</i>)c");
    check("a<xmp></kbd></xmpp></xmp >b", "a(<xmp></kbd></xmpp></xmp >) b");
    assert_memory_equal(shown("a<p\0>b", 6), "a(<p\0>)b", 9); /* another name */
    check("a<noembed><i></noembed>b", "a(<noembed><i></noembed>) b");
}

/* End tags look for their start tag among the innermost 64 that are open. */
TEST(test_open_elements)
{
    enum { MOST = 64 };
    for (int inner = MOST - 1; inner <= MOST; inner++) {
        char markup[8 * MOST] = "<u>", expected[8 * MOST];
        for (int i = 0; i < inner; i++) strcat(markup, "<b>");
        strcat(markup, "a</u>");
        strcpy(expected, inner < MOST ? "{<u>}" : "(<u>)");
        for (int i = 0; i < inner; i++) strcat(expected, "(<b>)");
        strcat(expected, inner < MOST ? "a{</u>}" : "a(</u>)");
        check(markup, expected);
    }
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
    check("<b x translate = 'No' y><i>a</i></b>c", "(<b x translate = 'No' y><i>a</i></b>)c");
    check("<b translate=yes>a</b><b translate=nor>a</b><b translate>a</b><b xtranslate=no>a</b>",
          "{<b translate=yes>}a{</b>}{<b translate=nor>}a{</b>}{<b translate>}a{</b>}{<b xtranslate=no>}a{</b>}");
    check("a <svg><svg>b</svg> c</svg> d<svg> e</svg", "a (<svg><svg>b</svg> c</svg> )d(<svg> e</svg)");
    check("a <svg></i></svg> c<i>", "a (<svg></i></svg> )c(<i>)");
    check("<u>a <svg>b</u> c</svg>", "{<u>}a (<svg>b){</u>}c(</svg>)");
}

TEST(test_words_that_are_kept)
{
    check("Press <kbd>Enter</kbd> now", "Press {<kbd>}Enter{</kbd>} now");
    check("at <span translate=\"no\">Apple</span>.", "at {<span translate=\"no\">}Apple{</span>}.");
    check("x<p translate='no'>a</p>c", "x{<p translate='no'>}¶a{</p>}¶c");
    check("a <code>b\nc</code> d", "a (<code>b\nc</code> )d");
    check("a <code> </code> d", "a (<code> </code> )d");
    check("a <code>b\rc</code> d", "a (<code>b\rc</code> )d");
    check("a <code>b;&</code> d", "a (<code>b;&</code> )d");
    check("a <code></code> d", "a (<code></code> )d");
    /* What was in the one before does not count. */
    check("<kbd>a<i></kbd> <kbd>b</kbd><img> <kbd>c</kbd>",
          "(<kbd>a<i></kbd>){<kbd>}b{</kbd>}(<img>) {<kbd>}c{</kbd>}");
    for (int size = 64; size <= 65; size++) {
        char markup[100], expected[120];
        snprintf(markup, sizeof markup, "a <kbd>%0*d</kbd>", size, 1);
        snprintf(expected, sizeof expected, size == 64 ? "a {<kbd>}%0*d{</kbd>}" : "a (<kbd>%0*d</kbd>)", size, 1);
        check(markup, expected);
    }
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
