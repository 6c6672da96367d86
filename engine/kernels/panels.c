#include "kernels.h"

#include "base/bytes.h"

size_t ferry_panels_count(int32_t N, int32_t K)
{
    return ferry_round_up((size_t)N, FERRY_LANES) * (size_t)K;
}

void ferry_panels_pack(float *panels, const float *weight, int32_t N, int32_t K)
{
    for (int32_t first = 0; first < N; first += FERRY_LANES) {
        for (int32_t k = 0; k < K; k++)
            for (int32_t l = 0; l < FERRY_LANES; l++)
                *panels++ = first + l < N ? weight[(size_t)(first + l) * (size_t)K + (size_t)k] : 0.0f;
    }
}

void ferry_panels_row(float *y, const float *panels, int32_t K, int32_t n)
{
    const float *column = panels + (size_t)(n / FERRY_LANES) * (size_t)K * FERRY_LANES + n % FERRY_LANES;
    for (size_t k = 0; k < (size_t)K; k++) y[k] = column[k * FERRY_LANES];
}
