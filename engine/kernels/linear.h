/* Products with weights (ferry_matrix). The graph sees neither how a weight is stored nor which kernel multiplies.
 *
 * int8. A quantized matrix holds integers q in -127 … 127: W[n, k] = q[n, k]·scales[n], or with one multiplier for the
 * whole matrix (Marian's intgemm form) W[n, k] = q[n, k] / multiplier. Inputs are quantized with an inverse scale a:
 * x̂ = clamp(round-to-nearest-even(x·a), -127, 127). a is the matrix's input_multiplier; without one it is 127 / max|x|
 * over the row, or over the rows of its group (ferry_rows), and 1 if all of these are 0. If x or a is a NaN, so are the
 * row's results. Sums are exact in int32:
 *
 *     scales:      y[n] = Σ_k x̂[k]·q[n, k] · (1/a · scales[n]) + bias[n]
 *     multiplier:  y[n] = Σ_k x̂[k]·q[n, k] / (a·multiplier) + bias[n]          (a division, rounded once)
 *
 * in float32, with the same bits on every ISA. */
#ifndef FERRY_KERNELS_LINEAR_H
#define FERRY_KERNELS_LINEAR_H

#include "base/memory.h"
#include "base/status.h"
#include "base/stop.h"
#include "kernels.h"

typedef struct ferry_pool ferry_pool;

/* ---- products ---- */

/* Totals of all products. */
typedef struct ferry_work {
    int64_t float_products, int8_products; /* multiply-adds: rows·K·N of a product */
    int64_t weight_bytes;                  /* bytes of the matrices: a product reads its matrix once */
} ferry_work;

/* What one thread needs to compute. */
typedef struct ferry_context {
    const ferry_kernels *kernels;
    ferry_arena arena;
    ferry_pool *pool; /* idle threads of the pool share large products; NULL: this thread computes alone */
    /* [stop_count] of those for whom products are computed. If all of them stopped, products end soon (CANCELLED). */
    const ferry_stop *const *stops;
    int32_t stop_count;
    ferry_work work; /* of this context; reset by the caller */
} ferry_context;

/* CANCELLED if there are context->stops, and all of them stopped. */
ferry_status ferry_context_check(const ferry_context *context, ferry_error *error);

/* The inputs of a product. */
typedef struct ferry_rows {
    const float *x; /* [count, K] */
    int32_t count;
    /* The rows of a group share one a unless the matrix has an input_multiplier. Group g is rows group_ends[g - 1] …
     * group_ends[g] - 1; ends ascend, the last is `count`. NULL: every row is a group. */
    const int32_t *group_ends;
} ferry_rows;

/* y [rows, N] = x·Wᵀ + b. A row's bytes depend on the row alone, or on the rows of its group. Uses the context's arena
 * for scratch memory. Errors: MEMORY, LIMIT, CANCELLED. */
ferry_status ferry_linear(ferry_context *context, float *y, const ferry_rows *rows, const ferry_matrix *matrix,
                          ferry_error *error);

/* Inputs prepared for several products, such as parts of the columns of one matrix: quantized if the matrix is,
 * otherwise with a stride that spreads the rows over the sets of the cache. In the context's arena; x must outlive
 * them. */
typedef struct ferry_inputs {
    int32_t rows;
    const float *x; /* [rows, K] for a matrix of floats */
    size_t ldx;
    ferry_rows_i8 quantized; /* for every other matrix */
} ferry_inputs;

/* Bytes of quantized inputs; rows, K ≥ 1. */
size_t ferry_rows_i8_size(const ferry_kernels *kernels, int32_t rows, int32_t K);
/* Inputs without a row, for products with `count` matrices of one kind and K. memory: ferry_rows_i8_size bytes, 64-byte
 * aligned. */
ferry_rows_i8 ferry_rows_i8_begin(const ferry_kernels *kernels, int32_t rows, const ferry_matrix *const *matrices,
                                  int32_t count, void *memory);

/* For products with matrices of one kind and input_multiplier, or with columns of them. Errors: MEMORY, LIMIT. */
ferry_status ferry_inputs_prepare(ferry_context *context, const ferry_rows *rows, const ferry_matrix *const *matrices,
                                  int32_t matrix_count, ferry_inputs *inputs, ferry_error *error);
/* y [rows, N] = x·Wᵀ + b. Errors: MEMORY, LIMIT (of planes and steps), CANCELLED. */
ferry_status ferry_inputs_multiply(ferry_context *context, float *y, const ferry_inputs *inputs,
                                   const ferry_matrix *matrix, ferry_error *error);

