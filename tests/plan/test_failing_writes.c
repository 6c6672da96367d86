/* A disk that is full, or fails, at each call that writes: a conversion that inflates a file ends with an error that
 * says so, a file that was there before stays as it was, and no other is left. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/made_marian.h"
#include "tests/support/make_zip.h"

#include "base/files/file_system.h"

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

/* A call that may fail instead, where it writes. */
#define FAILING(type, name, parameters, arguments, writes)                                                             \
    type __real_##name parameters;                                                                                     \
    type __wrap_##name parameters;                                                                                     \
    type __wrap_##name parameters                                                                                      \
    {                                                                                                                  \
        return (writes) && fails() ? -1 : __real_##name arguments;                                                     \
    }
FAILING(ssize_t, write, (int descriptor, const void *data, size_t size), (descriptor, data, size), true)
FAILING(ssize_t, pwrite, (int descriptor, const void *data, size_t size, off_t offset),
        (descriptor, data, size, offset), true)
FAILING(int, openat, (int folder, const char *path, int flags, mode_t mode), (folder, path, flags, mode),
        (flags & O_ACCMODE) != O_RDONLY)
FAILING(int, mkstemp, (char *path), (path), true)
FAILING(int, fsync, (int descriptor), (descriptor), true)
FAILING(int, renameat, (int from_folder, const char *from, int to_folder, const char *to),
        (from_folder, from, to_folder, to), true)

/* ---- a conversion ---- */

static const char before[] = "a file that was there";

static size_t count_entries(const char *folder)
{
    size_t count = 0;
    ferry_folder *list = ferry_folder_open(folder);
    assert_non_null(list);
    while (ferry_folder_next(list) != NULL) count++;
    ferry_folder_close(list);
    return count;
}

/* Converts again and again, until no call fails. */
TEST(test_a_compressed_file)
{
    const char *source = marian_folder(&(marian_kind){.ties = MARIAN_TIED_ALL}), *temporary = scratch_directory("tmp");
    const char *folder = scratch_directory("compressed"), *output = in_directory(folder, "model.gguf");
    const char *old_place = getenv("TMPDIR");
    made_file packed = {.size = 0};
    put_gzip(&packed, &(repeated){"", mapped_bytes(in_directory(source, "vocab.txt")), 1, ""});
    write_bytes(in_directory(source, "vocab.txt.gz"), packed.data, packed.size);
    assert_int_equal(unlink(in_directory(source, "vocab.txt")), 0);
    write_bytes(output, before, sizeof before);
    const size_t entries = count_entries(folder), temporaries = count_entries(temporary);
    for (size_t number = 1; number == 1 || has_failed; number++) {
        ferry_error error = {0};
        assert_int_equal(setenv("TMPDIR", temporary, 1), 0);
        calls = 0;
        has_failed = false;
        first_failure = number;
        const ferry_status status = ferry_import(source, output, NULL, &error);
        first_failure = 0;
        assert_int_equal(old_place != NULL ? setenv("TMPDIR", old_place, 1) : unsetenv("TMPDIR"), 0);
        assert_int_equal(count_entries(folder), entries);
        assert_int_equal(count_entries(temporary), temporaries);
        if (status != (has_failed ? FERRY_ERROR_IO : FERRY_OK)) fail_msg("call %zu: %s", number, error.message);
        if (!has_failed) continue;
        assert_non_null(strstr(error.message, strerror(ENOSPC)));
        assert_true(ferry_view_equal(mapped_bytes(output), (ferry_view){before, sizeof before}));
    }
    assert_true(calls > 20);
    ferry_model *model;
    CHECK(ferry_model_open(output, 0, &model, &error));
    CHECK(ferry_model_verify(model, &error));
    ferry_model_close(model);
}
