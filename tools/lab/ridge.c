#include "ridge.h"

#include <math.h>
#include <string.h>

#include "linear_algebra.h"

/* s [D, D] = Σ (x - mean)(x - mean)ᵀ, r [D] = Σ (x - mean)(y - mean of y); returns the trace of s. */
static double center(const double *gram, int32_t D, double *s, double *r)
{
    const size_t width = (size_t)D, n = width + 2;
    const double *sums = gram + width * n; /* of x; then the number of rows, and the sum of y */
    const double rows = sums[width];
    double trace = 0;
    for (size_t i = 0; i < width; i++) {
        for (size_t j = 0; j < width; j++) s[i * width + j] = gram[i * n + j] - sums[i] * sums[j] / rows;
        r[i] = gram[i * n + width + 1] - sums[i] * sums[width + 1] / rows;
        trace += s[i * width + i];
    }
    return trace;
}

double ferry_ridge_error(const double *gram, int32_t D, const double *solution)
{
    const size_t n = (size_t)D + 2;
    double error = 0;
    for (size_t i = 0; i < n; i++) {
        double product = -gram[i * n + n - 1];
        for (size_t j = 0; j < n; j++) product += gram[i * n + j] * solution[j];
        error += product * (i < n - 1 ? solution[i] : -1);
    }
    return error;
}

double ferry_ridge_variation(const double *gram, int32_t D)
{
    const size_t width = (size_t)D, n = width + 2;
    const double rows = gram[width * n + width], sum = gram[width * n + width + 1];
    return rows > 0 ? gram[n * n - 1] - sum * sum / rows : 0;
}

size_t ferry_ridge_scratch(int32_t D)
{
    const size_t n = (size_t)D + 2;
    return 2 * n * n;
}

bool ferry_ridge_solve(const double *gram, int32_t D, double strength, double *scratch, double *solution)
{
    const size_t width = (size_t)D;
    const double *sums = gram + width * (width + 2);
    if (!(sums[width] > 0)) return false;
    const double trace = center(gram, D, scratch, solution);
    for (size_t i = 0; i < width; i++) scratch[i * width + i] += strength * trace / D;
    if (!(trace > 0))
        memset(solution, 0, width * sizeof *solution);
    else if (!ferry_solve_positive(scratch, D, solution))
        return false;
    double intercept = sums[width + 1];
    for (size_t i = 0; i < width; i++) intercept -= solution[i] * sums[i];
    solution[width] = intercept / sums[width];
    solution[width + 1] = 0;
    return isfinite(solution[width]);
}

bool ferry_ridge_fit(const double *train, const double *test, int32_t D, double *scratch, double *solution)
{
    const size_t n = (size_t)D + 2;
    double least = INFINITY, best = 0;
    for (int exponent = -6; exponent <= 1; exponent++) {
        const double strength = pow(10, exponent);
        if (!ferry_ridge_solve(train, D, strength, scratch, solution)) continue;
        const double error = ferry_ridge_error(test, D, solution);
        if (error < least) {
            least = error;
            best = strength;
        }
    }
    double *both = scratch + n * n;
    for (size_t i = 0; i < n * n; i++) both[i] = train[i] + test[i];
    return least < INFINITY && ferry_ridge_solve(both, D, best, scratch, solution);
}
