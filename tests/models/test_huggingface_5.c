/* Directories that transformers 5 saved, against what it computed from them: ids of the texts, and of every search ids,
 * scores and texts; with the blanks at their ends where tokenizer.json is the only tokenizer. */
#include "tests/support/huggingface_golden.h"

static void check(const char *directory, const char *from, const char *to, bool exact_texts)
{
    huggingface_golden golden = {.model = convert_and_open(directory, NULL),
                                 .from = from,
                                 .to = to,
                                 .score_tolerance = 2e-4,
                                 .exact_texts = exact_texts};
    golden_load_lines(&golden, directory);
    golden_check_tokens(&golden);
    golden_check_runs(&golden);
    golden_unload(&golden);
}

static const struct {
    const char *name, *from, *to;
} models[] = {
    {"t5", "en", "de"}, {"t5gated", NULL, NULL}, {"mbart50", "en_XX", "de_DE"}, {"nllb", "eng_Latn", "deu_Latn"}};

TEST(test_half_precision)
{
    for (size_t i = 0; i < COUNT(models); i++)
        check(data_file("models/huggingface-5/%s", models[i].name), models[i].from, models[i].to, true);
}

TEST(test_as_saved)
{
    for (size_t i = 0; i < COUNT(models); i++)
        check(shared_file("models/huggingface-5/%s", models[i].name), models[i].from, models[i].to, true);
}

/* By make_saved_5.py; M2M-100 and MarianMT still have SentencePiece models. */
TEST(test_with_sentencepiece)
{
    check(data_file("models/huggingface-5/m2m100"), "en", "de", false);
    check(data_file("models/huggingface-5/marian"), NULL, NULL, false);
}
