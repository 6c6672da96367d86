/* Converting what others publish into a model file. */
#ifndef FERRY_MODELS_IMPORT_H
#define FERRY_MODELS_IMPORT_H

#include "../engine/base/tensor.h"
#include "../engine/base/status.h"

typedef struct ferry_import_options {
    ferry_type type;  /* of the matrices in the model file: FERRY_F32 or FERRY_F16 */
    const char *name; /* general.name; NULL: the name of the source */
} ferry_import_options;

/* Reads the model in the directory `source`, whose kind is recognised by its content, and writes the model file
 * `output`; a file of that name is replaced once the new one is complete. `options` NULL: f32, the source's name. Holds
 * one panel of a matrix in memory at a time. Errors name file, key or tensor: IO, FORMAT, UNSUPPORTED (a kind or a
 * choice that Ferry does not know; a directory that holds several models, with their names), ARGUMENT (options->type),
 * MEMORY. */
ferry_status ferry_import(const char *source, const char *output, const ferry_import_options *options,
                          ferry_error *error);

#endif
