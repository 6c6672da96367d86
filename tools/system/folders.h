/* What the program needs of folders and private files, beyond base/files/file_system.h. Functions that fail leave the
 * reason in errno. */
#ifndef FERRY_TOOLS_FOLDERS_H
#define FERRY_TOOLS_FOLDERS_H

#include "base/files/file_system.h"

enum { FERRY_PATH_MAX = 4096 }; /* of a path, with NUL */

/* The effective user, where users have numbers. */
uint64_t ferry_user(void);

/* ---- folders ---- */

/* The names that `keep` accepts, in the order of strcmp; the caller frees each one and *names. None on failure. */
bool ferry_folder_names(const char *path, bool (*keep)(const char *name), char ***names, size_t *count);
/* Opens a file of a folder for reading, and sets `above` to what the folder is that the file was found in: neither may
 * be a link. Does not wait for a pipe. -1 on failure. */
int ferry_folder_open_file(const char *folder, const char *name, ferry_file_info *above);
bool ferry_folder_create_private(const char *path);
/* A file, a link, or an empty folder. */
bool ferry_file_remove(const char *path);
/* Sets the time of writing to now, if the system permits. */
void ferry_file_touch(const char *path);
/* umask(), where there is one: from now on, new files lack these permissions. Returns those of before. */
unsigned ferry_creation_mask(unsigned mask);

#endif
