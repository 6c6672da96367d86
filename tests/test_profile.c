/* Where the time goes: phases that are never negative, fit into the time that passed, and count what was done. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include "support.h"

#include <time.h>

static const char *const lines[] = {"How are you?", "", "Tom is reading a book in the garden.", "Hello, world!"};
enum { LINES = sizeof lines / sizeof lines[0], WITH_WORDS = LINES - 1 };

static ferry_model *model;

static int open_model(void **state)
{
    (void)state;
    char *directory = data_path("models/marian-separate");
    model = convert_and_open(directory, NULL);
    free(directory);
    return 0;
}

static int close_model(void **state)
{
    (void)state;
    ferry_model_close(model);
    return 0;
}

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static ferry_translator *create(int threads, int beam)
{
    ferry_error error;
    ferry_options options;
    ferry_translator *translator;
    ferry_options_default(model, &options);
    options.threads = threads;
    options.beam = beam;
    options.max_length = 40;
    CHECK(ferry_translator_create(model, &options, &translator, &error));
    return translator;
}

/* Seconds that passed. */
static double translate(ferry_translator *translator)
{
    ferry_error error;
    ferry_text texts[LINES];
    ferry_result *result;
    for (int i = 0; i < LINES; i++) texts[i] = (ferry_text){lines[i], strlen(lines[i])};
    const double start = seconds_now();
    CHECK(ferry_translate(translator, texts, LINES, &result, &error));
    const double passed = seconds_now() - start;
    ferry_result_destroy(result);
    return passed;
}

static ferry_inspect_phase find(const ferry_translator *translator, const char *name)
{
    ferry_inspect_phase phase;
    for (size_t i = 0; phase = ferry_inspect_profile_phase(translator, i), phase.name != NULL; i++)
        if (strcmp(phase.name, name) == 0) return phase;
    fail_msg("no phase '%s'", name);
    return phase;
}

static double sum_of_phases(const ferry_translator *translator)
{
    double sum = 0;
    ferry_inspect_phase phase;
    for (size_t i = 0; phase = ferry_inspect_profile_phase(translator, i), phase.name != NULL; i++) {
        assert_true(phase.seconds >= 0);
        assert_true(phase.calls > 0 || phase.seconds == 0);
        sum += phase.seconds;
    }
    return sum;
}

static void test_nothing_is_counted_unasked(void **state)
{
    (void)state;
    ferry_translator *translator = create(1, 1);
    translate(translator);
    assert_true(sum_of_phases(translator) == 0);
    assert_int_equal(find(translator, "tokenising").calls, 0);
    ferry_translator_destroy(translator);
}

static void test_phases_fit_into_the_time_that_passed(void **state)
{
    (void)state;
    static const char *const busy[] = {"tokenising",      "encoder",      "source_keys",  "self_attention",
                                       "cross_attention", "feed_forward", "decoder_rest", "output_layer",
                                       "search",          "detokenising", "other"};
    for (int beam = 1; beam <= 2; beam++) {
        ferry_translator *translator = create(1, beam);
        ferry_inspect_profile_start(translator);
        const double passed = translate(translator), sum = sum_of_phases(translator);
        assert_true(sum <= passed);
        for (size_t i = 0; i < sizeof busy / sizeof busy[0]; i++) {
            const ferry_inspect_phase phase = find(translator, busy[i]);
            if (phase.calls == 0 || phase.seconds == 0) fail_msg("'%s' took no time", busy[i]);
        }
        assert_int_equal(find(translator, "shortlist").calls, 0);
        ferry_translator_destroy(translator);
    }
}

static void test_calls_count_what_was_done(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 3; threads++) {
        ferry_translator *translator = create(threads, 1);
        for (int round = 0; round < 2; round++) {
            ferry_inspect_profile_start(translator);
            translate(translator);
            assert_int_equal(find(translator, "tokenising").calls, LINES);
            assert_int_equal(find(translator, "detokenising").calls, WITH_WORDS);
            assert_in_range(find(translator, "other").calls, 1, threads);
            const int64_t steps = find(translator, "decoder_rest").calls;
            const int64_t layers = find(translator, "self_attention").calls;
            assert_true(steps > 0 && layers >= steps && layers % steps == 0);
            assert_int_equal(find(translator, "cross_attention").calls, layers);
            assert_int_equal(find(translator, "feed_forward").calls, layers);
        }
        translate(translator); /* goes on where the last one ended */
        assert_int_equal(find(translator, "tokenising").calls, 2 * LINES);
        ferry_translator_destroy(translator);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_is_counted_unasked),
        cmocka_unit_test(test_phases_fit_into_the_time_that_passed),
        cmocka_unit_test(test_calls_count_what_was_done),
    };
    return cmocka_run_group_tests(tests, open_model, close_model);
}
