/* Importers: how a source is recognized, named and refused, and what a caller hears of the work. */
#define _XOPEN_SOURCE 700 /* symlink */
#include "tests/support/import_support.h"

#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/make_zip.h"

static void test_sources_that_are_no_model(void **state)
{
    (void)state;
    char *several = data_path("models"), *file = data_path("positions/none-post/config.json");
    char *missing = data_path("nothing"), *empty = scratch_path("empty");
    assert_int_equal(mkdir(empty, 0700), 0);
    refuse_as(several, FERRY_F32, FERRY_ERROR_UNSUPPORTED,
              "holds several models: name one of them: marian-separate, tatoeba-en-de");
    refuse_as(file, FERRY_F32, FERRY_ERROR_UNSUPPORTED, "expected a directory, a zip archive or a file of weights");
    refuse_as(missing, FERRY_F32, FERRY_ERROR_IO, "cannot open");
    refuse_as(empty, FERRY_F32, FERRY_ERROR_UNSUPPORTED, "no model that Ferry knows: config.json is missing");
    free(several);
    free(file);
    free(missing);
    free(empty);
}

/* Lexicons, the states of optimizers and .bin files of other systems are no models. */
static void test_several_weights(void **state)
{
    (void)state;
    static const char *const names[] = {"lex.50.bin", "model.a.npz", "model.b.npz", "model.b.npz.optimizer.npz",
                                        "other.bin",  "vocab.yml"};
    char *directory = scratch_path("several");
    assert_int_equal(mkdir(directory, 0700), 0);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char *path = in_directory(directory, names[i]);
        write_bytes(path, "?", 1);
        free(path);
    }
    refuse_as(directory, FERRY_F32, FERRY_ERROR_UNSUPPORTED, "name one of them: model.a.npz, model.b.npz");
    free(directory);
}

static void test_name_license_and_hashes(void **state)
{
    (void)state;
    ferry_error error;
    ferry_model_file file;
    char *source = data_path("positions/none-post"), *path = scratch_path("named.gguf");
    const edit license = {"LICENSE", NULL, "abc"};
    char *directory = variant(source, &license, 1);
    const ferry_import_options options = {.type = FERRY_F32, .name = "opus-mt"};
    CHECK(ferry_import(directory, path, &options, &error));
    CHECK(ferry_model_file_open(path, ferry_kernels_find(NULL), &file, &error));
    assert_true(has_text(file.name, "opus-mt"));
    assert_int_equal(memcmp(file.origin.name.data, "variant-", 8), 0);
    assert_true(has_text(file.origin.license, "abc"));
    assert_int_equal(file.origin.file_count, 3);
    assert_int_equal(file.origin.sizes[2], 3);
    assert_true(has_text(file.origin.hashes[2], "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
    ferry_model_file_close(&file);
    free(directory);
    free(path);
    free(source);
}

/* ---- archives and chosen files ---- */

/* The same directory as an archive, and named by its file of weights: the same model file but for names. */
static void test_forms_of_a_source(void **state)
{
    (void)state;
    ferry_error error;
    ferry_model_file plain, other;
    ferry_mapped_file maps[2];
    char *source = data_path("positions/learned-post"), *zip = scratch_path("model.zip");
    char *config = in_directory(source, "config.json"), *weights = in_directory(source, "model.safetensors");
    CHECK(ferry_mapped_file_open(config, &maps[0], &error));
    CHECK(ferry_mapped_file_open(weights, &maps[1], &error));
    const zip_part files[] = {{"learned/config.json", maps[0].bytes.data, maps[0].bytes.size},
                              {"learned/model.safetensors", maps[1].bytes.data, maps[1].bytes.size}};
    size_t size;
    unsigned char *bytes = make_zip(files, 2, &size);
    write_bytes(zip, bytes, size);
    const char *const forms[] = {zip, weights};
    convert(source, FERRY_F32, &plain);
    for (int i = 0; i < 2; i++) {
        convert(forms[i], FERRY_F32, &other);
        check_same_tensors(&plain, &other);
        assert_int_equal(other.origin.file_count, 2);
        assert_true(ferry_view_equal(other.origin.hashes[1], plain.origin.hashes[1]));
        assert_true(has_text(other.name, i == 0 ? "model.zip" : "model.safetensors"));
        ferry_model_file_close(&other);
    }
    ferry_model_file_close(&plain);
    for (int i = 0; i < 2; i++) ferry_mapped_file_close(&maps[i]);
    free(bytes);
    free(config);
    free(weights);
    free(zip);
    free(source);
}

/* ---- progress ---- */

typedef struct progress {
    uint64_t done, total;
    int calls, cancel_at;
} progress;

static int note(void *user, uint64_t done, uint64_t total)
{
    progress *p = user;
    assert_true(done > p->done && done <= total && (p->calls == 0 || total == p->total));
    p->done = done;
    p->total = total;
    return ++p->calls == p->cancel_at;
}

static void test_progress_and_cancelling(void **state)
{
    (void)state;
    static const ferry_type types[] = {FERRY_F32, FERRY_F16, FERRY_I8};
    char *source = data_path("positions/learned-post"), *path = scratch_path("progress.gguf");
    char *part = scratch_path("progress.gguf.part");
    ferry_error error;
    struct stat information;
    for (size_t i = 0; i < 3; i++) {
        progress p = {0};
        const ferry_import_options options = {.type = types[i], .progress = note, .user = &p};
        CHECK(ferry_import(source, path, &options, &error));
        assert_true(p.calls > 10 && p.done == p.total);
        assert_int_equal(unlink(path), 0);
        const int cancel_at[] = {1, p.calls / 2, p.calls};
        for (int j = 0; j < 3; j++) {
            p = (progress){.cancel_at = cancel_at[j]};
            assert_int_equal(ferry_import(source, path, &options, &error), FERRY_ERROR_CANCELLED);
            assert_int_equal(p.calls, cancel_at[j]);
            assert_int_not_equal(stat(path, &information), 0);
            assert_int_not_equal(stat(part, &information), 0);
        }
    }
    free(part);
    free(path);
    free(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sources_that_are_no_model), cmocka_unit_test(test_several_weights),
        cmocka_unit_test(test_name_license_and_hashes),   cmocka_unit_test(test_forms_of_a_source),
        cmocka_unit_test(test_progress_and_cancelling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
