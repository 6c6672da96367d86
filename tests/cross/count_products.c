/* For tools/lab/count_arm.sh: count_products ISA int8|float ROWS K N computes one product y = x·Wᵀ. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/system.h"
#include "engine/kernels/linear.h"

static int fail(const char *message)
{
    fprintf(stderr, "count_products: %s\n", message);
    return 1;
}

int main(int argc, char **argv)
{
    if (argc != 6) return fail("expected ISA int8|float ROWS K N");
    const bool codes = strcmp(argv[2], "int8") == 0;
    const int32_t rows = atoi(argv[3]), K = atoi(argv[4]), N = atoi(argv[5]);
    ferry_context context = {.kernels = ferry_kernels_find(argv[1])};
    if (context.kernels == NULL) return fail("this processor lacks that ISA");
    const size_t size = codes ? ferry_int8_size(N, K) : ferry_panels_count(N, K) * sizeof(float);
    void *weights = ferry_aligned_alloc(64, ferry_round_up(size, 64));
    float *x = calloc((size_t)rows * (size_t)K, sizeof *x), *y = calloc((size_t)rows * (size_t)N, sizeof *y);
    float *scales = calloc((size_t)N, sizeof *scales);
    if (weights == NULL || x == NULL || y == NULL || scales == NULL) return fail("out of memory");
    memset(weights, 0, size);
    ferry_matrix matrix = {.N = N, .K = K};
    if (codes) {
        matrix.kind = FERRY_MATRIX_INT8;
        matrix.int8 = weights;
        matrix.scales = scales;
    } else {
        matrix.panels = weights;
    }
    const ferry_status status = ferry_linear(&context, y, &(ferry_rows){x, rows, NULL}, &matrix, NULL);
    return status == FERRY_OK ? 0 : fail("out of memory");
}
