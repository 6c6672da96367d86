/* ferry_translate_markup: what went wrong in other systems, properties of the whole, and hostile markup. */
#include "tests/support/files.h"
#include "tests/support/markup_fault.h"
#include "tests/support/random.h"
#include "tests/support/shipped_model.h"
#include "tests/support/small_model.h"

#include "base/utf8.h"

static ferry_translator *translator;

static int begin(void **state)
{
    open_model(state);
    ferry_options options = default_options(model);
    options.beam = options.nbest = 1;
    translator = new_translator(model, &options);
    return 0;
}

static int end(void **state)
{
    ferry_translator_destroy(translator);
    return close_model(state);
}

#define TRANSLATING(name) TEST_WITH(name, begin, end)

static ferry_view result_view(const ferry_result *result)
{
    const ferry_text text = ferry_result_text(result, 0, 0);
    return (ferry_view){text.data, text.size};
}

static ferry_result *translate(ferry_view markup)
{
    ferry_result *result;
    CHECK(ferry_translate_markup(translator, (ferry_text){markup.data, markup.size}, &result, &error));
    const char *fault = find_fault(markup, result_view(result));
    if (fault != NULL)
        fail_msg("%.*s\n→ %.*s\n%s", (int)markup.size, markup.data, (int)result_view(result).size,
                 result_view(result).data, fault);
    assert_int_equal(ferry_result_count(result), 1);
    assert_int_equal(ferry_result_hypothesis_count(result, 0), 1);
    return result;
}

static void check(const char *markup, const char *expected)
{
    ferry_result *result = translate(ferry_text_view(markup));
    const ferry_view found = result_view(result);
    if (!ferry_view_is(found, expected)) fail_msg("%s\n→ %.*s\nnot %s", markup, (int)found.size, found.data, expected);
    ferry_result_destroy(result);
}

/* ---- failures of other systems: browsermt/bergamot-translator by number, and others by name ---- */

TRANSLATING(test_tags_are_neither_lost_nor_added)
{
    /* 288: tags were deleted; one of several in a word was */
    check("<b id=\"1a\" style=\"color:red\">Tom<i id=\"1b\"> and Mary</i></b> <i id=\"1c\">swim</i>.",
          "<b id=\"1a\" style=\"color:red\">Tom <i id=\"1b\">und Maria</i></b> <i id=\"1c\">schwimmen</i>.");
    ferry_result_destroy(translate(ferry_text_view("<b>d</b><i>o</i><a id=\"1\">g</a>")));
    /* 253: an empty <b></b> was added, and "fahre" cut in two */
    check("<p>I <b>like</b> to <u>drive</u> this car.</p>", "<p>Ich <u>fahre</u> <b>gerne</b> dieses Auto.</p>");
    /* 267: empty elements were lost; later they were there twice */
    check("Tom is <u></u>my <img src=\"tom.png\"> brother.", "Tom ist <u></u>mein <img src=\"tom.png\"> Bruder.");
    check("I like <img src=a> milk and <img src=b> tea.", "Ich mag <img src=a> Milch und <img src=b> Tee.");
    /* 343: markup that is not well formed ended the program */
    check("I like <b>milk <i>and</b> tea</i>.", "Ich mag <b>Milch <i>und</b> Tee</i>.");
    check("I like</b> milk <b>and tea.", "Ich mag</b> Milch <b>und Tee.");
    /* translatelocally-web-ext 28: a link was there twice, another one empty */
    check("I bought <a href=\"1\">a book</a> and <a href=\"2\">a car</a>.",
          "Ich habe <a href=\"1\">ein Buch</a> und <a href=\"2\">ein Auto</a> gekauft.");
    /* LibreTranslate 552: comments were lost */
    check("I saw Tom.<!-- wp:paragraph --> I saw Mary<!-- x -->.",
          "Ich habe Tom gesehen.<!-- wp:paragraph --> Ich habe Maria<!-- x --> gesehen.");
    /* deepl-python 72: the rest of a word, or the first word, was put outside */
    check("<div>\n  <a href=\"1\">Tom likes milk</a>\n</div>", "<div>\n  <a href=\"1\">Tom mag Milch.</a>\n</div>");
}

