/* The files of a source: a directory, an archive with and without a top folder, a chosen file, compressed files. */
#define _XOPEN_SOURCE 700 /* symlink */
#include "tests/support/import_support.h"

#include <sys/stat.h>
#include <unistd.h>

#include "models/plan/source.h"
#include "tests/support/make_zip.h"

static ferry_import_source *open_source(const char *path)
{
    ferry_import_source *source;
    CHECK(ferry_import_source_open(path, 0, &source, &error));
    return source;
}

static void check_names(const ferry_import_source *source, const char *const *names, size_t count)
{
    assert_int_equal(ferry_import_source_count(source), count);
    for (size_t i = 0; i < count; i++) assert_string_equal(ferry_import_source_name(source, i), names[i]);
}

static void check_text(ferry_import_source *source, const char *name, const char *text)
{
    ferry_view bytes;
    CHECK(ferry_import_source_map(source, name, &bytes, &error));
    assert_true(has_text(bytes, text));
}

static void refuse_file(ferry_import_source *source, const char *name, ferry_status status, const char *what)
{
    ferry_view bytes;
    REFUSE(ferry_import_source_map(source, name, &bytes, &error), status, what);
}

TEST(test_directory)
{
    char *directory = scratch_directory("plain"), *sub = in_directory(directory, "model");
    char *deep = in_directory(sub, "deep"), label[400];
    assert_int_equal(mkdir(sub, 0700), 0);
    assert_int_equal(mkdir(deep, 0700), 0);
    link_file("missing", directory, "nowhere");
    write_text(directory, "b.json", "bee");
    write_text(directory, "a.txt", "");
    write_text(directory, ".hidden", "x");
    write_text(sub, "model.bin", "weights");
    write_text(deep, "unseen", "x");
    ferry_import_source *source = open_source(directory);
    const char *const names[] = {"a.txt", "b.json", "model/model.bin"};
    check_names(source, names, 3);
    assert_true(ferry_import_source_has(source, "model/model.bin"));
    assert_false(ferry_import_source_has(source, "model.bin"));
    assert_string_equal(ferry_import_source_base(source), "plain");
    assert_string_equal(ferry_import_source_path(source), directory);
    assert_null(ferry_import_source_selected(source));
    check_text(source, "b.json", "bee");
    check_text(source, "model/model.bin", "weights");
    check_text(source, "a.txt", "");
    snprintf(label, sizeof label, "%s/model/model.bin", directory);
    assert_string_equal(ferry_import_source_label(source, "model/model.bin"), label);
    snprintf(label, sizeof label, "%s/other: cannot open", directory);
    refuse_file(source, "other", FERRY_ERROR_IO, label);
    assert_int_equal(ferry_import_source_read_count(source), 3);
    ferry_import_source_close(source);
}

