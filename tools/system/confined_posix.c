#define _GNU_SOURCE /* O_PATH, mkdtemp, syscall */
#include "confined.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

#include "base/files/file_system.h"

#if defined(FERRY_ONE_PROCESS)
const bool ferry_has_children = false;
#else
const bool ferry_has_children = true;
#endif

#if defined(__linux__)

/* ---- files: Landlock (Linux's Documentation/userspace-api/landlock.rst), whatever headers this is compiled with ----
 */

enum { CREATE_RULESET = 444, ADD_RULE = 445, RESTRICT_SELF = 446, ASK_VERSION = 1, BENEATH_PATH = 1 };

struct ruleset {
    uint64_t files, ports, scopes; /* what is refused unless a rule permits it */
};

struct __attribute__((packed)) rule {
    uint64_t permitted;
    int32_t beneath;
};

/* Bits of ruleset.files. */
enum {
    WRITE_FILE = 1 << 1,
    READ_FILE = 1 << 2,
    READ_FOLDER = 1 << 3,
    REMOVE_FILE = 1 << 5,
    MAKE_FILE = 1 << 8,
    TRUNCATE = 1 << 14,
    OF_FILES = WRITE_FILE | READ_FILE | TRUNCATE /* the others are rights of folders */
};

/* Version by version, the number of bits of ruleset.files; sockets and ports, and signals, came with versions 4, 6. */
static struct ruleset all_of_version(long version)
{
    static const int bits[] = {0, 13, 14, 15, 15, 16};
    const long last = (long)(sizeof bits / sizeof *bits) - 1;
    return (struct ruleset){.files = (UINT64_C(1) << bits[version < last ? version : last]) - 1,
                            .ports = version >= 4 ? 3 : 0,
                            .scopes = version >= 6 ? 3 : 0};
}

typedef struct cage {
    int ruleset;
    uint64_t files; /* of the ruleset */
} cage;

/* Permits this of the file, or of the folder and all that is in it, that the path leads to. */
static void permit(const cage *c, const char *path, uint64_t rights)
{
    struct stat found;
    const int object = open(path, O_PATH | O_CLOEXEC);
    if (object < 0) return;
    if (fstat(object, &found) == 0) {
        const struct rule rule = {rights & c->files & (S_ISDIR(found.st_mode) ? UINT64_MAX : OF_FILES), object};
        syscall(ADD_RULE, c->ruleset, BENEATH_PATH, &rule, 0);
    }
    close(object);
}

/* Permits reading what the links of a folder, and those of its folders, lead to. */
static void permit_links(const cage *c, const char *folder, int depth)
{
    char path[PATH_MAX];
    ferry_folder *listing = ferry_folder_open(folder);
    for (const char *name; listing != NULL && (name = ferry_folder_next(listing)) != NULL;) {
        ferry_file_info info;
        if (name[0] == '.' || (size_t)snprintf(path, sizeof path, "%s/%s", folder, name) >= sizeof path ||
            !ferry_file_examine_link(path, &info) || info.kind == FERRY_KIND_FILE)
            continue;
        if (info.kind == FERRY_KIND_LINK) permit(c, path, READ_FILE | READ_FOLDER);
        if (depth == 0) permit_links(c, path, 1);
    }
    if (listing != NULL) ferry_folder_close(listing);
}

/* The source is looked for beside a file, too, but nothing is read there if that is an archive. */
static void permit_source(const cage *c, const char *source)
{
    ferry_file_info info;
    char folder[PATH_MAX];
    const bool archive = ferry_text_ends(source, ".zip") || ferry_text_ends(source, ".argosmodel");
    if (!ferry_file_examine(source, &info)) return;
    permit(c, source, READ_FILE | READ_FOLDER);
    const size_t size = info.kind == FERRY_KIND_FOLDER ? strlen(source) : (size_t)(ferry_path_base(source) - source);
    if ((size_t)snprintf(folder, sizeof folder, "%.*s", (int)size, source) >= sizeof folder) return;
    if (size == 0) strcpy(folder, ".");
    permit(c, folder, READ_FOLDER | (archive ? 0 : READ_FILE));
    if (!archive) permit_links(c, folder, 0);
}

