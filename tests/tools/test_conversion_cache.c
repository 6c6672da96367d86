/* The cache while a model is converted: a converter of the test's own does what other processes may do meanwhile. */
#define _GNU_SOURCE /* and what POSIX has for files */
#include "tests/support/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tools/command.h"
#include "tools/conversion_cache.h"

static char *source, *folder, *temporary;     /* the model's, the cache's, and one for temporary files */
static char messages[4096];                   /* of the current test */
static int conversions;                       /* of the current test */
static const char *full_disk;                 /* a folder that nothing can be written to */
static void (*meanwhile)(const char *output); /* NULL: nothing happens */

void ferry_complain(const char *format, ...)
{
    const size_t size = strlen(messages);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(messages + size, sizeof messages - size, format, arguments);
    va_end(arguments);
}

/* "Converts" a source into the contents of its configuration. */
ferry_status ferry_convert(const char *path, const char *output, const ferry_import_options *options,
                           ferry_conversion *conversion, ferry_error *error)
{
    if (full_disk != NULL && ferry_text_begins(output, full_disk))
        return ferry_fail(error, FERRY_ERROR_IO, "%s: cannot write: No space left on device", output);
    assert_string_equal(path, source);
    assert_int_equal(options->type, FERRY_F32);
    assert_true(conversion->quiet);
    const made_file config = file_copy(in_directory(path, "config.json"));
    conversions++;
    if (meanwhile != NULL) meanwhile(output);
    FILE *file = fopen(output, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(config.data, 1, config.size, file), config.size);
    fclose(file);
    return FERRY_OK;
}

void *ferry_allocate(size_t count, size_t size)
{
    return calloc(count, size);
}

bool ferry_succeeded(ferry_status status, const ferry_error *error)
{
    if (status != FERRY_OK) ferry_complain("%s", error->message);
    return status == FERRY_OK;
}

/* In place, with this time of reading and writing. */
static struct stat write_config_at(struct timespec time, const char *text)
{
    const char *path = in_directory(source, "config.json");
    const struct timespec times[] = {time, time};
    struct stat status;
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    assert_int_equal(stat(path, &status), 0);
    return status;
}

/* At a time of its own: the clock of a file system may tick only every few milliseconds. */
static void write_config(const char *text)
{
    static time_t now;
    write_config_at((struct timespec){.tv_sec = now++}, text);
}

/* ---- each test has a source and a cache of its own ---- */

static int set_up(void **state)
{
    (void)state;
    char *home = new_scratch_file("test");
    source = in_directory(home, "source");
    folder = in_directory(home, "ferry");
    temporary = in_directory(home, "temporary");
    assert_int_equal(mkdir(home, 0700) | mkdir(source, 0700) | mkdir(temporary, 0700), 0);
    write_config("first");
    setenv("XDG_CACHE_HOME", home, 1);
    full_disk = NULL;
    messages[0] = '\0';
    conversions = 0;
    meanwhile = NULL;
    return 0;
}

static int count_files(const char *path)
{
    int count = 0;
    DIR *directory = opendir(path);
    assert_non_null(directory);
    for (const struct dirent *entry; (entry = readdir(directory)) != NULL;) count += entry->d_name[0] != '.';
    closedir(directory);
    return count;
}

/* The source means this model, in a file of this folder. */
static void expect_model_in(const char *place, const char *text)
{
    char file[FERRY_PATH_MAX], found[64] = "";
    int descriptor;
    if (!ferry_find_model_file(source, true, &descriptor, file)) fail_msg("%s", messages);
    assert_true(read(descriptor, found, sizeof found - 1) >= 0);
    close(descriptor);
    assert_string_equal(found, text);
    assert_string_equal(messages, "");
    assert_int_equal(strncmp(file, place, strlen(place)), 0);
}

/* After so many conversions in all. */
static void expect_model(const char *text, int count)
{
    expect_model_in(folder, text);
    if (conversions != count) fail_msg("expected %d conversions, found %d", count, conversions);
}

