/* The speed of models that take turns. */
#ifndef FERRY_LAB_BENCH_SPEED_H
#define FERRY_LAB_BENCH_SPEED_H

#include "comparison.h"

/* Fills the speed of all models, whose failures are known: `models` [comparison->count]. Errors: those of translating,
 * MEMORY. */
ferry_status ferry_measure_speed(ferry_comparison *comparison, ferry_model *const *models, ferry_error *error);

#endif
