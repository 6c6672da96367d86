/* Files that the program puts in place, while the disk fails or a signal comes at each call of the system: either the
 * old file stays or the new one is complete, and nothing else is left. */
#define _GNU_SOURCE /* fork, SIGXCPU, MAP_ANONYMOUS */
#include "tests/support/files.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/command.h"
#include "tools/conversion_cache.h"
#include "tools/output_file.h"
#include "tools/progress.h"

/* ---- calls of the system ---- */

typedef enum trouble { NOTHING, SIGNAL, FAILURE, SHORT_WRITE } trouble;

typedef struct trouble_plan {
    pid_t process;       /* that gets the signal, whichever calls */
    atomic_bool awaited; /* a confined child, which may not send it, waits until it is sent */
    trouble trouble;
    int number; /* the signal, or errno */
    int at;     /* the call, from 1; 0: each */
    int calls;
    bool guessed; /* the random name is ferry-1111111111111111.part */
} trouble_plan;
static trouble_plan nothing_yet, *plan = &nothing_yet; /* then shared with child processes */

static void clear_plan(void)
{
    if (plan == &nothing_yet)
        plan = mmap(NULL, sizeof *plan, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(plan != MAP_FAILED);
    memset(plan, 0, sizeof *plan);
}

static void send_signal(void)
{
    if (getpid() == plan->process)
        raise(plan->number);
    else
        for (plan->awaited = true; plan->awaited;) usleep(20);
}

/* Whether the call fails. */
static bool troubled(void)
{
    plan->calls++;
    if (plan->at != 0 && plan->at != plan->calls) return false;
    if (plan->trouble == SIGNAL) send_signal();
    errno = plan->number;
    return plan->trouble == FAILURE;
}

/* Instead of those that base/files/new_file.c calls (--wrap). */
int __wrap_openat(int directory, const char *path, int flags, mode_t mode);
ssize_t __wrap_pwrite(int descriptor, const void *data, size_t size, off_t offset);
int __wrap_fsync(int descriptor);
int __wrap_renameat(int a, const char *from, int b, const char *to);
int __wrap_getentropy(void *data, size_t size);
int __real_openat(int directory, const char *path, int flags, mode_t mode);
ssize_t __real_pwrite(int descriptor, const void *data, size_t size, off_t offset);
int __real_renameat(int a, const char *from, int b, const char *to);
int __real_getentropy(void *data, size_t size);

int __wrap_openat(int directory, const char *path, int flags, mode_t mode)
{
    return troubled() ? -1 : __real_openat(directory, path, flags, mode);
}

ssize_t __wrap_pwrite(int descriptor, const void *data, size_t size, off_t offset)
{
    const bool shortened = plan->trouble == SHORT_WRITE && size > 1;
    return troubled() ? -1 : __real_pwrite(descriptor, data, shortened ? size / 2 : size, offset);
}

int __wrap_fsync(int descriptor)
{
    (void)descriptor; /* a thousand waits for the disk are of no use here */
    return troubled() ? -1 : 0;
}

int __wrap_renameat(int a, const char *from, int b, const char *to)
{
    return troubled() ? -1 : __real_renameat(a, from, b, to);
}

int __wrap_getentropy(void *data, size_t size)
{
    if (!plan->guessed) return __real_getentropy(data, size);
    memset(data, 0x11, size);
    return 0;
}

/* ---- two ways of the program to make a file ---- */

static bool convert(const char *path)
{
    static const ferry_import_options options = {.type = FERRY_I8};
    ferry_error error;
    ferry_conversion conversion = {.quiet = true};
    return ferry_succeeded(ferry_convert(data_file("positions/none-post"), path, &options, &conversion, &error),
                           &error);
}

static bool write_picture(FILE *out, const void *user)
{
    return fputs(user, out) >= 0;
}

static bool save(const char *path)
{
    return ferry_output_complete(path, write_picture, "a picture");
}

typedef bool maker(const char *path);
static maker *const makers[] = {convert, save};

static const char old[] = "what was there";

typedef struct job {
    maker *make;
    char *path;
    ferry_view expected;
    int calls;
} job;

static job begin(size_t index, const char *folder)
{
    job j = {.make = makers[index], .path = in_directory(scratch_directory(folder), "file")};
    clear_plan();
    assert_true(j.make(j.path));
    j.calls = plan->calls;
    const made_file copy = file_copy(j.path);
    j.expected = (ferry_view){(const char *)copy.data, copy.size};
    return j;
}

/* Makes the file again, in trouble at call `at`, in a process of its own, since a signal ends it; its messages go to
 * the file `messages`. Returns its status for wait. */
static int run(const job *j, trouble kind, int number, int at)
{
    write_bytes(j->path, old, strlen(old));
    plan->awaited = false;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (freopen(scratch_file("messages"), "wb", stderr) == NULL) _exit(2);
        plan->process = getpid();
        plan->calls = 0;
        plan->trouble = kind;
        plan->number = number;
        plan->at = at;
        const bool made = j->make(j->path);
        fflush(stderr);
        _exit(made ? 0 : 1);
    }
    int status;
    pid_t ended;
    while ((ended = waitpid(child, &status, WNOHANG)) == 0) {
        if (plan->awaited && kill(child, number) == 0) plan->awaited = false;
        usleep(20);
    }
    assert_int_equal(ended, child);
    assert_int_equal(unfinished_files(j->path), 0);
    return status;
}

