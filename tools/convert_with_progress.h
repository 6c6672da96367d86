/* Converts a model for somebody at a terminal. */
#ifndef FERRY_TOOLS_CONVERT_WITH_PROGRESS_H
#define FERRY_TOOLS_CONVERT_WITH_PROGRESS_H

#include "models/convert.h"

/* Like ferry_import with options->type, options->widen, options->pair and options->budget. Unless `quiet`: shows the
 * progress on a terminal, on one line that is erased at the end, and prints the error of each matrix that was
 * quantized, and what is noted. A signal that ends the program does so when nothing is left of a file that is not
 * complete. */
ferry_status ferry_convert(const char *source, const char *output, const ferry_import_options *options, bool quiet,
                           ferry_error *error);

#endif