TRANSLATING(test_sentences_and_white_space)
{
    /* 302: block elements did not end sentences */
    check("<p>I like milk.</p>He is old<div>I like tea.</div>",
          "<p>Ich mag Milch.</p>Er ist alt.<div>Ich mag Tee.</div>");
    check("I like milk.<br/>I like <img/>tea.<hr />", "Ich mag Milch.<br/>Ich mag <img/>Tee.<hr />");
    /* 285, 305: names in upper case, XHTML */
    check("<P><B>Tom</B> is here.<BR>He is old.</p>", "<P><B>Tom</B> ist hier.<BR>Er ist alt.</p>");
    /* LibreTranslate 288: a line end within a paragraph ended the sentence */
    check("<p>My brother\n\t is a\r\n teacher.\n</p>", "<p>Mein Bruder ist Lehrer.\n</p>");
    /* translate-html 19: adjacent elements were sentences of their own */
    check("<a href=\"#\"><em><span>My brother</span></em><em><span> is a teacher.</span></em></a>",
          "<a href=\"#\"><em><span>Mein Bruder</span></em> <em><span>ist Lehrer.</span></em></a>");
    /* firefox-translations 88, deepl-dotnet 64: what stands before &nbsp; was not translated, or was lost */
    check("<strong>Tom</strong>&nbsp;likes milk.", "<strong>Tom</strong> mag Milch.");
    check("<p>&nbsp;</p><p>I like tea.&nbsp; </p>", "<p>&nbsp;</p><p>Ich mag Tee.&nbsp; </p>");
    /* Elements that go on in the next sentence. */
    check("<b>Tom likes milk. Mary</b> likes tea.", "<b>Tom mag Milch. Maria</b> mag Tee.");
    check("He likes <b>milk.</b> <i>I like <u>tea</u></i>.", "Er mag <b>Milch.</b> <i>Ich mag <u>Tee</u></i>.");
}

TRANSLATING(test_what_is_not_translated)
{
    /* 285, 313, 312: contents of script, textarea, code were translated */
    check("I like milk.<script>if (a < b && \"</b>\") f();</script> I like tea.",
          "Ich mag Milch.<script>if (a < b && \"</b>\") f();</script> Ich mag Tee.");
    check("<textarea>I like <b>milk</textarea> I like tea.", "<textarea>I like <b>milk</textarea> Ich mag Tee.");
    check("<p><code>I like tea.</code></p> I like tea.", "<p><code>I like tea.</code></p> Ich mag Tee.");
    check("<b><code>x</code><br>I like</b> tea.", "<b><code>x</code><br>Ich mag</b> Tee.");
    /* webcompat 145499: translate="no" was ignored; without the name there would be no sentence */
    check("My name is <span translate=\"no\">Mary</span>.", "Ich heiße <span translate=\"no\">Mary</span>.");
    check("Tom lives in <kbd>Boston</kbd>.", "Tom wohnt in <kbd>Boston</kbd>.");
    /* Beside a word that ends with 0, 9, a, ß, that begins with Z or A, or behind another one, it has a blank. */
    check("I know B0 <kbd>x</kbd>.", "Ich kenne einen 0 <kbd>x</kbd>.");
    check("I know B9 <kbd>x</kbd>.", "Ich kenne den 9 <kbd>x</kbd>.");
    check("I know Zaz <kbd>F5</kbd>.", "Ich kenne Zanla <kbd>F5</kbd>.");
    check("I know Anna <kbd>~</kbd>.", "Ich weiß <kbd>~</kbd> dass eine Afforderung eintiert.");
    check("I know Zoé <kbd>F5</kbd>.", "Ich kenne einen <kbd>F5</kbd> Zosssjinn.");
    check("I know é<kbd>~</kbd> well.", "Ich kenne einen ausgezeichneten <kbd>~</kbd> Ausbildungsspiel.");
    check("I know Liz<kbd>x</kbd> well.", "Ich kenne Lizx <kbd>x</kbd> gut.");
    check("Is Zoé <kbd>x</kbd> <code>x</code> here?", "Ist hier <kbd>x</kbd> <code>x</code> Pfoxox?");
    /* 312, 396: attributes and references as they were */
    check("Tom has a <a href=\"u?a=1&amp;b=2\" title='x > y' data-x=3 disabled>house</a>.",
          "Tom hat ein <a href=\"u?a=1&amp;b=2\" title='x > y' data-x=3 disabled>Haus</a>.");
}

