/* Numbers of a translation that are not those of its source: the rule, and what a result says. */
#include "engine/lines/model.h"
#include "engine/lines/numbers.h"
#include "tests/support/files.h"
#include "tests/support/shipped_model.h"
#include "tests/support/tokenizer_support.h"

static ferry_number_sign sign_of(const char *source, const char *translation)
{
    ferry_number_sign sign;
    CHECK(ferry_numbers_compare(text_view(source), text_view(translation), &sign, &error));
    return sign;
}

static const char *name_of(ferry_number_sign sign)
{
    const bool lost = sign.source.size > 0, made = sign.translation.size > 0;
    return lost && made ? "changed" : lost ? "lost" : made ? "new" : "none";
}

/* ---- the rule ---- */

/* "SOURCE<tab>TRANSLATION<tab>SIGN", by another implementation: human translations, also with a digit changed, numbers
 * of many forms and scripts, random texts. */
TEST(test_recorded_signs)
{
    char *lines = read_lines("numbers/pairs.tsv");
    size_t count = 0, wrong = 0;
    for (char *line; (line = take_until(&lines, '\n')) != NULL && lines != NULL; count++) {
        const char *source = take_until(&line, '\t'), *translation = take_until(&line, '\t');
        assert_non_null(line);
        const char *found = name_of(sign_of(source, translation));
        if (strcmp(found, line) == 0) continue;
        print_message("%s | %s: %s, expected %s\n", source, translation, found, line);
        wrong++;
    }
    assert_true(count > 600);
    assert_int_equal(wrong, 0);
}

static void check_numbers(const char *source, const char *translation, const char *lost, const char *made)
{
    const ferry_number_sign sign = sign_of(source, translation);
    if (!ferry_view_is(sign.source, lost) || !ferry_view_is(sign.translation, made))
        fail_msg("%s | %s: '%.*s' and '%.*s'", source, translation, (int)sign.source.size, sign.source.data,
                 (int)sign.translation.size, sign.translation.data);
}

/* The first number with the largest run, as it is written. */
TEST(test_numbers_that_are_named)
{
    check_numbers("5 of 20,000 in 2019", "3 von 2000 im Jahr 2019", "20,000", "2000");
    check_numbers("15 at 7:45", "15 um 745", "7:45", "745");
    check_numbers("3 in 1/2/2019", "5 am 1.2.2010", "1/2/2019", "1.2.2010");
    check_numbers("3, 1569, 1570", "3", "1569", "");
    check_numbers("3", "3: 2010–2012", "", "2010–2012");
    check_numbers("13 of ٢٠١٩", "13 von 2010", "٢٠١٩", "2010");
    check_numbers("3 4", "12 5", "", "");
    check_numbers("3 4", "13", "3", "13");
}

static ferry_number_sign sign_of_many(const char *source, const char *translation, size_t times)
{
    const ferry_view texts[] = {repeated_text("", source, times, ""), repeated_text("", translation, times, "")};
    ferry_number_sign sign;
    CHECK(ferry_numbers_compare(texts[0], texts[1], &sign, &error));
    return sign;
}

/* Texts of a megabyte, which take milliseconds. Of more than 1,000 numbers, nothing is said. */
TEST(test_large_texts)
{
    static const struct {
        const char *source, *translation;
        size_t times;
        const char *sign;
    } rows[] = {
        {"9", "8", 1000000, "changed"},
        {"x1234", "x4321", 1000, "changed"},
        {"x1234", "x4321", 1001, "none"},
        {"x1234", "x4321", 200000, "none"},
        {"x", "x4321", 1001, "none"},
        {"1.", "2,", 500000, "none"},
        {"1 000 ", "1'000'", 150000, "none"},
        {"1....", "2    ", 200000, "none"},
        {"\xD9\xA3", "\xD9\xA4", 500000, "changed"},
        {"x # ", "# x ", 1000, "none"}, /* # becomes 0, 1, 2, … */
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *found = name_of(sign_of_many(rows[i].source, rows[i].translation, rows[i].times));
        if (strcmp(found, rows[i].sign) != 0) fail_msg("row %zu: %s", i, found);
    }
}

