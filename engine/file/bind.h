/* Fills the graph's structs from the keys and tensors of a model file. For model_file.c. */
#ifndef FERRY_FILE_BIND_H
#define FERRY_FILE_BIND_H

#include "model_file.h"
#include "schema.h"

/* Fills *values (of `file`), parameters and type from file->gguf, checking every key, shape and id, and that no tensor
 * is left over. Float32 and int8 matrices point into the mapping; all are listed in file->matrices, in the order of
 * their use, also after a failure. Tied output: ferry_model_tie. */
ferry_status ferry_model_bind(ferry_model_file *file, const ferry_schema_values *values, const ferry_kernels *kernels,
                              ferry_error *error);
/* After all matrices have their place: gives tied ones their second use. */
void ferry_model_tie(ferry_model_file *file);

#endif
