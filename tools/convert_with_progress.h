/* Converts a model for somebody at a terminal. */
#ifndef FERRY_TOOLS_CONVERT_WITH_PROGRESS_H
#define FERRY_TOOLS_CONVERT_WITH_PROGRESS_H

#include "models/convert.h"

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

#endif
