/* Options of a translator, checked. */
#ifndef FERRY_API_OPTIONS_H
#define FERRY_API_OPTIONS_H

#include "base/status.h"
#include "engine/file/model_file.h"

/* The options of a program that was compiled with the header of any version, which the `size` of each struct tells
 * (NULL: no options), as this version has them: other fields have their defaults, and options.search is `search`. */
ferry_status ferry_options_complete(const ferry_model_file *file, const ferry_options *options,
                                    ferry_decoding *complete, ferry_error *error);
/* Checks every option against its row of the schema and the model; the error names the option. */
ferry_status ferry_options_check(const ferry_decoding *decoding, const ferry_model_file *file, ferry_error *error);

#endif
