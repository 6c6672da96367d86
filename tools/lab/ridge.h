/* Ridge regression (Hoerl and Kennard 1970) from sums alone: of y on the columns of x [rows, D], with an intercept,
 *
 *     Σ (w·x + b - y)² + λ |w|² → min,  λ = strength · mean over the columns of Σ (x - mean)²
 *
 * The sums are the Gram matrix of rows [x, 1, y], so those of several sets of rows add up. */
#ifndef FERRY_LAB_RIDGE_H
#define FERRY_LAB_RIDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* gram [D + 2, D + 2] of a set of rows; a solution [D + 2] is w, b, 0: its product with a row predicts y. */

/* Σ (w·x + b - y)². */
double ferry_ridge_error(const double *gram, int32_t D, const double *solution);
/* Σ (y - mean)². */
double ferry_ridge_variation(const double *gram, int32_t D);

/* Doubles of scratch memory for the functions below. */
size_t ferry_ridge_scratch(int32_t D);
/* Without variance in x, w is 0. false: there is no solution (no rows, or numbers that are not finite). */
bool ferry_ridge_solve(const double *gram, int32_t D, double strength, double *scratch, double *solution);
/* A solution of both sets together. Its strength, of 10^-6, 10^-5, … 10, is that by which a solution of `train` has the
 * least error in `test`. */
bool ferry_ridge_fit(const double *train, const double *test, int32_t D, double *scratch, double *solution);

#endif