/* ---- properties ---- */

static const char *const lines[] = {
    "Tom and Mary have been waiting for you since 2 o'clock.",
    "I bought a red car and a small house in Boston.",
    "Where did you see my brother yesterday morning?",
    "She told me that she didn't want to go to school.",
    "The teacher gave each of the children a new book.",
    "It was so cold that the water in the lake froze.",
    "Is there anything that I can do for you?",
    "He drinks a cup of coffee before he goes to work.",
};

typedef struct written {
    char text[4096];
    size_t size;
} written;

static void write(written *w, const char *data, size_t size)
{
    assert_true(w->size + size < sizeof w->text);
    memcpy(w->text + w->size, data, size);
    w->size += size;
}

/* Tags around, between and within the words of a line, well nested. */
static ferry_view mark(const char *line, uint32_t *state, written *w)
{
    char tag[64];
    uint32_t open[16], depth = 0, number = 0;
    *w = (written){0};
    for (const char *next = line;; next++) {
        const bool between = *next == '\0' || *next == ' ' || next == line || next[-1] == ' ';
        while (next_random(state) % (between ? 3 : 20) == 0) {
            const uint32_t what = next_random(state) % 8;
            if (what < 4 && depth < 16 && *next != '\0') {
                open[depth++] = number;
                write(w, tag, (size_t)sprintf(tag, "<%c id=%u>", "abiu"[number % 4], number));
                number++;
            } else if (what < 7 && depth > 0) {
                write(w, tag, (size_t)sprintf(tag, "</%c >", "abiu"[open[--depth] % 4]));
            } else if (what == 7) {
                write(w, tag, (size_t)sprintf(tag, "<!--%u-->", number++));
            }
        }
        if (*next == '\0') break;
        write(w, next, 1);
    }
    while (depth > 0) write(w, tag, (size_t)sprintf(tag, "</%c>", "abiu"[open[--depth] % 4]));
    return (ferry_view){w->text, w->size};
}

/* What is left of a translation without its tags, with references as characters. */
static ferry_view without_tags(ferry_view markup, written *w)
{
    ferry_markup parsed;
    size_t at = 0;
    *w = (written){0};
    CHECK(ferry_markup_parse(markup, &parsed, &error));
    for (size_t i = 0; i < parsed.item_count; i++) {
        write(w, markup.data + at, parsed.items[i].begin - at);
        at = parsed.items[i].end;
    }
    write(w, markup.data + at, markup.size - at);
    ferry_markup_destroy(&parsed);
    return (ferry_view){w->text, w->size};
}

TRANSLATING(test_the_text_is_that_without_tags)
{
    uint32_t seed = 1;
    written marked, left;
    for (size_t i = 0; i < COUNT(lines); i++) {
        ferry_result *plain;
        CHECK(ferry_translate_text(translator, as_text(lines[i]), &plain, &error));
        for (int round = 0; round < 12; round++) {
            ferry_result *result = translate(mark(lines[i], &seed, &marked));
            const ferry_view found = without_tags(result_view(result), &left), expected = result_view(plain);
            if (!ferry_view_equal(found, expected))
                fail_msg("%.*s\n→ %.*s", (int)marked.size, marked.text, (int)result_view(result).size,
                         result_view(result).data);
            assert_same_line(ferry_result_sentences(result), 0, ferry_result_sentences(plain), 0);
            ferry_result_destroy(result);
        }
        ferry_result_destroy(plain);
    }
}

