#define _GNU_SOURCE /* sigaction, SIGXCPU */
#include "terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#if defined(__APPLE__)
#include <mach-o/dyld.h>
#endif

#include "base/system.h"

void ferry_program_begin(int *count, char ***arguments)
{
    (void)count;
    (void)arguments;
}

bool ferry_program_path(char *path, size_t size)
{
#if defined(__APPLE__)
    uint32_t room = (uint32_t)size;
    return _NSGetExecutablePath(path, &room) == 0;
#else
    const ssize_t length = readlink("/proc/self/exe", path, size - 1);
    if (length >= 0) path[length] = '\0';
    return length >= 0;
#endif
}

const char *ferry_environment(const char *name)
{
    return getenv(name);
}

/* Leaves errno alone, which may still have to explain a failed write. */
bool ferry_is_terminal(FILE *stream)
{
    const int before = errno;
    const bool terminal = isatty(fileno(stream)) == 1;
    errno = before;
    return terminal;
}

/* ---- input ---- */

const char *const ferry_end_of_input = "Ctrl-D";

int ferry_input_open(const char *path)
{
    return open(path, O_RDONLY | O_CLOEXEC);
}

int64_t ferry_input_read(int descriptor, char *data, size_t size)
{
    for (;;) {
        const ssize_t got = read(descriptor, data, size);
        if (got >= 0) return got;
        if (errno == EAGAIN || errno == EWOULDBLOCK) {
            struct pollfd input = {.fd = descriptor, .events = POLLIN};
            poll(&input, 1, -1);
        } else if (errno != EINTR) {
            return -1;
        }
    }
}

bool ferry_input_would_wait(int descriptor)
{
    struct pollfd input = {.fd = descriptor, .events = POLLIN};
    return poll(&input, 1, 0) == 0;
}

/* ---- output ---- */

FILE *ferry_stream_open(const char *path, const char *mode)
{
    return fopen(path, mode);
}

int ferry_stream_descriptor(FILE *stream)
{
    return fileno(stream);
}

bool ferry_stream_lock(FILE *stream, int64_t *holder)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    ferry_file_info info;
    *holder = 0;
    if (!ferry_file_examine_open(fileno(stream), &info) || info.kind != FERRY_KIND_FILE) return true;
    if (fcntl(fileno(stream), F_SETLK, &lock) == 0 || (errno != EACCES && errno != EAGAIN)) return true;
    if (fcntl(fileno(stream), F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK) *holder = lock.l_pid;
    return false;
}

bool ferry_stream_cut(FILE *stream, uint64_t size)
{
    return fflush(stream) == 0 && ftruncate(fileno(stream), (off_t)size) == 0 && fseek(stream, 0, SEEK_END) == 0;
}

/* ---- signals ---- */

static const int signals[] = {SIGHUP, SIGINT, SIGPIPE, SIGTERM, SIGXCPU};
enum { SIGNALS = sizeof signals / sizeof *signals };
static struct sigaction before[SIGNALS];

void ferry_signals_catch(void (*handle)(int number), bool once)
{
    struct sigaction action = {.sa_handler = handle, .sa_flags = once ? (int)SA_RESETHAND : 0};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < SIGNALS; i++) {
        sigaction(signals[i], NULL, &before[i]);
        if (before[i].sa_handler != SIG_IGN) sigaction(signals[i], &action, NULL);
    }
}

void ferry_signals_release(void)
{
    for (size_t i = 0; i < SIGNALS; i++) sigaction(signals[i], &before[i], NULL);
}

void ferry_signals_ignore_size(void)
{
    signal(SIGXFSZ, SIG_IGN);
}
