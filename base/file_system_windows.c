#include "file_system.h"

#include <errno.h>
#include <io.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#include "wide_windows.h"

enum { MOST_READ = 1 << 30 };

/* ---- what they are ---- */

uint64_t ferry_user(void)
{
    return 0;
}

/* From hundreds of nanoseconds since 1601. */
static ferry_file_time time_of(int64_t units)
{
    const int64_t second = 10000000, from_1601_to_1970 = INT64_C(11644473600);
    return (ferry_file_time){units / second - from_1601_to_1970, units % second * 100};
}

static bool examine_handle(HANDLE handle, bool follow, ferry_file_info *info)
{
    BY_HANDLE_FILE_INFORMATION file;
    FILE_BASIC_INFO times;
    const DWORD type = GetFileType(handle);
    *info = (ferry_file_info){.kind = type == FILE_TYPE_PIPE ? FERRY_KIND_PIPE : FERRY_KIND_DEVICE};
    if (type != FILE_TYPE_DISK) return true;
    if (!GetFileInformationByHandle(handle, &file) ||
        !GetFileInformationByHandleEx(handle, FileBasicInfo, &times, sizeof times)) {
        ferry_set_errno();
        return false;
    }
    const bool link = !follow && (file.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0,
               folder = (file.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0,
               fixed = (file.dwFileAttributes & FILE_ATTRIBUTE_READONLY) != 0;
    *info = (ferry_file_info){
        .kind = link     ? FERRY_KIND_LINK
                : folder ? FERRY_KIND_FOLDER
                         : FERRY_KIND_FILE,
        .size = (uint64_t)file.nFileSizeHigh << 32 | file.nFileSizeLow,
        .device = file.dwVolumeSerialNumber,
        .number = (uint64_t)file.nFileIndexHigh << 32 | file.nFileIndexLow,
        .links = file.nNumberOfLinks,
        .written = time_of(times.LastWriteTime.QuadPart),
        .changed = time_of(times.ChangeTime.QuadPart),
        .permissions = fixed && !folder ? 0400 : 0600,
        .private_to_user = true, /* the access list of the user's own folders says so */
    };
    return true;
}

/* A file or a folder, which others may use meanwhile. */
static HANDLE open_existing(const wchar_t *path, DWORD access, DWORD flags)
{
    return CreateFileW(path, access, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL, OPEN_EXISTING,
                       FILE_FLAG_BACKUP_SEMANTICS | flags, NULL);
}

static bool examine(const wchar_t *path, bool follow, ferry_file_info *info)
{
    if (path == NULL) return false;
    const HANDLE handle = open_existing(path, FILE_READ_ATTRIBUTES, follow ? 0 : FILE_FLAG_OPEN_REPARSE_POINT);
    if (handle == INVALID_HANDLE_VALUE) {
        ferry_set_errno();
        return false;
    }
    const bool examined = examine_handle(handle, follow, info);
    CloseHandle(handle);
    return examined;
}

static bool examine_and_free(wchar_t *path, bool follow, ferry_file_info *info)
{
    const bool examined = examine(path, follow, info);
    free(path);
    return examined;
}

bool ferry_file_examine(const char *path, ferry_file_info *info)
{
    return examine_and_free(ferry_wide(path), true, info);
}

bool ferry_file_examine_link(const char *path, ferry_file_info *info)
{
    return examine_and_free(ferry_wide(path), false, info);
}

bool ferry_file_examine_open(int descriptor, ferry_file_info *info)
{
    const intptr_t handle = _get_osfhandle(descriptor); /* sets errno */
    return handle >= 0 && examine_handle((HANDLE)handle, true, info);
}

/* "\\?\C:\folder\file" becomes "C:/folder/file", "\\?\UNC\server\share" becomes "//server/share". */
static char *plain_path(wchar_t *found)
{
    wchar_t *begin = found;
    if (wcsncmp(found, L"\\\\?\\UNC\\", 8) == 0) {
        begin = found + 6;
        begin[0] = L'\\';
    } else if (wcsncmp(found, L"\\\\?\\", 4) == 0) {
        begin = found + 4;
    }
    for (wchar_t *at = begin; *at != L'\0'; at++)
        if (*at == L'\\') *at = L'/';
    return ferry_narrow(begin);
}

char *ferry_path_real(const char *path)
{
    wchar_t *wide = ferry_wide(path), *found = NULL;
    char *real = NULL;
    if (wide == NULL) return NULL;
    const HANDLE handle = open_existing(wide, FILE_READ_ATTRIBUTES, 0);
    const DWORD size = handle != INVALID_HANDLE_VALUE ? GetFinalPathNameByHandleW(handle, NULL, 0, 0) : 0;
    if (size == 0)
        ferry_set_errno();
    else
        found = calloc((size_t)size + 1, sizeof *found);
    if (found != NULL && GetFinalPathNameByHandleW(handle, found, size, 0) > 0) real = plain_path(found);
    if (handle != INVALID_HANDLE_VALUE) CloseHandle(handle);
    free(found);
    free(wide);
    return real;
}

/* ---- descriptors ---- */

int ferry_descriptor_open(const char *path)
{
    wchar_t *wide = ferry_wide(path);
    const int descriptor = wide != NULL ? ferry_descriptor_of(open_existing(wide, GENERIC_READ, 0)) : -1;
    free(wide);
    return descriptor;
}

void ferry_descriptor_close(int descriptor)
{
    _close(descriptor);
}

static int64_t read_at(HANDLE handle, char *next, size_t size, uint64_t offset)
{
    size_t done = 0;
    while (done < size) {
        const uint64_t at = offset + done;
        OVERLAPPED place = {.Offset = (DWORD)at, .OffsetHigh = (DWORD)(at >> 32)};
        DWORD count = 0;
        const DWORD wanted = size - done < MOST_READ ? (DWORD)(size - done) : MOST_READ;
        if (!ReadFile(handle, next + done, wanted, &count, &place) && GetLastError() != ERROR_HANDLE_EOF) {
            ferry_set_errno();
            return -1;
        }
        if (count == 0) break;
        done += count;
    }
    return (int64_t)done;
}

int64_t ferry_descriptor_read_at(int descriptor, void *data, size_t size, uint64_t offset)
{
    const HANDLE handle = (HANDLE)_get_osfhandle(descriptor);
    LARGE_INTEGER position = {0}; /* of the caller's own reads; ReadFile() moves it even if it is given a place */
    const bool known = SetFilePointerEx(handle, position, &position, FILE_CURRENT);
    const int64_t count = read_at(handle, data, size, offset);
    if (known) SetFilePointerEx(handle, position, NULL, FILE_BEGIN);
    return count;
}

/* ---- folders ---- */

struct ferry_folder {
    HANDLE search;
    WIN32_FIND_DATAW found;
    bool fresh; /* `found` was not returned yet */
    char *name;
};

ferry_folder *ferry_folder_open(const char *path)
{
    ferry_file_info info;
    ferry_folder *folder = calloc(1, sizeof *folder);
    wchar_t *pattern = ferry_wide_join(path, "*");
    if (folder != NULL && pattern != NULL) {
        folder->search = FindFirstFileW(pattern, &folder->found);
        folder->fresh = true;
        if (folder->search == INVALID_HANDLE_VALUE) {
            ferry_set_errno();
            if (ferry_file_examine(path, &info) && info.kind != FERRY_KIND_FOLDER) errno = ENOTDIR;
        }
    }
    free(pattern);
    if (folder != NULL && pattern != NULL && folder->search != INVALID_HANDLE_VALUE) return folder;
    free(folder);
    return NULL;
}

const char *ferry_folder_next(ferry_folder *folder)
{
    if (!folder->fresh && !FindNextFileW(folder->search, &folder->found)) {
        ferry_set_errno();
        if (GetLastError() == ERROR_NO_MORE_FILES) errno = 0;
        return NULL;
    }
    folder->fresh = false;
    free(folder->name);
    folder->name = ferry_narrow(folder->found.cFileName);
    return folder->name;
}

void ferry_folder_close(ferry_folder *folder)
{
    FindClose(folder->search);
    free(folder->name);
    free(folder);
}

/* ---- a folder that is opened once ---- */

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
    return examine_and_free(ferry_wide_join(folder->path, name), false, info);
}

int ferry_held_folder_open_file(const ferry_held_folder *folder, const char *name)
{
    wchar_t *path = ferry_wide_join(folder->path, name);
    if (path == NULL) return -1;
    const int descriptor =
        ferry_descriptor_of(open_existing(path, GENERIC_READ | FILE_WRITE_ATTRIBUTES, FILE_FLAG_OPEN_REPARSE_POINT));
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

/* In a temporary file, which goes when it is closed. */
bool ferry_memory_stream_open(ferry_memory_stream *stream)
{
    wchar_t folder[MAX_PATH + 1], path[MAX_PATH + 1];
    *stream = (ferry_memory_stream){.file = NULL};
    if (GetTempPathW(MAX_PATH + 1, folder) == 0 || GetTempFileNameW(folder, L"fry", 0, path) == 0) {
        ferry_set_errno();
        return false;
    }
    const int descriptor = ferry_descriptor_of(CreateFileW(path, GENERIC_READ | GENERIC_WRITE, 0, NULL, CREATE_ALWAYS,
                                                           FILE_ATTRIBUTE_TEMPORARY | FILE_FLAG_DELETE_ON_CLOSE, NULL));
    stream->file = descriptor >= 0 ? _fdopen(descriptor, "w+b") : NULL;
    return stream->file != NULL;
}

static bool read_back(ferry_memory_stream *stream)
{
    if (fflush(stream->file) != 0 || ferror(stream->file)) return false;
    const int64_t size = _ftelli64(stream->file);
    stream->data = size >= 0 ? malloc((size_t)size + 1) : NULL;
    if (stream->data == NULL) return false;
    rewind(stream->file);
    stream->size = fread(stream->data, 1, (size_t)size, stream->file);
    stream->data[stream->size] = '\0';
    return stream->size == (size_t)size;
}

bool ferry_memory_stream_close(ferry_memory_stream *stream)
{
    const bool kept = read_back(stream);
    fclose(stream->file);
    if (kept) return true;
    free(stream->data);
    stream->data = NULL;
    return false;
}