static bool refuse_files(const char *source, const char *folder)
{
    const long version = syscall(CREATE_RULESET, NULL, 0, ASK_VERSION);
    if (version < 1) return false;
    const struct ruleset all = all_of_version(version);
    const cage c = {(int)syscall(CREATE_RULESET, &all, sizeof all, 0), all.files};
    if (c.ruleset < 0) return false;
    permit_source(&c, source);
    permit(&c, "/dev/urandom", READ_FILE); /* jansson's seed */
    if (folder != NULL) permit(&c, folder, READ_FILE | WRITE_FILE | REMOVE_FILE | MAKE_FILE | TRUNCATE);
    const bool restricted = syscall(RESTRICT_SELF, c.ruleset, 0) == 0;
    close(c.ruleset);
    return restricted;
}

/* ---- calls of the system: seccomp(2) ---- */

#if defined(__x86_64__)
#define MACHINE 0xC000003E /* AUDIT_ARCH_… of linux/audit.h */
#elif defined(__aarch64__)
#define MACHINE 0xC00000B7
#elif defined(__powerpc64__)
#define MACHINE 0xC0000015
#elif defined(__riscv) && __riscv_xlen == 64
#define MACHINE 0xC00000F3
#elif defined(__i386__)
#define MACHINE 0x40000003
#elif defined(__arm__)
#define MACHINE 0x40000028
#endif

/* Landlock before its version 3 leaves truncate() alone. No process is left that could write to the model afterwards.
 */
static const uint32_t refused_calls[] = {
    SYS_socket,     SYS_io_uring_setup, SYS_truncate, SYS_clone, SYS_clone3,
#if defined(SYS_fork)
    SYS_fork,       SYS_vfork,
#endif
#if defined(SYS_truncate64)
    SYS_truncate64,
#endif
#if defined(SYS_socketcall)
    SYS_socketcall,
#endif
};

struct instruction { /* sock_filter, sock_fprog */
    uint16_t code;
    uint8_t yes, no; /* instructions that are left out */
    uint32_t value;
};

struct program {
    uint16_t count;
    struct instruction *instructions;
};

static bool refuse_calls(void)
{
#if defined(MACHINE)
    enum { CALLS = sizeof refused_calls / sizeof *refused_calls, NUMBER = 0, ARCHITECTURE = 4 }; /* seccomp_data */
    enum { LOAD = 0x20, JUMP_EQUAL = 0x15, JUMP_FROM = 0x35, RETURN = 0x06, FILTER = 2 };
    const uint32_t allow = 0x7FFF0000, refuse = 0x00050000 | EPERM, other_abi = 0x40000000; /* x86-64's x32 */
    struct instruction filter[CALLS + 6] = {{LOAD, 0, 0, ARCHITECTURE},
                                            {JUMP_EQUAL, 0, CALLS + 3, MACHINE},
                                            {LOAD, 0, 0, NUMBER},
                                            {JUMP_FROM, CALLS + 1, 0, other_abi}};
    for (uint8_t i = 0; i < CALLS; i++)
        filter[4 + i] = (struct instruction){JUMP_EQUAL, (uint8_t)(CALLS - i), 0, refused_calls[i]};
    filter[CALLS + 4] = (struct instruction){RETURN, 0, 0, allow};
    filter[CALLS + 5] = (struct instruction){RETURN, 0, 0, refuse};
    const struct program program = {CALLS + 6, filter};
    return prctl(PR_SET_SECCOMP, FILTER, &program) == 0;
#else
    return false;
#endif
}

unsigned ferry_confine(const char *source, const char *folder)
{
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return 0;
    return (refuse_files(source, folder) ? FERRY_REFUSED_FILES : 0u) | (refuse_calls() ? FERRY_REFUSED_SOCKETS : 0u);
}

