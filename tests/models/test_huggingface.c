/* MarianMT directories, and the model that ships, against what transformers computed from them. */
#include "tests/support/files.h"
#include "tests/support/huggingface_golden.h"

/* The model that ships holds 16-bit weights, whose rounding moves a score (a sum over the tokens where the length
 * penalty is 0) by up to 9e-3 on these lines. */
static const double f16_score_tolerance = 2e-2;

/* Where 16-bit weights decide otherwise than the recorded 32-bit ones: a line whose words the model does not know, and
 * the second hundred of tokens of hypotheses that a length penalty of 2 keeps from ending. */
static const golden_exception f16_exceptions[] = {
    {"beam4", 57},           {"beam4_early", 57},     {"beam5_lp2_never", 5},  {"beam5_lp2_never", 11},
    {"beam5_lp2_never", 26}, {"beam5_lp2_never", 43}, {"beam5_lp2_never", 55},
};

TEST(test_two_vocabularies_gelu_untied)
{
    golden_check_family(data_file("models/marian-separate"), NULL, NULL);
}

TEST(test_real_english_german_model)
{
    golden_check_family(shared_file("models/tatoeba-en-de/huggingface"), NULL, NULL);
}

TEST(test_model_that_ships)
{
    huggingface_golden golden = {.model = open_shipped(),
                                 .score_tolerance = f16_score_tolerance,
                                 .exceptions = f16_exceptions,
                                 .exception_count = COUNT(f16_exceptions)};
    golden_load_lines(&golden, data_file("models/tatoeba-en-de"));
    golden_check_tokens(&golden);
    golden_check_runs(&golden);
    golden_unload(&golden);
}