/* y[m] [rows, N_m] for `count` matrices with the same inputs. Neighbors of one kind and input_multiplier share
 * quantized inputs. */
enum { FERRY_LINEAR_MAX = 4 };
ferry_status ferry_linear_many(ferry_context *context, float *const *y, const ferry_rows *rows,
                               const ferry_matrix *const *matrices, int32_t count, ferry_error *error);

/* Gives an int8 matrix the additional data of `kernels` (ferry_extra_i8), in memory of `arena`. Errors: MEMORY. */
ferry_status ferry_matrix_begin(ferry_matrix *matrix, const ferry_kernels *kernels, ferry_arena *arena,
                                ferry_error *error);

/* q of input k of an output, whose cell in the first line of a panel of both planes is given. */
static inline int32_t ferry_planes_code(const uint8_t *upper, const uint8_t *lower, int32_t k)
{
    const size_t at = (size_t)(k / FERRY_NIBBLE_GROUP) * FERRY_LINE_BYTES + (size_t)(k % FERRY_CELL_BYTES);
    const int32_t shift = k / FERRY_CELL_BYTES % 2 * 4;
    return ((upper[at] >> shift & 15) << 4 | (lower[at] >> shift & 15)) - 128;
}

/* A matrix of planes or steps → its int8 panels, [⌈N/16⌉][⌈K/4⌉][16][4], 64-byte aligned; `joined`: of planes, q + 128.
 */
void ferry_matrix_unpack(const ferry_kernels *kernels, const ferry_matrix *matrix, bool joined, int8_t *int8);

/* Row n of W: y [K]. With a multiplier y = q·(1 / multiplier), as in Marian's embeddings. */
void ferry_matrix_row(const ferry_matrix *matrix, int32_t n, float *y);

/* A matrix of N = count outputs: rows ids [count] of W, scales and bias, in memory of `arena`. Errors: MEMORY, LIMIT.
 */
ferry_status ferry_matrix_select(const ferry_matrix *matrix, const int32_t *ids, int32_t count, ferry_arena *arena,
                                 ferry_matrix *selected, ferry_error *error);

/* Outputs first … first + count - 1 as a matrix in the same memory. Products have the same bytes. `first` is a multiple
 * of FERRY_LANES. */
ferry_matrix ferry_matrix_columns(const ferry_matrix *matrix, int32_t first, int32_t count);

/* Weight [N, K] row-major → panels [⌈N/16⌉][K][16], ferry_panels_count floats. */
size_t ferry_panels_count(int32_t N, int32_t K);
void ferry_panels_pack(float *panels, const float *weight, int32_t N, int32_t K);

/* Number of panels. */
static inline size_t ferry_matrix_panels(const ferry_matrix *matrix)
{
    return ((size_t)matrix->N + FERRY_LANES - 1) / FERRY_LANES;
}

/* The shape of the panels of a matrix [N, K]: panels, lines, and the floats or bytes of a line. */
void ferry_matrix_shape(ferry_matrix_kind kind, int32_t N, int32_t K, int64_t shape[3]);
/* Bytes of a panel. */
size_t ferry_panel_bytes(const ferry_matrix *matrix);

/* Bytes of the panels of a matrix [N, K] of nibbles, and of int8. */
size_t ferry_nibbles_size(int32_t N, int32_t K);
size_t ferry_int8_size(int32_t N, int32_t K);
/* Row-major integers [count ≤ 16, K] into one int8 panel [⌈K/4⌉][16][4]. Missing rows become zeros. */
void ferry_int8_pack(int8_t *panel, const int8_t *rows, int32_t count, int32_t K);
/* Bytes of a matrix [N, K] of steps; 32 divides K. */
size_t ferry_steps_size(int32_t N, int32_t K);
/* Steps [count ≤ 16, K/32] and q [count, K] in -8 … 7 into one panel of steps. Missing rows have the step 0. */
void ferry_steps_pack(uint8_t *panel, const int8_t *steps, const int8_t *q, int32_t count, int32_t K);
/* Whether all codes s·q are in -127 … 127, as products on every ISA expect. */
bool ferry_steps_fit(const ferry_matrix *matrix);
/* Quantizes row x [K]: *scale = max|x| / 127 (1 when all are 0), int8 [K] = round-to-nearest-even(x / scale). */
void ferry_int8_quantize(const float *x, int32_t K, int8_t *int8, float *scale);

#endif