/* FIPS 180-4: the hash of "abc", and that of nothing. */
TEST(test_files_that_were_read)
{
    const char *name, *hash;
    uint64_t size;
    char *directory = scratch_directory("hashed");
    write_text(directory, "x", "abc");
    write_text(directory, "a", "");
    write_text(directory, "unread", "?");
    ferry_import_source *source = open_source(directory);
    check_text(source, "x", "abc");
    check_text(source, "a", "");
    check_text(source, "x", "abc");
    assert_int_equal(ferry_import_source_read_count(source), 2);
    CHECK(ferry_import_source_read(source, 0, &name, &size, &hash, &error));
    assert_string_equal(name, "x");
    assert_int_equal(size, 3);
    assert_string_equal(hash, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    CHECK(ferry_import_source_read(source, 1, &name, &size, &hash, &error));
    assert_string_equal(hash, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    REFUSE(ferry_import_source_read(source, 2, &name, &size, &hash, &error), FERRY_ERROR_ARGUMENT, "");
    ferry_import_source_close(source);
}

TEST(test_archives)
{
    const char *name, *hash;
    uint64_t size;
    char *path = scratch_file("models.zip"), label[400];
    const zip_part foldered[] = {{"top/config.json", "{}", 2}, {"top/model/model.bin", "abc", 3}};
    write_zip(path, foldered, 2);
    ferry_import_source *source = open_source(path);
    const char *const names[] = {"config.json", "model/model.bin"};
    check_names(source, names, 2);
    check_text(source, "config.json", "{}");
    check_text(source, "model/model.bin", "abc");
    assert_null(ferry_import_source_selected(source));
    assert_string_equal(ferry_import_source_base(source), "models.zip");
    snprintf(label, sizeof label, "%s/model/model.bin", path);
    assert_string_equal(ferry_import_source_label(source, "model/model.bin"), label);
    CHECK(ferry_import_source_read(source, 1, &name, &size, &hash, &error));
    assert_string_equal(name, "model/model.bin");
    assert_string_equal(hash, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    ferry_import_source_close(source);

    const zip_part flat[] = {{"top/config.json", "{}", 2}, {"topmost.txt", "t", 1}};
    write_zip(path, flat, 2);
    source = open_source(path);
    const char *const flat_names[] = {"top/config.json", "topmost.txt"};
    check_names(source, flat_names, 2);
    ferry_import_source_close(source);
}

/* Zip archives that are one file of weights are no archives of a model. */
TEST(test_selected_files)
{
    char *directory = scratch_directory("selected"), *npz = in_directory(directory, "model.npz");
    char *torch = in_directory(directory, "pytorch_model.bin");
    const zip_part arrays[] = {{"Wemb.npy", "x", 1}}, pickle[] = {{"archive/data.pkl", "x", 1}};
    write_zip(npz, arrays, 1);
    write_zip(torch, pickle, 1);
    write_text(directory, "vocab.yml", "a: 0");
    const char *const names[] = {"model.npz", "pytorch_model.bin", "vocab.yml"};
    const char *const paths[] = {npz, torch};
    for (int i = 0; i < 2; i++) {
        ferry_import_source *source = open_source(paths[i]);
        check_names(source, names, 3);
        assert_string_equal(ferry_import_source_selected(source), names[i]);
        assert_string_equal(ferry_import_source_base(source), names[i]);
        assert_string_equal(ferry_import_source_path(source), paths[i]);
        check_text(source, "vocab.yml", "a: 0");
        ferry_import_source_close(source);
    }
    assert_int_equal(chdir(directory), 0);
    ferry_import_source *source = open_source("model.npz"); /* without a slash */
    check_names(source, names, 3);
    ferry_import_source_close(source);
}

TEST(test_gzip)
{
    const char *name, *hash;
    uint64_t published;
    char *directory = scratch_directory("gzip"), *path = in_directory(directory, "lex.gz");
    char *both = in_directory(directory, "twin.gz"), text[300001];
    made_file file = {.size = 0};
    for (size_t i = 0; i < sizeof text - 1; i++) text[i] = (char)('a' + (i * i + i / 7) % 26);
    text[sizeof text - 1] = '\0';
    put_gzip(&file, &(repeated){"", {text, 200000}, 1, ""});
    write_bytes(both, file.data, file.size);
    put_gzip(&file, &(repeated){"", {text + 200000, 100000}, 1, ""}); /* two streams, one after the other */
    write_bytes(path, file.data, file.size);
    write_text(directory, "twin", "plain");
    write_text(directory, "broken.gz", "no gzip");
    write_text(directory, "empty.gz", "");
    ferry_import_source *source = open_source(directory);
    const char *const names[] = {"broken", "empty", "lex", "twin"};
    check_names(source, names, 4);
    check_text(source, "lex", text);
    check_text(source, "twin", "plain");
    CHECK(ferry_import_source_read(source, 0, &name, &published, &hash, &error));
    assert_string_equal(name, "lex.gz");
    assert_int_equal(published, file.size);
    refuse_file(source, "broken", FERRY_ERROR_FORMAT, "gzip/broken.gz: cannot be inflated: damaged or cut off");
    refuse_file(source, "broken", FERRY_ERROR_FORMAT, "gzip/broken.gz: cannot be inflated: damaged or cut off");
    refuse_file(source, "empty", FERRY_ERROR_FORMAT, "gzip/empty.gz: cannot be inflated: damaged or cut off");
    ferry_import_source_close(source);
    source = open_source(path);
    assert_string_equal(ferry_import_source_selected(source), "lex");
    ferry_import_source_close(source);
    write_bytes(path, file.data, file.size - 1);
    source = open_source(directory);
    refuse_file(source, "lex", FERRY_ERROR_FORMAT, "lex.gz: cannot be inflated: damaged or cut off");
    ferry_import_source_close(source);
}

TEST(test_refusals)
{
    ferry_import_source *source;
    char *directory = scratch_directory("pointers"), *missing = in_directory(directory, "missing");
    char *archive = in_directory(directory, "evil.zip");
    write_text(directory, "model.bin", "version https://git-lfs.github.com/spec/v1\noid sha256:00\n");
    REFUSE(ferry_import_source_open(missing, 0, &source, &error), FERRY_ERROR_IO, "pointers/missing: cannot open: ");
    assert_null(source);
    source = open_source(directory);
    refuse_file(source, "model.bin", FERRY_ERROR_UNSUPPORTED, "pointers/model.bin: this is a Git LFS pointer");
    assert_int_equal(ferry_import_source_read_count(source), 0);
    ferry_import_source_close(source);
    const zip_part evil[] = {{"../config.json", "{}", 2}};
    write_zip(archive, evil, 1);
    REFUSE(ferry_import_source_open(archive, 0, &source, &error), FERRY_ERROR_FORMAT, "");
    assert_null(source);
}
