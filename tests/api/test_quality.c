/* Quality flags of translations: what is found, what a result says, and what options.on_loop makes of loops. */
#include "engine/lines/model.h"
#include "engine/lines/quality.h"
#include "engine/lines/result.h"
#include "tests/support/files.h"
#include "tests/support/shipped_model.h"

/* ---- what is found ---- */

#define FIND(most, ...)                                                                                                \
    ferry_repetition_find((const int32_t[]){__VA_ARGS__}, COUNT(((const int32_t[]){__VA_ARGS__})), most)

static void check_repetition(ferry_repetition found, size_t length, size_t times)
{
    if (found.length != length || found.times != times)
        fail_msg("%zu ids %zu times, expected %zu ids %zu times", found.length, found.times, length, times);
}

TEST(test_repetitions)
{
    check_repetition(ferry_repetition_find(NULL, 0, 16), 0, 1);
    check_repetition(FIND(16, 1), 0, 1);
    check_repetition(FIND(16, 1, 2, 1, 3), 0, 1);
    check_repetition(FIND(16, 1, 1), 1, 2);
    check_repetition(FIND(16, 5, 1, 2, 1, 2, 1, 2, 1, 5), 2, 3);
    check_repetition(FIND(16, 1, 1, 2, 3, 4, 2, 3, 4, 2, 3, 4), 3, 3);
    check_repetition(FIND(16, 1, 1, 1, 2, 1, 2, 1, 2), 1, 3); /* of several, the shortest */
    check_repetition(FIND(2, 1, 2, 3, 1, 2, 3, 1, 2, 3), 0, 1);
}

enum { MOST = 100 };

/* `times` times the ids 1 … n, and one more. */
static ferry_ids repeated(int32_t *ids, int32_t n, int32_t times)
{
    int32_t count = 0;
    for (int32_t t = 0; t < times; t++)
        for (int32_t i = 0; i < n; i++) ids[count++] = i + 1;
    ids[count++] = 0;
    assert_true(count <= MOST);
    return (ferry_ids){.ids = ids, .count = (size_t)count};
}

TEST(test_comparison_with_the_source)
{
    static const struct {
        int32_t source[2], translation[2]; /* ids, times */
        const char *text;
        int kinds, before;
    } rows[] = {
        {{5, 1}, {5, 1}, "a", 0, 0},
        {{5, 1}, {1, 2}, "a", 0, 0},
        {{5, 1}, {1, 3}, "a", FERRY_QUALITY_LOOP, 0},
        {{5, 1}, {16, 3}, "a", FERRY_QUALITY_LOOP, 0},
        {{5, 1}, {17, 3}, "a", 0, 0},
        {{5, 2}, {5, 4}, "a", 0, 0}, /* follows its source */
        {{5, 2}, {5, 5}, "a", FERRY_QUALITY_LOOP, 0},
        {{1, 6}, {1, 12}, "a", 0, 0},
        {{32, 3}, {16, 6}, "a", 0, 0},
        {{33, 2}, {16, 3}, "a", FERRY_QUALITY_LOOP, 0}, /* what is repeated in it is too long */
        {{1, 0}, {0, 0}, " \xC2\xA0", FERRY_QUALITY_SHORT, 0},
        {{1, 0}, {0, 0}, "", FERRY_QUALITY_SHORT, 0},
        {{1, 0}, {0, 0}, NULL, 0, 0}, /* ids without a text */
        {{14, 1}, {1, 1}, "a", 0, 0}, /* few */
        {{15, 1}, {4, 1}, "a", FERRY_QUALITY_SHORT, 0},
        {{17, 1}, {4, 1}, "a", FERRY_QUALITY_SHORT, 0},
        {{17, 1}, {5, 1}, "a", 0, 0},
        {{98, 1}, {32, 1}, "a", 0, 0},
        {{99, 1}, {32, 1}, "a", FERRY_QUALITY_SHORT, 0},
        /* One that was cut is not called short, too. */
        {{99, 1}, {5, 1}, "a", FERRY_QUALITY_CUT, FERRY_QUALITY_CUT},
        {{99, 1}, {5, 1}, NULL, FERRY_QUALITY_CUT, FERRY_QUALITY_CUT},
        {{99, 1}, {5, 1}, "", FERRY_QUALITY_CUT | FERRY_QUALITY_SHORT, FERRY_QUALITY_CUT},
    };
    int32_t source_ids[MOST], ids[MOST];
    for (size_t i = 0; i < COUNT(rows); i++) {
        const ferry_ids source = repeated(source_ids, rows[i].source[0], rows[i].source[1]),
                        found = repeated(ids, rows[i].translation[0], rows[i].translation[1]);
        const char *text = rows[i].text != NULL ? rows[i].text : "";
        const ferry_result_hypothesis translation = {
            .ids = ids, .length = (int32_t)found.count, .text = (char *)(uintptr_t)text, .size = strlen(text)};
        ferry_quality_signs quality = {.flags = rows[i].before};
        ferry_quality_compare(&quality, &source, &translation, rows[i].text != NULL, -1);
        if (quality.flags != rows[i].kinds)
            fail_msg("row %zu: quality %d, expected %d", i, quality.flags, rows[i].kinds);
    }
}

