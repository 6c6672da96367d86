#include "linear_algebra.h"

#include <cblas.h>
#include <stddef.h>

/* LAPACK, in Fortran's form: the package has no header for it. */
void dpotrf_(const char *triangle, const blasint *n, double *a, const blasint *lda, blasint *info);

void ferry_gram(const double *x, int32_t rows, int32_t n, double *gram)
{
    cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, n, rows, 1.0, x, n, 0.0, gram, n);
    for (size_t i = 0, width = (size_t)n; i < width; i++)
        for (size_t j = 0; j < i; j++) gram[i * width + j] = gram[j * width + i];
}

void ferry_multiply_vector(const double *x, int32_t rows, int32_t n, const double *v, double *y)
{
    cblas_dgemv(CblasRowMajor, CblasNoTrans, rows, n, 1.0, x, n, v, 1, 0.0, y, 1);
}

bool ferry_solve_positive(double *a, int32_t n, double *b)
{
    const blasint size = n;
    blasint info = 0;
    dpotrf_("U", &size, a, &size, &info); /* A = Uᵀ U */
    if (info != 0) return false;
    cblas_dtrsv(CblasColMajor, CblasUpper, CblasTrans, CblasNonUnit, n, a, n, b, 1);
    cblas_dtrsv(CblasColMajor, CblasUpper, CblasNoTrans, CblasNonUnit, n, a, n, b, 1);
    return true;
}
