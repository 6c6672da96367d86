/* Statistics of measurements. */
#ifndef FERRY_LAB_STATISTICS_H
#define FERRY_LAB_STATISTICS_H

#include <stddef.h>

/* A measured value and its 95 % interval; NAN: unknown. */
typedef struct ferry_interval {
    double value, low, high;
} ferry_interval;

/* Sorts in ascending order. */
void ferry_sort_numbers(double *numbers, size_t count);
/* The median; sorts the numbers. */
double ferry_median(double *numbers, size_t count);
/* The median and the order statistics around it that contain the true one with a probability of 95 % or more, whatever
 * the distribution; below 6 numbers no pair does, and it is the least and the greatest. Sorts the numbers. NAN if there
 * are none. */
ferry_interval ferry_median_interval(double *numbers, size_t count);

#endif
