/* What all formats know of HTML: character references, elements, tags. */
#include "document_support.h"

#include "documents/entities.h"
#include "documents/html_tags.h"

/* The characters, and what is behind the reference; or nothing but the text. */
static void assert_entity(const char *text, const char *characters, const char *rest)
{
    char bytes[8] = "";
    size_t size = 0;
    const size_t length = ferry_entity_read(ferry_text_view(text), bytes, &size);
    if (!ferry_view_is((ferry_view){bytes, size}, characters) || strcmp(text + length, rest) != 0)
        fail_msg("%s: %.*s, %zu bytes", text, (int)size, bytes, length);
}

TEST(test_names_of_characters)
{
    static const char *const names[][2] = {
#define ENTITY(name, text) {"&" #name "; &", text},
#include "documents/entities.inc"
    };
    assert_int_equal(sizeof names / sizeof *names, 2125);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) assert_entity(names[i][0], names[i][1], " &");
}

TEST(test_references)
{
    static const char *const rows[][2] = {{"&#38;", "&"},
                                          {"&#x26;", "&"},
                                          {"&#X1f600;", "😀"},
                                          {"&#x1F600;", "😀"},
                                          {"&#0038;", "&"},
                                          {"&#10;", "\n"},
                                          {"&#150;", "–"},
                                          {"&#128;", "€"},
                                          {"&#159;", "Ÿ"},
                                          {"&#127;", "\x7F"},
                                          {"&#160;", "\xC2\xA0"},
                                          {"&#129;", "\xC2\x81"},
                                          {"&#0;", "\uFFFD"},
                                          {"&#xD800;", "\uFFFD"},
                                          {"&#xDFFF;", "\uFFFD"},
                                          {"&#xE000;", "\uE000"},
                                          {"&#x10FFFF;", "\U0010FFFF"},
                                          {"&#x110000;", "\uFFFD"},
                                          {"&#4294967334;", "\uFFFD"}};
    static const char *const others[] = {"",       "&",      "&;",     "&#;",  "&#x;",  "&amp",   "&nosuchname;",
                                         "&AMp;",  "&#1a;",  "&#xg;",  "amp;", "&a b;", "& amp;", "&#-1;",
                                         "&amp ;", "&ampx;", "&zwnjj;"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) assert_entity(rows[i][0], rows[i][1], "");
    assert_entity("&#38;x", "&", "x");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) assert_entity(others[i], "", others[i]);
}