/* ---- what a result says ---- */

static const ferry_text lines[] = {
    {"Against all expectations, we became good friends.", 49}, /* loops: "Achchchch", */
    {"How are you?", 12},
    {"This movie is one of my all-time favorites.", 43}, /* "Lieblingszeitzeitzeit" */
    {"Tom is reading a book in the garden.", 36},
    {"", 0},
    {"Is this the dictionary you're looking for?", 42}, /* "das das das" */
};
enum { LINES = COUNT(lines) };

static bool loops(size_t line)
{
    return line == 0 || line == 2 || line == 5;
}

SHIPPED_TEST(test_cuts_and_blank_translations_are_told)
{
    const ferry_text line = as_text("How are you?");
    ferry_options options = default_options(model);
    options.max_length = 3;
    ferry_result *result = translated(model, &options, &line, 1);
    assert_int_equal(ferry_result_outcome(result, 0)->quality, FERRY_QUALITY_CUT);
    ferry_result_destroy(result);
    options = default_options(model);
    own_search(&options, model)->forced_first_id = 0; /* the end of sentence */
    result = translated(model, &options, &line, 1);
    assert_int_equal(ferry_result_text(result, 0, 0).size, 0);
    assert_int_equal(ferry_result_outcome(result, 0)->quality, FERRY_QUALITY_SHORT);
    assert_string_equal(ferry_result_outcome(result, 0)->warning, "the translation is blank");
    ferry_result_destroy(result);
}

/* A cut of any hypothesis is told of; one that ends at the limit with any end of sentence is not cut. */
SHIPPED_TEST(test_cuts_of_any_hypothesis)
{
    ferry_generation *generation = &model->file.generation;
    ferry_options options = default_options(model);
    options.beam = options.nbest = 4;
    own_search(&options, model)->forced_last_id = -1;
    ferry_result *whole = translated(model, &options, &lines[3], 1);
    const int32_t *ids = ferry_inspect_result_ids(whole, 0, 0) + ferry_result_token_count(whole, 0, 0);
    const int32_t ends[] = {ids[-1], ids[-2]};
    int others = 0, second = 0;
    ferry_result_destroy(whole);
    generation->eos_ids = ends;
    for (generation->eos_count = 1; generation->eos_count <= 2; generation->eos_count++)
        for (options.max_length = 1; options.max_length <= 16; options.max_length++) {
            ferry_result *result = translated(model, &options, &lines[3], 1);
            int cuts = 0;
            bool cut = false;
            for (size_t h = ferry_result_hypothesis_count(result, 0); h-- > 0; cuts += cut) {
                const size_t count = ferry_result_token_count(result, 0, h);
                const int32_t id = ferry_inspect_result_ids(result, 0, h)[count - 1];
                cut = count == (size_t)options.max_length && id != ends[0] && id != ends[generation->eos_count - 1];
                second += count == (size_t)options.max_length && id != ends[0] && !cut;
            }
            others += cuts > 0 && !cut; /* not of the best one */
            assert_int_equal(ferry_result_outcome(result, 0)->quality & FERRY_QUALITY_CUT,
                             cuts > 0 ? FERRY_QUALITY_CUT : 0);
            ferry_result_destroy(result);
        }
    assert_true(others > 0 && second > 0);
}

/* Of a text those of all its sentences, of each sentence its own; sentence `flagged` is the one that loops. */
static void check_text(ferry_result *result, size_t flagged, int kinds)
{
    assert_int_equal(ferry_result_sentence_count(result), 3);
    assert_int_equal(ferry_result_outcome(result, 0)->quality, kinds);
    assert_string_equal(ferry_result_outcome(result, 0)->warning, "sentences with warnings: 1");
    for (size_t i = 0; i < 3; i++) {
        const ferry_outcome *outcome = ferry_result_outcome(ferry_result_sentences(result), i);
        assert_int_equal(outcome->quality, i == flagged ? kinds : 0);
        assert_true((outcome->warning != NULL) == (i == flagged));
    }
    ferry_result_destroy(result);
}

