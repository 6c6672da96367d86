#include "file_system.h"

#include <errno.h>
#include <stdlib.h>
#include <windows.h>

#include <psapi.h> /* needs windows.h */

#include "base/wide_windows.h"

/* ---- files and folders ---- */

static bool examine(const char *path, bool follow, ferry_file_info *info)
{
    wchar_t *wide = ferry_wide(path);
    if (wide == NULL) return false;
    const HANDLE handle = ferry_open_existing(wide, FILE_READ_ATTRIBUTES, follow ? 0 : FILE_FLAG_OPEN_REPARSE_POINT);
    free(wide);
    if (handle == INVALID_HANDLE_VALUE) {
        ferry_set_errno();
        return false;
    }
    const bool examined = ferry_examine_handle(handle, follow, info);
    CloseHandle(handle);
    return examined;
}

bool ferry_file_examine(const char *path, ferry_file_info *info)
{
    return examine(path, true, info);
}

bool ferry_file_examine_link(const char *path, ferry_file_info *info)
{
    return examine(path, false, info);
}

const char *ferry_path_base(const char *path)
{
    const char *base = path;
    for (; *path != '\0'; path++)
        if (*path == '/' || *path == '\\' || *path == ':') base = path + 1;
    return base;
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
    const HANDLE handle = ferry_open_existing(wide, FILE_READ_ATTRIBUTES, 0);
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

struct ferry_folder {
    HANDLE search;
    WIN32_FIND_DATAW found;
    bool fresh; /* ferry_folder_next has not returned `found` */
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

/* ---- this process ---- */

/* `time`: in units of 100 nanoseconds. */
static double seconds_of(FILETIME time)
{
    return 1e-7 * ((double)time.dwHighDateTime * 4294967296.0 + (double)time.dwLowDateTime);
}

double ferry_thread_clock(void)
{
    FILETIME begin, end, system, user;
    return GetThreadTimes(GetCurrentThread(), &begin, &end, &system, &user) ? seconds_of(system) + seconds_of(user) : 0;
}

size_t ferry_peak_memory(void)
{
    PROCESS_MEMORY_COUNTERS counters = {.cb = sizeof counters};
    return K32GetProcessMemoryInfo(GetCurrentProcess(), &counters, sizeof counters) ? counters.PeakWorkingSetSize : 0;
}

/* Committed memory, written to or not. */
size_t ferry_own_memory(void)
{
    PROCESS_MEMORY_COUNTERS counters = {.cb = sizeof counters};
    return K32GetProcessMemoryInfo(GetCurrentProcess(), &counters, sizeof counters) ? counters.PagefileUsage : 0;
}
