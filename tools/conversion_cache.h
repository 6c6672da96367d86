/* Models of other systems are converted once, into the user's cache: the folder $XDG_CACHE_HOME/ferry, or
 * ~/.cache/ferry; on Windows %LOCALAPPDATA%\ferry, where the system sees to what follows.
 *
 * A conversion is used without looking into its source, so nobody else may have written it: the folder must be one
 * itself, not a link, belong to the effective user, and be writable for nobody else; and so must each file. A file is
 * opened in the folder that was checked. Nothing is demanded of the folders above: who can write there can take the
 * folder away, or put another one in its place, which then has to pass the same checks.
 *
 * A conversion has one name, that of its source's state (source_state.h), from the start. Two processes that make the
 * same one both put a complete file there, and the last one stays. If the source changes meanwhile, the file has the
 * name of a state that never comes back.
 *
 * Files whose names are neither those of conversions nor of temporary files (base/new_file.h) are left alone. */
#ifndef FERRY_TOOLS_CONVERSION_CACHE_H
#define FERRY_TOOLS_CONVERSION_CACHE_H

#include <time.h>

#include "base/system.h"
#include "models/convert.h"
#include "tools/system/folders.h"

typedef struct ferry_conversion {
    bool quiet;   /* nothing is shown */
    bool verbose; /* the error of each matrix that was quantized is printed */
    /* What ferry_convert tells, zero before. */
    uint64_t bytes_read;        /* of the source's files */
    size_t quantized;           /* matrices */
    double errors, worst_error; /* rms error / rms of the weights: of all these matrices together, of the worst one */
    ferry_short_text worst;     /* its name */
} ferry_conversion;

/* Like ferry_import with options->type, options->widen, options->pair and options->budget. Unless `quiet`: shows the
 * progress on a terminal, on one line that is erased at the end, and prints what is noted. A signal that ends the
 * program does so when nothing is left of a file that is not complete. (cmd_convert.c) */
ferry_status ferry_convert(const char *source, const char *output, const ferry_import_options *options,
                           ferry_conversion *conversion, ferry_error *error);

/* Whether `path` is a directory, an archive or a file of weights, rather than a model file. */
bool ferry_is_converted(const char *path);
/* Finds the model file that `path` means. If that has to be converted, *descriptor is its
 * conversion in the cache, which the caller closes, and file [FERRY_PATH_MAX] its name; if the cache has
 * none of the source's current state, makes one (and prints its name, unless `quiet`). Otherwise *descriptor is -1:
 * `path` is the model file, or does not exist. Prints a message and returns false on failure: also if the source
 * changes while it is converted, and once more while that is repeated. */
bool ferry_find_model_file(const char *path, bool quiet, int *descriptor, char file[FERRY_PATH_MAX]);

typedef struct ferry_cache {
    char path[FERRY_PATH_MAX - sizeof(ferry_short_text)]; /* "path/name" fits into FERRY_PATH_MAX */
    bool exists;
    ferry_file_info folder;
} ferry_cache;

/* Finds the folder; if it is missing, it is created, or, without `create`, treated as empty. Errors: IO. */
ferry_status ferry_cache_open(ferry_cache *cache, bool create, ferry_error *error);

typedef struct ferry_cache_file {
    ferry_short_text name;
    bool temporary;
    bool in_use; /* a temporary file that is not older than a day: another process may be writing it */
    uint64_t size;
    time_t used;
} ferry_cache_file;

/* Conversions and temporary files, the most recently used first. The caller frees *files. Prints a message and returns
 * false on failure. */
bool ferry_cache_list(const ferry_cache *cache, ferry_cache_file **files, size_t *count);
/* Programs that have it open keep it. Prints a message and returns false on failure. */
bool ferry_cache_remove(const ferry_cache *cache, const char *name);

#endif
