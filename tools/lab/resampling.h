/* Bootstrap resampling of lines: intervals of a score, and whether two systems differ (Koehn 2004). */
#ifndef FERRY_LAB_RESAMPLING_H
#define FERRY_LAB_RESAMPLING_H

#include <stddef.h>
#include <stdint.h>

#include "interval.h"

/* Draws `count` of `count` lines with replacement: line i is drawn times[i] times. *state is any number, the seed;
 * equal ones give equal draws. */
void ferry_resample(uint64_t *state, size_t count, uint32_t *times);

/* The 95 % percentile interval of `value` from the scores of resampled lines, which it sorts; NANs do not count, and
 * low and high are NAN if there is nothing else. */
ferry_interval ferry_resampled_interval(double value, double *scores, size_t count);

/* Two-sided p of the difference of two systems, given its values on resampled lines: twice the share that is not on the
 * side of most, where 0 is on neither. With one more resample against it than there were, so that p is never 0. NAN if
 * a difference is. */
double ferry_resampled_p(const double *differences, size_t count);

#endif
