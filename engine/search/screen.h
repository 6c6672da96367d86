/* A shortcut to the largest logit, exact: for greedy search that nobody asks for scores.
 *
 * A coarse product reads a quarter of the bytes: an int8 copy Ŵ of the output matrix W, in steps of the rows' scales s,
 * with inputs x̂ in steps of 1/a. So |W_n - Ŵ_n| ≤ √K·s_n/2 and |x - x̂| ≤ √K/(2a) = δ, and no logit is further from its
 * coarse one than
 *
 *     (|x| + δ)·√K·max s/2 + δ·max|W_n|       (Cauchy and Schwarz)
 *
 * and what both products round. Only columns whose coarse logit comes that near to an exact one can hold the largest:
 * these few, one or two of a vocabulary as a rule, are computed exactly, by the kernels that would have computed all.
 */
#ifndef FERRY_SEARCH_SCREEN_H
#define FERRY_SEARCH_SCREEN_H

#include "engine/kernels/linear.h"

/* Immutable, shared by threads. */
typedef struct ferry_screen {
    const ferry_matrix *exact; /* W, of floats */
    ferry_matrix coarse;       /* Ŵ, with W's bias */
    double scale, norm, bias;  /* the largest scale, |W_n| and |bias| */
} ferry_screen;

/* How many columns with the largest coarse logits ferry_screen_resolve wants to know. */
enum { FERRY_SCREENED = 16 };

/* `exact` is a matrix of floats, and must outlive the screen. Errors: MEMORY. */
ferry_status ferry_screen_create(const ferry_matrix *exact, ferry_screen *screen, ferry_error *error);
/* Allowed on a zeroed object. */
void ferry_screen_destroy(ferry_screen *screen);

/* The column of the largest logit of x [K], the lowest one among equals, and its logit: among the columns of `top`,
 * which have the largest coarse logits of x, quantized with `factor`; a column that is out of the question has
 * -INFINITY. -1 when there is none. False when there are too few to tell. */
bool ferry_screen_resolve(const ferry_screen *screen, const ferry_kernels *kernels, const float *x, float factor,
                          const ferry_top *top, int32_t *column, float *logit);

#endif
