/* What hosts do to a library: their floating-point environment, calls that a translator is too busy for, cancels before
 * a call, models that are closed first, texts that are printed. */
#include <fenv.h>

#include "engine/kernels/kernels.h"
#include "tests/support/files.h"
#include "tests/support/shipped_model.h"

static const ferry_text lines[] = {{"Good morning!", 13},
                                   {"How are you?", 12},
                                   {"", 0},
                                   {"Tom is reading a book in the garden.", 36},
                                   {"I don't know what to do. He does. \xE2\x99\xAA", 36}};
enum { LINES = COUNT(lines) };

typedef enum kind { TRANSLATE, PREFIXED, SCORE, TEXT, IDS, KINDS } kind;

static ferry_status call(kind what, ferry_translator *translator, ferry_result **result, ferry_error *error)
{
    static const ferry_text text = {"Good <b>morning!</b> How are you?", 33};
    static const int32_t ids[] = {17, 19, 0}, offsets[] = {0, 3};
    switch (what) {
    case PREFIXED: return translate_prefixed(translator, lines, lines, LINES, result, error);
    case SCORE: return ferry_score(translator, lines, lines, LINES, result, error);
    case TEXT: return ferry_translate_text(translator, text, result, error);
    case IDS: return ferry_inspect_generate(translator, ids, offsets, 1, result, error);
    default: return ferry_translate(translator, lines, LINES, result, error);
    }
}

static ferry_options busy_options(int32_t threads)
{
    ferry_options options = default_options(model);
    options.threads = threads;
    options.beam = options.nbest = 3;
    options.scores = 1;
    options.alignment = 1;
    options.split = FERRY_SPLIT_ALL;
    return options;
}

/* ---- the floating-point environment ---- */

/* Of the model in the environment of a host, as each call has it. */
static ferry_result *results_of(const char *isa, int rounding, int32_t threads, kind what)
{
    ferry_result *result;
    assert_int_equal(fesetround(rounding), 0);
    model = convert_data("models/marian-separate", isa);
    const ferry_options options = busy_options(threads);
    ferry_translator *translator = new_translator(model, &options);
    CHECK(call(what, translator, &result, &error));
    ferry_translator_destroy(translator);
    close_model(NULL);
    assert_int_equal(fegetround(), rounding);
    assert_int_equal(fesetround(FE_TONEAREST), 0);
    return result;
}

TEST(test_rounding_of_the_host)
{
    for (const ferry_kernels *const *kernels = ferry_kernels_available(); *kernels != NULL; kernels++)
        for (int what = 0; what < KINDS; what++) {
            ferry_result *expected = results_of((*kernels)->isa, FE_TONEAREST, 1, (kind)what);
            for (int32_t threads = 1; threads <= 3; threads += 2) {
                ferry_result *found =
                    results_of((*kernels)->isa, threads == 1 ? FE_UPWARD : FE_TOWARDZERO, threads, (kind)what);
                for (size_t i = 0; i < ferry_result_count(expected); i++) assert_same_line(found, i, expected, i);
                ferry_result_destroy(found);
            }
            ferry_result_destroy(expected);
        }
}

/* What a positional encoding derives from its parameters as a model is opened, too. */
TEST(test_rounding_while_opening)
{
    static const char *const names[] = {"alibi", "deberta", "fire", "kerple", "rope", "sinusoidal", "transformer_xl"};
    for (size_t i = 0; i < COUNT(names); i++) {
        const ferry_short_text path = ferry_format("%s/models/encodings/%s.gguf", FERRY_SOURCE_DIR, names[i]);
        ferry_result *results[2];
        for (int round = 0; round < 2; round++) {
            fesetround(round == 0 ? FE_TONEAREST : FE_UPWARD);
            CHECK(ferry_model_open(path.text, 0, &model, &error));
            fesetround(FE_TONEAREST);
            results[round] = translated(model, NULL, lines, LINES);
            close_model(NULL);
        }
        for (size_t k = 0; k < LINES; k++) assert_same_line(results[0], k, results[1], k);
        for (int round = 0; round < 2; round++) ferry_result_destroy(results[round]);
    }
}

/* ---- callbacks, a translator that is busy, texts that are printed ---- */

static ferry_translator *translator;
static int partial_calls;

