/* Models of other systems are converted once, into the user's cache (cache_folder.h). */
#ifndef FERRY_TOOLS_CONVERSION_CACHE_H
#define FERRY_TOOLS_CONVERSION_CACHE_H

#include <stdbool.h>

#include "models/convert.h"
#include "cache_folder.h"

typedef struct ferry_conversion {
    bool quiet;   /* nothing is shown */
    bool verbose; /* the error of each matrix that was quantized is printed */
    /* What ferry_convert tells, zero before. */
    uint64_t bytes_read;        /* of the source's files */
    size_t quantized;           /* matrices */
    double errors, worst_error; /* rms error / rms of the weights: of all these matrices together, of the worst one */
    ferry_name worst;           /* its name */
} ferry_conversion;

/* Like ferry_import with options->type, options->widen, options->pair and options->budget. Unless `quiet`: shows the
 * progress on a terminal, on one line that is erased at the end, and prints what is noted. A signal that ends the
 * program does so when nothing is left of a file that is not complete. */
ferry_status ferry_convert(const char *source, const char *output, const ferry_import_options *options,
                           ferry_conversion *conversion, ferry_error *error);

/* Whether `path` is a directory, an archive or a file of weights, rather than a model file. */
bool ferry_is_converted(const char *path);
/* Finds the model file that `path` means. If that has to be converted, *descriptor is its
 * conversion in the cache, which the caller closes, and file [FERRY_PATH_MAX] its name for messages; if the cache has
 * none of the source's current state, makes one (and prints its name, unless `quiet`). Otherwise *descriptor is -1:
 * `path` is the model file, or does not exist. Prints a message and returns false on failure: also if the source
 * changes while it is converted, and once more while that is repeated. */
bool ferry_find_model_file(const char *path, bool quiet, int *descriptor, char file[FERRY_PATH_MAX]);

#endif
