#include "linear_algebra.h"

#include <stddef.h>
#include <string.h>

#include "base/system.h"

static const char library[] = "libopenblas.so.0";

/* BLAS and LAPACK as Fortran calls them: all arguments are pointers, and matrices are stored by columns. */
typedef void dsyrk(const char *triangle, const char *transposed, const int32_t *n, const int32_t *k,
                   const double *alpha, const double *a, const int32_t *lda, const double *beta, double *c,
                   const int32_t *ldc);
typedef void dgemv(const char *transposed, const int32_t *m, const int32_t *n, const double *alpha, const double *a,
                   const int32_t *lda, const double *x, const int32_t *incx, const double *beta, double *y,
                   const int32_t *incy);
typedef void dpotrf(const char *triangle, const int32_t *n, double *a, const int32_t *lda, int32_t *info);
typedef void dpotrs(const char *triangle, const int32_t *n, const int32_t *columns, const double *a, const int32_t *lda,
                    double *b, const int32_t *ldb, int32_t *info);

static struct {
    dsyrk *dsyrk;
    dgemv *dgemv;
    dpotrf *dpotrf;
    dpotrs *dpotrs;
} blas; /* of the process, as the library is */

ferry_status ferry_linear_algebra_load(ferry_error *error)
{
    if (blas.dpotrs != NULL) return FERRY_OK;
    blas.dsyrk = (dsyrk *)ferry_library_function(library, "dsyrk_");
    blas.dgemv = (dgemv *)ferry_library_function(library, "dgemv_");
    blas.dpotrf = (dpotrf *)ferry_library_function(library, "dpotrf_");
    blas.dpotrs = (dpotrs *)ferry_library_function(library, "dpotrs_");
    if (blas.dsyrk != NULL && blas.dgemv != NULL && blas.dpotrf != NULL && blas.dpotrs != NULL) return FERRY_OK;
    memset(&blas, 0, sizeof blas);
    return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "expected OpenBLAS with LAPACK (%s), found none", library);
}

/* Stored by columns, x is Xᵀ, and the lower triangle of a matrix is the upper one of its rows. */
static const double zero = 0, one = 1;
static const int32_t next = 1;

void ferry_gram(const double *x, int32_t rows, int32_t n, double *gram)
{
    blas.dsyrk("L", "N", &n, &rows, &one, x, &n, &zero, gram, &n);
    for (size_t i = 0, width = (size_t)n; i < width; i++)
        for (size_t j = 0; j < i; j++) gram[i * width + j] = gram[j * width + i];
}

void ferry_multiply_vector(const double *x, int32_t rows, int32_t n, const double *v, double *y)
{
    blas.dgemv("T", &n, &rows, &one, x, &n, v, &next, &zero, y, &next);
}

bool ferry_solve_positive(double *a, int32_t n, double *b)
{
    int32_t info = 0;
    blas.dpotrf("L", &n, a, &n, &info);
    if (info != 0) return false;
    blas.dpotrs("L", &n, &next, a, &n, b, &n, &info);
    return info == 0;
}