TEST(test_elements)
{
    static const struct {
        const char *names;
        int kind;
    } rows[] = {{"a b span x h7 h address2 caption, br/ addressarticle pr p1 plaintex xm x-p", 0},
                {"address P Div h1 H6 ul title option", FERRY_ELEMENT_BLOCK},
                {"br HR col frame", FERRY_ELEMENT_BLOCK | FERRY_ELEMENT_VOID},
                {"pre", FERRY_ELEMENT_BLOCK | FERRY_ELEMENT_KEPT},
                {"img input area track", FERRY_ELEMENT_VOID},
                {"wbr", FERRY_ELEMENT_VOID | FERRY_ELEMENT_IN_WORD},
                {"button label applet video", FERRY_ELEMENT_LABEL},
                {"script style textarea xmp iframe", FERRY_ELEMENT_RAW | FERRY_ELEMENT_KEPT},
                {"code kbd samp var tt math svg classname varname", FERRY_ELEMENT_KEPT}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (const char *name = rows[i].names; *name != '\0'; name += *name == ' ') {
            const size_t size = strcspn(name, " ");
            if (ferry_element_find((ferry_view){name, size}) != rows[i].kind) fail_msg("%.*s", (int)size, name);
            name += size;
        }
    assert_int_equal(ferry_element_find((ferry_view){NULL, 0}), 0);
    assert_int_equal(ferry_element_find(ferry_text_view("article aside")), 0);
    assert_int_equal(ferry_element_find(ferry_text_view("averylongnameofanelementofnohtml")), 0);
}

/* Kinds of tags: s and e are a pair or may become one, a stands alone, w is kept as a word, t is text. */
static const char letters[] = "seawt";

/* Tags of pages: their kind, and what is behind them; the content and the attributes of one. */
TEST(test_html_tags)
{
    static const char *const rows[] = {
        "s <a b>~",      "a <a/>~", "a <br>~",          "e </a b>~", "a <!-- a > -->~",        "a <!-->~",
        "a <!a>~",       "a <?a>~", "a <![CDATA[>]]>~", "a <!-- a",  "s <style><b></style >~", "s <script></a>",
        "s <a\fb='>'>~", "t <~<a>", "t <~1>",           "t <a ~<b>"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[80];
        const char *after = strchr(rows[i], '~');
        const size_t end = after != NULL ? (size_t)(after - rows[i]) - 2 : strlen(rows[i]) - 2;
        snprintf(text, sizeof text, "%.*s%s", (int)end, rows[i] + 2, after != NULL ? after + 1 : "");
        ferry_html_tag_scanner scanner = {.attribute_count = 0};
        const ferry_inline_tag tag = ferry_html_tag_read(&scanner, ferry_text_view(text), 0);
        if (letters[tag.kind] != rows[i][0] || tag.end != end)
            fail_msg("%s: %c, %zu", rows[i], letters[tag.kind], tag.end);
    }
    ferry_html_tag_scanner scanner = {.attribute_count = 0};
    const char *text = "<textarea a B = '>' c=\"<'\" d=e a=f>x</textarea>";
    const ferry_inline_tag tag = ferry_html_tag_read(&scanner, ferry_text_view(text), 0);
    assert_string_equal(text + tag.content, "x</textarea>");
    assert_true(ferry_view_is(ferry_html_attribute_find(&scanner, "b"), ">"));
    assert_true(ferry_view_is(ferry_html_attribute_find(&scanner, "c"), "<'"));
    assert_true(ferry_view_is(ferry_html_attribute_find(&scanner, "D"), "e"));
    assert_true(ferry_view_is(ferry_html_attribute_find(&scanner, "a"), "f"));
    assert_null(ferry_html_attribute_find(&scanner, "x").data);
}

TEST(test_tags)
{
    /* The kind, the tag, and what is behind it. */
    static const char *const rows[] = {"s <b>~x",        "e </b>~x",           "a <b/>~x",          "a <br />~",
                                       "s <a:b-c_1 d>~", "s <a\tb\r\n>~",      "s <a b=\"c>'d\">~", "s <a b='c>\"d'>~",
                                       "s <a b=c\"d>~",  "a <!-- a > b -->~c", "a <!---->~c",       "a <!A b>~c",
                                       "a <?a b?>~c",    "s <a b=\"c>~",       "w <%s>~",           "w <%s/>~",
                                       "w <a|b>~"};
    static const char *const others[] = {"<a <b>", "<b",        "<a ",    "<1>",    "< b>",
                                         "b<c>",   "<!-- a ->", "</a|b>", "<a\"b>", "<%a b>"};
    ferry_inline_tag tag;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *text = rows[i] + 2, *end = strrchr(text, '~');
        const size_t size = ferry_inline_tag_read(ferry_text_view(text), &tag);
        if (size != (size_t)(end - text) || letters[tag.kind] != rows[i][0])
            fail_msg("%s: %zu bytes, %c", rows[i], size, letters[tag.kind]);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (ferry_inline_tag_read(ferry_text_view(others[i]), &tag) != 0) fail_msg("%s", others[i]);
}

/* Words in brackets have 48 bytes before the last one, tags 4096 in all. */
TEST(test_longest_tags)
{
    static char text[4200];
    ferry_inline_tag tag;
    memset(text, 'a', sizeof text);
    text[0] = '<';
    for (size_t more = 0; more < 2; more++) {
        const size_t word = 49 + more, whole = 4096 + more;
        text[1] = '%';
        text[word - 1] = '>';
        assert_int_equal(ferry_inline_tag_read((ferry_view){text, sizeof text}, &tag), more == 0 ? word : 0);
        text[word - 1] = text[1] = 'a';
        text[whole - 1] = '>';
        text[2] = ' ';
        assert_int_equal(ferry_inline_tag_read((ferry_view){text, sizeof text}, &tag), more == 0 ? whole : 0);
        text[whole - 1] = text[2] = 'a';
    }
}

/* Reads the tags that the text consists of, and pairs them. */
static size_t pair_tags(const char *text, ferry_inline_tag *tags)
{
    size_t count = 0;
    for (ferry_view rest = ferry_text_view(text); rest.size > 0; count++) {
        const size_t size = ferry_inline_tag_read(rest, &tags[count]);
        assert_true(size > 0);
        rest = (ferry_view){rest.data + size, rest.size - size};
    }
    ferry_inline_tags_pair(tags, count);
    return count;
}

TEST(test_pairs)
{
    static const char *const rows[] = {"se <b></b>",
                                       "se <B></b>",
                                       "wa <x></c>",
                                       "aa </b><b>",
                                       "sae <a><b></a>",
                                       "saea <a><b></a></b>",
                                       "ssee <a><b></b></a>",
                                       "wse <a><a></a>",
                                       "ssee <a><a></a></a>",
                                       "aaaaaaa <br><hr><img><input><li><p><wbr>",
                                       "aaaw <LI><br ><x y><x>",
                                       "seaw <p></p><q/><%s>"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ferry_inline_tag tags[8];
        const char *text = strchr(rows[i], ' ') + 1;
        const size_t count = pair_tags(text, tags);
        assert_int_equal(count, text - rows[i] - 1);
        for (size_t t = 0; t < count; t++)
            if (letters[tags[t].kind] != rows[i][t]) fail_msg("%s: tag %zu is %c", rows[i], t, letters[tags[t].kind]);
    }
    /* An end tag looks among the innermost 64. */
    for (size_t inner = 63; inner < 65; inner++) {
        ferry_inline_tag tags[80];
        char text[400] = "<a>";
        for (size_t i = 0; i < inner; i++) strcat(text, "<b>");
        pair_tags(strcat(text, "</a>"), tags);
        assert_int_equal(tags[0].kind, inner == 63 ? FERRY_TAG_START : FERRY_TAG_WORD);
    }
}
