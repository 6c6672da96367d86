#include "statistics.h"

#include <math.h>
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

/* The true median is above k of `count` numbers with the probability of k heads in `count` throws. */
ferry_interval ferry_median_interval(double *numbers, size_t count)
{
    if (count == 0) return (ferry_interval){NAN, NAN, NAN};
    const double n = (double)count;
    double outside = 0;
    size_t low = 0;
    for (; low + 1 < count - low; low++) {
        const double k = (double)low;
        outside += 2 * exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) - n * log(2));
        if (outside > 0.05) break;
    }
    ferry_sort_numbers(numbers, count);
    if (low > 0) low--;
    return (ferry_interval){ferry_median(numbers, count), numbers[low], numbers[count - 1 - low]};
}
