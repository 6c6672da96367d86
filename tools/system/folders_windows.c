#include "folders.h"

#include <errno.h>
#include <io.h>
#include <stdlib.h>
#include <windows.h>

#include "base/wide_windows.h"

uint64_t ferry_user(void)
{
    return 0;
}

/* ---- folders ---- */

bool ferry_held_folder_open(ferry_held_folder *folder, const char *path)
{
    ferry_file_info info;
    *folder = (ferry_held_folder){.descriptor = -1, .path = path};
    if (!ferry_file_examine_link(path, &info)) return false;
    errno = ENOTDIR;
    if (info.kind == FERRY_KIND_FOLDER) folder->descriptor = 0;
    return folder->descriptor == 0;
}

void ferry_held_folder_close(ferry_held_folder *folder)
{
    folder->descriptor = -1;
}

bool ferry_held_folder_examine(const ferry_held_folder *folder, ferry_file_info *info)
{
    return ferry_file_examine_link(folder->path, info);
}

bool ferry_held_folder_examine_file(const ferry_held_folder *folder, const char *name, ferry_file_info *info)
{
    wchar_t *wide = ferry_wide_join(folder->path, name);
    char *path = wide != NULL ? ferry_narrow(wide) : NULL;
    const bool examined = path != NULL && ferry_file_examine_link(path, info);
    free(path);
    free(wide);
    return examined;
}

int ferry_held_folder_open_file(const ferry_held_folder *folder, const char *name)
{
    wchar_t *path = ferry_wide_join(folder->path, name);
    if (path == NULL) return -1;
    const int descriptor = ferry_descriptor_of(
        ferry_open_existing(path, GENERIC_READ | FILE_WRITE_ATTRIBUTES, FILE_FLAG_OPEN_REPARSE_POINT));
    free(path);
    return descriptor;
}

bool ferry_held_folder_rename(const ferry_held_folder *folder, const char *name, const char *new_name)
{
    wchar_t *path = ferry_wide_join(folder->path, name), *new_path = ferry_wide_join(folder->path, new_name);
    const bool renamed =
        path != NULL && new_path != NULL && MoveFileExW(path, new_path, MOVEFILE_REPLACE_EXISTING) != 0;
    if (path != NULL && new_path != NULL && !renamed) ferry_set_errno();
    free(path);
    free(new_path);
    return renamed;
}

bool ferry_held_folder_remove(const ferry_held_folder *folder, const char *name)
{
    wchar_t *path = ferry_wide_join(folder->path, name);
    const bool removed = path != NULL && (DeleteFileW(path) != 0 || RemoveDirectoryW(path) != 0);
    if (path != NULL && !removed) ferry_set_errno();
    free(path);
    return removed;
}

ferry_folder *ferry_held_folder_list(const ferry_held_folder *folder)
{
    return ferry_folder_open(folder->path);
}

bool ferry_folder_create_private(const char *path)
{
    wchar_t *wide = ferry_wide(path);
    const bool created = wide != NULL && CreateDirectoryW(wide, NULL) != 0;
    if (wide != NULL && !created) ferry_set_errno();
    free(wide);
    return created;
}

void ferry_file_touch(int descriptor)
{
    FILETIME now;
    GetSystemTimeAsFileTime(&now);
    SetFileTime((HANDLE)_get_osfhandle(descriptor), NULL, NULL, &now);
}

unsigned ferry_creation_private(void)
{
    return 0; /* files have the access list of their folder */
}

void ferry_creation_restore(unsigned before)
{
    (void)before;
}

/* ---- streams ---- */

FILE *ferry_stream_open(const char *path, const char *mode)
{
    wchar_t *wide = ferry_wide(path), *wide_mode = ferry_wide(mode);
    FILE *file = wide != NULL && wide_mode != NULL ? _wfopen(wide, wide_mode) : NULL;
    free(wide);
    free(wide_mode);
    return file;
}

int ferry_stream_descriptor(FILE *stream)
{
    return _fileno(stream);
}

/* The lock is of a byte behind all files: those within one could not be read by others. */
bool ferry_stream_lock(FILE *stream, int64_t *holder)
{
    OVERLAPPED place = {.Offset = MAXDWORD, .OffsetHigh = MAXLONG};
    const HANDLE handle = (HANDLE)_get_osfhandle(_fileno(stream));
    *holder = 0;
    return GetFileType(handle) != FILE_TYPE_DISK ||
           LockFileEx(handle, LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &place) ||
           GetLastError() != ERROR_LOCK_VIOLATION;
}

bool ferry_stream_cut(FILE *stream, uint64_t size)
{
    return fflush(stream) == 0 && _chsize_s(_fileno(stream), (__int64)size) == 0 && fseek(stream, 0, SEEK_END) == 0;
}
