/* The options of a translator: their defaults, and their checks against the schema. */
#ifndef FERRY_API_OPTIONS_H
#define FERRY_API_OPTIONS_H

#include "engine/file/model_file.h"

/* Completes the options of a program that was compiled with any version of the header: the `size` of each struct
 * tells its fields. *complete holds the defaults. `given` may be NULL. Errors: ARGUMENT. */
ferry_status ferry_options_complete(const ferry_options *given, ferry_decoding *complete, ferry_error *error);
/* Checks every option against its row of the schema and the model; the error names the option. */
ferry_status ferry_options_check(const ferry_decoding *decoding, const ferry_model_file *file, ferry_error *error);

#endif
