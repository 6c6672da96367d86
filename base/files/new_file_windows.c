#include "new_file.h"

#include <errno.h>
#include <io.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#include "file_system.h"
#include "base/wide_windows.h"

enum { MAX_WRITE = 1 << 30 };

static ferry_status fail(const ferry_new_file *file, const char *what, ferry_error *error)
{
    return ferry_fail(error, FERRY_ERROR_IO, "%s: %s: %s", file->path, what, strerror(errno));
}

/* ---- the place ---- */

/* The folder of the file `path`. The caller frees it. */
static char *folder_of(const char *path)
{
    const char *base = ferry_path_base(path);
    char *folder = ferry_text_copy(base != path ? path : ".");
    if (folder != NULL && base != path) folder[base - path] = '\0'; /* "C:\", "folder/" */
    return folder;
}

/* Whether the folder of the file `path` exists and the path names a file in it. Sets errno if not. */
static bool has_folder(const char *path)
{
    ferry_file_info info;
    const char *base = ferry_path_base(path);
    char *folder = folder_of(path);
    if (folder == NULL) return false;
    const bool examined = ferry_file_examine(folder, &info);
    free(folder);
    if (!examined) return false;
    errno = base[0] == '\0' ? ENOENT : ENOTDIR;
    return base[0] != '\0' && info.kind == FERRY_KIND_FOLDER;
}

/* The path must be free, or that of a regular file that is not read-only. */
static ferry_status find_place(ferry_new_file *file, ferry_error *error)
{
    ferry_file_info info;
    if (ferry_file_examine(file->path, &info)) {
        FERRY_TRY(ferry_expect_regular_file(file->path, info.kind, error));
        file->place = ferry_path_real(file->path);
        errno = EACCES;
        if ((info.permissions & 0200) == 0) return fail(file, "cannot replace", error);
    } else {
        if (errno != ENOENT || !has_folder(file->path)) return fail(file, "cannot create", error);
        file->place = ferry_text_copy(file->path);
    }
    return file->place != NULL ? FERRY_OK : ferry_fail_memory(error, "a file name", strlen(file->path), 1);
}

ferry_status ferry_new_file_open(const char *path, ferry_new_file *file, ferry_error *error)
{
    *file = (ferry_new_file){.path = path, .directory = -1, .descriptor = -1};
    const ferry_status status = find_place(file, error);
    if (status != FERRY_OK) ferry_new_file_close(file);
    return status;
}

/* ---- the bytes ---- */

/* The path of the temporary file. The caller frees it. */
static wchar_t *temporary_path(const ferry_new_file *file)
{
    char *folder = folder_of(file->place);
    if (folder == NULL) return NULL;
    wchar_t *path = ferry_wide_join(folder, file->temporary.text); /* two separators are as good as one */
    free(folder);
    return path;
}

static ferry_status create(ferry_new_file *file, ferry_error *error)
{
    file->temporary = ferry_temporary_name_create();
    wchar_t *path = temporary_path(file);
    if (path == NULL) return fail(file, "cannot create a file beside it", error);
    file->descriptor = ferry_descriptor_of(
        CreateFileW(path, GENERIC_WRITE, FILE_SHARE_READ, NULL, CREATE_NEW, FILE_ATTRIBUTE_NORMAL, NULL));
    free(path);
    return file->descriptor >= 0 ? FERRY_OK : fail(file, "cannot create a file beside it", error);
}

ferry_status ferry_new_file_write_at(ferry_new_file *file, uint64_t offset, const char *data, size_t size,
                                     ferry_error *error)
{
    if (file->descriptor < 0) FERRY_TRY(create(file, error));
    const HANDLE handle = (HANDLE)_get_osfhandle(file->descriptor);
    while (size > 0) {
        OVERLAPPED place = {.Offset = (DWORD)offset, .OffsetHigh = (DWORD)(offset >> 32)};
        DWORD count = 0;
        if (!WriteFile(handle, data, size < MAX_WRITE ? (DWORD)size : MAX_WRITE, &count, &place)) {
            ferry_set_errno();
            return fail(file, "cannot write", error);
        }
        data += count;
        size -= count;
        offset += count;
    }
    return FERRY_OK;
}

/* ---- the end ---- */

/* Closes the temporary file and renames it to `what`, which it replaces (NULL: removes it). */
static bool leave(ferry_new_file *file, const char *what)
{
    wchar_t *path = temporary_path(file), *name = what != NULL ? ferry_wide(what) : NULL;
    _close(file->descriptor);
    file->descriptor = -1;
    bool done = path != NULL && name != NULL &&
                MoveFileExW(path, name, MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH) != 0;
    if (!done) {
        ferry_set_errno();
        if (path != NULL) DeleteFileW(path);
    }
    free(path);
    free(name);
    return done;
}

ferry_status ferry_new_file_finish(ferry_new_file *file, ferry_error *error)
{
    FERRY_TRY(ferry_new_file_write_at(file, 0, NULL, 0, error)); /* an empty file has to be created, too */
    if (!FlushFileBuffers((HANDLE)_get_osfhandle(file->descriptor))) {
        ferry_set_errno();
        return fail(file, "cannot write", error);
    }
    return leave(file, file->place) ? FERRY_OK : fail(file, "cannot rename the new file", error);
}

void ferry_new_file_close(ferry_new_file *file)
{
    if (file->descriptor >= 0) leave(file, NULL);
    free(file->place);
    file->place = NULL;
}
