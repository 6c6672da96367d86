/* Models of other systems are converted once, into the user's cache (cache_folder.h). */
#ifndef FERRY_TOOLS_CONVERSION_CACHE_H
#define FERRY_TOOLS_CONVERSION_CACHE_H

#include <stdbool.h>

#include "cache_folder.h"

/* Whether `path` is a directory, an archive or a file of weights, rather than a model file. */
bool ferry_is_converted(const char *path);
/* Finds the model file that `path` means. If that has to be converted, *descriptor is its
 * conversion in the cache, which the caller closes, and file [FERRY_PATH_MAX] its name for messages; if the cache has
 * none of the source's current state, makes one (and prints its name, unless `quiet`). Otherwise *descriptor is -1:
 * `path` is the model file, or does not exist. Prints a message and returns false on failure: also if the source
 * changes while it is converted, and once more while that is repeated. */
bool ferry_find_model_file(const char *path, bool quiet, int *descriptor, char file[FERRY_PATH_MAX]);

#endif
