/* Small models of each family in Hugging Face's form against what transformers computed from them, and the same weights
 * in every container. */
#include "tests/support/huggingface_golden.h"
#include "tests/support/import_support.h"

static void check_family(const char *name, const char *from, const char *to)
{
    char path[128];
    snprintf(path, sizeof path, "models/huggingface-small/%s", name);
    char *directory = shared_path(path);
    huggingface_golden golden = {.from = from, .to = to, .tolerance = 2e-4, .score_tolerance = 2e-4};
    if (directory == NULL) not_run(name);
    golden_check_model(&golden, directory);
    free(directory);
}

static void test_m2m100(void **state)
{
    (void)state;
    check_family("m2m100", "en", "de");
}

static void test_nllb(void **state)
{
    (void)state;
    check_family("nllb", "eng_Latn", "de");
}

static void test_mbart50(void **state)
{
    (void)state;
    check_family("mbart50", "eng", "de_DE");
}

static void test_t5(void **state)
{
    (void)state;
    check_family("t5", "en", "de");
}

static void test_t5_gated(void **state)
{
    (void)state;
    check_family("t5gated", NULL, NULL);
}

static void test_marian(void **state)
{
    (void)state;
    check_family("marian-separate", NULL, NULL);
}

/* ---- containers ---- */

static bool is_origin(ferry_view key)
{
    static const char *const starts[] = {"ferry.origin.", "general.name"};
    for (size_t i = 0; i < 2; i++)
        if (key.size >= strlen(starts[i]) && memcmp(key.data, starts[i], strlen(starts[i])) == 0) return true;
    return false;
}

static void check_same_value(const ferry_gguf_value *a, const ferry_gguf_value *b)
{
    assert_true(ferry_view_equal(a->key, b->key));
    if (is_origin(a->key)) return;
    assert_true(a->type == b->type && a->count == b->count && ferry_view_equal(a->data, b->data));
    for (uint64_t i = 0; a->texts != NULL && i < a->count; i++) assert_true(ferry_view_equal(a->texts[i], b->texts[i]));
}

static void check_container(const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "models/huggingface-small/%s", name);
    char *directory = shared_path(path), *reference = shared_path("models/huggingface-small/m2m100");
    ferry_model_file expected, found;
    if (directory == NULL || reference == NULL) not_run(name);
    convert(reference, FERRY_F32, &expected);
    convert(directory, FERRY_F32, &found);
    assert_int_equal(expected.gguf.value_count, found.gguf.value_count);
    for (size_t i = 0; i < expected.gguf.value_count; i++)
        check_same_value(&expected.gguf.values[i], &found.gguf.values[i]);
    check_same_tensors(&expected, &found);
    ferry_model_file_close(&expected);
    ferry_model_file_close(&found);
    free(directory);
    free(reference);
}

static void test_zip_of_torch(void **state)
{
    (void)state;
    check_container("m2m100-bin-zip");
}

static void test_legacy_torch(void **state)
{
    (void)state;
    check_container("m2m100-bin-legacy");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_m2m100),       cmocka_unit_test(test_nllb),         cmocka_unit_test(test_mbart50),
        cmocka_unit_test(test_t5),           cmocka_unit_test(test_t5_gated),     cmocka_unit_test(test_marian),
        cmocka_unit_test(test_zip_of_torch), cmocka_unit_test(test_legacy_torch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
