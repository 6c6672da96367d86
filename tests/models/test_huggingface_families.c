/* Small models of each family in Hugging Face's form against what transformers computed from them, and the same weights
 * in every container. */
#include "tests/support/families.h"
#include "tests/support/huggingface_golden.h"

TEST(test_m2m100)
{
    golden_check_family(small_family("m2m100"), "en", "de");
}

TEST(test_families)
{
    golden_check_family(small_family("nllb"), "eng_Latn", "de");
    golden_check_family(small_family("mbart50"), "eng", "de_DE");
    golden_check_family(small_family("t5"), "en", "de");
    golden_check_family(small_family("t5gated"), NULL, NULL);
}

/* ---- directories that transformers 5 saved ---- */

/* Their texts have blanks at their ends as tokenizer.json's decoder leaves them, where it is the only tokenizer. */
static const struct {
    const char *name, *from, *to;
} models[] = {
    {"t5", "en", "de"}, {"t5gated", NULL, NULL}, {"mbart50", "en_XX", "de_DE"}, {"nllb", "eng_Latn", "deu_Latn"}};

TEST(test_half_precision)
{
    for (size_t i = 0; i < COUNT(models); i++) {
        const char *directory = data_file("models/huggingface-5/%s", models[i].name);
        golden_check_saved(directory, directory, models[i].from, models[i].to, true);
    }
}

TEST(test_as_saved)
{
    if (!large_data()) return; /* test_half_precision */
    for (size_t i = 0; i < COUNT(models); i++) {
        const char *directory = shared_file("models/huggingface-5/%s", models[i].name);
        golden_check_saved(directory, directory, models[i].from, models[i].to, true);
    }
}

/* By make_saved_5.py; M2M-100 and MarianMT still have SentencePiece models. */
TEST(test_with_sentencepiece)
{
    const char *m2m = data_file("models/huggingface-5/m2m100"), *marian = data_file("models/huggingface-5/marian");
    golden_check_saved(m2m, m2m, "en", "de", false);
    golden_check_saved(marian, marian, NULL, NULL, false);
}

/* ---- containers ---- */

static bool is_of_the_source(ferry_view key)
{
    static const char *const starts[] = {"ferry.origin.", "ferry.hash", "general.name"};
    for (size_t i = 0; i < 3; i++)
        if (key.size >= strlen(starts[i]) && memcmp(key.data, starts[i], strlen(starts[i])) == 0) return true;
    return false;
}

static void check_same_value(const ferry_gguf_value *a, const ferry_gguf_value *b)
{
    assert_true(ferry_view_equal(a->key, b->key));
    if (is_of_the_source(a->key)) return;
    assert_true(a->type == b->type && a->count == b->count && ferry_view_equal(a->data, b->data));
    for (uint64_t i = 0; a->texts != NULL && i < a->count; i++)
        assert_true(ferry_view_equal(ferry_texts_at(a->texts, i), ferry_texts_at(b->texts, i)));
}

static void check_container(const char *name)
{
    const ferry_model_file *expected = converted(small_family("m2m100"));
    const ferry_model_file *found = converted(small_family(name));
    assert_int_equal(expected->gguf.value_count, found->gguf.value_count);
    for (size_t i = 0; i < expected->gguf.value_count; i++)
        check_same_value(&expected->gguf.values[i], &found->gguf.values[i]);
    check_same_tensors(expected, found);
}

TEST(test_zip_of_torch)
{
    check_container("m2m100-bin-zip");
}

TEST(test_legacy_torch)
{
    check_container("m2m100-bin-legacy");
}
