/* Making model files: with what a person at a terminal wants to see, and once for all of what is not a model file. */
#ifndef FERRY_TOOLS_CONVERSION_H
#define FERRY_TOOLS_CONVERSION_H

#include <stdbool.h>
#include <stddef.h>

#include "models/convert.h"

/* As ferry_import, with options->type and ->widen; prints a message and returns false when that fails. Unless `quiet`:
 * on a terminal, how much is done, on one line that is gone in the end; and the error of each matrix that was
 * quantized.
 */
bool ferry_convert(const char *source, const char *output, const ferry_import_options *options, bool quiet);

/* The model file that `path` means: itself, or, when it is a directory, an archive or a file of weights, its conversion
 * in the user's cache, which is made when there is none that is as new as the source (and named, unless `quiet`).
 * Prints a message and returns false when that fails. What does not exist means itself. */
bool ferry_find_model_file(const char *path, bool quiet, char *file, size_t size);

#endif
