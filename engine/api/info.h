/* The values of ferry_model_info. */
#ifndef FERRY_API_INFO_H
#define FERRY_API_INFO_H

#include "base/status.h"

/* Fills model->info from the model's file. Errors: MEMORY. */
ferry_status ferry_model_info_create(ferry_model *model, ferry_error *error);

#endif
