#include "system.h"

#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <locale.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#include <bcrypt.h> /* needs windows.h */

#include "wide_windows.h"

/* ---- UTF-16, errors and handles (wide_windows.h) ---- */

wchar_t *ferry_wide(const char *text)
{
    const int size = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, -1, NULL, 0);
    wchar_t *wide = size > 0 ? malloc((size_t)size * sizeof *wide) : NULL;
    if (size <= 0)
        errno = EILSEQ;
    else if (wide != NULL)
        MultiByteToWideChar(CP_UTF8, 0, text, -1, wide, size);
    return wide;
}

char *ferry_narrow(const wchar_t *text)
{
    const int size = WideCharToMultiByte(CP_UTF8, 0, text, -1, NULL, 0, NULL, NULL);
    char *narrow = size > 0 ? malloc((size_t)size) : NULL;
    if (size <= 0)
        errno = EILSEQ;
    else if (narrow != NULL)
        WideCharToMultiByte(CP_UTF8, 0, text, -1, narrow, size, NULL, NULL);
    return narrow;
}

wchar_t *ferry_wide_join(const char *folder, const char *name)
{
    const size_t size = strlen(folder) + 1 + strlen(name) + 1;
    char *path = malloc(size);
    if (path == NULL) return NULL;
    snprintf(path, size, "%s/%s", folder, name);
    wchar_t *wide = ferry_wide(path);
    free(path);
    return wide;
}

void ferry_set_errno(void)
{
    static const struct {
        DWORD windows;
        int number;
    } errors[] = {
        {ERROR_FILE_NOT_FOUND, ENOENT},
        {ERROR_PATH_NOT_FOUND, ENOENT},
        {ERROR_BAD_NETPATH, ENOENT},
        {ERROR_INVALID_NAME, ENOENT},
        {ERROR_BAD_PATHNAME, ENOENT},
        {ERROR_INVALID_DRIVE, ENOENT},
        {ERROR_ACCESS_DENIED, EACCES},
        {ERROR_SHARING_VIOLATION, EACCES},
        {ERROR_LOCK_VIOLATION, EACCES},
        {ERROR_USER_MAPPED_FILE, EACCES},
        {ERROR_WRITE_PROTECT, EROFS},
        {ERROR_FILE_EXISTS, EEXIST},
        {ERROR_ALREADY_EXISTS, EEXIST},
        {ERROR_DIR_NOT_EMPTY, ENOTEMPTY},
        {ERROR_DIRECTORY, ENOTDIR},
        {ERROR_NOT_ENOUGH_MEMORY, ENOMEM},
        {ERROR_OUTOFMEMORY, ENOMEM},
        {ERROR_COMMITMENT_LIMIT, ENOMEM},
        {ERROR_TOO_MANY_OPEN_FILES, EMFILE},
        {ERROR_DISK_FULL, ENOSPC},
        {ERROR_HANDLE_DISK_FULL, ENOSPC},
        {ERROR_INVALID_HANDLE, EBADF},
        {ERROR_FILENAME_EXCED_RANGE, ENAMETOOLONG},
        {ERROR_CANT_RESOLVE_FILENAME, ELOOP},
    };
    const DWORD found = GetLastError();
    errno = EIO;
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].windows == found) errno = errors[i].number;
}

void *ferry_open_existing(const wchar_t *path, unsigned long access, unsigned long flags)
{
    return CreateFileW(path, access, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL, OPEN_EXISTING,
                       FILE_FLAG_BACKUP_SEMANTICS | flags, NULL);
}

int ferry_descriptor_of(void *handle)
{
    if (handle == INVALID_HANDLE_VALUE) {
        ferry_set_errno();
        return -1;
    }
    const int descriptor = _open_osfhandle((intptr_t)handle, _O_BINARY | _O_NOINHERIT);
    if (descriptor < 0) CloseHandle(handle);
    return descriptor;
}

enum { CACHE_LINE = 64, MAX_READ = 1 << 30 };

/* ---- files ---- */

/* `units`: of 100 nanoseconds since 1601. */
static ferry_file_time time_of(int64_t units)
{
    const int64_t second = 10000000, from_1601_to_1970 = INT64_C(11644473600);
    return (ferry_file_time){units / second - from_1601_to_1970, units % second * 100};
}

bool ferry_examine_handle(void *handle, bool follow, ferry_file_info *info)
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
        .private_to_user = true, /* the access lists of the user's folders give this */
    };
    return true;
}

bool ferry_file_examine_open(int descriptor, ferry_file_info *info)
{
    const intptr_t handle = _get_osfhandle(descriptor); /* sets errno */
    return handle >= 0 && ferry_examine_handle((HANDLE)handle, true, info);
}

