/* Choosing the codes of a matrix of steps (engine/kernels/kernels.h). */
#ifndef FERRY_PLAN_STEPS_H
#define FERRY_PLAN_STEPS_H

#include <stdint.h>

/* Approximates a row x [K] in units of its scale, |x| ≤ 127: steps s [K/32] and q [K], q in -8 … 7 and |s·q| ≤ 127,
 * with the least Σ (x - s·q)² for every 32 inputs. `feedback`: NULL, or the matrices of plan/feedback.h, by which later
 * inputs compensate for the errors of earlier ones. The same bytes on every machine. */
void ferry_steps_quantize(const float *x, int32_t K, const float *feedback, int8_t *steps, int8_t *q);

#endif
