#include "folders.h"

#include <stdlib.h>
#include <windows.h>

#include "base/wide_windows.h"

uint64_t ferry_user(void)
{
    return 0;
}

/* ---- folders ---- */

int ferry_folder_open_file(const char *folder, const char *name, ferry_file_info *above)
{
    wchar_t *path = ferry_file_examine_link(folder, above) ? ferry_wide_join(folder, name) : NULL;
    if (path == NULL) return -1;
    const int file = ferry_descriptor_of(ferry_open_existing(path, GENERIC_READ, FILE_FLAG_OPEN_REPARSE_POINT));
    free(path);
    return file;
}

/* Whether a call of the system succeeded; errno if not. */
static bool succeeded(wchar_t *path, BOOL done)
{
    if (path != NULL && !done) ferry_set_errno();
    free(path);
    return done;
}

bool ferry_folder_create_private(const char *path)
{
    wchar_t *wide = ferry_wide(path);
    return succeeded(wide, wide != NULL && CreateDirectoryW(wide, NULL));
}

bool ferry_file_remove(const char *path)
{
    wchar_t *wide = ferry_wide(path);
    return succeeded(wide, wide != NULL && (DeleteFileW(wide) || RemoveDirectoryW(wide)));
}

void ferry_file_touch(const char *path)
{
    FILETIME now;
    wchar_t *wide = ferry_wide(path);
    const HANDLE file = wide != NULL ? ferry_open_existing(wide, FILE_WRITE_ATTRIBUTES, 0) : INVALID_HANDLE_VALUE;
    GetSystemTimeAsFileTime(&now);
    if (file != INVALID_HANDLE_VALUE) {
        SetFileTime(file, NULL, NULL, &now);
        CloseHandle(file);
    }
    free(wide);
}

unsigned ferry_creation_mask(unsigned mask)
{
    (void)mask; /* files have the access list of their folder */
    return 0;
}