/* The same, in a temporary file, which is removed by then. */
static void expect_temporary_model(const char *text)
{
    setenv("TMPDIR", temporary, 1);
    expect_model_in(temporary, text);
    assert_int_equal(count_files(temporary), 0);
    unsetenv("TMPDIR");
}

static void expect_refusal(const char *what)
{
    char file[FERRY_PATH_MAX];
    int descriptor;
    assert_false(ferry_find_model_file(source, true, &descriptor, file));
    assert_int_equal(descriptor, -1);
    if (strstr(messages, what) == NULL) fail_msg("expected '%s', found '%s'", what, messages);
}

/* ---- the source changes ---- */

static void change_once(const char *output)
{
    (void)output;
    if (conversions == 1) write_config("other"); /* the size stays */
}

TEST_WITH(test_a_change_is_converted_again, set_up, NULL)
{
    meanwhile = change_once;
    expect_model("other", 2);
    expect_model("other", 2);
    assert_int_equal(count_files(folder), 1);
    write_config("first");
    expect_model("first", 3);
}

static void change_always(const char *output)
{
    (void)output;
    write_config(ferry_format("number %d", conversions).text);
}

/* Of the same size: only parts of a second tell. */
TEST_WITH(test_a_change_within_a_second, set_up, NULL)
{
    struct stat first, other;
    int count = 0;
    do {
        first = write_config_at((struct timespec){.tv_nsec = 1000000}, "first");
        expect_model("first", ++count);
        other = write_config_at((struct timespec){.tv_nsec = 2000000}, "other");
        expect_model("other", ++count);
    } while (first.st_ctim.tv_sec != other.st_ctim.tv_sec); /* another second by the system's clock: once more */
}

TEST_WITH(test_changes_without_end, set_up, NULL)
{
    meanwhile = change_always;
    expect_refusal("source: changes while it is converted; try again when its files are complete");
    assert_int_equal(conversions, 2);
    assert_int_equal(count_files(folder), 0);
}

static void remove_source(const char *output)
{
    (void)output;
    assert_int_equal(rename(source, ferry_format("%s-away", source).text), 0);
}

TEST_WITH(test_a_source_that_goes, set_up, NULL)
{
    meanwhile = remove_source;
    expect_refusal("source: cannot open: No such file or directory");
    assert_int_equal(count_files(folder), 0);
}

/* ---- the folder changes ---- */

/* In its place: a folder of the same user, which the file is written to. */
static void exchange_folder(const char *output)
{
    (void)output;
    meanwhile = NULL;
    assert_int_equal(rename(folder, ferry_format("%s-away", folder).text), 0);
    assert_int_equal(mkdir(folder, 0700), 0);
}

TEST_WITH(test_an_exchanged_folder, set_up, NULL)
{
    meanwhile = exchange_folder;
    expect_temporary_model("first");
    assert_int_equal(conversions, 2);
    expect_model("first", 3);
}

