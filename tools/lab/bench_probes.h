/* The probes of one model on the text of a comparison. */
#ifndef FERRY_LAB_BENCH_PROBES_H
#define FERRY_LAB_BENCH_PROBES_H

#include "comparison.h"

/* Fills models[index].probes; leaves it NULL if the length in training is unknown, or no sentence fits into the model's
 * positions. */
ferry_status ferry_measure_probes(ferry_comparison *comparison, size_t index, const ferry_model *model,
                                  ferry_error *error);

#endif
