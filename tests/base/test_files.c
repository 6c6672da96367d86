/* Files and folders with names beyond ASCII, on every system. */
#include "base/files/file_system.h"
#include "tools/system/folders.h"
#include "tools/system/terminal.h"

#include <errno.h>

#include "base/threads.h"
#include "tests/support/files.h"

/* Greek, Japanese, an emoji (two units of UTF-16), a combining character. */
#define NAME "Ωμέγα 日本語 \xF0\x9F\x9A\xA2 e\xCC\x81.bin"

static char *folder(void)
{
    static char *path;
    if (path == NULL) path = scratch_directory("ordner ü 日本");
    return path;
}

static void check_contents(const char *path, ferry_file_hold hold, const char *text)
{
    ferry_mapped_file file;
    CHECK(ferry_mapped_file_open(path, hold, &file, &error));
    assert_int_equal(file.bytes.size, strlen(text));
    assert_memory_equal(file.bytes.data, text, strlen(text));
    ferry_mapped_file_close(&file);
}

static bool is_binary(const char *name)
{
    return ferry_text_ends(name, ".bin");
}

TEST(test_a_file_is_written_replaced_and_found)
{
    char *path = in_directory(folder(), NAME), **names;
    size_t count;
    ferry_file_info info;
    CHECK(write_new_file(path, "one\nline\r\n\x1A after what ends a text on Windows\n",
                         &error)); /* nothing is translated */
    check_contents(path, FERRY_FILE_MAPPED, "one\nline\r\n\x1A after what ends a text on Windows\n");
    CHECK(write_new_file(path, "two", &error));
    check_contents(path, FERRY_FILE_COPIED, "two");
    assert_int_equal(unfinished_files(path), 0);
    assert_true(ferry_file_examine(path, &info));
    assert_int_equal(info.kind, FERRY_KIND_FILE);
    assert_int_equal(info.size, 3);
    assert_true(info.private_to_user);
    assert_true(ferry_folder_names(folder(), is_binary, &names, &count));
    assert_int_equal(count, 1);
    assert_string_equal(names[0], NAME);
    free(names[0]);
    free(names);
    char *real = ferry_path_real(path);
    assert_non_null(real);
    assert_string_equal(ferry_path_base(real), NAME);
    free(real);
    FILE *stream = ferry_stream_open(path, "rb");
    assert_non_null(stream);
    assert_int_equal(fgetc(stream), 't');
    fclose(stream);
}

TEST(test_what_is_no_file_is_refused)
{
    ferry_mapped_file file;
    REFUSE(ferry_mapped_file_open(in_directory(folder(), "missing"), FERRY_FILE_MAPPED, &file, &error), FERRY_ERROR_IO,
           "missing: cannot open: No such file or directory");
    REFUSE(ferry_mapped_file_open(folder(), FERRY_FILE_MAPPED, &file, &error), FERRY_ERROR_IO,
           "expected a regular file, found a directory");
    REFUSE(write_new_file(in_directory(folder(), "missing/file"), "text", &error), FERRY_ERROR_IO,
           "cannot create: No such file or directory");
    assert_null(ferry_folder_open(in_directory(folder(), "missing")));
    assert_int_equal(errno, ENOENT);
}