/* ---- what a result says ---- */

static void check_line(const ferry_result *result, int quality, const char *warning)
{
    const ferry_outcome *outcome = ferry_result_outcome(result, 0);
    assert_int_equal(outcome->quality, quality);
    if (warning == NULL)
        assert_null(outcome->warning);
    else
        assert_string_equal(outcome->warning, warning);
}

SHIPPED_TEST(test_results_say_it)
{
    static const struct {
        const char *line, *prefix;
        int quality;
        const char *warning;
    } rows[] = {
        {"The room has 20 m\xC2\xB2.", "", FERRY_QUALITY_NUMBER, "the translation has 202 where the source has 20"},
        {"20,000 copies were sold in 1969.", "", 0, NULL},
        {"How are you?", "", 0, NULL},
        {"How are you?", "2010", FERRY_QUALITY_NUMBER, "the translation has the number 2010, which the source lacks"},
        {"2010", "2010", 0, NULL},
    };
    const ferry_options options = default_options(model);
    ferry_translator *translator = new_translator(model, &options);
    for (size_t i = 0; i < COUNT(rows); i++) {
        const ferry_text line = as_text(rows[i].line), prefix = as_text(rows[i].prefix);
        ferry_result *result;
        CHECK(translate_prefixed(translator, &line, &prefix, 1, &result, &error));
        check_line(result, rows[i].quality, rows[i].warning);
        ferry_result_destroy(result);
    }
    ferry_translator_destroy(translator);
}

/* One with no number left; the number is printable. */
SHIPPED_TEST(test_lost_numbers)
{
    const ferry_text line = as_text("1569?");
    ferry_options options = default_options(model);
    own_search(&options, model)->forced_first_id = 0; /* the end of sentence */
    ferry_result *result = translated(model, &options, &line, 1);
    check_line(result, FERRY_QUALITY_SHORT | FERRY_QUALITY_NUMBER,
               "the translation is blank; the translation lacks the number 1569");
    ferry_result_destroy(result);
}

/* Parts have their own numbers; a text has the flags of its sentences. */
SHIPPED_TEST(test_parts_and_texts)
{
    const ferry_text line = as_text("How are you? The room has 20 m\xC2\xB2. I know it.");
    ferry_options options = default_options(model);
    options.split = FERRY_SPLIT_ALL;
    ferry_translator *translator = new_translator(model, &options);
    ferry_result *result;
    CHECK(ferry_translate(translator, &line, 1, &result, &error));
    check_line(result, FERRY_QUALITY_NUMBER,
               "the translation of part 2 has 202 where the source has 20 (of all parts: 1)");
    ferry_result_destroy(result);
    CHECK(ferry_translate_text(translator, line, &result, &error));
    check_line(result, FERRY_QUALITY_NUMBER, "sentences with warnings: 1");
    assert_int_equal(ferry_result_outcome(ferry_result_sentences(result), 1)->quality, FERRY_QUALITY_NUMBER);
    ferry_result_destroy(result);
    ferry_translator_destroy(translator);
}

/* ---- options.on_number ---- */

