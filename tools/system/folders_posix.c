#define _GNU_SOURCE /* utimensat */
#include "folders.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

uint64_t ferry_user(void)
{
    return geteuid();
}

/* ---- folders ---- */

int ferry_folder_open_file(const char *folder, const char *name, ferry_file_info *above)
{
    const int held = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (held < 0) return -1;
    const int file = ferry_file_examine_open(held, above)
                         ? openat(held, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
                         : -1;
    const int failure = errno;
    close(held);
    errno = failure;
    return file;
}

bool ferry_folder_create_private(const char *path)
{
    return mkdir(path, 0700) == 0;
}

bool ferry_file_remove(const char *path)
{
    return remove(path) == 0;
}

void ferry_file_touch(const char *path)
{
    utimensat(AT_FDCWD, path, NULL, AT_SYMLINK_NOFOLLOW);
}

unsigned ferry_creation_mask(unsigned mask)
{
    return umask((mode_t)mask);
}

/* ---- streams ---- */

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
