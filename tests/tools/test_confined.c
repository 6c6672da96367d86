/* What a confined process can do, and what it cannot; and what becomes of a conversion whose child ends early. */
#define _GNU_SOURCE /* fork, syscall */
#include "tests/support/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/conversion_cache.h"
#include "tools/system/confined.h"

static char *outside, *source, *temporary; /* folders */

/* ---- in a child that is confined ---- */

typedef bool attempt(void);

static bool opens(char *folder, const char *name, int flags)
{
    const int file = open(in_directory(folder, name), flags | O_CLOEXEC, 0600);
    return file >= 0 && close(file) == 0;
}

static bool read_source(void)
{
    char text[8] = "";
    const int file = open(in_directory(source, "config"), O_RDONLY);
    return file >= 0 && read(file, text, sizeof text) == 4 && memcmp(text, "mine", 4) == 0;
}

static bool list_source(void)
{
    return opendir(source) != NULL;
}

static bool read_link_target(void)
{
    return opens(source, "blob", O_RDONLY) && opens(source, "shared/weights", O_RDONLY) &&
           opens(source, "model/blob", O_RDONLY);
}

static bool use_temporary_file(void)
{
    const char *path = in_directory(temporary, "new");
    const int file = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
    return file >= 0 && write(file, "x", 1) == 1 && ftruncate(file, 0) == 0 && unlink(path) == 0;
}

static bool read_outside(void)
{
    return opens(outside, "secret", O_RDONLY);
}

static bool read_unlinked_blob(void)
{
    return opens(outside, "blobs/other", O_RDONLY);
}

static bool write_source(void)
{
    return opens(source, "config", O_WRONLY);
}

static bool create_outside(void)
{
    return opens(outside, "new", O_WRONLY | O_CREAT);
}

static bool rename_outside(void)
{
    return rename(in_directory(outside, "secret"), in_directory(outside, "moved")) == 0;
}

static bool rename_into_temporary(void)
{
    return rename(in_directory(outside, "secret"), in_directory(temporary, "moved")) == 0;
}

static bool remove_outside(void)
{
    return unlink(in_directory(outside, "secret")) == 0;
}

static bool make_folder(void)
{
    return mkdir(in_directory(temporary, "folder"), 0700) == 0;
}

static bool run_program(void)
{
    execl("/bin/true", "true", (char *)NULL); /* which would end the child with 0 */
    return false;
}

static bool truncate_outside(void)
{
    return truncate(in_directory(outside, "secret"), 0) == 0;
}

/* Of a file that Landlock would permit. */
static bool truncate_by_name(void)
{
    const char *path = in_directory(temporary, "new");
    const int file = open(path, O_WRONLY | O_CREAT, 0600);
    return file >= 0 && close(file) == 0 && truncate(path, 1) == 0;
}

static bool open_udp(void)
{
    return socket(AF_INET, SOCK_DGRAM, 0) >= 0;
}

#if defined(__x86_64__)
/* socket(2) of programs with 32-bit pointers: another number for the same call. */
static bool open_udp_x32(void)
{
    return syscall(0x40000000 | SYS_socket, AF_INET, SOCK_DGRAM, 0) >= 0 || errno != EPERM;
}

static void stop(int number)
{
    (void)number;
    _exit(1);
}

/* socket(2) of i386, whose numbers are others; a system without that ends the process by SIGSEGV. */
static bool open_udp_i386(void)
{
    enum { SOCKET = 359 };
    long answer;
    signal(SIGSEGV, stop);
    __asm__ volatile("int $0x80"
                     : "=a"(answer)
                     : "a"((long)SOCKET), "b"((long)AF_INET), "c"((long)SOCK_DGRAM), "d"(0L)
                     : "memory", "r8", "r9", "r10", "r11");
    return answer != -EPERM;
}
#endif

static bool open_unix(void)
{
    return socket(AF_UNIX, SOCK_STREAM, 0) >= 0;
}

static bool open_ring(void)
{
    char parameters[256] = {0};
    return syscall(SYS_io_uring_setup, 1, parameters) >= 0;
}

