/* An exact shortcut to the largest logit, for greedy search without scores.
 *
 * A coarse product takes less time:
 *
 * - For a matrix W of floats it reads a quarter of the bytes: an int8 copy Ŵ, in steps of the rows' scales s, with
 *   inputs x̂ in steps of 1/a. So |W_n - Ŵ_n| ≤ √K·s_n/2 and |x - x̂| ≤ √K/(2a) = δ, and no logit is farther from its
 *   coarse one than
 *
 *       (|x| + δ)·√K·max s/2 + δ·max|W_n|       (Cauchy and Schwarz)
 *
 * - For int8 codes q, W_n = q_n·s_n, it is that of coarse inputs 8c (kernels.h), where the ISA has faster products of
 *   them. No logit is farther from its coarse one than |x̂ - 8c|/a·max|W_n|.
 *
 * To this comes the rounding of both products. Only columns whose coarse logit comes that near to an exact one can hold
 * the largest: these few, usually one or two of a vocabulary, are computed exactly, by the kernels that would have
 * computed all. */
#ifndef FERRY_SEARCH_SCREEN_H
#define FERRY_SEARCH_SCREEN_H

#include "engine/kernels/linear.h"

/* Immutable, shared by threads. */
typedef struct ferry_screen {
    const ferry_matrix *exact; /* W */
    ferry_matrix coarse;       /* Ŵ, or W with coarse inputs */
    double scale, norm, bias;  /* the largest scale, for floats; the largest |W_n| and |bias| */
    ferry_account *account;    /* where its bytes are counted; NULL: nowhere */
    size_t bytes;              /* 0: the coarse matrix is the file's, or W's own */
} ferry_screen;

/* How many columns with the largest coarse logits ferry_screen_resolve takes. */
enum { FERRY_SCREENED = 64 };

/* `stored`: codes and scales that a model file has for Ŵ, zeroed where it has none. They are compared with those that
 * would be made of W, which are what the bound holds for, and not used if they differ. Both matrices must outlive the
 * screen, as must the account of the context's arena. Errors: MEMORY, CANCELLED. */
ferry_status ferry_screen_create(const ferry_matrix *exact, const ferry_matrix *stored, ferry_context *context,
                                 ferry_screen *screen, ferry_error *error);
/* Allowed on a zeroed object. */
void ferry_screen_destroy(ferry_screen *screen);

/* How far a coarse logit and the exact one of x [K], which is row `row` of `inputs`, can be apart, both as computed.
 * Not finite: nothing is known. */
double ferry_screen_bound(const ferry_screen *screen, const float *x, const ferry_rows_i8 *inputs, int32_t row);
/* Columns whose coarse logits are farther than this below the largest one cannot hold the largest exact one. */
float ferry_screen_margin(double bound);

/* The column of the largest logit of x, the lowest one among equals, and its logit: among the columns of `top`, which
 * have the largest coarse logits (those within the margin suffice); masked columns have -INFINITY. The column is -1 if
 * there is none. *told is false if the columns are too few to tell. Errors: MEMORY, CANCELLED. */
ferry_status ferry_screen_resolve(const ferry_screen *screen, ferry_context *context, const float *x, double bound,
                                  const ferry_top *top, bool *told, int32_t *column, float *logit, ferry_error *error);

#endif
