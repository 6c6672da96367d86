/* An exact shortcut to the largest logit, for greedy search without scores.
 *
 * A coarse product, with a matrix Ŵ instead of W, reads fewer bytes and takes less time:
 *
 * - Of a matrix W of floats, Ŵ is an int8 copy, a quarter of the bytes, in steps of the rows' scales s, with
 *   inputs x̂ in steps of 1/a. So |W_n - Ŵ_n| ≤ √K·s_n/2 and |x - x̂| ≤ √K/(2a) = δ, and no logit is farther from its
 *   coarse one than
 *
 *       (|x| + δ)·max|W_n - Ŵ_n| + δ·max|W_n|       (Cauchy and Schwarz)
 *
 *   To this comes the rounding of both products.
 *
 * - Of int8 codes, Ŵ is what four bits of each say, half of the bytes, and the product yields bounds of the exact
 *   logits, roundings included (nibbles, kernels.h).
 *
 * Only columns whose coarse logit comes that near to an exact one, or whose bound reaches it, can hold the largest:
 * these few, usually one or two of a vocabulary, are computed exactly, by the kernels that would have computed all. */
#ifndef FERRY_KERNELS_COARSE_H
#define FERRY_KERNELS_COARSE_H

#include "base/status.h"
#include "kernels.h"

typedef struct ferry_account ferry_account;
typedef struct ferry_context ferry_context;

/* Ŵ, which approximates a matrix W by fewer bytes: codes of floats, nibbles of codes (ferry_logit_bound). */
typedef struct ferry_coarse {
    ferry_matrix matrix; /* without a bias; weights NULL: there is none */
    float error;         /* no |W_n - Ŵ_n| is larger; of nibbles, in units of their scales */
    float norm;          /* no |W_n| is larger */
} ferry_coarse;

/* ---- panels ---- */

/* For each row of a panel: Σ (q - q̂)² (kernels.h), and whether it has a code that is not 0. */
typedef struct ferry_nibbles_error {
    int32_t squares[FERRY_LANES];
    bool any[FERRY_LANES];
} ferry_nibbles_error;
/* Nibbles [K/8][16][4] of a panel of codes. */
void ferry_nibbles_from_panel(const int8_t *int8, int32_t K, uint8_t *nibbles, ferry_nibbles_error *error);
/* One panel of W, [K][16], into codes [⌈K/4⌉][16][4] and scales [16], much faster: scale = max|w| / 127, but at least
 * 2^-100, q = round-to-nearest-even(w·(1 / scale)). The same bytes on every machine, and q is in -127 … 127 whatever W
 * holds. */
void ferry_int8_from_panel(const float *panel, int32_t K, int8_t *int8, float *scales);

/* ---- the bound ---- */

/* Immutable, shared by threads. */
typedef struct ferry_logit_bound {
    const ferry_matrix *exact; /* W */
    ferry_coarse coarse;       /* Ŵ */
    float bias;                /* no |bias| is larger */
    ferry_account *account;    /* where its bytes are counted; NULL: nowhere */
    void *memory;              /* of Ŵ, unless it is the file's */
    size_t bytes;              /* of memory */
} ferry_logit_bound;

/* Bytes of N rows of Ŵ without scales. */
size_t ferry_coarse_size(const ferry_matrix *exact, int32_t N);
/* Panel p of Ŵ and its scales [16], of W, whose K is a multiple of 8 if it is codes; coarse->error and coarse->norm
 * grow to what the rows of the panel need. The same bytes on every machine. */
void ferry_coarsen_panel(const ferry_matrix *exact, size_t p, void *weights, float *scales, ferry_coarse *coarse);
/* FORMAT unless `stored`, of `file`, is what is made of W. Errors: MEMORY, too. */
ferry_status ferry_coarse_verify(const ferry_matrix *exact, const ferry_coarse *stored, const char *file,
                                 ferry_error *error);

/* `stored`: Ŵ of a model file, which is believed: if it lies, another column may be chosen; without weights, Ŵ is made
 * in memory. Both matrices must outlive the bound, as must the account of the context's arena. Errors: MEMORY,
 * CANCELLED. */
ferry_status ferry_logit_bound_create(const ferry_matrix *exact, const ferry_coarse *stored,
                                      const ferry_context *context, ferry_logit_bound *bound, ferry_error *error);
/* Allowed on a zeroed object. */
void ferry_logit_bound_destroy(ferry_logit_bound *bound);

/* How much more an exact logit of x [K], which is row `row` of `inputs`, can be than its coarse one, both as computed.
 * INFINITY: that is not known; else all of them are numbers. */
double ferry_logit_bound_margin(const ferry_logit_bound *bound, const float *x, const ferry_rows_i8 *inputs,
                                int32_t row);

#endif