static bool has_old_file(const job *j)
{
    const ferry_view found = mapped_bytes(j->path);
    const bool is_old = has_text(found, old);
    assert_true(is_old || ferry_view_equal(found, j->expected));
    return is_old;
}

/* ---- the tests ---- */

/* The call to try after call `at`: each of the first and of the last ones, some of the many between them. */
static int next_call(const job *j, int at)
{
    const int last = j->calls - 5, next = at + 1 + (at > 16 ? at / 8 : 0);
    return next > last && at < last ? last : next > last ? at + 1 : next;
}

static void stop_each(const job *j, int signal)
{
    for (int at = 1; at <= j->calls; at = next_call(j, at)) {
        const int status = run(j, SIGNAL, signal, at);
        if (!WIFSIGNALED(status) || WTERMSIG(status) != signal)
            fail_msg("signal %d at call %d of %d: status %d", signal, at, j->calls, status);
        if (at == 1) assert_int_equal(has_old_file(j), j->make == convert);
        if (at == j->calls) assert_false(has_old_file(j)); /* it came with the renaming */
    }
}

TEST(test_signals)
{
    static const int signals[] = {SIGHUP, SIGINT, SIGPIPE, SIGTERM, SIGXCPU};
    const job model = begin(0, "model"), picture = begin(1, "picture");
    assert_true(model.calls > 50);
    stop_each(&model, SIGTERM);
    for (size_t i = 0; i < COUNT(signals); i++) {
        signal(signals[i], SIG_DFL); /* a shell's background jobs ignore some */
        stop_each(&picture, signals[i]);
        run(&model, SIGNAL, signals[i], model.calls / 2);
        assert_true(has_old_file(&model));
    }
}

/* Every one of the calls gets a signal that the program's caller wants to be ignored. */
TEST(test_ignored_signal)
{
    const job model = begin(0, "ignored");
    signal(SIGINT, SIG_IGN);
    const int status = run(&model, SIGNAL, SIGINT, 0);
    signal(SIGINT, SIG_DFL);
    assert_int_equal(status, 0);
    assert_false(has_old_file(&model));
}

/* (tests/plan/test_failing_writes.c: of conversions.) */
TEST(test_failures)
{
    static const struct {
        int number;
        const char *what;
    } rows[] = {{ENOSPC, "No space left on device"}, {EIO, "Input/output error"}};
    const job j = begin(1, "failing");
    for (int at = 1; at <= j.calls; at++) {
        const int status = run(&j, FAILURE, rows[at % 2].number, at);
        const ferry_view said = mapped_bytes(scratch_file("messages"));
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 1) fail_msg("call %d: status %d", at, status);
        assert_true(has_old_file(&j));
        if (!ferry_view_contains(said, rows[at % 2].what) || !ferry_view_contains(said, j.path))
            fail_msg("call %d of %d: %.*s", at, j.calls, (int)said.size, said.data);
    }
}

/* Even what has the temporary file's name stays: a link and its target, a file. */
TEST(test_guessed_name)
{
    static const char name[] = "ferry-1111111111111111.part";
    char *folder = scratch_directory("guessed"), *victim = in_directory(folder, "victim");
    char *path = in_directory(folder, "file");
    write_text(folder, "victim", "precious");
    link_file("victim", folder, name);
    clear_plan();
    plan->guessed = true;
    assert_false(save(path));
    assert_true(has_text(mapped_bytes(victim), "precious"));
    assert_int_equal(unfinished_files(path), 1);
    write_text(folder, name, "mine");
    assert_false(save(path));
    assert_true(has_text(mapped_bytes(in_directory(folder, name)), "mine"));
    assert_int_equal(unlink(in_directory(folder, name)), 0);
    assert_true(save(path));
    assert_int_equal(unfinished_files(path), 0);
    plan->guessed = false;
}

/* Of a translation nothing is cut: a piece may be the byte 0, or the end of a line. */
TEST(test_any_byte_is_written)
{
    static const char text[] = "a\0b\nc\0";
    const char *path = scratch_file("text");
    FILE *out = fopen(path, "wb");
    assert_non_null(out);
    ferry_output_text(out, (ferry_text){text, sizeof text - 1});
    assert_int_equal(fclose(out), 0);
    assert_true(ferry_view_equal(mapped_bytes(path), (ferry_view){"a\0b c\0", 6}));
}

TEST(test_groups_of_digits)
{
    static const struct {
        uint64_t number;
        const char *text;
    } rows[] = {{0, "0"},
                {999, "999"},
                {1000, "1,000"},
                {12345, "12,345"},
                {123456, "123,456"},
                {1000000, "1,000,000"},
                {UINT64_MAX, "18,446,744,073,709,551,615"}};
    for (size_t i = 0; i < COUNT(rows); i++) assert_string_equal(ferry_group_digits(rows[i].number).text, rows[i].text);
}

/* What the system may do without failing. */
TEST(test_interrupted_calls)
{
    const job j = begin(1, "slow");
    assert_int_equal(run(&j, SHORT_WRITE, 0, 0), 0);
    assert_false(has_old_file(&j));
    for (int at = j.calls - 2; at < j.calls; at++) { /* the last pwrite, fsync */
        assert_int_equal(run(&j, FAILURE, EINTR, at), 0);
        assert_false(has_old_file(&j));
    }
    assert_int_equal(run(&j, FAILURE, EINVAL, j.calls - 1), 0); /* files that cannot be synchronized */
    assert_false(has_old_file(&j));
}
