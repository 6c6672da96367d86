/* The files of a source: a directory, an archive with and without a top folder, a chosen file, compressed files. */
#define _XOPEN_SOURCE 700 /* symlink */
#include "tests/support/import_support.h"

#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "models/plan/source.h"
#include "tests/support/make_zip.h"

static char *make_directory(const char *name)
{
    char *path = scratch_path(name);
    assert_int_equal(mkdir(path, 0700), 0);
    return path;
}

static void write_in(const char *directory, const char *name, const char *text)
{
    char *path = in_directory(directory, name);
    write_bytes(path, text, strlen(text));
    free(path);
}

/* `text` as a gzip stream of its own; *size bytes, the caller frees. */
static unsigned char *compress_text(const char *text, size_t length, size_t *size)
{
    z_stream stream = {0};
    unsigned char *out = malloc(length + 1000);
    assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_in = (Bytef *)(uintptr_t)text;
    stream.avail_in = (uInt)length;
    stream.next_out = out;
    stream.avail_out = (uInt)length + 1000;
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    *size = stream.total_out;
    deflateEnd(&stream);
    return out;
}

static ferry_import_source *open_source(const char *path)
{
    ferry_error error;
    ferry_import_source *source;
    CHECK(ferry_import_source_open(path, &source, &error));
    return source;
}

static void check_names(const ferry_import_source *source, const char *const *names, size_t count)
{
    assert_int_equal(ferry_import_source_count(source), count);
    for (size_t i = 0; i < count; i++) assert_string_equal(ferry_import_source_name(source, i), names[i]);
}

static void check_text(ferry_import_source *source, const char *name, const char *text)
{
    ferry_error error;
    ferry_view bytes;
    CHECK(ferry_import_source_map(source, name, &bytes, &error));
    assert_true(has_text(bytes, text));
}

static void refuse_file(ferry_import_source *source, const char *name, ferry_status status, const char *what)
{
    ferry_error error = {0};
    ferry_view bytes;
    const ferry_status found = ferry_import_source_map(source, name, &bytes, &error);
    if (found != status || strstr(error.message, what) == NULL) {
        fail_msg("expected %d '%s', found %d '%s'", status, what, found, error.message);
    }
}

static void test_directory(void **state)
{
    (void)state;
    char *directory = make_directory("plain"), *sub = in_directory(directory, "model");
    char *deep = in_directory(sub, "deep"), *nowhere = in_directory(directory, "nowhere"), label[400];
    assert_int_equal(mkdir(sub, 0700), 0);
    assert_int_equal(mkdir(deep, 0700), 0);
    assert_int_equal(symlink("missing", nowhere), 0);
    write_in(directory, "b.json", "bee");
    write_in(directory, "a.txt", "");
    write_in(directory, ".hidden", "x");
    write_in(sub, "model.bin", "weights");
    write_in(deep, "unseen", "x");
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
    free(nowhere);
    free(deep);
    free(sub);
    free(directory);
}

/* FIPS 180-4: the hash of "abc", and that of nothing. */
static void test_files_that_were_read(void **state)
{
    (void)state;
    ferry_error error;
    const char *name, *hash;
    uint64_t size;
    char *directory = make_directory("hashed");
    write_in(directory, "x", "abc");
    write_in(directory, "a", "");
    write_in(directory, "unread", "?");
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
    assert_int_equal(ferry_import_source_read(source, 2, &name, &size, &hash, &error), FERRY_ERROR_ARGUMENT);
    ferry_import_source_close(source);
    free(directory);
}

static void write_zip(const char *path, const zip_part *files, size_t count)
{
    size_t size;
    unsigned char *bytes = make_zip(files, count, &size);
    write_bytes(path, bytes, size);
    free(bytes);
}

static void test_archives(void **state)
{
    (void)state;
    ferry_error error;
    const char *name, *hash;
    uint64_t size;
    char *path = scratch_path("models.zip"), label[400];
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
    free(path);
}

/* Zip archives that are one file of weights are no archives of a model. */
static void test_selected_files(void **state)
{
    (void)state;
    char *directory = make_directory("selected"), *npz = in_directory(directory, "model.npz");
    char *torch = in_directory(directory, "pytorch_model.bin");
    const zip_part arrays[] = {{"Wemb.npy", "x", 1}}, pickle[] = {{"archive/data.pkl", "x", 1}};
    write_zip(npz, arrays, 1);
    write_zip(torch, pickle, 1);
    write_in(directory, "vocab.yml", "a: 0");
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
    free(torch);
    free(npz);
    free(directory);
}

