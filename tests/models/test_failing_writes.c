/* A disk that is full, or fails, at each call that writes: a conversion ends with an error that says so, a file that
 * was there before stays as it was, and no other is left. And two conversions into one file at once. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "tests/support/import_support.h"
#include "tests/support/made_marian.h"

#include "models/plan/gguf_write.h"

/* ---- calls that fail, in order ---- */

static size_t calls, first_failure;
static bool has_failed;

/* Whether this call, of those that write, fails: one alone, as all that follow clean up. */
static bool fails(void)
{
    if (++calls != first_failure) return false;
    has_failed = true;
    errno = ENOSPC;
    return true;
}

size_t __real_fwrite(const void *data, size_t size, size_t count, FILE *file);
ssize_t __real_write(int descriptor, const void *data, size_t size);
ssize_t __real_pwrite(int descriptor, const void *data, size_t size, off_t offset);
FILE *__real_fopen(const char *path, const char *mode);
int __real_open(const char *path, int flags, ...);
int __real_openat(int folder, const char *path, int flags, ...);
int __real_mkstemp(char *path);
int __real_fclose(FILE *file);
int __real_fflush(FILE *file);
int __real_fseek(FILE *file, long offset, int origin);
int __real_ftruncate(int descriptor, off_t size);
int __real_fsync(int descriptor);
int __real_rename(const char *from, const char *to);
int __real_renameat(int from_folder, const char *from, int to_folder, const char *to);
size_t __wrap_fwrite(const void *data, size_t size, size_t count, FILE *file);
ssize_t __wrap_write(int descriptor, const void *data, size_t size);
ssize_t __wrap_pwrite(int descriptor, const void *data, size_t size, off_t offset);
FILE *__wrap_fopen(const char *path, const char *mode);
int __wrap_open(const char *path, int flags, ...);
int __wrap_openat(int folder, const char *path, int flags, ...);
int __wrap_mkstemp(char *path);
int __wrap_fclose(FILE *file);
int __wrap_fflush(FILE *file);
int __wrap_fseek(FILE *file, long offset, int origin);
int __wrap_ftruncate(int descriptor, off_t size);
int __wrap_fsync(int descriptor);
int __wrap_rename(const char *from, const char *to);
int __wrap_renameat(int from_folder, const char *from, int to_folder, const char *to);

size_t __wrap_fwrite(const void *data, size_t size, size_t count, FILE *file)
{
    return fails() ? 0 : __real_fwrite(data, size, count, file);
}

ssize_t __wrap_write(int descriptor, const void *data, size_t size)
{
    return fails() ? -1 : __real_write(descriptor, data, size);
}

ssize_t __wrap_pwrite(int descriptor, const void *data, size_t size, off_t offset)
{
    return fails() ? -1 : __real_pwrite(descriptor, data, size, offset);
}

FILE *__wrap_fopen(const char *path, const char *mode)
{
    return mode[0] != 'r' && fails() ? NULL : __real_fopen(path, mode);
}

int __wrap_open(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    return (flags & O_ACCMODE) != O_RDONLY && fails() ? -1 : __real_open(path, flags, mode);
}

int __wrap_openat(int folder, const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    return (flags & O_ACCMODE) != O_RDONLY && fails() ? -1 : __real_openat(folder, path, flags, mode);
}

int __wrap_mkstemp(char *path)
{
    return fails() ? -1 : __real_mkstemp(path);
}

int __wrap_fclose(FILE *file)
{
    const int result = __real_fclose(file);
    return fails() ? EOF : result;
}

int __wrap_fflush(FILE *file)
{
    return fails() ? EOF : __real_fflush(file);
}

int __wrap_fseek(FILE *file, long offset, int origin)
{
    return fails() ? -1 : __real_fseek(file, offset, origin);
}

int __wrap_ftruncate(int descriptor, off_t size)
{
    return fails() ? -1 : __real_ftruncate(descriptor, size);
}

int __wrap_fsync(int descriptor)
{
    return fails() ? -1 : __real_fsync(descriptor);
}

int __wrap_rename(const char *from, const char *to)
{
    return fails() ? -1 : __real_rename(from, to);
}

int __wrap_renameat(int from_folder, const char *from, int to_folder, const char *to)
{
    return fails() ? -1 : __real_renameat(from_folder, from, to_folder, to);
}

/* ---- conversions ---- */

static const char before[] = "a file that was there";

