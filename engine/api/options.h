/* The options of a translator: their defaults, and their checks against the schema. */
#ifndef FERRY_API_OPTIONS_H
#define FERRY_API_OPTIONS_H

#include "engine/file/model_file.h"

/* Copies the fields of a public struct that begins with its size, which tells what the program knows, over the
 * defaults in `known`. `first_size`: of its first release. `argument`, `name`: of the struct. Errors: ARGUMENT (the
 * size, or a field other than 0 that the library does not know). */
ferry_status ferry_struct_complete(const char *argument, const char *name, const void *given, size_t first_size,
                                   void *known, size_t known_size, ferry_error *error);

/* Completes the options of a program that was compiled with any version of the header: the `size` of each struct
 * tells its fields. *complete holds the defaults. `given` may be NULL. Errors: ARGUMENT. */
ferry_status ferry_options_complete(const ferry_options *given, ferry_decoding *complete, ferry_error *error);
/* Checks every option against its row of the schema and the model; the error names the option. */
ferry_status ferry_options_check(const ferry_decoding *decoding, const ferry_model_file *file, ferry_error *error);

#endif
