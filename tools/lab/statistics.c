#include "statistics.h"

#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void ferry_sort_numbers(double *numbers, size_t count)
{
    qsort(numbers, count, sizeof *numbers, compare);
}

double ferry_median(double *numbers, size_t count)
{
    ferry_sort_numbers(numbers, count);
    return numbers[count / 2];
}
