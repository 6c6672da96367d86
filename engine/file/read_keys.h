/* Reading the keys of a model file by the rows of its schema. */
#ifndef FERRY_FILE_READ_KEYS_H
#define FERRY_FILE_READ_KEYS_H

#include "gguf.h"
#include "schema.h"

/* Reads every key of the group that applies into its struct in *values, checked against the row's range, choices and
 * count; numbers of arrays are copied into `arena`, everything else points into the file. Errors, naming file and key:
 * FORMAT, UNSUPPORTED (a choice that this build lacks), MEMORY. */
ferry_status ferry_read_keys(const ferry_gguf *gguf, ferry_key_group group, const ferry_schema_values *values,
                             ferry_arena *arena, ferry_error *error);

#endif
