/* Converting what others publish into a model file. */
#ifndef FERRY_MODELS_CONVERT_H
#define FERRY_MODELS_CONVERT_H

#include "models/plan/write.h"

/* Reads the model `source` (a directory, an archive, a file of weights and the files beside it, or a model file), whose
 * kind is recognized by its content, and writes the model file `output`; a file of that name is replaced once the new
 * one is complete. `options` NULL: f32, the source's name. Holds one panel of a matrix in memory at a time; what it may
 * take at most is a budget (models/containers/reader.h), whatever the source. Errors name file, key or tensor: IO,
 * FORMAT, UNSUPPORTED (a kind or a choice that Ferry does not know; a directory that holds several models, with their
 * names), ARGUMENT (options->type, options->pair), MEMORY, LIMIT (the budget), CANCELLED. */
ferry_status ferry_import(const char *source, const char *output, const ferry_import_options *options,
                          ferry_error *error);

#endif