TEST(test_a_part_of_a_file_is_mapped)
{
    enum { SIZE = 200000, OFFSET = 70001 }; /* beyond one unit of mapping, and not on a page */
    char *path = in_directory(folder(), "part"), *bytes = kept_memory(SIZE);
    for (size_t i = 0; i < SIZE; i++) bytes[i] = (char)(i * 7 / 3);
    write_bytes(path, bytes, SIZE);
    ferry_file_info above, same;
    const int descriptor = ferry_folder_open_file(folder(), "part", &above);
    assert_true(descriptor >= 0);
    assert_true(ferry_file_examine(folder(), &same));
    assert_int_equal(above.number, same.number);
    for (ferry_file_hold hold = FERRY_FILE_MAPPED; hold <= FERRY_FILE_COPIED; hold++) {
        ferry_mapped_file file;
        CHECK(ferry_mapped_file_open_part(descriptor, "part", OFFSET, 100000, hold, &file, &error));
        assert_memory_equal(file.bytes.data, bytes + OFFSET, 100000);
        ferry_mapped_file_release(&file, 4096, 50000);
        assert_memory_equal(file.bytes.data, bytes + OFFSET, 100000);
        ferry_mapped_file_close(&file);
    }
    ferry_descriptor_close(descriptor);
    ferry_file_touch(path);
    assert_true(ferry_file_remove(path));
    assert_int_equal(ferry_folder_open_file(folder(), "part", &above), -1);
    assert_int_equal(errno, ENOENT);
}

TEST(test_spools_and_streams)
{
    enum { PIECE = 70000, PIECES = 50 };
    ferry_spool spool;
    ferry_mapped_file file;
    ferry_memory_stream stream;
    char *piece = kept_memory(PIECE);
    assert_true(ferry_spool_open(&spool));
    for (int i = 0; i < PIECES; i++) assert_true(ferry_spool_append(&spool, memset(piece, 'a' + i % 26, PIECE), PIECE));
    assert_true(ferry_spool_finish(&spool, &file));
    assert_int_equal(file.bytes.size, PIECE * PIECES);
    for (size_t i = 0; i < file.bytes.size; i += 997) assert_int_equal(file.bytes.data[i], 'a' + (int)(i / PIECE) % 26);
    ferry_mapped_file_close(&file);
    assert_true(ferry_memory_stream_open(&stream));
    fprintf(stream.file, "%zu lines\n%.6g", (size_t)2, 0.1);
    assert_true(ferry_memory_stream_close(&stream));
    assert_string_equal(stream.data, "2 lines\n0.1");
    assert_int_equal(stream.size, 11);
    free(stream.data);
}

/* ---- the rest of what only the system knows ---- */

static void add_one(void *user)
{
    ++*(int *)user;
}

static int calls;
static void count_call(void)
{
    calls++;
}

/* It grows by what is written, and shrinks with it. */
TEST(test_own_memory)
{
    enum { BYTES = 32 << 20, OTHER = 4 << 20 };
    const size_t before = ferry_own_memory();
    if (before == 0) return; /* the system does not tell */
    char *memory = ferry_pages_allocate(BYTES);
    assert_non_null(memory);
    memset(memory, 1, BYTES);
    assert_in_range(ferry_own_memory(), before + BYTES - OTHER, before + BYTES + OTHER);
    ferry_pages_release(memory, BYTES, false);
    assert_in_range(ferry_own_memory(), 1, before + OTHER);
}

TEST(test_threads_clocks_and_numbers)
{
    static ferry_once once = FERRY_ONCE_READY;
    ferry_thread thread;
    int runs = 0;
    uint8_t a[16] = {0}, b[16] = {0};
    char *end;
    const double before = ferry_clock(), cpu = ferry_thread_clock();
    assert_int_equal(ferry_thread_start(&thread, 256 << 10, add_one, &runs), 0);
    ferry_thread_join(&thread);
    assert_int_equal(runs, 1);
    for (int i = 0; i < 3; i++) ferry_call_once(&once, count_call);
    assert_int_equal(calls, 1);
    ferry_thread_sleep(0.02);
    assert_true(ferry_clock() >= before + 0.015);
    assert_true(ferry_thread_clock() >= cpu);
    assert_true(ferry_entropy(a, sizeof a) && ferry_entropy(b, sizeof b));
    assert_true(memcmp(a, b, sizeof a) != 0);
    assert_true(ferry_peak_memory() > 100000);
    const char *text = "-1.5e-3x";
    assert_true(ferry_parse_double(text, &end) == -1.5e-3);
    assert_ptr_equal(end, text + 7);
    assert_true(ferry_parse_double("0.1000000000000000055511151231257827", &end) == 0.1);
}