int ferry_descriptor_open(const char *path)
{
    wchar_t *wide = ferry_wide(path);
    const int descriptor = wide != NULL ? ferry_descriptor_of(ferry_open_existing(wide, GENERIC_READ, 0)) : -1;
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
        const DWORD wanted = size - done < MAX_READ ? (DWORD)(size - done) : MAX_READ;
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
    LARGE_INTEGER position = {0}; /* the file's position, which ReadFile() moves even with an OVERLAPPED */
    const bool known = SetFilePointerEx(handle, position, &position, FILE_CURRENT);
    const int64_t count = read_at(handle, data, size, offset);
    if (known) SetFilePointerEx(handle, position, NULL, FILE_BEGIN);
    return count;
}

/* In a temporary file, which is deleted when it is closed. */
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

/* ---- pages ---- */

const char *ferry_pages_map(int descriptor, uint64_t offset, size_t length)
{
    SYSTEM_INFO system;
    GetSystemInfo(&system);
    const size_t before = (size_t)(offset % system.dwAllocationGranularity);
    const uint64_t first = offset - before;
    const char *data = NULL;
    const HANDLE mapping = CreateFileMappingW((HANDLE)_get_osfhandle(descriptor), NULL, PAGE_READONLY, 0, 0, NULL);
    if (mapping != NULL)
        data = MapViewOfFile(mapping, FILE_MAP_READ, (DWORD)(first >> 32), (DWORD)first, before + length);
    if (data == NULL) ferry_set_errno();
    if (mapping != NULL) CloseHandle(mapping); /* the view keeps the mapping */
    return data != NULL ? data + before : NULL;
}

char *ferry_pages_allocate(size_t size)
{
    char *data = VirtualAlloc(NULL, size, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
    if (data == NULL) errno = ENOMEM;
    return data;
}

void ferry_pages_release(const char *data, size_t size, bool mapped)
{
    MEMORY_BASIC_INFORMATION all;
    (void)size;
    if (VirtualQuery(data, &all, sizeof all) == 0) return;
    if (mapped)
        UnmapViewOfFile(all.AllocationBase);
    else
        VirtualFree(all.AllocationBase, 0, MEM_RELEASE);
}

void ferry_pages_forget(const char *data, size_t size)
{
    VirtualUnlock((void *)(uintptr_t)data, size); /* unlocked pages leave the working set */
}

/* ---- memory ---- */

void *ferry_aligned_alloc(size_t alignment, size_t size)
{
    return _aligned_malloc(size, alignment);
}

void ferry_aligned_free(void *memory)
{
    _aligned_free(memory);
}

void ferry_large_free(void *memory, size_t size)
{
    (void)size;
    _aligned_free(memory);
}

size_t ferry_large_size(size_t size)
{
    size_t padded;
    return ferry_add_size(size, CACHE_LINE - 1, &padded) ? padded / CACHE_LINE * CACHE_LINE : 0;
}

/* No huge pages: they need a privilege that users lack. */
void *ferry_large_alloc(size_t size)
{
    return size > 0 ? _aligned_malloc(size, CACHE_LINE) : NULL;
}

void ferry_large_touch(void *memory, size_t size, double patience)
{
    (void)memory, (void)size, (void)patience;
}

/* Not needed: the heap returns large free blocks by itself. */
void ferry_heap_trim(void)
{
}

/* ---- the processor ---- */

bool ferry_permit_tiles(void)
{
    return false; /* never tried on Windows */
}

bool ferry_has_dot_products(void)
{
    enum { DOT_PRODUCTS = 43 }; /* PF_ARM_V82_DP_INSTRUCTIONS_AVAILABLE, which headers may lack */
    return IsProcessorFeaturePresent(DOT_PRODUCTS);
}

bool ferry_has_matrix_products(void)
{
    enum { MATRIX_PRODUCTS = 66 }; /* PF_ARM_V82_I8MM_INSTRUCTIONS_AVAILABLE, likewise */
    return IsProcessorFeaturePresent(MATRIX_PRODUCTS);
}

/* ---- clocks ---- */

double ferry_clock(void)
{
    LARGE_INTEGER ticks, frequency;
    QueryPerformanceCounter(&ticks);
    QueryPerformanceFrequency(&frequency);
    return (double)ticks.QuadPart / (double)frequency.QuadPart;
}

/* ---- random numbers ---- */

bool ferry_entropy(void *bytes, size_t size)
{
    return BCryptGenRandom(NULL, bytes, (ULONG)size, BCRYPT_USE_SYSTEM_PREFERRED_RNG) == 0;
}

/* ---- numbers ---- */

double ferry_parse_double(const char *text, char **end)
{
    /* MinGW-w64's strtod() rounds correctly, but only in the process's locale. */
    const char *point = localeconv()->decimal_point;
    char *copy = ferry_text_copy(text), *found;
    double value = 0;
    *end = (char *)(uintptr_t)text;
    if (copy == NULL) return 0;
    for (char *at = copy; *at != '\0'; at++)
        if (*at == '.') *at = point[0];
    value = strtod(copy, &found);
    *end += found - copy;
    free(copy);
    return value;
}