/* Lines with the sign are made again, with their numbers; the others stay. Alone, in any batch, with any threads. */
SHIPPED_TEST(test_numbers_are_mended)
{
    static const char *const lines[] = {"I was born in 1547.",
                                        "He paid 77748 dollars for it.",
                                        "The train leaves at 2:39.",
                                        "I have two dogs.",
                                        "It costs 9.09 euros.",
                                        "Chapter 145 begins on page 9283.",
                                        /* its second translation must not loop */ ""};
    enum { LINES = sizeof lines / sizeof *lines };
    static const char *const numbers[LINES] = {"1547", "77748", "2:39", "", "9.09", "9283", ""};
    ferry_text texts[LINES];
    ferry_result *results[3];
    for (size_t i = 0; i < LINES; i++) texts[i] = as_text(lines[i]);
    for (int variant = 0; variant < 3; variant++) {
        ferry_options options = default_options(model);
        options.on_number = variant == 0 ? FERRY_ON_NUMBER_WARN : FERRY_ON_NUMBER_RETRY;
        options.threads = variant == 2 ? 3 : 1;
        options.batch = variant == 2 ? 2 : 64;
        ferry_translator *translator = new_translator(model, &options);
        CHECK(ferry_translate(translator, texts, LINES, &results[variant], &error));
        ferry_translator_destroy(translator);
    }
    size_t mended = 0;
    for (size_t i = 0; i < LINES; i++) {
        const ferry_outcome *before = ferry_result_outcome(results[0], i), *after = ferry_result_outcome(results[1], i);
        assert_same_line(results[1], i, results[2], i);
        assert_int_equal(after->quality & FERRY_QUALITY_NUMBER, 0);
        assert_non_null(strstr(ferry_result_text(results[1], i, 0).data, numbers[i]));
        if ((before->quality & FERRY_QUALITY_NUMBER) == 0) {
            assert_same_line(results[0], i, results[1], i);
            continue;
        }
        assert_non_null(strstr(after->warning, "the translation replaces one that had other numbers"));
        mended++;
    }
    assert_in_range(mended, 2, LINES - 2);
    for (int variant = 0; variant < 3; variant++) ferry_result_destroy(results[variant]);
}

/* A request has them mended, too, whatever the option is. */
SHIPPED_TEST(test_numbers_of_requests)
{
    const ferry_text line = as_text("He paid 77748 dollars for it.");
    ferry_request request = {.size = sizeof request, .on_number = FERRY_ON_NUMBER_RETRY};
    ferry_translator *translator = new_translator(model, NULL);
    ferry_result *result;
    CHECK(ferry_translate_with(translator, &line, 1, &request, &result, &error));
    assert_non_null(strstr(ferry_result_text(result, 0, 0).data, "77748"));
    ferry_result_destroy(result);
    CHECK(ferry_translate_text_with(translator, line, &request, &result, &error));
    assert_non_null(strstr(ferry_result_text(result, 0, 0).data, "77748"));
    ferry_result_destroy(result);
    request.on_number = FERRY_ON_NUMBER_WARN;
    CHECK(ferry_translate_with(translator, &line, 1, &request, &result, &error));
    assert_null(strstr(ferry_result_text(result, 0, 0).data, "77748"));
    ferry_result_destroy(result);
    ferry_translator_destroy(translator);
}

/* The translation of a line with one term, itself, which it has at `expected`, and no other digits. */
static void check_digits(ferry_translator *translator, const char *text, const char *number, const char *expected)
{
    const ferry_text line = as_text(text), target = as_text(number);
    const size_t begin = (size_t)(strstr(text, number) - text);
    const ferry_term term = {.begin = begin, .end = begin + target.size, .targets = &target, .target_count = 1};
    const ferry_request request = {.size = sizeof request,
                                   .terms = &term,
                                   .term_size = sizeof term,
                                   .term_count = 1,
                                   .on_number = FERRY_ON_NUMBER_RETRY};
    ferry_result *result;
    CHECK(ferry_translate_with(translator, &line, 1, &request, &result, &error));
    const char *made = ferry_result_text(result, 0, 0).data, *digits = strpbrk(made, "0123456789");
    if (digits == NULL || !ferry_text_begins(digits, expected) ||
        strpbrk(digits + strlen(expected), "0123456789") != NULL)
        fail_msg("%s", made);
    assert_int_equal(ferry_result_outcome(result, 0)->quality, 0);
    ferry_result_destroy(result);
}

/* Beside a term with digits that was missing, the model writes none of its own; it does not stand behind the end. */
SHIPPED_TEST(test_terms_with_digits)
{
    ferry_translator *translator = new_translator(model, NULL);
    check_digits(translator, "Tom said he thought that Mary needed at least $785 to buy what she needed.", "785",
                 "785 ");
    check_digits(translator, "Version 1.2.3 is here.", "1.2.3", "1.2.3.");
    ferry_translator_destroy(translator);
}
