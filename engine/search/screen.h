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
#ifndef FERRY_SEARCH_SCREEN_H
#define FERRY_SEARCH_SCREEN_H

#include "engine/kernels/linear.h"
#include "logits.h"

/* Immutable, shared by threads. */
typedef struct ferry_screen {
    const ferry_matrix *exact; /* W */
    ferry_matrix coarse;       /* Ŵ */
    double bias;               /* the largest |bias| */
    double error;              /* the largest |W_n - Ŵ_n|; of codes, in units of their scales */
    double norm;               /* what no |W_n| exceeds */
    ferry_account *account;    /* where its bytes are counted; NULL: nowhere */
    void *memory;              /* its own: Ŵ, if it is not the file's, and scales */
    size_t bytes;              /* of memory */
} ferry_screen;

/* `stored`: codes and scales, or nibbles, that a model file has for Ŵ, zeroed where it has none. They are compared with
 * those that would be made of W, which are what the bound holds for, and not used if they differ. K of codes is a
 * multiple of 8. Both matrices must outlive the screen, as must the account of the context's arena. Errors: MEMORY,
 * CANCELLED. */
ferry_status ferry_screen_create(const ferry_matrix *exact, const ferry_matrix *stored, ferry_context *context,
                                 ferry_screen *screen, ferry_error *error);
/* Allowed on a zeroed object. */
void ferry_screen_destroy(ferry_screen *screen);

/* How much more an exact logit of x [K], which is row `row` of `inputs`, can be than its coarse one, both as computed.
 * INFINITY: that is not known; else all of them are numbers. */
double ferry_screen_bound(const ferry_screen *screen, const float *x, const ferry_rows_i8 *inputs, int32_t row);

/* What else decides about columns: some exact logits become -INFINITY. */
typedef struct ferry_screen_rules {
    void (*mask)(void *user, const ferry_logits *part);
    void *user;
} ferry_screen_rules;

/* The column of the largest logit of x, the lowest one among equals, and its logit; -1 if all are -INFINITY.
 * maxima [⌈N/16⌉]: the largest coarse logit of each panel, overwritten; the bound is known. Errors: MEMORY,
 * CANCELLED. */
ferry_status ferry_screen_resolve(const ferry_screen *screen, ferry_context *context, const float *x, double bound,
                                  float *maxima, const ferry_screen_rules *rules, int32_t *column, float *logit,
                                  ferry_error *error);

#endif
