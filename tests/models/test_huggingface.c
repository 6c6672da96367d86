/* MarianMT directories, and the model that ships, against what transformers computed from them. */
#include "tests/support/huggingface_golden.h"

static const double tolerance = 2e-4, score_tolerance = 1e-3;
/* The model that ships holds 16-bit weights, whose rounding moves a score (a sum over the tokens where the length
 * penalty is 0) by up to 9e-3 on these lines. */
static const double f16_score_tolerance = 2e-2;

/* Where 16-bit weights decide otherwise than the recorded 32-bit ones: a line whose words the model does not know, and
 * the second hundred of tokens of hypotheses that a length penalty of 2 keeps from ending. */
static const golden_exception f16_exceptions[] = {
    {"beam4", 57},           {"beam4_early", 57},     {"beam5_lp2_never", 5},  {"beam5_lp2_never", 11},
    {"beam5_lp2_never", 26}, {"beam5_lp2_never", 43}, {"beam5_lp2_never", 55},
};

static void test_two_vocabularies_gelu_untied(void **state)
{
    (void)state;
    char *directory = data_path("models/marian-separate");
    huggingface_golden golden = {.tolerance = tolerance, .score_tolerance = score_tolerance};
    golden_check_model(&golden, directory);
    free(directory);
}

static void test_real_english_german_model(void **state)
{
    (void)state;
    char *directory = shared_path("models/tatoeba-en-de/huggingface");
    huggingface_golden golden = {.tolerance = tolerance, .score_tolerance = score_tolerance};
    if (directory == NULL) not_run("test_real_english_german_model");
    golden_check_model(&golden, directory);
    free(directory);
}

static void test_model_that_ships(void **state)
{
    (void)state;
    ferry_error error;
    huggingface_golden golden = {.score_tolerance = f16_score_tolerance,
                                 .exceptions = f16_exceptions,
                                 .exception_count = sizeof f16_exceptions / sizeof f16_exceptions[0]};
    char *path = data_path("../../models/pretrained/tatoeba-en-de.gguf");
    char *directory = data_path("models/tatoeba-en-de");
    CHECK(ferry_model_open(path, &golden.model, &error));
    golden_load_lines(&golden, directory);
    golden_check_tokens(&golden);
    golden_check_runs(&golden);
    golden_unload(&golden);
    free(path);
    free(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_vocabularies_gelu_untied),
        cmocka_unit_test(test_real_english_german_model),
        cmocka_unit_test(test_model_that_ships),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
