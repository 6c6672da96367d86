/* Which state of which source a conversion is of: the name of its file says both. */
#ifndef FERRY_TOOLS_SOURCE_STATE_H
#define FERRY_TOOLS_SOURCE_STATE_H

#include "base/system.h"
#include "tools/system/folders.h"

/* Calls `visit` for each file that may belong to the model, and sets `real` to the source's path without links. Of a
 * directory: files in it and in its subfolders; an archive itself; any other file itself, and those beside it and in
 * the subfolders there. False and errno on failure. */
typedef void ferry_source_visitor(void *user, const char *path, const ferry_file_info *file);
bool ferry_source_visit(const char *source, ferry_source_visitor *visit, void *user, char real[FERRY_PATH_MAX]);

/* "BASE-HASH.gguf": BASE is the beginning of the source's name; HASH is the SHA-256 of this version of Ferry, of each
 * file that may belong to the model its path, size, device, inode, and times of its last modification and change, in
 * nanoseconds, and of the source's real path. Files are not read: what is not seen is a change of a file's contents
 * within the same tick of the file system's clock (some milliseconds) as the one before, or after the clock was set
 * back. Errors: IO. */
ferry_status ferry_conversion_name(const char *source, ferry_short_text *name, ferry_error *error);
bool ferry_is_conversion_name(const char *name);

#endif
