/* Every product with weights goes through ferry_linear: the graph never sees how a weight is stored nor who multiplies.
 */
#ifndef FERRY_KERNELS_LINEAR_H
#define FERRY_KERNELS_LINEAR_H

#include "../base/arena.h"
#include "kernels.h"

/* A linear layer y = W x + b, immutable, shared by threads. */
typedef struct ferry_matrix {
    int32_t N;           /* outputs */
    int32_t K;           /* inputs */
    const float *panels; /* W, [⌈N/16⌉][K][16] */
    const float *bias;   /* [N], or NULL */
} ferry_matrix;

/* What a computation runs on: chosen once, passed first everywhere. One for each thread. */
typedef struct ferry_context {
    const ferry_kernels *kernels;
    ferry_arena arena;
} ferry_context;

/* y [rows, N] = x [rows, K]·Wᵀ + b. A row's bytes do not depend on the other rows. */
void ferry_linear(const ferry_context *context, float *y, const float *x, int32_t rows, const ferry_matrix *matrix);

#endif