/* Others cannot open the file before its permissions are those of an entry. */
static void check_permissions(const char *output)
{
    struct stat status;
    const int file = open(output, O_CREAT | O_WRONLY, 0666);
    assert_int_equal(fstat(file, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    close(file);
}

TEST_WITH(test_permissions, set_up, NULL)
{
    const mode_t mask = umask(0);
    meanwhile = check_permissions;
    expect_model("first", 1);
    assert_int_equal(umask(mask), 0);
}

static void open_to_others(const char *output)
{
    check_permissions(output);
    assert_int_equal(chmod(output, 0666), 0);
}

TEST_WITH(test_a_file_that_others_could_write, set_up, NULL)
{
    meanwhile = open_to_others;
    expect_refusal("with permissions 666");
    assert_int_equal(count_files(folder), 0);
}

/* ---- the cache cannot be used ---- */

TEST_WITH(test_a_full_disk, set_up, NULL)
{
    full_disk = folder;
    expect_temporary_model("first");
    assert_int_equal(conversions, 1);
    assert_int_equal(count_files(folder), 0);
    full_disk = "/"; /* temporary files, too */
    expect_refusal(".part: cannot write: No space left on device");
    full_disk = NULL;
    messages[0] = '\0';
    expect_model("first", 2);
}

TEST_WITH(test_no_folder, set_up, NULL)
{
    assert_int_equal(rmdir(folder) == 0 || errno == ENOENT, 1);
    assert_int_equal(close(open(folder, O_CREAT | O_WRONLY, 0600)), 0);
    expect_temporary_model("first");
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    expect_temporary_model("first");
    setenv("TMPDIR", "/nowhere", 1);
    expect_refusal("/nowhere: cannot open: No such file or directory");
    unsetenv("TMPDIR");
}

/* ---- other processes ---- */

static void convert_the_same(const char *output)
{
    (void)output;
    meanwhile = NULL;
    expect_model("first", 2);
}

TEST_WITH(test_two_at_once, set_up, NULL)
{
    meanwhile = convert_the_same;
    expect_model("first", 2);
    assert_int_equal(count_files(folder), 1);
    expect_model("first", 2);
}

/* ---- what is part of the state ---- */

TEST_WITH(test_every_file_counts, set_up, NULL)
{
    static const char *const names[] = {"a.bin",   "b.bin",  "vocab",         "a.bin.gz",  "a.json",
                                        "a.model", "a.npz",  "a.pt",          "a.s2t",     "a.spm",
                                        "a.yml",   "a.yaml", "a.safetensors", "a.sh",      "LICENSE",
                                        "a.vocab", "lex.en", "merges.txt",    "source.bpe"};
    static const char *const others[] = {"translation", ".hidden.bin", "a.bin2", "README.md"};
    expect_model("first", 1);
    for (int i = 0; i < (int)COUNT(names); i++) {
        write_text(source, names[i], "");
        expect_model("first", i + 2);
    }
    for (size_t i = 0; i < COUNT(others); i++) write_text(source, others[i], "");
    expect_model("first", 1 + (int)COUNT(names));
    /* Of folders, those right below the source. */
    const char *below = in_directory(source, "below"), *deeper = in_directory(below, "deeper");
    assert_int_equal(mkdir(below, 0700) | mkdir(deeper, 0700), 0);
    write_text(below, "a.bin", "");
    expect_model("first", 2 + (int)COUNT(names));
    write_text(deeper, "a.bin", "");
    expect_model("first", 2 + (int)COUNT(names));
}

__attribute__((format(printf, 1, 0))) static char *make_large(const char *format, const char *digits, off_t size)
{
    char *path = in_directory(folder, ferry_format(format, digits).text);
    write_bytes(path, "", 0);
    assert_int_equal(truncate(path, size), 0);
    return path;
}

/* An entry of 20 GB less what the new one has stays, of a byte more it goes; files of other names do not count. */
TEST_WITH(test_size_of_the_cache, set_up, NULL)
{
    static const char digits[] = "0123456789abcdef0123456789ABCDEF0123456789abcdef0123456789abcdef";
    const off_t most = 20000000000;
    assert_int_equal(mkdir(folder, 0700), 0);
    for (int more = 0; more < 2; more++) {
        write_config(more == 0 ? "one" : "two"); /* files of three bytes */
        const char *entry = make_large("a-%s.gguf", digits, most - 3 + more);
        const char *shorter = make_large("b-%s.gguf", digits + 1, most);
        const char *other = make_large("c-%s.ggux", digits, most);
        expect_model(more == 0 ? "one" : "two", 1 + more);
        assert_int_equal(access(entry, F_OK) == 0, more == 0);
        assert_int_equal(access(shorter, F_OK) | access(other, F_OK), 0);
    }
}