static bool start_process(void)
{
    const pid_t process = fork();
    if (process == 0) _exit(0);
    return process > 0;
}

static const struct {
    const char *name;
    attempt *try;
    unsigned refused_by; /* 0: must work */
} attempts[] = {
    {"read_source", read_source, 0},
    {"list_source", list_source, 0},
    {"read_link_target", read_link_target, 0},
    {"use_temporary_file", use_temporary_file, 0},
    {"read_outside", read_outside, FERRY_REFUSED_FILES},
    {"read_unlinked_blob", read_unlinked_blob, FERRY_REFUSED_FILES},
    {"write_source", write_source, FERRY_REFUSED_FILES},
    {"create_outside", create_outside, FERRY_REFUSED_FILES},
    {"rename_outside", rename_outside, FERRY_REFUSED_FILES},
    {"rename_into_temporary", rename_into_temporary, FERRY_REFUSED_FILES},
    {"remove_outside", remove_outside, FERRY_REFUSED_FILES},
    {"make_folder", make_folder, FERRY_REFUSED_FILES},
    {"run_program", run_program, FERRY_REFUSED_FILES},
    {"truncate_outside", truncate_outside, FERRY_REFUSED_SOCKETS},
    {"truncate_by_name", truncate_by_name, FERRY_REFUSED_SOCKETS},
#if defined(__x86_64__)
    {"open_udp_x32", open_udp_x32, FERRY_REFUSED_SOCKETS},
    {"open_udp_i386", open_udp_i386, FERRY_REFUSED_SOCKETS},
#endif
    {"open_udp", open_udp, FERRY_REFUSED_SOCKETS},
    {"open_unix", open_unix, FERRY_REFUSED_SOCKETS},
    {"open_ring", open_ring, FERRY_REFUSED_SOCKETS},
    {"start_process", start_process, FERRY_REFUSED_SOCKETS},
};

static void make_folders(void)
{
    outside = new_scratch_file("confined");
    assert_int_equal(mkdir(outside, 0700), 0);
    source = in_directory(outside, "source");
    temporary = in_directory(outside, "temporary");
    char *blobs = in_directory(outside, "blobs");
    assert_int_equal(mkdir(source, 0700) | mkdir(temporary, 0700) | mkdir(blobs, 0700), 0);
    write_text(outside, "secret", "key");
    write_text(source, "config", "mine");
    write_text(blobs, "blob", "far");
    write_text(blobs, "inner", "far");
    write_text(blobs, "other", "far");
    char *shared = in_directory(outside, "weights");
    assert_int_equal(mkdir(shared, 0700), 0);
    write_text(shared, "weights", "far");
    link_file("../blobs/blob", source, "blob");
    link_file("../weights", source, "shared");
    char *inner = in_directory(source, "model");
    assert_int_equal(mkdir(inner, 0700), 0);
    link_file("../../blobs/inner", inner, "blob");
    link_file("nowhere", source, "dangling");
}

/* Whether a child that is confined could do it; *refused: what this system refuses. */
static bool could(attempt *try, unsigned *refused)
{
    int status;
    ferry_mapped_file shared;
    const char *path = in_directory(outside, "refused");
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const int file = open(path, O_WRONLY | O_CREAT, 0600);
        const unsigned by = ferry_confine(source, temporary);
        if (write(file, &by, sizeof by) != sizeof by) _exit(2);
        _exit(try() ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) <= 1);
    CHECK(ferry_mapped_file_open(path, FERRY_FILE_MAPPED, &shared, &error));
    memcpy(refused, shared.bytes.data, sizeof *refused);
    ferry_mapped_file_close(&shared);
    return WEXITSTATUS(status) == 0;
}

/* What must work does; what this part of the system can refuse is refused. */
static void try_each(unsigned part, const char *name)
{
    unsigned refused = part;
    for (size_t i = 0; i < COUNT(attempts) && (refused & part) != 0; i++) {
        const bool must = attempts[i].refused_by == 0;
        if (!must && attempts[i].refused_by != part) continue;
        make_folders();
        if (could(attempts[i].try, &refused) != must)
            fail_msg("%s: %s", attempts[i].name, must ? "is refused" : "works");
    }
    if ((refused & part) != 0) return;
    const char *ci = getenv("CI");
    if (ci != NULL && strcmp(ci, "true") == 0) fail_msg("not run: %s", name);
    print_message("not run: %s\n", name);
    skip();
}

