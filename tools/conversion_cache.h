/* Models of other systems are converted once, into the user's cache. */
#ifndef FERRY_TOOLS_CONVERSION_CACHE_H
#define FERRY_TOOLS_CONVERSION_CACHE_H

#include <stdbool.h>
#include <stddef.h>

/* Finds the model file that `path` means: `path` itself, or, if that is a directory, an archive or a file of weights,
 * its conversion in the cache. If the cache has none of the source's current state, makes one (and prints its name,
 * unless `quiet`). Prints a message and returns false on failure. A path that does not exist means itself. */
bool ferry_find_model_file(const char *path, bool quiet, char *file, size_t size);

#endif
