/* Options of a translator, checked. */
#ifndef FERRY_API_OPTIONS_H
#define FERRY_API_OPTIONS_H

#include "base/status.h"
#include "engine/file/model_file.h"

/* Checks every option against its row of the schema and the model; the error names the option. */
ferry_status ferry_options_check(const ferry_options *options, const ferry_model_file *file, ferry_error *error);

#endif
