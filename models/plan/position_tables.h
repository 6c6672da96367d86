/* The stacks' positional encodings, for the sizes in plan->model. Their tensors join the plan's. */
#ifndef FERRY_PLAN_POSITION_TABLES_H
#define FERRY_PLAN_POSITION_TABLES_H

#include "plan.h"

/* A scheme and its first parameters [count] in their order: numbers, or the indexes of choices; the others are 0. */
void ferry_import_set_position(ferry_import_plan *plan, bool decoder, const char *scheme, const double *values,
                               size_t count);
void ferry_import_sinusoidal(ferry_import_plan *plan, bool decoder, bool interleaved, bool half_minus_one,
                             int32_t first);
/* A stored table of positions: its rows first_row … first_row + rows - 1. */
ferry_status ferry_import_learned(ferry_import_plan *plan, bool decoder, const ferry_weights_entry *table,
                                  int32_t first_row, int32_t rows, ferry_error *error);
/* Reads `position` of the export layout's configuration. */
ferry_status ferry_import_positions(ferry_import_plan *plan, ferry_json config, ferry_error *error);
/* A table [P, D] of positions is a formula when it agrees with one to 1e-5 + p·2^-23 (half types: 1e-3): sinusoidal,
 * split or interleaved, divisor D/2 or D/2 - 1, first position 0, 1 or 2; the formula has no end. Otherwise its rows
 * first_row … are learned positions. */
ferry_status ferry_import_position_table(ferry_import_plan *plan, bool decoder, const ferry_weights_entry *table,
                                         int32_t first_row, ferry_error *error);

#endif