TRANSLATING(test_ranges)
{
    static const char markup[] = "<p> <b>I like</b> &lt;tea&gt;</p>\n\n<p>Tom is <i>here.</i></p> ";
    ferry_result *result = translate(ferry_text_view(markup));
    const ferry_view target = result_view(result);
    static const size_t sources[][2] = {{4, 29}, {38, 57}};
    ferry_sentence s[2];
    assert_int_equal(ferry_result_sentence_count(result), COUNT(s));
    for (size_t i = 0; i < COUNT(s); i++) {
        s[i] = *ferry_result_sentence(result, i);
        assert_int_equal(s[i].source_begin, sources[i][0]);
        assert_int_equal(s[i].source_end, sources[i][1]);
        assert_int_equal(ferry_result_outcome(ferry_result_sentences(result), i)->status, FERRY_OK);
    }
    /* What is not in a sentence is the same on both sides. */
    const ferry_view gaps[][2] = {
        {{markup, s[0].source_begin}, {target.data, s[0].target_begin}},
        {{markup + s[0].source_end, s[1].source_begin - s[0].source_end},
         {target.data + s[0].target_end, s[1].target_begin - s[0].target_end}},
        {{markup + s[1].source_end, sizeof markup - 1 - s[1].source_end},
         {target.data + s[1].target_end, target.size - s[1].target_end}},
    };
    for (size_t i = 0; i < COUNT(gaps); i++) assert_true(ferry_view_equal(gaps[i][0], gaps[i][1]));
    const ferry_result *plain = ferry_result_sentences(result);
    assert_int_equal(ferry_result_count(plain), 2);
    assert_true(ferry_result_source_token_count(plain, 1) > 0);
    assert_true(ferry_view_is((ferry_view){ferry_result_text(plain, 1, 0).data, ferry_result_text(plain, 1, 0).size},
                              "Tom ist hier."));
    ferry_result_destroy(result);
}

/* Within kept text no sentence ends, but at its end. */
TRANSLATING(test_sentences_with_kept_text)
{
    static const struct {
        const char *markup;
        size_t count;
    } rows[] = {
        {"I like <kbd>Yes. No</kbd> and tea.", 1},
        {"I like <kbd>Yes. No. Yes</kbd> and <kbd>No. Yes</kbd> too. I like milk.", 2},
        {"I like tea. I like <kbd>Yes. No</kbd>", 2},
        {"<p>I like <kbd>Yes. No</kbd></p><p>I like tea.</p>", 2},
        {"<p>I like <kbd>Yes. No</kbd> </p><p>I like tea.</p>", 2},
        {"I like <kbd>Yes.</kbd> I like tea.", 2},
        {"I like <kbd>Yes. No.</kbd> I like tea.", 1}, /* as what follows is not looked at apart */
        {"I like <b>Yes. No</b> and tea.", 2},
        {"I like <i>tea</i>. He likes <kbd>Yes. No</kbd> and milk. Yes.", 3},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        ferry_result *result = translate(ferry_text_view(rows[i].markup));
        if (ferry_result_sentence_count(result) != rows[i].count)
            fail_msg("%s: %zu sentences", rows[i].markup, ferry_result_sentence_count(result));
        ferry_result_destroy(result);
    }
}

/* The option is as before, and results have no tokens that nobody asked for. */
TRANSLATING(test_alignment_is_for_this_call)
{
    ferry_result *result;
    ferry_result_destroy(translate(ferry_text_view("I like <b>tea</b>.")));
    CHECK(ferry_translate_text(translator, as_text("I like tea."), &result, &error));
    assert_int_equal(ferry_result_source_token_count(ferry_result_sentences(result), 0), 0);
    ferry_result_destroy(result);
    result = translate(ferry_text_view("<b>I like tea.</b>"));
    assert_int_equal(ferry_result_source_token_count(ferry_result_sentences(result), 0), 0);
    ferry_result_destroy(result);
}

/* ---- failures ---- */

