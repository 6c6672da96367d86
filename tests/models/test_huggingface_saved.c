/* Directories as transformers 5 saves M2M-100 and MarianMT (tests/data/models/make_5.py), and what it computed from
 * them. */
#include "tests/support/files.h"
#include "tests/support/huggingface_golden.h"

static void check_saved(const char *name, const char *from, const char *to)
{
    char *directory = data_file("%s", name);
    huggingface_golden golden = {
        .model = convert_and_open(directory, NULL), .from = from, .to = to, .score_tolerance = 1e-4};
    golden_load_lines(&golden, directory);
    golden_check_tokens(&golden);
    golden_check_runs(&golden);
    golden_unload(&golden);
}

TEST(test_m2m100)
{
    check_saved("models/m2m100-5", "en", "de");
}

TEST(test_marian)
{
    check_saved("models/marian-5", NULL, NULL);
}
