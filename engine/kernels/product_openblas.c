/* Products of rows with panels by OpenBLAS, for the table `openblas`. Its other kernels are plain C (kernels.h).
 *
 * A panel [K][16] is a row-major matrix: 16 columns of y are one product of matrices, y = bias + x·panel. A row's bytes
 * depend on the number of rows. */
#include "isa.h"

#include <cblas.h>
#include <string.h>

#include "base/threads.h"

/* OpenBLAS copies its operands first, which does not pay for fewer rows. */
enum { MIN_ROWS = 8 };
/* Maximum rows and steps along k of one call. Above 2¹⁸ multiplications, OpenBLAS would start its own threads beside
 * Ferry's (interface/gemm.c: SMP_THRESHOLD_MIN · GEMM_MULTITHREAD_THRESHOLD = 65,536 · 4). Its number of threads
 * belongs to the whole process, so Ferry does not set it. */
enum { CALL_ROWS = 32, CALL_STEPS = 512 };
_Static_assert(CALL_ROWS *CALL_STEPS *FERRY_LANES <= 1 << 18, "OpenBLAS would use threads");

/* y[i, 0 … columns - 1] = bias + x·panel */
static void multiply_panel(float *y, size_t ldy, const float *x, size_t ldx, int32_t rows, const float *panel,
                           int32_t K, int32_t columns, const float *bias)
{
    static const float zeros[FERRY_LANES];
    const float *start = bias != NULL ? bias : zeros;
    for (int32_t i = 0; i < rows; i++) memcpy(y + (size_t)i * ldy, start, (size_t)columns * sizeof *y);
    for (int32_t row = 0; row < rows; row += CALL_ROWS) {
        const int32_t size = rows - row < CALL_ROWS ? rows - row : CALL_ROWS;
        for (int32_t k = 0; k < K; k += CALL_STEPS) {
            const int32_t steps = K - k < CALL_STEPS ? K - k : CALL_STEPS;
            cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, size, columns, steps, 1.0f,
                        x + (size_t)row * ldx + k, (blasint)ldx, panel + (size_t)k * FERRY_LANES, FERRY_LANES, 1.0f,
                        y + (size_t)row * ldy, (blasint)ldy);
        }
    }
}

void FERRY_KERNEL(product)(float *y, size_t ldy, const float *x, size_t ldx, int32_t rows, const float *panels,
                           int32_t K, int32_t N, const float *bias)
{
    static ferry_mutex one_at_a_time = FERRY_MUTEX_READY;
    if (rows < MIN_ROWS) {
        ferry_product_plain(y, ldy, x, ldx, rows, panels, K, N, bias);
        return;
    }
    /* A sequential build does not guard its buffers unless USE_LOCKING was set, which cannot be queried. Debian's was
     * not: calls at the same time give wrong results. */
    const bool alone = openblas_get_parallel() == OPENBLAS_SEQUENTIAL;
    if (alone) ferry_mutex_lock(&one_at_a_time);
    for (int32_t column = 0; column < N; column += FERRY_LANES) {
        const int32_t columns = N - column < FERRY_LANES ? N - column : FERRY_LANES;
        multiply_panel(y + column, ldy, x, ldx, rows, panels + (size_t)column * (size_t)K, K, columns,
                       bias != NULL ? bias + column : NULL);
    }
    if (alone) ferry_mutex_unlock(&one_at_a_time);
}