/* Sentences that fail stay in the source language, with their tags. */
TEST(test_sentences_that_fail)
{
    model = convert_data("models/marian-separate", NULL);
    ferry_options options = default_options(model);
    options.max_source = 1;
    translator = new_translator(model, &options);
    ferry_result *result = translate(
        ferry_text_view("<p>&gt; Hello,  <b>w\xFFrld</b> &amp;&lt;b&gt;<!--\xFF--> <code>\xFF</code>!</p> <i>Ho <w"));
    assert_true(ferry_view_is(
        result_view(result),
        "<p>&gt; Hello,  <b>w\xEF\xBF\xBDrld</b> &amp;&lt;b&gt;<!--\xFF--> <code>\xFF</code>!</p> <i>Ho &lt;w"));
    assert_int_equal(ferry_result_outcome(result, 0)->status, FERRY_ERROR_LIMIT);
    assert_string_equal(ferry_result_outcome(result, 0)->warning,
                        "invalid UTF-8 was read as U+FFFD; sentences that are not translated: 2 of 2");
    ferry_result_destroy(result);
    end(NULL);
}

/* ---- hostile markup ---- */

typedef struct hostile {
    const char *name, *begin, *repeated, *middle, *end;
    size_t count;
} hostile;

TEST(test_hostile_markup)
{
    static const hostile cases[] = {
        {"nested", "a ", "<b>", "b c", "</b>", 20000},
        {"nested around words", "", "<b>b ", "", " c</b>", 5000},
        {"not closed", "a ", "<b>", "b c", "", 20000},
        {"not opened", "a ", "", "b", "</b>", 20000},
        {"never the same", "a ", "<b>", "b", "</i>", 20000},
        {"side by side", "a ", "<b>b</b>", "", " c", 5000},
        {"within a word", "a", "<b>b</b>", "", "c", 5000},
        {"empty", "a ", "<b><i></i></b><br>", " b", "", 5000},
        {"less-than signs", "", "<", "", "", 20000},
        {"beginnings of tags", "", "<a x=\"<b y='", "", "", 20000},
        {"beginnings of comments", "b", "<!--", "", "", 20000},
        {"beginnings of references", "", "&", "", "", 20000},
        {"references", "", "&lt;", "", "", 5000},
        {"unknown references", "b ", "&b;", "", "c", 5000},
        {"an attribute", "b <a href='", "c", "'>b", "</a>", 1000000},
        {"kept", "b", "<kbd>c</kbd> b", "", "", 3000},
        {"kept sentences", "<p>", "<code>b</code><br>", "b", "", 5000},
        {"not translated", "b <svg>", "<svg>", "c", "</svg>", 20000},
        {"raw", "b", "<script>c</scrip></script>", "", "b", 5000},
        {"lists", "", "<li>b", "", "</ul>", 5000},
        {"white space", "b", " \n\n <p> ", "b", "\r\r", 5000},
        {"NUL", "b<b>c", "\1", "</b>d", "", 5000},
        {"ill-formed", "b<i>c", "\xFF", "</i>d", "\xE2\x82", 5000},
    };
    model = open_small_model(&(small_model){.tokenizer = "pieces"}, NULL);
    ferry_options options = default_options(model);
    options.max_source = 40;
    options.max_length = 20;
    translator = new_translator(model, &options);
    for (size_t i = 0; i < COUNT(cases); i++) {
        const hostile *h = &cases[i];
        ferry_string markup = {0};
        const size_t most = strlen(h->begin) + strlen(h->middle) + h->count * (strlen(h->repeated) + strlen(h->end));
        CHECK(ferry_string_reserve(&markup, most + 1, &error));
        markup.size = (size_t)sprintf(markup.data, "%s", h->begin);
        for (size_t k = 0; k < h->count; k++)
            markup.size += (size_t)sprintf(markup.data + markup.size, "%s", h->repeated);
        markup.size += (size_t)sprintf(markup.data + markup.size, "%s", h->middle);
        for (size_t k = 0; k < h->count; k++) markup.size += (size_t)sprintf(markup.data + markup.size, "%s", h->end);
        for (size_t k = 0; k < markup.size; k++)
            if (markup.data[k] == '\1') markup.data[k] = '\0';
        ferry_result_destroy(translate((ferry_view){markup.data, markup.size}));
        free(markup.data);
    }
    end(NULL);
}
