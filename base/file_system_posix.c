#define _GNU_SOURCE /* st_mtim, realpath, open_memstream */
#include "file_system.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__APPLE__)
#define WRITTEN st_mtimespec
#define CHANGED st_ctimespec
#else
#define WRITTEN st_mtim
#define CHANGED st_ctim
#endif

/* ---- what they are ---- */

uint64_t ferry_user(void)
{
    return geteuid();
}

static ferry_file_kind kind_of(mode_t mode)
{
    return S_ISREG(mode)    ? FERRY_KIND_FILE
           : S_ISDIR(mode)  ? FERRY_KIND_FOLDER
           : S_ISLNK(mode)  ? FERRY_KIND_LINK
           : S_ISFIFO(mode) ? FERRY_KIND_PIPE
           : S_ISSOCK(mode) ? FERRY_KIND_SOCKET
                            : FERRY_KIND_DEVICE;
}

static bool stat_result(int result, const struct stat *found, ferry_file_info *info)
{
    if (result != 0) return false;
    *info = (ferry_file_info){
        .kind = kind_of(found->st_mode),
        .size = (uint64_t)found->st_size,
        .device = (uint64_t)found->st_dev,
        .number = (uint64_t)found->st_ino,
        .links = (uint64_t)found->st_nlink,
        .written = {found->WRITTEN.tv_sec, found->WRITTEN.tv_nsec},
        .changed = {found->CHANGED.tv_sec, found->CHANGED.tv_nsec},
        .owner = found->st_uid,
        .permissions = found->st_mode & 0777,
        .private_to_user = found->st_uid == geteuid() && (found->st_mode & (S_IWGRP | S_IWOTH)) == 0,
    };
    return true;
}

bool ferry_file_examine(const char *path, ferry_file_info *info)
{
    struct stat found;
    return stat_result(stat(path, &found), &found, info);
}

bool ferry_file_examine_link(const char *path, ferry_file_info *info)
{
    struct stat found;
    return stat_result(lstat(path, &found), &found, info);
}

bool ferry_file_examine_open(int descriptor, ferry_file_info *info)
{
    struct stat found;
    return stat_result(fstat(descriptor, &found), &found, info);
}

char *ferry_path_real(const char *path)
{
    return realpath(path, NULL);
}

/* ---- descriptors ---- */

int ferry_descriptor_open(const char *path)
{
    return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

void ferry_descriptor_close(int descriptor)
{
    close(descriptor);
}

int64_t ferry_descriptor_read_at(int descriptor, void *data, size_t size, uint64_t offset)
{
    char *next = data;
    size_t done = 0;
    while (done < size) {
        const ssize_t count = pread(descriptor, next + done, size - done, (off_t)(offset + done));
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return -1;
        if (count == 0) break;
        done += (size_t)count;
    }
    return (int64_t)done;
}

/* ---- folders: a ferry_folder is a DIR ---- */

ferry_folder *ferry_folder_open(const char *path)
{
    return (ferry_folder *)opendir(path);
}

const char *ferry_folder_next(ferry_folder *folder)
{
    errno = 0;
    const struct dirent *entry = readdir((DIR *)folder);
    return entry != NULL ? entry->d_name : NULL;
}

void ferry_folder_close(ferry_folder *folder)
{
    closedir((DIR *)folder);
}

/* ---- a folder that is opened once ---- */

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
    struct stat found;
    return stat_result(fstatat(folder->descriptor, name, &found, AT_SYMLINK_NOFOLLOW), &found, info);
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

bool ferry_memory_stream_open(ferry_memory_stream *stream)
{
    stream->data = NULL;
    stream->size = 0;
    stream->file = open_memstream(&stream->data, &stream->size);
    return stream->file != NULL;
}

bool ferry_memory_stream_close(ferry_memory_stream *stream)
{
    bool kept = !ferror(stream->file);
    if (fclose(stream->file) != 0) kept = false;
    if (kept) return true;
    free(stream->data);
    stream->data = NULL;
    return false;
}