static void test_gzip(void **state)
{
    (void)state;
    ferry_error error;
    const char *name, *hash;
    uint64_t published;
    char *directory = make_directory("gzip"), *path = in_directory(directory, "lex.gz");
    char *both = in_directory(directory, "twin.gz"), text[300001];
    for (size_t i = 0; i < sizeof text - 1; i++) text[i] = (char)('a' + (i * i + i / 7) % 26);
    text[sizeof text - 1] = '\0';
    size_t size, more;
    unsigned char *packed = compress_text(text, 200000, &size), *rest = compress_text(text + 200000, 100000, &more);
    unsigned char *whole = malloc(size + more); /* two streams, one after the other */
    memcpy(whole, packed, size);
    memcpy(whole + size, rest, more);
    write_bytes(path, whole, size + more);
    write_bytes(both, whole, size);
    write_in(directory, "twin", "plain");
    write_in(directory, "broken.gz", "no gzip");
    write_in(directory, "empty.gz", "");
    ferry_import_source *source = open_source(directory);
    const char *const names[] = {"broken", "empty", "lex", "twin"};
    check_names(source, names, 4);
    check_text(source, "lex", text);
    check_text(source, "twin", "plain");
    CHECK(ferry_import_source_read(source, 0, &name, &published, &hash, &error));
    assert_string_equal(name, "lex.gz");
    assert_int_equal(published, size + more);
    refuse_file(source, "broken", FERRY_ERROR_FORMAT, "gzip/broken.gz: not a gzip file, damaged or cut off");
    refuse_file(source, "broken", FERRY_ERROR_FORMAT, "gzip/broken.gz: not a gzip file, damaged or cut off");
    refuse_file(source, "empty", FERRY_ERROR_FORMAT, "gzip/empty.gz: not a gzip file, damaged or cut off");
    ferry_import_source_close(source);
    source = open_source(path);
    assert_string_equal(ferry_import_source_selected(source), "lex");
    ferry_import_source_close(source);
    write_bytes(path, whole, size + more - 1);
    source = open_source(directory);
    refuse_file(source, "lex", FERRY_ERROR_FORMAT, "lex.gz: not a gzip file, damaged or cut off");
    ferry_import_source_close(source);
    free(whole);
    free(rest);
    free(packed);
    free(both);
    free(path);
    free(directory);
}

/* More than 64 times as much, and 64 MiB: refused before the disk is full. */
static void test_gzip_bomb(void **state)
{
    (void)state;
    const size_t length = (size_t)80 << 20;
    char *directory = make_directory("bomb"), *path = in_directory(directory, "bomb.gz");
    char *zeros = calloc(length, 1);
    size_t size;
    unsigned char *packed = compress_text(zeros, length, &size);
    write_bytes(path, packed, size);
    ferry_import_source *source = open_source(directory);
    refuse_file(source, "bomb", FERRY_ERROR_FORMAT, "bomb.gz: inflates to more than ");
    ferry_import_source_close(source);
    free(packed);
    free(zeros);
    free(path);
    free(directory);
}

static void test_refusals(void **state)
{
    (void)state;
    ferry_error error;
    ferry_import_source *source;
    char *directory = make_directory("pointers"), *missing = in_directory(directory, "missing");
    char *archive = in_directory(directory, "evil.zip");
    write_in(directory, "model.bin", "version https://git-lfs.github.com/spec/v1\noid sha256:00\n");
    assert_int_equal(ferry_import_source_open(missing, &source, &error), FERRY_ERROR_IO);
    assert_non_null(strstr(error.message, "pointers/missing: cannot open: "));
    assert_null(source);
    source = open_source(directory);
    refuse_file(source, "model.bin", FERRY_ERROR_UNSUPPORTED, "pointers/model.bin: this is a Git LFS pointer");
    assert_int_equal(ferry_import_source_read_count(source), 0);
    ferry_import_source_close(source);
    const zip_part evil[] = {{"../config.json", "{}", 2}};
    write_zip(archive, evil, 1);
    assert_int_equal(ferry_import_source_open(archive, &source, &error), FERRY_ERROR_FORMAT);
    assert_null(source);
    free(archive);
    free(missing);
    free(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_directory), cmocka_unit_test(test_files_that_were_read),
        cmocka_unit_test(test_archives),  cmocka_unit_test(test_selected_files),
        cmocka_unit_test(test_gzip),      cmocka_unit_test(test_gzip_bomb),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
