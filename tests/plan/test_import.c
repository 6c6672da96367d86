/* Importers: how a source is recognized, named and refused, and what a caller hears of the work. */
#define _XOPEN_SOURCE 700 /* symlink */
#include "tests/support/refusals.h"

#include <sys/stat.h>
#include <unistd.h>

TEST(test_sources_that_are_no_model)
{
    static const ferry_import_options halves = {.type = FERRY_BF16};
    check_refused_source(data_file("models"), NULL, FERRY_ERROR_UNSUPPORTED,
                         "SOURCE: holds several models: name one of them: bergamot-en-de, marian-separate, "
                         "tatoeba-en-de");
    check_refused_source(data_file("positions/none-post/config.json"), NULL, FERRY_ERROR_UNSUPPORTED,
                         "SOURCE: expected a directory, a zip archive, a file of weights (.safetensors, .bin, .npz) or "
                         "a model file of Ferry (.gguf)");
    check_refused_source(data_file("nothing"), NULL, FERRY_ERROR_IO, "SOURCE: cannot open: No such file or directory");
    check_refused_source(scratch_directory("empty"), NULL, FERRY_ERROR_UNSUPPORTED,
                         "SOURCE: no model that Ferry knows: config.json is missing, and so are weights of Marian "
                         "(.npz, .bin) and of CTranslate2 (model.bin)");
    check_refused_source(data_file("positions/none-post"), &halves, FERRY_ERROR_ARGUMENT,
                         "type: expected f32, f16 or i8, found bf16");
}

TEST(test_configurations_of_no_model)
{
    static const refused_edit rows[] = {
        {"config.json", NULL, "{\"format\": \"seq2seq-export-2\"}", FERRY_ERROR_UNSUPPORTED,
         "SOURCE/config.json: format 'seq2seq-export-2' is not supported"},
        {"config.json", NULL, "{\"model\": 5}", FERRY_ERROR_UNSUPPORTED,
         "SOURCE/config.json: expected 'model_type' or 'format', found neither"},
    };
    check_refused_edits(data_file("positions/none-post"), rows, COUNT(rows));
    const edit index = {"model.safetensors.index.json", NULL, "{}"};
    const char *directory = variant(data_file("positions/none-post"), &index, 1);
    check_refused_source(in_directory(directory, index.file), NULL, FERRY_ERROR_FORMAT,
                         "SOURCE: 'weight_map' is missing");
}

/* Weights or a configuration in one folder of the source, whatever lies beside it. */
TEST(test_models_in_folders)
{
    static const char *const files[] = {"config.json", "model.bin", "decoder.yml", "model.npz", "model.safetensors"};
    for (size_t i = 0; i < COUNT(files); i++) {
        char *directory = scratch_directory(ferry_name_format("outer-%zu", i).text);
        char *folder = in_directory(directory, "inner");
        write_text(directory, "config.json", "{\"model_type\": \"t5\"}");
        write_text(directory, "spiece.model", "?");
        assert_int_equal(mkdir(folder, 0700), 0);
        write_text(folder, files[i], "?");
        write_text(folder, "vocab.json", "?");
        if (i == 0) write_text(folder, "other.bin", "?");
        check_refused_source(directory, NULL, FERRY_ERROR_UNSUPPORTED,
                             "SOURCE: holds a model in the folder 'inner': name it");
        write_text(directory, "model.safetensors", "?");
        refuse_source(directory, ANY_ERROR, "/model.safetensors: ");
    }
}

/* Lexicons, the states of optimizers and .bin files of other systems are no models. */
TEST(test_several_weights)
{
    static const char *const names[] = {"lex.50.bin", "model.a.npz", "model.b.npz", "model.b.npz.optimizer.npz",
                                        "other.bin",  "vocab.yml"};
    char *directory = scratch_directory("several");
    for (size_t i = 0; i < COUNT(names); i++) write_text(directory, names[i], "?");
    check_refused_source(directory, NULL, FERRY_ERROR_UNSUPPORTED,
                         "SOURCE: holds several models: name one of them: model.a.npz, model.b.npz");
    for (int i = 0; i < 20; i++) write_text(directory, ferry_name_format("one-of-many-models-%d.npz", i).text, "?");
    refuse_source(directory, FERRY_ERROR_UNSUPPORTED, "model.a.npz, model.b.npz, one-of-many-models-0.npz, ");
}

TEST(test_name_license_and_hashes)
{
    static const char *const names[] = {"LICENCE", "LICENSE.md", "LICENSE.txt", "LICENSE"};
    edit licenses[4];
    char texts[4][2];
    for (size_t i = 0; i < 4; i++) { /* the last of them counts */
        snprintf(texts[i], sizeof texts[i], "%zu", i);
        licenses[i] = (edit){names[i], NULL, texts[i]};
        const ferry_model_file *file = converted(variant(data_file("positions/none-post"), licenses, i + 1));
        assert_true(has_text(file->origin.license, texts[i]));
    }
    const ferry_import_options options = {.type = FERRY_F32, .name = "opus-mt"};
    licenses[3].to = "abc";
    const ferry_model_file *file = converted_with(variant(data_file("positions/none-post"), licenses + 3, 1), &options);
    assert_true(has_text(file->name, "opus-mt"));
    assert_int_equal(memcmp(file->origin.name.data, "variant-", 8), 0);
    assert_int_equal(file->origin.file_count, 3);
    assert_int_equal(file->origin.sizes[2], 3);
    assert_true(has_text(ferry_texts_at(file->origin.hashes, 2),
                         "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
}

/* ---- progress ---- */

typedef struct progress {
    uint64_t done, total, read;
    int calls, cancel_at;
    const char *path;
} progress;

static int note(void *user, uint64_t done, uint64_t total)
{
    progress *p = user;
    assert_true(p->calls == 0 ? done == 0 : done > p->done && total == p->total);
    assert_true(done <= total);
    assert_int_equal(unfinished_files(p->path), done > 0);
    p->done = done;
    p->total = total;
    return ++p->calls == p->cancel_at;
}

static void note_read(void *user, uint64_t bytes)
{
    ((progress *)user)->read = bytes;
}

TEST(test_progress_and_cancelling)
{
    static const ferry_type types[] = {FERRY_F32, FERRY_F16, FERRY_I8};
    char *source = data_file("positions/learned-post"), *path = scratch_file("progress.gguf");
    for (size_t i = 0; i < 3; i++) {
        progress p = {.path = path};
        const ferry_import_options options = {.type = types[i], .progress = note, .complete = note_read, .user = &p};
        CHECK(ferry_import(source, path, &options, &error));
        assert_true(p.calls > 10 && p.done == p.total);
        assert_int_equal(p.read, mapped_bytes(in_directory(source, "config.json")).size +
                                     mapped_bytes(in_directory(source, "model.safetensors")).size);
        assert_int_equal(unlink(path), 0);
        const int cancel_at[] = {1, p.calls / 2, p.calls};
        for (int j = 0; j < 3; j++) {
            p = (progress){.cancel_at = cancel_at[j], .path = path};
            REFUSE(ferry_import(source, path, &options, &error), FERRY_ERROR_CANCELLED, "");
            assert_true(p.calls == cancel_at[j] && p.read == 0);
            check_no_file(path);
        }
    }
}