#else

unsigned ferry_confine(const char *source, const char *folder)
{
    (void)source, (void)folder;
    return 0;
}

#endif

/* ---- the child ---- */

/* Closes what is open (standard streams become /dev/null) but for the two, and files and folders that can only be read:
 * /dev/stdin may be the source. A terminal would take commands (TIOCSTI). */
static void close_others(int output, int channel)
{
    const int last = output > channel ? output : channel, count = last < 256 ? 256 : last + 1;
    const int null = open("/dev/null", O_RDWR);
    for (int i = 0; i < count; i++) {
        struct stat found;
        const int flags = fcntl(i, F_GETFL);
        if (flags < 0 || i == null || i == output || i == channel || fstat(i, &found) != 0) continue;
        if ((flags & O_ACCMODE) == O_RDONLY && (S_ISREG(found.st_mode) || S_ISDIR(found.st_mode))) continue;
        if (i > STDERR_FILENO || dup2(null, i) < 0) close(i);
    }
    if (null > STDERR_FILENO) close(null);
#if defined(SYS_close_range)
    syscall(SYS_close_range, count, ~0u, 0);
#endif
}

bool ferry_child_start(ferry_child *child, const char *source, int output, ferry_child_work *work, void *user)
{
    int ends[2];
    const char *place = getenv("TMPDIR");
    *child = (ferry_child){.process = -1, .channel = -1};
    snprintf(child->folder, sizeof child->folder, "%s/ferry-XXXXXX", place != NULL && place[0] != 0 ? place : "/tmp");
    if (mkdtemp(child->folder) == NULL) {
        child->failure = errno;
        child->folder[0] = '\0';
    }
    if (pipe(ends) != 0) return false;
    child->channel = ends[0];
    child->process = fork();
    if (child->process == 0) {
        const char *folder = child->folder[0] != '\0' ? child->folder : NULL;
#if defined(__linux__)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
        if (folder != NULL && setenv("TMPDIR", folder, 1) != 0) _exit(1);
        close_others(output, ends[1]);
        work(user, ferry_confine(source, folder), ends[1]);
        _exit(0);
    }
    const int failure = errno;
    close(ends[1]);
    errno = failure;
    return child->process > 0;
}

void ferry_child_send(int channel, const void *message, size_t size)
{
    const char *next = message;
    while (size > 0) {
        const ssize_t sent = write(channel, next, size);
        if (sent < 0 && errno != EINTR) _exit(1);
        if (sent < 0) continue;
        next += sent;
        size -= (size_t)sent;
    }
}

int ferry_child_receive(ferry_child *child, void *message, size_t size, int milliseconds)
{
    struct pollfd channel = {.fd = child->channel, .events = POLLIN};
    if (poll(&channel, 1, milliseconds) <= 0) return 0;
    const ssize_t count = read(child->channel, (char *)message + child->received, size - child->received);
    if (count <= 0) return count < 0 && errno == EINTR ? 0 : -1;
    child->received = (child->received + (size_t)count) % size;
    return child->received == 0;
}

/* With what a child that was ended has left in it. */
static void remove_folder(const char *path)
{
    char file[PATH_MAX];
    ferry_folder *listing = ferry_folder_open(path);
    for (const char *name; listing != NULL && (name = ferry_folder_next(listing)) != NULL;)
        if ((size_t)snprintf(file, sizeof file, "%s/%s", path, name) < sizeof file) unlink(file);
    if (listing != NULL) ferry_folder_close(listing);
    rmdir(path);
}

const char *ferry_child_end(ferry_child *child)
{
    int status = 0;
    if (child->channel >= 0) close(child->channel);
    if (child->process > 0) {
        kill((pid_t)child->process, SIGKILL); /* a child that has ended keeps its status */
        while (waitpid((pid_t)child->process, &status, 0) < 0 && errno == EINTR) continue;
    }
    if (child->folder[0] != '\0') remove_folder(child->folder);
    return WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : NULL;
}
