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