SHIPPED_TEST(test_texts)
{
    for (ferry_on_loop on_loop = FERRY_ON_LOOP_WARN; on_loop <= FERRY_ON_LOOP_RETRY; on_loop++) {
        const int kinds = on_loop == FERRY_ON_LOOP_WARN ? FERRY_QUALITY_LOOP : 0;
        ferry_options options = default_options(model);
        ferry_result *result;
        options.on_loop = on_loop;
        ferry_translator *translator = new_translator(model, &options);
        for (size_t flagged = 0; flagged < 3; flagged++) {
            const char *sentences[3];
            sentences[flagged] = "This movie is one of my all-time favorites.";
            sentences[(flagged + 1) % 3] = "How are you?";
            sentences[(flagged + 2) % 3] = "I know it.";
            const ferry_short_text text = ferry_format("%s %s %s", sentences[0], sentences[1], sentences[2]);
            CHECK(ferry_translate_text(translator, as_text(text.text), &result, &error));
            check_text(result, flagged, kinds);
        }
        ferry_translator_destroy(translator);
    }
}

/* ---- options.on_loop ---- */

/* Lines that loop have the translation that no_repeat_ngram 2 makes, the others their own. */
SHIPPED_TEST(test_loops_are_translated_again)
{
    for (int32_t beam = 1; beam <= 4; beam += 3) {
        ferry_options options = default_options(model), strict;
        options.beam = options.nbest = beam;
        options.alignment = beam > 1;
        strict = options;
        strict.no_repeat_ngram = 2;
        options.on_loop = FERRY_ON_LOOP_RETRY;
        ferry_result *result = translated(model, &options, lines, LINES),
                     *expected = translated(model, &strict, lines, LINES);
        options.on_loop = FERRY_ON_LOOP_WARN;
        ferry_result *usual = translated(model, &options, lines, LINES);
        for (size_t i = 0; i < LINES; i++) {
            const bool again = (ferry_result_outcome(usual, i)->quality & FERRY_QUALITY_LOOP) != 0;
            assert_same_line(result, i, again ? expected : usual, i);
            assert_int_equal(ferry_result_outcome(result, i)->quality, 0);
            assert_int_equal(ferry_result_source_token_count(result, i), ferry_result_source_token_count(expected, i));
            if (again)
                assert_string_equal(ferry_result_outcome(result, i)->warning,
                                    "the translation replaces one that repeated itself");
            else
                assert_null(ferry_result_outcome(result, i)->warning);
        }
        for (size_t i = 0; beam == 4 && i < LINES; i++)
            assert_int_equal(ferry_result_outcome(usual, i)->quality, loops(i) ? FERRY_QUALITY_LOOP : 0);
        assert_string_equal(ferry_result_outcome(usual, 0)->warning,
                            beam == 4 ? "the translation repeats itself: the same token 4 times in a row"
                                      : "the translation repeats itself: the same token 8 times in a row");
        ferry_result_destroy(result);
        ferry_result_destroy(expected);
        ferry_result_destroy(usual);
    }
}

/* Of a line in parts it is said which. */
SHIPPED_TEST(test_parts_that_loop)
{
    for (ferry_on_loop on_loop = FERRY_ON_LOOP_WARN; on_loop <= FERRY_ON_LOOP_RETRY; on_loop++)
        for (int part = 1; part <= 3; part++) {
            const char *sentences[] = {"How are you?", "How are you?", "How are you?"};
            ferry_options options = default_options(model);
            sentences[part - 1] = lines[0].data;
            const ferry_short_text line = ferry_format("%s %s %s", sentences[0], sentences[1], sentences[2]);
            const ferry_text text = as_text(line.text);
            options.on_loop = on_loop;
            options.split = FERRY_SPLIT_ALL;
            ferry_result *result = translated(model, &options, &text, 1);
            assert_int_equal(ferry_result_outcome(result, 0)->quality,
                             on_loop == FERRY_ON_LOOP_WARN ? FERRY_QUALITY_LOOP : 0);
            assert_string_equal(ferry_result_outcome(result, 0)->warning,
                                ferry_format("the translation of part %d %s (of all parts: 1)", part,
                                             on_loop == FERRY_ON_LOOP_WARN
                                                 ? "repeats itself: the same token 4 times in a row"
                                                 : "replaces one that repeated itself")
                                    .text);
            ferry_result_destroy(result);
        }
}

/* Rules that are as strict or stricter forbid loops; with those of three tokens there are some, which are made again.
 */
