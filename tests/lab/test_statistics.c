#include <math.h>

#include "tests/support/support.h"

#include "tools/lab/statistics.h"

/* Ranks of the table of exact intervals of a median (Conover, Practical Nonparametric Statistics): n = 6: 1 and 6,
 * n = 9: 2 and 8, n = 15: 4 and 12, n = 21: 6 and 16. */
TEST(test_median_interval)
{
    static const size_t rows[][3] = {{1, 1, 1}, {3, 1, 3}, {5, 1, 5}, {6, 1, 6}, {9, 2, 8}, {15, 4, 12}, {21, 6, 16}};
    double numbers[21];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const size_t n = rows[i][0];
        for (size_t k = 0; k < n; k++) numbers[k] = (double)(n - k);
        const ferry_interval found = ferry_median_interval(numbers, n);
        assert_true(found.low == (double)rows[i][1] && found.high == (double)rows[i][2]);
        assert_true(found.value == (double)(n / 2 + 1));
    }
    assert_true(isnan(ferry_median_interval(numbers, 0).value));
}
