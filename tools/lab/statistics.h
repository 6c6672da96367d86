/* Statistics of measurements. */
#ifndef FERRY_LAB_STATISTICS_H
#define FERRY_LAB_STATISTICS_H

#include <stddef.h>

/* Sorts in ascending order. */
void ferry_sort_numbers(double *numbers, size_t count);
/* The median; sorts the numbers. */
double ferry_median(double *numbers, size_t count);

#endif
