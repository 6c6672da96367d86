/* Opening and closing models. */
#ifndef FERRY_API_OPENING_H
#define FERRY_API_OPENING_H

#include "engine/file/model_file.h"

/* A model without contents, for ferry_model_close; NULL: MEMORY. */
ferry_model *ferry_model_allocate(const ferry_kernels *kernels, ferry_error *error);
/* Widens the model's f16 matrices, once. Comes before the first use of its weights: many programs open models only to
 * list them. */
void ferry_model_widen(const ferry_model *model);
/* A model of the file in `map`, which belongs to the model, or is closed by a failure. `name` is for messages. */
ferry_status ferry_model_create(ferry_mapped_file map, const char *name, const ferry_kernels *kernels,
                                ferry_model **model, ferry_error *error);

#endif