TEST(test_files)
{
    try_each(FERRY_REFUSED_FILES, "confined files: this system has no Landlock");
}

TEST(test_calls)
{
    try_each(FERRY_REFUSED_SOCKETS, "refused calls: this system has no seccomp filters");
}

/* ---- children ---- */

static int pipe_ends[2];

/* Leaves a file behind, and no pipe is open but its own. */
static void crash(void *user, unsigned refused, int channel)
{
    struct stat found;
    const char stays = 's', *folder = getenv("TMPDIR");
    (void)user, (void)refused;
    if (!opens((char *)(uintptr_t)folder, "left", O_WRONLY | O_CREAT)) return;
    if (fstat(STDERR_FILENO, &found) != 0 || !S_ISCHR(found.st_mode) || isatty(STDERR_FILENO)) return;
    for (int i = 0; i < 2; i++)
        if (fstat(pipe_ends[i], &found) == 0 && !S_ISCHR(found.st_mode)) return;
    ferry_child_send(channel, &stays, 1);
    raise(SIGKILL); /* cmocka catches others */
}

TEST(test_child_that_crashes)
{
    ferry_child child;
    char message;
    if (!ferry_has_children) return;
    make_folders();
    setenv("TMPDIR", temporary, 1);
    assert_int_equal(pipe(pipe_ends), 0);
    assert_true(ferry_child_start(&child, source, -1, crash, NULL));
    unsetenv("TMPDIR");
    assert_true(ferry_text_begins(child.folder, temporary));
    assert_int_equal(ferry_child_receive(&child, &message, 1, 10000), 1);
    assert_int_equal(ferry_child_receive(&child, &message, 1, 10000), -1);
    assert_string_equal(ferry_child_end(&child), "Killed");
    assert_int_equal(rmdir(temporary), 0); /* which is empty */
}

static void wait_forever(void *user, unsigned refused, int channel)
{
    (void)user, (void)refused, (void)channel;
    for (;;) pause();
}

TEST(test_child_that_does_not_end)
{
    ferry_child child;
    char message;
    if (!ferry_has_children) return;
    make_folders();
    assert_true(ferry_child_start(&child, source, -1, wait_forever, NULL));
    assert_int_equal(ferry_child_receive(&child, &message, 1, 1), 0);
    alarm(10);
    assert_string_equal(ferry_child_end(&child), "Killed");
    alarm(0);
}

/* ---- conversions ---- */

static int end_signal; /* of the child */

ferry_status __wrap_ferry_import(const char *path, const char *output, const ferry_import_options *options,
                                 ferry_error *e);

/* Ends as a parser that a file has led astray might. */
ferry_status __wrap_ferry_import(const char *path, const char *output, const ferry_import_options *options,
                                 ferry_error *e)
{
    (void)path, (void)output, (void)e;
    options->progress(options->user, 1, 2);
    raise(end_signal);
    abort(); /* unless the signal is only noted */
}

/* The second signal is one that the program waits for, to end in order. */
TEST(test_conversion_that_crashes)
{
    static const int signals[] = {SIGKILL, SIGXCPU};
    static const char *const names[] = {"Killed", "CPU time limit exceeded"};
    const ferry_import_options options = {.type = FERRY_F32};
    ferry_conversion conversion = {.quiet = true};
    for (size_t i = 0; i < COUNT(signals) && ferry_has_children; i++) {
        make_folders();
        setenv("TMPDIR", temporary, 1);
        end_signal = signals[i];
        char *path = in_directory(outside, "model.gguf");
        REFUSE(ferry_convert(source, path, &options, &conversion, &error), FERRY_ERROR_FORMAT,
               ferry_format("/source: the process that read it ended early: %s", names[i]).text);
        unsetenv("TMPDIR");
        check_no_file(path);
        assert_int_equal(rmdir(temporary), 0);
    }
}
