/* An exact shortcut to the largest logit, for greedy search without scores.
 *
 * A coarse product, with a matrix Ŵ instead of W, reads fewer bytes and takes less time:
 *
 * - If W is float32, Ŵ is an int8 copy: a quarter of the bytes. Its rows have scales s, its inputs x̂ the scale 1/a. So
 *   |W_n - Ŵ_n| ≤ √K·s_n/2 and |x - x̂| ≤ √K/(2a) = δ, and a logit differs from its coarse one by at most
 *
 *       (|x| + δ)·max|W_n - Ŵ_n| + δ·max|W_n|       (Cauchy and Schwarz)
 *
 *   plus the rounding errors of both products.
 *
 * - If W is int8 in two planes, Ŵ is the upper one: half of the bytes. Its product gives upper bounds of the exact
 * logits, roundings included (nibbles, kernels.h).
 *
 * A column can have the largest logit only if its coarse logit is that near to an exact one, or its bound reaches one.
 * Of a vocabulary these are usually one or two. They are computed exactly, by the kernels that compute all logits
 * otherwise. */
#ifndef FERRY_KERNELS_COARSE_H
#define FERRY_KERNELS_COARSE_H

#include "base/status.h"
#include "kernels.h"

typedef struct ferry_account ferry_account;
typedef struct ferry_context ferry_context;

/* Ŵ: int8 if W is float32, nibbles if W has planes. */
typedef struct ferry_coarse {
    ferry_matrix matrix; /* without a bias; weights NULL: no coarse matrix */
    float error;         /* upper bound of |W_n - Ŵ_n|; of nibbles, divided by their scales */
    float norm;          /* upper bound of |W_n| */
} ferry_coarse;

/* ---- panels ---- */

/* An int8 panel, K a multiple of 8, as two panels of nibbles [K/8][16][4]: the inverse of join_planes (kernels.h). */
void ferry_planes_from_panel(const int8_t *int8, int32_t K, uint8_t *upper, uint8_t *lower);
/* The nibbles_error of a matrix of planes, from its lower plane and scales. */
float ferry_planes_error(const ferry_matrix *planes);
/* One panel of W, [K][16], into int8 [⌈K/4⌉][16][4] and scales [16]: scale = max|w| / 127, but at least 2^-100, and
 * q = round-to-nearest-even(w·(1 / scale)). Much faster than ferry_int8_quantize. The same bytes on every machine. q is
 * in -127 … 127 for any W, NaNs included. */
void ferry_int8_from_panel(const float *panel, int32_t K, int8_t *int8, float *scales);

/* ---- the bound ---- */

/* Immutable, shared by threads. */
typedef struct ferry_logit_bound {
    const ferry_matrix *exact; /* W */
    ferry_coarse coarse;       /* Ŵ */
    float bias;                /* upper bound of |bias| */
    ferry_account *account;    /* counts `bytes`; NULL: not counted */
    void *memory;              /* of Ŵ; NULL if Ŵ is in the file */
    size_t bytes;              /* of memory */
} ferry_logit_bound;

/* Panel p of Ŵ and its scales [16] of a W of floats. coarse->error and coarse->norm grow to bounds of the panel's rows.
 * The same bytes on every machine. */
void ferry_coarsen_panel(const ferry_matrix *exact, size_t p, int8_t *int8, float *scales, ferry_coarse *coarse);
/* FORMAT unless the nibbles_error of a matrix of planes in `file` is what follows from it. */
ferry_status ferry_planes_verify(const ferry_matrix *planes, const char *file, ferry_error *error);
/* FORMAT unless `stored`, of `file`, equals what ferry_coarsen_panel makes of W. Errors: MEMORY, too. */
ferry_status ferry_coarse_verify(const ferry_matrix *exact, const ferry_coarse *stored, const char *file,
                                 ferry_error *error);

/* For a W of floats or in planes. `stored`: Ŵ of a model file for floats; without weights, Ŵ is made in memory. A
 * stored Ŵ, or error of planes, is not checked: with a wrong one, another column may be chosen. Both matrices and the
 * account of the context's arena must outlive the bound. Errors: MEMORY, LIMIT, CANCELLED. */
ferry_status ferry_logit_bound_create(const ferry_matrix *exact, const ferry_coarse *stored,
                                      const ferry_context *context, ferry_logit_bound *bound, ferry_error *error);
/* Allowed on a zeroed object. */
void ferry_logit_bound_destroy(ferry_logit_bound *bound);

/* Upper bound of (exact logit - coarse logit), as computed, for x [K], row `row` of `inputs`. INFINITY: unknown.
 * Otherwise no logit is infinite or a NaN. */
double ferry_logit_bound_margin(const ferry_logit_bound *bound, const float *x, const ferry_rows_i8 *inputs,
                                int32_t row);

#endif
