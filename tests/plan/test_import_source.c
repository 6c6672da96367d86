/* The files of a source: a directory, an archive with and without a top folder, a chosen file, compressed files. */
#define _XOPEN_SOURCE 700 /* symlink */
#include "tests/support/import_support.h"

#include <sys/stat.h>
#include <unistd.h>

#include "models/plan/source.h"
#include "tests/support/make_zip.h"
#include "tests/support/random.h"

/* It has these files, each followed by "|". */
static ferry_source *open_source(const char *path, const char *expected)
{
    made_file found = {.size = 0};
    ferry_source *source;
    CHECK(ferry_source_open(path, 0, &source, &error));
    for (size_t i = 0; i < source->count; i++) put_text(&found, ferry_name_format("%s|", source->files[i].name).text);
    put(&found, 0, 1);
    assert_string_equal((const char *)found.data, expected);
    return source;
}

static void check_text(ferry_source *source, const char *name, const char *text)
{
    ferry_view bytes;
    assert_true(ferry_source_has(source, name));
    CHECK(ferry_source_map(source, name, &bytes, &error));
    assert_true(has_text(bytes, text));
}

/* File `index` of those that were read. */
static void check_read(ferry_source *source, size_t index, const char *name, uint64_t size, const char *hash)
{
    ferry_source_file *file = source->read[index];
    assert_string_equal(file->published, name);
    assert_int_equal(file->original.size, size);
    if (hash != NULL) assert_string_equal(ferry_source_hash(source, file), hash);
}

