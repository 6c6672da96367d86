/* Arithmetic on rows and matrices. Knows no model.
 *
 * Panels. A weight matrix [N, K] lies in memory as panels of 16 outputs: panel p is [K][16], element (k, l) being
 * W[16 p + l][k]; the last panel is filled up with zeros. Whatever the machine, one step along k reads 16 consecutive
 * weights, so a product streams its matrix once and in order, and the layout can stand in a file.
 *
 * Bits. Every element of a product is one chain of additions in ascending k, on one ISA always with the same rounding,
 * whatever the number of rows and wherever the row stands: a row's result depends on that row alone. Row operations sum
 * in a fixed 16-lane order: lane l adds elements l, l + 16, ...; then lanes l and l + 8, l + 4, l + 2, l + 1 are added.
 *
 * Each ISA fills one table from the same sources (product.c, rows.c), compiled with its flags. */
#ifndef FERRY_KERNELS_KERNELS_H
#define FERRY_KERNELS_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FERRY_LANES 16

typedef enum ferry_activation {
    FERRY_RELU,  /* max(x, 0) */
    FERRY_GELU,  /* x·Φ(x) = x/2·(1 + erf(x/√2)) */
    FERRY_SWISH, /* x·sigmoid(x) */
} ferry_activation;

typedef struct ferry_kernels {
    const char *isa; /* "plain", "avx2", "avx512" */

    /* y[i, n] = bias[n] + Σ_k x[i, k]·W[n, k] for n < N; bias may be NULL.
     * x [rows, K] with ldx ≥ K floats from row to row, y [rows, N] with ldy ≥ N; panels [⌈N/16⌉][K][16], 64-byte
     * aligned. */
    void (*product)(float *y, size_t ldy, const float *x, size_t ldx, int32_t rows, const float *panels, int32_t K,
                    int32_t N, const float *bias);

    /* Attention over keys and values that lie in blocks of 16 positions (graph/cache.h): position j is slot j % 16 of
     * blocks[j / 16]. width = K, the head width; P = K rounded up to 16. Keys of one head in a block: [K][16] at
     * `offset` floats; values: [16][P] at `offset`. Blocks are 64-byte aligned and offsets multiples of 16. scores:
     * y[i, j] = Σ_d q[i, d]·k[j, d]; columns up to 16·⌈keys/16⌉ are written (ldy has room for them; slots that hold no
     * key give numbers of no meaning). Blocks may hold anything finite in unused slots. context: y[i, d] = Σ_{j<keys}
     * a[i, j]·v[j, d] for d < K, in ascending j; unused value slots are not read. */
    void (*scores)(float *y, size_t ldy, const float *q, size_t ldq, int32_t rows, const float *const *blocks,
                   size_t offset, int32_t width, int32_t keys);
    void (*context)(float *y, size_t ldy, const float *a, size_t lda, int32_t rows, const float *const *blocks,
                    size_t offset, int32_t width, int32_t keys);

    /* y = (x - mean) / sqrt(variance + eps) · weight + bias, row by row; x, y [rows, n]; y may be x. Biased variance,
     * two passes (mean first). residual [rows, n] is added to x first when it is not NULL (the sum is not stored). */
    void (*layer_norm)(float *y, const float *x, const float *residual, const float *weight, const float *bias,
                       float eps, int32_t rows, int32_t n);
    /* x[0..n) = exp(x - max) / Σ exp(x - max); -INFINITY gives 0; at least one element is finite. */
    void (*softmax)(float *x, int32_t n);
    /* log Σ exp(x), of at least one finite element. */
    float (*log_sum_exp)(const float *x, int32_t n);
    /* Index of the largest element, the lowest index among equals; n ≥ 1. */
    int32_t (*argmax)(const float *x, int32_t n);
    /* The `count` largest elements of x[0..n) (fewer if n is smaller), in descending order, equal ones by ascending
     * index; values and indices are written. Elements that are -INFINITY count like any other. Returns how many. */
    int32_t (*top)(const float *x, int32_t n, int32_t count, float *values, int32_t *indices);
    void (*activate)(ferry_activation activation, float *x, size_t n);
    void (*add)(float *y, const float *x, size_t n); /* y += x */
    void (*scale)(float *y, float factor, size_t n); /* y *= factor */
    void (*widen_f16)(float *y, const uint16_t *x, size_t n);
} ferry_kernels;

/* The best table that this CPU and its operating system can run, or the one that `isa` names (NULL or "": best).
 * NULL when `isa` is unknown or cannot run here. Thread-safe; tables are static. */
const ferry_kernels *ferry_kernels_find(const char *isa);
/* Tables that run here, best first; NULL-terminated. For tests and benchmarks. */
const ferry_kernels *const *ferry_kernels_available(void);

/* Weight [N, K] row-major → panels [⌈N/16⌉][K][16]; ferry_panels_count floats. And row n of it back: y [K]. */
size_t ferry_panels_count(int32_t N, int32_t K); /* floats */
void ferry_panels_pack(float *panels, const float *weight, int32_t N, int32_t K);
void ferry_panels_row(float *y, const float *panels, int32_t K, int32_t n);

#endif
