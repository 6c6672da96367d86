/* What a model's file says about it, as texts. */
#ifndef FERRY_API_INFO_H
#define FERRY_API_INFO_H

#include "model.h"

/* Fills model->info from everything else. Errors: MEMORY. */
ferry_status ferry_model_info_create(ferry_model *model, ferry_error *error);

#endif