/* Callbacks run in the default environment, and cannot call the translator. */
static int call_within(void *user, size_t done, size_t total)
{
    (void)user, (void)done, (void)total;
    assert_int_equal(fegetround(), FE_TONEAREST);
    for (int what = 0; what < KINDS; what++) {
        ferry_result *result;
        REFUSE_SAYING(call((kind)what, translator, &result, &error), FERRY_ERROR_ARGUMENT,
                      "translator: expected none with a call in progress");
        assert_null(result);
    }
    assert_int_equal(ferry_translator_align(translator, 1), FERRY_ERROR_ARGUMENT);
    return 0;
}

static int check_partial(void *user, size_t line, ferry_text text)
{
    (void)user, (void)line;
    partial_calls++;
    assert_int_equal(text.data[text.size], '\0');
    return 0;
}

/* Two calls are as that of a translator whose callbacks do nothing; texts end with NUL; no exception is noted. */
static void check_calls(kind what, const ferry_options *options)
{
    ferry_result *found, *expected;
    ferry_options watched = *options;
    ferry_translator *alone = new_translator(model, options);
    CHECK(call(what, alone, &expected, &error));
    watched.progress = call_within;
    watched.partial = check_partial;
    translator = new_translator(model, &watched);
    for (int i = 0; i < 2; i++) {
        fesetround(FE_DOWNWARD);
        feclearexcept(FE_ALL_EXCEPT);
        const ferry_status status = call(what, translator, &found, NULL);
        assert_int_equal(fetestexcept(FE_ALL_EXCEPT), 0);
        assert_int_equal(fegetround(), FE_DOWNWARD);
        fesetround(FE_TONEAREST);
        assert_int_equal(status, FERRY_OK);
        for (size_t k = 0; k < ferry_result_count(expected); k++) {
            assert_same_line(found, k, expected, k);
            for (size_t h = 0; h < ferry_result_hypothesis_count(found, k); h++) {
                const ferry_text text = ferry_result_text(found, k, h);
                assert_int_equal(text.data[text.size], '\0');
            }
        }
        ferry_result_destroy(found);
    }
    ferry_result_destroy(expected);
    ferry_translator_destroy(translator);
    ferry_translator_destroy(alone);
}

SHIPPED_TEST(test_calls_with_callbacks)
{
    for (int what = 0; what < KINDS; what++)
        for (int32_t beam = 1; beam <= 3; beam += 2) {
            ferry_options options = busy_options(1);
            options.beam = options.nbest = beam;
            check_calls((kind)what, &options);
        }
    assert_true(partial_calls > 0);
}

/* ---- cancels ---- */

/* All calls of a job are cancelled, and none of the next. A refused call is not one. */
SHIPPED_TEST(test_cancels_before_a_call)
{
    translator = new_translator(model, NULL);
    for (int what = 0; what < KINDS; what++) {
        ferry_result *result;
        const uint32_t job = ferry_translator_job(translator);
        ferry_translator_cancel(translator, job);
        REFUSE(ferry_translate(translator, NULL, 1, &result, &error), FERRY_ERROR_ARGUMENT, "lines");
        REFUSE(ferry_inspect_generate(translator, (const int32_t[]){-1}, (const int32_t[]){0, 1}, 1, &result, &error),
               FERRY_ERROR_ARGUMENT, "id -1");
        for (int calls = 0; calls < 2; calls++) {
            assert_int_equal(call((kind)what, translator, &result, NULL), FERRY_ERROR_CANCELLED);
            ferry_result_destroy(result);
        }
        assert_int_equal(ferry_translate(translator, NULL, 0, &result, NULL), FERRY_ERROR_CANCELLED);
        ferry_result_destroy(result);
        assert_int_equal(ferry_translator_job(translator), job + 1);
        ferry_translator_cancel(translator, job);
        CHECK(call((kind)what, translator, &result, &error));
        ferry_result_destroy(result);
    }
    ferry_translator_destroy(translator);
}

/* ---- a model that is closed first ---- */

TEST(test_models_live_with_their_translators)
{
    ferry_result *result;
    model = open_shipped();
    ferry_translator *first = new_translator(model, NULL), *second = new_translator(model, NULL);
    close_model(NULL);
    ferry_translator_destroy(first);
    CHECK(call(TRANSLATE, second, &result, &error));
    ferry_result_destroy(result);
    ferry_translator_destroy(second);
}