static size_t count_entries(const char *folder)
{
    size_t count = 0;
    DIR *directory = opendir(folder);
    assert_non_null(directory);
    while (readdir(directory) != NULL) count++;
    closedir(directory);
    return count;
}

static void check_failure(size_t number, ferry_status status, const ferry_error *error, const char *output)
{
    if (status != FERRY_ERROR_IO || strstr(error->message, strerror(ENOSPC)) == NULL)
        fail_msg("call %zu: status %d, '%s'", number, (int)status, error->message);
    const made_file found = file_copy(output);
    assert_int_equal(found.size, sizeof before);
    assert_memory_equal(found.data, before, sizeof before);
}

/* Converts `source` again and again, until no call fails. */
static void fail_each_write(const char *source, const char *name)
{
    const char *folder = scratch_directory(name), *temporary = in_directory(folder, "temporary");
    const char *output = in_directory(folder, "model.gguf");
    assert_int_equal(mkdir(temporary, 0700), 0);
    assert_int_equal(setenv("TMPDIR", temporary, 1), 0);
    for (size_t number = 1; number == 1 || has_failed; number++) {
        ferry_error error = {0};
        write_bytes(output, before, sizeof before);
        const size_t entries = count_entries(folder), temporaries = count_entries(temporary);
        calls = 0;
        has_failed = false;
        first_failure = number;
        const ferry_status status = ferry_import(source, output, NULL, &error);
        first_failure = 0;
        assert_int_equal(count_entries(folder), entries);
        assert_int_equal(count_entries(temporary), temporaries);
        if (has_failed)
            check_failure(number, status, &error, output);
        else
            assert_int_equal(status, FERRY_OK);
        if (!has_failed) print_message("%s: each of %zu calls failed\n", source, calls);
    }
    unsetenv("TMPDIR");
    ferry_model *model;
    CHECK(ferry_model_open(output, 0, &model, &error));
    CHECK(ferry_model_verify(model, &error));
    ferry_model_close(model);
}

TEST(test_a_folder)
{
    fail_each_write(marian_folder(&(marian_kind){.ties = MARIAN_TIED_ALL}), "plain");
}

/* Inflated into a temporary file. */
TEST(test_a_compressed_file)
{
    const char *folder = marian_folder(&(marian_kind){.ties = MARIAN_TIED_ALL});
    const char *plain = in_directory(folder, "vocab.txt");
    const ferry_view text = mapped_bytes(plain);
    gzFile file = gzopen(in_directory(folder, "vocab.txt.gz"), "wb");
    assert_int_equal(gzwrite(file, text.data, (unsigned)text.size), text.size);
    assert_int_equal(gzclose(file), Z_OK);
    assert_int_equal(unlink(plain), 0);
    fail_each_write(folder, "compressed");
}

/* ---- two at once ---- */

static ferry_gguf_writer *begin_file(const char *path, const char *name, const int64_t *size)
{
    ferry_gguf_writer *writer;
    CHECK(ferry_gguf_writer_create(path, &writer, &error));
    ferry_gguf_put_string(writer, "general.name", name);
    ferry_gguf_declare(writer, "tensor", FERRY_F32, 1, size);
    CHECK(ferry_gguf_writer_start(writer, &error));
    return writer;
}

/* Whoever finishes last has written the file. */
TEST(test_two_writers_of_one_file)
{
    static const float ones[1 << 15] = {1, 1}, twos[1 << 14] = {2, 2};
    const int64_t sizes[] = {COUNT(ones), COUNT(twos)};
    const char *folder = scratch_directory("two"), *path = in_directory(folder, "model.gguf");
    ferry_gguf gguf;
    ferry_gguf_writer *first = begin_file(path, "first", &sizes[0]), *second = begin_file(path, "second", &sizes[1]);
    CHECK(ferry_gguf_writer_append(second, twos, sizeof twos, &error));
    CHECK(ferry_gguf_writer_append(first, ones, sizeof ones, &error));
    CHECK(ferry_gguf_writer_finish(first, &error));
    CHECK(ferry_gguf_writer_finish(second, &error));
    ferry_gguf_writer_destroy(first);
    ferry_gguf_writer_destroy(second);
    CHECK(ferry_gguf_open(mapped_bytes(path), path, &gguf, &error));
    assert_memory_equal(ferry_gguf_tensor(&gguf, "tensor")->data, twos, sizeof twos);
    assert_int_equal(ferry_gguf_tensor(&gguf, "tensor")->bytes, sizeof twos);
    ferry_gguf_close(&gguf);
    assert_int_equal(count_entries(folder), 3);
}
