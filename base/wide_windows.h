/* For files whose names end in _windows.c: UTF-8 ↔ Windows' UTF-16, errors and handles. (system_windows.c) */
#ifndef FERRY_BASE_WIDE_WINDOWS_H
#define FERRY_BASE_WIDE_WINDOWS_H

#include <wchar.h>

#include "system.h"

/* The text in the other encoding, which the caller frees. NULL and errno on failure. */
wchar_t *ferry_wide(const char *text);
char *ferry_narrow(const wchar_t *text);
/* "folder/name" in UTF-16, which the caller frees. NULL and errno on failure. */
wchar_t *ferry_wide_join(const char *folder, const char *name);

/* Sets errno to the equivalent of GetLastError(). */
void ferry_set_errno(void);

/* The handle of an existing file or folder, opened for sharing; INVALID_HANDLE_VALUE on failure. */
void *ferry_open_existing(const wchar_t *path, unsigned long access, unsigned long flags);

/* ferry_file_examine_open(), of a handle; `follow`: of what a link points to. */
bool ferry_examine_handle(void *handle, bool follow, ferry_file_info *info);

/* A descriptor that owns `handle`. -1 and errno if the handle is INVALID_HANDLE_VALUE or no descriptor is left. */
int ferry_descriptor_of(void *handle);

#endif
