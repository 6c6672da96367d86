#ifndef FERRY_TOOLS_CONFINED_IMPORT_H
#define FERRY_TOOLS_CONFINED_IMPORT_H

#include "models/convert.h"

/* As ferry_import, but a confined child process reads the source and writes the bytes of the model file, where the
 * system has such children. All of options->progress, quantized, complete and noted are set, and called in this
 * process: progress also before the first file is made, and again while nothing comes from the child, with the numbers
 * of the last time (at first 0, 0). `verbose`: says how the child is confined. */
ferry_status ferry_import_confined(const char *source, const char *output, const ferry_import_options *options,
                                   bool verbose, ferry_error *error);

#endif
