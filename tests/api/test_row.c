/* Models in a row: every line is what two calls make of it, one after the other. */
#include "tests/support/row.h"

static ferry_text lines[LINES];

static ferry_options stage_options(void)
{
    for (int i = 0; i < LINES; i++) lines[i] = as_text(samples[i]);
    return row_options();
}

static int quality_of(const ferry_result *result, size_t line)
{
    return ferry_result_outcome(result, line)->quality;
}

static void check_lines(const ferry_result *found, const ferry_result *first, const ferry_result *second)
{
    for (size_t i = 0; i < LINES; i++) {
        const char *warning = ferry_result_outcome(first, i)->warning, *all = ferry_result_outcome(found, i)->warning;
        assert_same_line(found, i, second, i);
        assert_int_equal(quality_of(found, i), quality_of(first, i) | quality_of(second, i));
        if (warning != NULL) assert_ptr_equal(strstr(all, warning), all);
    }
}

SHIPPED_TEST(test_lines_through_two_models)
{
    ferry_result *found;
    ferry_text between[LINES];
    ferry_options first = stage_options(), second = stage_options();
    second.beam = 2;
    first.on_loop = FERRY_ON_LOOP_WARN;
    ferry_result *once = translated(model, &first, lines, LINES);
    for (size_t i = 0; i < LINES; i++) between[i] = ferry_result_text(once, i, 0);
    ferry_result *twice = translated(model, &second, between, LINES);
    ferry_translator *row = new_row(&first, &second);
    for (int i = 0; i < 2; i++) {
        CHECK(ferry_translate(row, lines, LINES, &found, &error));
        check_lines(found, once, twice);
        ferry_result_destroy(found);
    }
    assert_int_equal(quality_of(once, 1) & FERRY_QUALITY_LOOP, FERRY_QUALITY_LOOP);
    ferry_translator_destroy(row);
    ferry_result_destroy(once);
    ferry_result_destroy(twice);
}

/* What one of them cannot translate, in either place; a text keeps it in the language of the source. */
SHIPPED_TEST(test_failures_in_either_model)
{
    ferry_result *found;
    size_t peak;
    ferry_options usual = stage_options(), small = stage_options();
    const ferry_text text = as_text("How are you?\nNo.");
    small.memory_limit = 10000;
    for (int i = 0; i < 2; i++) {
        ferry_translator *row = new_row(i == 0 ? &small : &usual, i == 0 ? &usual : &small);
        CHECK(ferry_translate(row, lines, LINES, &found, &error));
        for (size_t l = 0; l < LINES; l++)
            assert_int_equal(ferry_result_outcome(found, l)->status,
                             l == 2 || l == 3 || l == 7 ? FERRY_OK : FERRY_ERROR_LIMIT);
        ferry_result_destroy(found);
        CHECK(ferry_translate_text(row, text, &found, &error));
        assert_same_text(ferry_result_text(found, 0, 0), text);
        assert_int_equal(ferry_result_outcome(found, 0)->status, FERRY_ERROR_LIMIT);
        ferry_result_destroy(found);
        assert_true(ferry_translator_memory(row, &peak) <= peak);
        ferry_translator_destroy(row);
    }
}

/* ---- progress, cancelling ---- */

typedef struct watch {
    size_t last, cancel_at;
} watch;

static int on_progress(void *user, size_t done, size_t total)
{
    watch *w = user;
    assert_int_equal(total, LINES);
    assert_in_range(done, w->last, total);
    w->last = done;
    return w->cancel_at > 0 && done >= w->cancel_at;
}

SHIPPED_TEST(test_progress_and_cancelling_in_a_row)
{
    ferry_result *found;
    watch w = {0};
    ferry_options options = stage_options();
    options.threads = 1;
    options.progress = on_progress;
    options.user = &w;
    ferry_translator *row = new_row(&options, &options);
    CHECK(ferry_translate(row, lines, LINES, &found, &error));
    ferry_result_destroy(found);
    assert_int_equal(w.last, LINES);
    for (w.cancel_at = 2; w.cancel_at < LINES; w.cancel_at++) {
        w.last = 0;
        REFUSE(ferry_translate(row, lines, LINES, &found, &error), FERRY_ERROR_CANCELLED, "cancelled");
        for (size_t l = 0; w.last < LINES / 2 && l < LINES; l++)
            assert_int_equal(ferry_result_outcome(found, l)->status, FERRY_ERROR_CANCELLED);
        ferry_result_destroy(found);
    }
    w = (watch){0};
    const uint32_t job = ferry_translator_job(row);
    ferry_translator_cancel(row, job);
    REFUSE(ferry_translate(row, lines, LINES, &found, &error), FERRY_ERROR_CANCELLED, "cancelled");
    ferry_result_destroy(found);
    /* Its models have the number of the row. */
    REFUSE(ferry_translate(ferry_translator_stage(row, 1), lines, LINES, &found, &error), FERRY_ERROR_CANCELLED,
           "cancelled");
    ferry_result_destroy(found);
    assert_int_equal(ferry_translator_job(ferry_translator_stage(row, 1)), job + 1);
    ferry_translator_cancel(row, job);
    CHECK(ferry_translate(row, lines, LINES, &found, &error));
    ferry_result_destroy(found);
    ferry_translator_destroy(row);
}

/* ---- rows ---- */

SHIPPED_TEST(test_three_models_and_refusals)
{
    ferry_result *found, *expected;
    ferry_translator *three, *none;
    ferry_options options = stage_options(), other = stage_options();
    ferry_translator *row = new_row(&options, &options), *third = new_translator(model, &options);
    CHECK(ferry_translate(row, lines, 1, &expected, &error));
    ferry_text between = ferry_result_text(expected, 0, 0);
    CHECK(ferry_translator_then(row, third, &three, &error));
    assert_ptr_equal(ferry_translator_stage(three, 2), third);
    assert_null(ferry_translator_stage(three, 3));
    assert_ptr_equal(ferry_translator_stage(third, 0), third);
    CHECK(ferry_translate(three, lines, 1, &found, &error));
    ferry_result *thrice = translated(model, &options, &between, 1);
    assert_same_line(found, 0, thrice, 0);
    ferry_result_destroy(found);
    REFUSE(translate_prefixed(three, lines, lines, 1, &found, &error), FERRY_ERROR_ARGUMENT,
           "translator: expected one of one model, found one of 3 in a row");
    REFUSE(ferry_score(three, lines, lines, 1, &found, &error), FERRY_ERROR_ARGUMENT, "in a row");
    assert_int_equal(ferry_translator_align(three, 1), FERRY_ERROR_ARGUMENT);
    ferry_translator *same = new_translator(model, &options);
    REFUSE(ferry_translator_then(same, same, &none, &error), FERRY_ERROR_ARGUMENT, "second");
    other.beam = other.nbest = 2;
    ferry_translator *several = new_translator(model, &other);
    REFUSE(ferry_translator_then(same, several, &none, &error), FERRY_ERROR_ARGUMENT, "option nbest");
    ferry_translator *german = new_translator(model, NULL), *again = new_translator(model, NULL);
    REFUSE(ferry_translator_then(german, again, &none, &error), FERRY_ERROR_ARGUMENT,
           "second: expected one from de, into which the first translates, found one from en");
    ferry_translator_destroy(german);
    ferry_translator_destroy(again);
    ferry_translator_destroy(several);
    ferry_translator_destroy(same);
    ferry_translator_destroy(three);
    ferry_result_destroy(expected);
    ferry_result_destroy(thrice);
}