/* FIPS 180-4. */
static const char hash_of_abc[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

static void refuse_file(ferry_source *source, const char *name, ferry_status status, const char *what)
{
    ferry_view bytes;
    REFUSE(ferry_source_map(source, name, &bytes, &error), status, what);
}

TEST(test_directory)
{
    char *directory = scratch_directory("plain"), *sub = in_directory(directory, "model");
    char *deep = in_directory(sub, "deep");
    assert_int_equal(mkdir(sub, 0700), 0);
    assert_int_equal(mkdir(deep, 0700), 0);
    link_file("missing", directory, "nowhere");
    write_text(directory, "b.json", "bee");
    write_text(directory, "a.txt", "");
    write_text(directory, ".hidden", "x");
    write_text(sub, ".hidden", "x");
    write_text(sub, "model.bin", "weights");
    write_text(deep, "unseen", "x");
    ferry_source *source = open_source(directory, "a.txt|b.json|model/model.bin|");
    assert_false(ferry_source_has(source, "model.bin"));
    assert_false(ferry_source_has(source, "B.json"));
    assert_string_equal(source->base, "plain");
    assert_string_equal(source->path, directory);
    assert_null(source->selected);
    check_text(source, "b.json", "bee");
    check_text(source, "model/model.bin", "weights");
    check_text(source, "a.txt", "");
    assert_string_equal(ferry_source_label(source, "model/model.bin"), in_directory(sub, "model.bin"));
    refuse_file(source, "other", FERRY_ERROR_IO, in_directory(directory, "other: cannot open"));
    assert_int_equal(source->read_count, 3);
    ferry_source_close(source);
}

/* A byte-order mark is no part of a text; the model file's origin has the file as it was published. */
TEST(test_byte_order_mark)
{
    char *directory = scratch_directory("marked");
    write_text(directory, "a.yml",
               "\xef\xbb\xbf"
               "a: 0");
    write_text(directory, "b.txt", "\xef\xbb");
    write_text(directory, "c.safetensors",
               "\xef\xbb\xbf"
               "c");
    ferry_source *source = open_source(directory, "a.yml|b.txt|c.safetensors|");
    check_text(source, "a.yml", "a: 0");
    check_text(source, "b.txt", "\xef\xbb");
    check_text(source, "c.safetensors",
               "\xef\xbb\xbf"
               "c");
    check_read(source, 0, "a.yml", 7, NULL);
    ferry_source_close(source);
}

/* The hash of nothing is FIPS 180-4's; that of 2,500,000 times "a" is sha256sum's. */
TEST(test_files_that_were_read)
{
    enum { LONG = 2500000 };
    char *letters = kept_memory(LONG + 1), *directory = scratch_directory("hashed");
    write_text(directory, "x", "abc");
    write_text(directory, "a", "");
    write_text(directory, "unread", "?");
    memset(letters, 'a', LONG);
    write_text(directory, "long", letters);
    ferry_source *source = open_source(directory, "a|long|unread|x|");
    check_text(source, "x", "abc");
    check_text(source, "a", "");
    check_text(source, "x", "abc");
    assert_int_equal(source->read_count, 2);
    assert_int_equal(ferry_source_read_bytes(source), 3);
    check_read(source, 0, "x", 3, hash_of_abc);
    check_read(source, 1, "a", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    check_text(source, "long", letters);
    for (int i = 0; i < 2; i++)
        check_read(source, 2, "long", LONG, "38a637965059125eeb67f54c30e7f48a61859a467a800ba09740ba48a924f2b9");
    ferry_source_close(source);
}

TEST(test_archives)
{
    static const struct {
        size_t count;
        zip_part parts[3];
        const char *names;
    } rows[] = {
        {2, {{"top/config.json", "{}", 2}, {"top/model/model.bin", "abc", 3}}, "config.json|model/model.bin|"},
        {2, {{"top/config.json", "{}", 2}, {"topmost.txt", "t", 1}}, "top/config.json|topmost.txt|"},
        {2, {{"a.txt", "{}", 2}, {"top/config.json", "t", 1}}, "a.txt|top/config.json|"},
        {3, {{"top/a", "", 0}, {"top/b", "", 0}, {"z", "", 0}}, "top/a|top/b|z|"},
        {2, {{"top/.gz", "{}", 2}, {"top/x.data.pkl", "t", 1}}, ".gz|x.data.pkl|"},
        {0, {{"", "", 0}}, ""},
    };
    char *path = scratch_file("models.zip");
    for (size_t i = 0; i < COUNT(rows); i++) {
        write_zip(path, rows[i].parts, rows[i].count);
        ferry_source *source = open_source(path, rows[i].names);
        assert_string_equal(source->base, "models.zip");
        assert_int_equal(ferry_source_has(source, "config.json"), i == 0);
        assert_null(source->selected);
        if (i == 0) {
            check_text(source, "config.json", "{}");
            check_text(source, "model/model.bin", "abc");
            assert_string_equal(ferry_source_label(source, "model/model.bin"), in_directory(path, "model/model.bin"));
            check_read(source, 1, "model/model.bin", 3, hash_of_abc);
        }
        ferry_source_close(source);
    }
}

/* Zip archives that are one file of weights are no archives of a model; hidden files and ".gz" may be chosen. */
TEST(test_selected_files)
{
    static const struct {
        const char *file, *member; /* of an archive; NULL: none */
    } rows[] = {{"model.npz", "Wemb.npy"},
                {"pytorch_model.bin", "archive/data.pkl"},
                {"flat.bin", "data.pkl"},
                {".hidden.npz", NULL},
                {".gz", NULL}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        char *directory = scratch_directory(ferry_name_format("selected-%zu", i).text);
        char *path = in_directory(directory, rows[i].file);
        const zip_part part = {rows[i].member, "x", 1};
        if (rows[i].member != NULL) write_zip(path, &part, 1);
        if (rows[i].member == NULL) write_text(directory, rows[i].file, "x");
        write_text(directory, "vocab.yml", "a: 0");
        ferry_source *source = open_source(path, ferry_name_format("%s|vocab.yml|", rows[i].file).text);
        assert_string_equal(source->selected, rows[i].file);
        assert_string_equal(source->base, rows[i].file);
        assert_string_equal(source->path, path);
        assert_string_equal(source->folder, ferry_name_format("selected-%zu", i).text);
        check_text(source, "vocab.yml", "a: 0");
        ferry_source_close(source);
    }
}

/* Named without a slash. */
TEST(test_file_of_this_directory)
{
    char *directory = scratch_directory("here"), before[4096];
    write_text(directory, "model.npz", "?");
    write_text(directory, "vocab.yml", "a: 0");
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(directory), 0);
    ferry_source *source = open_source("model.npz", "model.npz|vocab.yml|");
    check_text(source, "vocab.yml", "a: 0");
    ferry_source_close(source);
    assert_int_equal(chdir(before), 0);
}

TEST(test_gzip)
{
    char *directory = scratch_directory("gzip"), *path = in_directory(directory, "lex.gz");
    enum { SIZE = 3000000 }; /* larger than a megabyte when it is compressed, too */
    char *both = in_directory(directory, "twin.gz"), *text = kept_memory(SIZE + 1);
    made_file file = {.size = 0};
    uint32_t random = 1;
    for (size_t i = 0; i < SIZE; i++) text[i] = (char)('a' + next_random(&random) % 26);
    put_gzip(&file, &(repeated){"", {text, 200000}, 1, ""});
    write_bytes(both, file.data, file.size);
    put_gzip(&file, &(repeated){"", {text + 200000, SIZE - 200000}, 1, ""}); /* two streams, one after the other */
    write_bytes(path, file.data, file.size);
    write_text(directory, "twin", "plain");
    write_bytes(in_directory(directory, "a.gz"), file.data, file.size); /* the first, with a twin */
    write_text(directory, "a", "also plain");
    write_text(directory, "broken.gz", "no gzip");
    write_text(directory, "empty.gz", "");
    ferry_source *source = open_source(directory, "a|broken|empty|lex|twin|");
    check_text(source, "lex", text);
    assert_int_equal(ferry_source_read_bytes(source), file.size);
    check_text(source, "twin", "plain");
    check_text(source, "a", "also plain");
    check_read(source, 0, "lex.gz", file.size, NULL);
    refuse_file(source, "broken", FERRY_ERROR_FORMAT, "gzip/broken.gz: cannot be inflated: damaged or cut off");
    refuse_file(source, "broken", FERRY_ERROR_FORMAT, "gzip/broken.gz: cannot be inflated: damaged or cut off");
    refuse_file(source, "empty", FERRY_ERROR_FORMAT, "gzip/empty.gz: cannot be inflated: damaged or cut off");
    ferry_source_close(source);
    source = open_source(path, "a|broken|empty|lex|twin|");
    assert_string_equal(source->selected, "lex");
    ferry_source_close(source);
    write_bytes(path, file.data, file.size - 1);
    source = open_source(directory, "a|broken|empty|lex|twin|");
    refuse_file(source, "lex", FERRY_ERROR_FORMAT, "lex.gz: cannot be inflated: damaged or cut off");
    ferry_source_close(source);
}

TEST(test_refusals)
{
    ferry_source *source;
    char *directory = scratch_directory("pointers"), *archive = in_directory(directory, "evil.zip");
    write_text(directory, "model.bin", "version https://git-lfs.github.com/spec/v1\noid sha256:00\n");
    source = open_source(directory, "model.bin|");
    refuse_file(source, "model.bin", FERRY_ERROR_UNSUPPORTED, "pointers/model.bin: this is a Git LFS pointer");
    assert_int_equal(source->read_count, 0);
    ferry_source_close(source);
    const zip_part evil[] = {{"../config.json", "{}", 2}};
    write_zip(archive, evil, 1);
    REFUSE(ferry_source_open(archive, 0, &source, &error), FERRY_ERROR_FORMAT, "");
    assert_null(source);
}
