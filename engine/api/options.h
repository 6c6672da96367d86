/* Options of a translator, checked. */
#ifndef FERRY_API_OPTIONS_H
#define FERRY_API_OPTIONS_H

#include "base/status.h"
#include "engine/file/model_file.h"

/* Checks every option against its range and the model; the error names the option. */
ferry_status ferry_options_check(const ferry_options *options, const ferry_transformer *model, ferry_error *error);
/* The search's form of the options; points to options->suppressed_ids. */
ferry_decoding ferry_options_decoding(const ferry_options *options);

#endif
