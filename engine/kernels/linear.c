#include "linear.h"

void ferry_linear(const ferry_context *context, float *y, const float *x, int32_t rows, const ferry_matrix *matrix)
{
    context->kernels->product(y, (size_t)matrix->N, x, (size_t)matrix->K, rows, matrix->panels, matrix->K, matrix->N,
                              matrix->bias);
}