SHIPPED_TEST(test_strict_rules)
{
    const ferry_text line = lines[5];
    ferry_options options = default_options(model), strict = default_options(model);
    options.no_repeat_ngram = 3;
    ferry_result *loop = translated(model, &options, &line, 1);
    options.on_loop = FERRY_ON_LOOP_RETRY;
    strict.no_repeat_ngram = 2;
    ferry_result *again = translated(model, &options, &line, 1), *expected = translated(model, &strict, &line, 1);
    assert_int_equal(ferry_result_outcome(loop, 0)->quality, FERRY_QUALITY_LOOP);
    assert_string_equal(ferry_result_outcome(again, 0)->warning, "the translation replaces one that repeated itself");
    assert_same_line(again, 0, expected, 0);
    ferry_result_destroy(loop);
    ferry_result_destroy(again);
    ferry_result_destroy(expected);
}

/* A second translation that is cut is no better than a loop, unless that was cut, too. */
SEPARATE_TEST(test_second_translations_that_are_cut)
{
    static const char *const looping[] = {"became", "time garden", "car Yes good car"};
    int kept = 0, replaced = 0;
    for (size_t i = 0; i < COUNT(looping); i++)
        for (int32_t most = 4; most <= 20; most++) {
            const ferry_text line = as_text(looping[i]);
            ferry_options options = default_options(model), strict = default_options(model);
            options.max_length = strict.max_length = most;
            strict.no_repeat_ngram = 2;
            ferry_result *first = translated(model, &options, &line, 1), *second = translated(model, &strict, &line, 1);
            const int flags = ferry_result_outcome(first, 0)->quality,
                      others = ferry_result_outcome(second, 0)->quality;
            options.on_loop = FERRY_ON_LOOP_RETRY;
            ferry_result *result = translated(model, &options, &line, 1);
            const bool worse = flags == FERRY_QUALITY_LOOP && others == FERRY_QUALITY_CUT;
            if ((flags & FERRY_QUALITY_LOOP) != 0) {
                assert_same_line(result, 0, worse ? first : second, 0);
                assert_int_equal(ferry_result_outcome(result, 0)->quality, worse ? flags : others);
                kept += worse;
                replaced += flags == (FERRY_QUALITY_LOOP | FERRY_QUALITY_CUT) && others == FERRY_QUALITY_CUT;
            }
            ferry_result_destroy(first);
            ferry_result_destroy(second);
            ferry_result_destroy(result);
        }
    assert_true(kept > 0 && replaced > 0);
}

/* Forced by a prefix, it loops again. */
SHIPPED_TEST(test_the_first_translation_stays)
{
    const ferry_text line = as_text("How are you?"), prefix = as_text("Wie wie wie wie wie");
    ferry_result *results[2];
    for (int i = 0; i < 2; i++) {
        ferry_options options = default_options(model);
        options.on_loop = i == 0 ? FERRY_ON_LOOP_WARN : FERRY_ON_LOOP_RETRY;
        ferry_translator *translator = new_translator(model, &options);
        CHECK(translate_prefixed(translator, &line, &prefix, 1, &results[i], &error));
        ferry_translator_destroy(translator);
        assert_true((ferry_result_outcome(results[i], 0)->quality & FERRY_QUALITY_LOOP) != 0);
        assert_string_equal(ferry_result_outcome(results[i], 0)->warning, ferry_result_outcome(results[0], 0)->warning);
    }
    assert_same_line(results[0], 0, results[1], 0);
    for (int i = 0; i < 2; i++) ferry_result_destroy(results[i]);
}

/* options.partial sees it grow again; the last call has the text that is kept. */
static char last[512];
static int calls;

static int note(void *user, size_t line, ferry_text text)
{
    (void)user, (void)line;
    assert_true(text.size < sizeof last);
    memcpy(last, text.data, text.size);
    last[text.size] = '\0';
    calls++;
    return 0;
}

SHIPPED_TEST(test_partial_texts_of_a_loop)
{
    /* The second one is kept, and then, as its prefix loops, the first one. */
    const ferry_text texts[] = {lines[0], lines[0]}, prefixes[] = {as_text(""), as_text("Achchchch")};
    ferry_options options = default_options(model);
    options.beam = 1;
    options.on_loop = FERRY_ON_LOOP_RETRY;
    options.partial = note;
    ferry_translator *translator = new_translator(model, &options);
    for (int i = 0; i < 2; i++) {
        ferry_result *result;
        calls = 0;
        CHECK(translate_prefixed(translator, &texts[i], &prefixes[i], 1, &result, &error));
        assert_int_equal(ferry_result_outcome(result, 0)->quality, i == 0 ? 0 : FERRY_QUALITY_LOOP);
        assert_non_null(ferry_result_outcome(result, 0)->warning);
        assert_text_is(ferry_result_text(result, 0, 0), last);
        assert_true((size_t)calls > ferry_result_token_count(result, 0, 0));
        ferry_result_destroy(result);
    }
    ferry_translator_destroy(translator);
}
