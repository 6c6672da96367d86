#define _GNU_SOURCE /* fdopendir, futimens */
#include "folders.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

uint64_t ferry_user(void)
{
    return geteuid();
}

/* ---- folders ---- */

bool ferry_held_folder_open(ferry_held_folder *folder, const char *path)
{
    folder->path = path;
    folder->descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return folder->descriptor >= 0;
}

void ferry_held_folder_close(ferry_held_folder *folder)
{
    if (folder->descriptor >= 0) close(folder->descriptor);
    folder->descriptor = -1;
}

bool ferry_held_folder_examine(const ferry_held_folder *folder, ferry_file_info *info)
{
    return ferry_file_examine_open(folder->descriptor, info);
}

bool ferry_held_folder_examine_file(const ferry_held_folder *folder, const char *name, ferry_file_info *info)
{
    return ferry_file_examine_in(folder->descriptor, name, info);
}

int ferry_held_folder_open_file(const ferry_held_folder *folder, const char *name)
{
    return openat(folder->descriptor, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

bool ferry_held_folder_rename(const ferry_held_folder *folder, const char *name, const char *new_name)
{
    return renameat(folder->descriptor, name, folder->descriptor, new_name) == 0;
}

bool ferry_held_folder_remove(const ferry_held_folder *folder, const char *name)
{
    return unlinkat(folder->descriptor, name, 0) == 0 ||
           (errno == EISDIR && unlinkat(folder->descriptor, name, AT_REMOVEDIR) == 0);
}

ferry_folder *ferry_held_folder_list(const ferry_held_folder *folder)
{
    const int again = openat(folder->descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); /* fdopendir takes it */
    DIR *listed = again >= 0 ? fdopendir(again) : NULL;
    if (listed == NULL && again >= 0) close(again);
    return (ferry_folder *)listed;
}

bool ferry_folder_create_private(const char *path)
{
    return mkdir(path, 0700) == 0;
}

void ferry_file_touch(int descriptor)
{
    futimens(descriptor, NULL);
}

unsigned ferry_creation_private(void)
{
    return umask(S_IRWXG | S_IRWXO);
}

void ferry_creation_restore(unsigned before)
{
    umask((mode_t)before);
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
