/* What importers and the program need of an operating system, and the libraries do not: files by their names, folders,
 * spools, and what this process has used. (Files that appear when they are complete: new_file.h.) */
#ifndef FERRY_FILES_FILE_SYSTEM_H
#define FERRY_FILES_FILE_SYSTEM_H

#include "base/system.h"

/* ---- files: functions that fail leave the reason in errno ---- */

/* Of what the path leads to; of the last part itself, even if that is a link. */
bool ferry_file_examine(const char *path, ferry_file_info *info);
bool ferry_file_examine_link(const char *path, ferry_file_info *info);
/* POSIX only: as ferry_file_examine_link, for a name in the folder of this descriptor. */
bool ferry_file_examine_in(int folder, const char *name, ferry_file_info *info);

/* The part of `path` after the last separator; all of it if there is none. */
const char *ferry_path_base(const char *path);
/* The absolute path without links, "." and "..", separated by '/'. The caller frees it; NULL on failure. */
char *ferry_path_real(const char *path);

typedef struct ferry_folder ferry_folder;

ferry_folder *ferry_folder_open(const char *path);
/* The next name, "." and ".." included; valid until the next call. NULL at the end (errno 0) or on failure. */
const char *ferry_folder_next(ferry_folder *folder);
void ferry_folder_close(ferry_folder *folder);

/* ---- spools ---- */

/* Bytes that are appended, then read. They are in a file without a name in $TMPDIR or /tmp; on Windows in memory that
 * the system may page out, in WebAssembly in the module's memory. */
typedef struct ferry_spool {
    int descriptor;
    char *memory;
    size_t size, capacity;
} ferry_spool;

/* These three set errno on failure. */
bool ferry_spool_open(ferry_spool *spool);
bool ferry_spool_append(ferry_spool *spool, const void *bytes, size_t size);
/* Opens the bytes as *file and closes the spool. */
bool ferry_spool_finish(ferry_spool *spool, ferry_mapped_file *file);
/* Closes the spool, as an alternative to ferry_spool_finish. */
void ferry_spool_discard(ferry_spool *spool);

/* ---- this process ---- */

/* Seconds of CPU time of the calling thread. */
double ferry_thread_clock(void);
/* The largest number of bytes of memory that the process had. */
size_t ferry_peak_memory(void);
/* Bytes of resident memory that belong to no file: allocated and written to. 0 if the system does not report them. */
size_t ferry_own_memory(void);

#endif
