/* How the inputs of a layer's matrix vary together, as far as the weights tell, and what follows for its codes.
 *
 * An error e of a row changes an output by Σ e[k]·x[k], whose mean square is eᵀ C e, C = E[x xᵀ]. Weights are sums of
 * what training saw at their inputs, so the rows of the layer's ffn_up stand for x: C ≈ UᵀU. What comes out of a matrix
 * varies as its rows do: C ≈ UUᵀ for the inputs of ffn_down, V Vᵀ for those of attn_o, by which V the matrix of values.
 * With C = R D Rᵀ, R upper triangular with ones, eᵀ C e = Σ D[k] · (e[k] + Σ_j<k R[j][k]·e[j])²: an error e[j] is
 * made good by -R[j][k]·e[j] in each later input k (Frantar et al. 2022, with the data left out). */
#ifndef FERRY_PLAN_FEEDBACK_H
#define FERRY_PLAN_FEEDBACK_H

#include "plan_tensors.h"

enum { FERRY_FEEDBACK_INPUTS = 1024 }; /* inputs from a multiple of it on that compensate for one another */

/* The tensor that tells of the inputs of `tensor`: by its rows, or `by_outputs` by its columns; NULL: none. */
const ferry_import_tensor *ferry_feedback_source(const ferry_import_plan *plan, const ferry_import_tensor *tensor,
                                                 bool *by_outputs);
/* C [K, K] += AᵀA, for A [count, K] with `stride` numbers from row to row; only where j ≤ i for C[i][j]. */
void ferry_feedback_add(float *C, int32_t K, const float *A, int32_t count, int32_t stride);
/* C [K, K], of which j ≤ i for C[i][j] counts, becomes R: j > i for R[i][j]. */
void ferry_feedback_solve(float *C, int32_t K);

#endif
