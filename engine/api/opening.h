/* Opening and closing models. */
#ifndef FERRY_API_OPENING_H
#define FERRY_API_OPENING_H

#include "engine/file/model_file.h"

/* An empty model, which ferry_model_close releases. NULL: out of memory. */
ferry_model *ferry_model_allocate(const ferry_kernels *kernels, ferry_error *error);
/* Widens the model's f16 matrices, once, before the first use of its weights. ferry_model_create does not widen
 * them, because many programs open models only to list them. */
void ferry_model_widen(const ferry_model *model);
/* Makes a model of the file in `map`, which then belongs to the model; an error closes it. `name` is for messages. */
ferry_status ferry_model_create(ferry_mapped_file map, const char *name, const ferry_kernels *kernels,
                                ferry_model **model, ferry_error *error);

#endif
