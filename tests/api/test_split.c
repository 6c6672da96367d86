/* Lines that are translated sentence by sentence (ferry_options.split): which, and what becomes of them. */
#include "engine/api/translator.h"
#include "engine/lines/split.h"
#include "tests/support/files.h"
#include "tests/support/shipped_model.h"
#include "tests/support/split_line.h"

static const char sentences[] =
    " Good morning!  \t How are you?\n\nTom is reading a book in the garden.\xC2\xA0 Hello, world! ";
static const char apples[] = "I like apples.", german[] = "Ich mag Äpfel.";
enum { APPLES = 20 };

static ferry_options with(ferry_split split)
{
    ferry_options options = default_options(model);
    assert_int_equal(options.split, FERRY_SPLIT_NONE);
    options.split = split;
    return options;
}

static size_t parts_of(const ferry_options *options, const char *line)
{
    ferry_parts parts = {0};
    ferry_translator *translator = new_translator(model, options);
    CHECK(split_line(translator, ferry_text_view(line), &parts, &error));
    const size_t count = parts.count;
    ferry_parts_destroy(&parts);
    ferry_translator_destroy(translator);
    return count;
}

/* ---- which lines ---- */

SHIPPED_TEST(test_which_lines)
{
    static const struct {
        const char *line;
        size_t none, by_auto, all;
    } rows[] = {
        {"Tom is reading a book in the garden with a lot of flowers", 1, 1, 1},
        {"Mr. Brown is reading a book in the garden with a lot of flowers.", 1, 1, 1},
        {"Yes. No.", 1, 1, 2},
        {"I see it now. Who is it?", 1, 1, 2},     /* 10 tokens with the end of sentence, */
        {"I see it now. Who is it now?", 1, 2, 2}, /* 11 */
        {"Tom is reading a book in the garden. He likes it.", 1, 2, 2},
        {"Tom is reading a book in the garden.   ", 1, 1, 1},
        {"   Yes.  ", 1, 1, 1},
        {sentences, 1, 4, 4},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const size_t expected[] = {rows[i].none, rows[i].by_auto, rows[i].all};
        for (ferry_split split = FERRY_SPLIT_NONE; split <= FERRY_SPLIT_ALL; split++) {
            const ferry_options options = with(split);
            const size_t found = parts_of(&options, rows[i].line);
            if (found != expected[split])
                fail_msg("'%s': split %d: %zu parts, expected %zu", rows[i].line, (int)split, found, expected[split]);
        }
    }
}

/* ---- what becomes of them ---- */

/* A model of single sentences, given many, loses most of them. */
SHIPPED_TEST(test_no_sentence_is_lost)
{
    char line[APPLES * sizeof apples] = "", expected[APPLES * sizeof german] = "";
    for (int i = 0; i < APPLES; i++) {
        sprintf(line + strlen(line), "%s%s", i > 0 ? " " : "", apples);
        sprintf(expected + strlen(expected), "%s%s", i > 0 ? " " : "", german);
    }
    const ferry_text text = as_text(line);
    const ferry_options options = with(FERRY_SPLIT_AUTO), none = with(FERRY_SPLIT_NONE);
    ferry_result *split = translated(model, &options, &text, 1), *whole = translated(model, &none, &text, 1);
    const ferry_text found = ferry_result_text(split, 0, 0);
    assert_int_equal(found.size, strlen(expected));
    assert_memory_equal(found.data, expected, found.size);
    assert_int_equal(ferry_result_outcome(split, 0)->quality, 0);
    assert_int_equal(ferry_result_outcome(whole, 0)->quality,
                     FERRY_QUALITY_SHORT); /* and no loop: the source repeats itself */
    ferry_result_destroy(split);
    ferry_result_destroy(whole);
}

/* A warning where sentences themselves are cut. */
SHIPPED_TEST(test_cut_sentences)
{
    const ferry_text lines[] = {as_text("Good morning! How are you? Hello, world!"),
                                as_text("Hello, world! Tom is reading a book in the garden.")};
    ferry_options options = with(FERRY_SPLIT_AUTO);
    options.max_source = 7;
    ferry_result *result = translated(model, &options, lines, 2);
    assert_null(ferry_result_outcome(result, 0)->warning);
    assert_non_null(
        strstr(ferry_result_outcome(result, 1)->warning, "split into 3 parts: 18 source tokens, max_source is 7"));
    ferry_result_destroy(result);
}
