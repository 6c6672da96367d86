/* An exact shortcut to the largest logit, for greedy search without scores.
 *
 * A coarse product reads a quarter of the bytes: an int8 copy Ŵ of the output matrix W, in steps of the rows' scales s,
 * with inputs x̂ in steps of 1/a. So |W_n - Ŵ_n| ≤ √K·s_n/2 and |x - x̂| ≤ √K/(2a) = δ, and no logit is farther from its
 * coarse one than
 *
 *     (|x| + δ)·√K·max s/2 + δ·max|W_n|       (Cauchy and Schwarz)
 *
 * plus the rounding of both products. Only columns whose coarse logit comes that near to an exact one can hold the
 * largest: these few, usually one or two of a vocabulary, are computed exactly, by the kernels that would have computed
 * all.
 */
#ifndef FERRY_SEARCH_SCREEN_H
#define FERRY_SEARCH_SCREEN_H

#include "engine/kernels/linear.h"

/* Immutable, shared by threads. */
typedef struct ferry_screen {
    const ferry_matrix *exact; /* W, of floats */
    ferry_matrix coarse;       /* Ŵ, with W's bias */
    double scale, norm, bias;  /* the largest scale, |W_n| and |bias| */
    ferry_account *account;    /* where its bytes are counted; NULL: nowhere */
    size_t bytes;
} ferry_screen;

/* How many columns with the largest coarse logits ferry_screen_resolve needs. */
enum { FERRY_SCREENED = 16 };

/* `exact` is a matrix of floats, and must outlive the screen, as must the account of the context's arena. Errors:
 * MEMORY, CANCELLED. */
ferry_status ferry_screen_create(const ferry_matrix *exact, const ferry_context *context, ferry_screen *screen,
                                 ferry_error *error);
/* Allowed on a zeroed object. */
void ferry_screen_destroy(ferry_screen *screen);

/* The column of the largest logit of x [K], the lowest one among equals, and its logit: among the columns of `top`,
 * which have the largest coarse logits of x, quantized with `factor`; masked columns have -INFINITY. -1 if there is
 * none. False if the columns are too few to tell. */
bool ferry_screen_resolve(const ferry_screen *screen, const ferry_kernels *kernels, const float *x, float factor,
                          const ferry_top *top, int32_t *column, float *logit);

#endif
