/* int8 matrices with random codes, their products, and the sums these must give. Failures are cmocka's. */
#ifndef FERRY_SUPPORT_QUANTISED_H
#define FERRY_SUPPORT_QUANTISED_H

#include "engine/kernels/linear.h"
#include "kernel_support.h"

/* A matrix, and what it is made of. */
typedef struct quantized {
    ferry_matrix matrix;
    int8_t *q; /* [N, K] */
    int8_t *codes;
    float *scales, *bias;
} quantized;

/* Random codes; scales [N], or a multiplier. */
quantized new_quantized(int32_t N, int32_t K, bool with_scales, bool with_bias, float input_multiplier);
/* q → codes. */
void pack_quantized(quantized *w);

/* The same matrix in planes, K a multiple of 8. */
ferry_matrix new_planes(const quantized *w);
/* A matrix of random steps, and in `w` the int8 matrix with the same codes. `largest`: every code is an end of the
 * range. Its memory lasts as long as w's. */
ferry_matrix new_steps(quantized *w, bool largest);

/* Initializes matrix->extra (kernels->extra is not NULL), and lets the kernels find out what they find out once many
 * rows have been multiplied. */
void begin_extra(const ferry_kernels *kernels, const ferry_matrix *matrix);

/* ferry_linear_many with an arena of its own, which must be released; and again with the additional data of int8
 * matrices, which must give the same bytes. */
void run_many(const ferry_kernels *kernels, float *const *y, const ferry_rows *rows,
              const ferry_matrix *const *matrices, int32_t count);
void run(const ferry_kernels *kernels, float *y, const float *x, int32_t rows, const ferry_matrix *matrix);

/* 127 / max|x|, or 1. */
float factor_of(const float *x, size_t n);
/* Σ_k x̂[k]·q[n, k] of inputs x [K] with the factor a. */
int64_t exact_sum(const quantized *w, int32_t n, const float *x, float a);
/* Row y [N] of inputs x [K] with the factor a, in double precision but for the three roundings of the contract. */
void check_row(const quantized *w, const float *y, const float *x, float a);

#endif
