/* The folder of converted models: $XDG_CACHE_HOME/ferry, or ~/.cache/ferry; on Windows %LOCALAPPDATA%\ferry, where the
 * system sees to what follows.
 *
 * What lies there is used without looking at its source, so nobody else may have put it there: the folder must be one
 * itself, not a link, belong to the effective user, and be writable for nobody else; and so must each file. The folder
 * is opened once, and its files are reached through this descriptor alone. So nothing is demanded of the folders above:
 * who can write there can take the folder away, or put another one in its place, which then has to pass the same
 * checks.
 *
 * Files whose names are neither those of entries nor of temporary files are left alone. */
#ifndef FERRY_TOOLS_CACHE_FOLDER_H
#define FERRY_TOOLS_CACHE_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "base/system.h"
#include "tools/system/folders.h"

typedef struct ferry_cache_folder {
    char path[FERRY_PATH_MAX - FERRY_NAME_MAX]; /* "path/name" fits into FERRY_PATH_MAX */
    ferry_held_folder held;                     /* not open: there is no such folder */
} ferry_cache_folder;

/* Opens the folder; if it is missing, it is created, or, without `create`, treated as empty. Errors: IO. */
ferry_status ferry_cache_folder_open(ferry_cache_folder *folder, bool create, ferry_error *error);
/* The folder of temporary files instead, anybody's ($TMPDIR, $TEMP, /tmp), where files are removed once they are open.
 * Errors: IO. */
ferry_status ferry_cache_folder_open_temporary(ferry_cache_folder *folder, ferry_error *error);
void ferry_cache_folder_close(ferry_cache_folder *folder);

typedef struct ferry_cache_name {
    char text[FERRY_NAME_MAX];
} ferry_cache_name;

/* "BASE-HASH.gguf", where BASE is the beginning of the last part of `path`. */
ferry_cache_name ferry_cache_entry(const char *path, const char *hash);

/* Opens a file for reading; *descriptor is -1 if there is none. Errors: IO, if anything else has its name, or others
 * can write to it. */
ferry_status ferry_cache_open_file(const ferry_cache_folder *folder, const char *name, int *descriptor,
                                   ferry_error *error);

typedef struct ferry_cache_file {
    ferry_cache_name name;
    bool in_use; /* a temporary file that is not older than a day: another process may be writing it */
    bool temporary;
    uint64_t size;
    time_t used;
} ferry_cache_file;

/* Entries and temporary files, the most recently used first. The caller frees *files. Prints a message and returns
 * false on failure. */
bool ferry_cache_list(const ferry_cache_folder *folder, ferry_cache_file **files, size_t *count);
/* Programs that have it open keep it. Prints a message and returns false on failure. */
bool ferry_cache_remove(const ferry_cache_folder *folder, const char *name);
/* Removes what was not used for 90 days; then, while entries take more than 20 GB, the least recently used ones; and
 * temporary files that are not in use. `kept`, the entry just made, stays. */
void ferry_cache_trim(const ferry_cache_folder *folder, const char *kept);

#endif
