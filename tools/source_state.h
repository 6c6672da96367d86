/* Which state of a source a conversion is of. */
#ifndef FERRY_TOOLS_SOURCE_STATE_H
#define FERRY_TOOLS_SOURCE_STATE_H

#include "base/system.h"
#include "tools/system/folders.h"

enum { FERRY_STATE_DIGITS = 64 };

/* `hash` is the SHA-256 of this version of Ferry, the source's real path, and of each file that may belong to the model
 * its path, size, device, inode, and times of its last modification and change, in nanoseconds. Files are not read:
 * what is not seen is a change of a file's contents within the same tick of the file system's clock (some milliseconds)
 * as the one before, or after the clock was set back. */
typedef struct ferry_source_state {
    char path[FERRY_PATH_MAX]; /* real, without links */
    char hash[FERRY_STATE_DIGITS + 1];
} ferry_source_state;

/* The files that may belong to the model. Of a directory: in it and in its subfolders; an archive itself; any other
 * file itself, and those beside it and in the subfolders there. */
typedef void ferry_source_visitor(void *user, const char *path, const ferry_file_info *file);
void ferry_source_visit(const char *source, ferry_source_visitor *visit, void *user);
/* Of these files. Errors: IO. */
ferry_status ferry_source_state_find(const char *source, ferry_source_state *state, ferry_error *error);

#endif
