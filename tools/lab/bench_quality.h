/* How well a model translates a text, and how likely it finds the references. */
#ifndef FERRY_LAB_BENCH_QUALITY_H
#define FERRY_LAB_BENCH_QUALITY_H

#include "comparison.h"

/* Fills cells, translations and failures of model number `index` of the comparison, whose text is there, and scores
 * [FERRY_CELLS, FERRY_METRIC_COUNT, comparison->resamples]. Errors: those of translating, MEMORY. */
ferry_status ferry_measure_quality(ferry_comparison *comparison, size_t index, const ferry_model *model, double *scores,
                                   ferry_error *error);

#endif
