/* UTF-8 and the UTF-16 of Windows' functions, their errors and handles. (Of files whose names end in _windows.c.) */
#ifndef FERRY_BASE_WIDE_WINDOWS_H
#define FERRY_BASE_WIDE_WINDOWS_H

#include <wchar.h>

#include "system.h"

/* What the caller frees; NULL and errno on failure. */
wchar_t *ferry_wide(const char *text);
char *ferry_narrow(const wchar_t *text);
/* "folder/name" */
wchar_t *ferry_wide_join(const char *folder, const char *name);

/* Sets errno to what GetLastError() says. */
void ferry_set_errno(void);

/* The handle of a file or a folder, which others may use meanwhile: CreateFileW(). */
void *ferry_open_existing(const wchar_t *path, unsigned long access, unsigned long flags);

/* ferry_file_examine_open(), of a handle; `follow`: of what a link points to. */
bool ferry_examine_handle(void *handle, bool follow, ferry_file_info *info);

/* A descriptor instead of the handle that CreateFileW() has just returned; -1 and errno if either fails. */
int ferry_descriptor_of(void *handle);

#endif
