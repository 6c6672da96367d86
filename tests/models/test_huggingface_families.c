/* Small models of each family in Hugging Face's form against what transformers computed from them, and the same weights
 * in every container. */
#include "tests/support/families.h"
#include "tests/support/huggingface_golden.h"

static void check_family(const char *name, const char *from, const char *to)
{
    huggingface_golden golden = {.from = from, .to = to, .tolerance = 2e-4, .score_tolerance = 2e-4};
    golden_check_model(&golden, small_family(name));
}

TEST(test_m2m100)
{
    check_family("m2m100", "en", "de");
}

TEST(test_nllb)
{
    check_family("nllb", "eng_Latn", "de");
}

TEST(test_mbart50)
{
    check_family("mbart50", "eng", "de_DE");
}

TEST(test_t5)
{
    check_family("t5", "en", "de");
}

TEST(test_t5_gated)
{
    check_family("t5gated", NULL, NULL);
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
