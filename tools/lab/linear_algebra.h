/* Dense linear algebra in double precision, by OpenBLAS and its LAPACK. Matrices are stored by rows. From one thread at
 * a time: Debian's serial build is wrong when two threads call it.
 *
 * The library is loaded when it is needed: linked as an archive it would be 25 of the program's 26 MB, and linked as a
 * shared library it would add 2 ms to every start. */
#ifndef FERRY_LAB_LINEAR_ALGEBRA_H
#define FERRY_LAB_LINEAR_ALGEBRA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* Before anything else here. UNSUPPORTED: the machine has no OpenBLAS. */
ferry_status ferry_linear_algebra_load(ferry_error *error);

/* gram = Xᵀ X; x [rows, n], gram [n, n], both triangles. */
void ferry_gram(const double *x, int32_t rows, int32_t n, double *gram);
/* y = X v; x [rows, n], v [n], y [rows]. */
void ferry_multiply_vector(const double *x, int32_t rows, int32_t n, const double *v, double *y);
/* Solves A v = b in place of b by Cholesky's decomposition, which replaces a [n, n], symmetric. false: A is not
 * positive definite in double precision. */
bool ferry_solve_positive(double *a, int32_t n, double *b);

#endif
