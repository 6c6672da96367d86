#include "resampling.h"

#include <math.h>
#include <string.h>

#include "statistics.h"

/* splitmix64 (Steele et al. 2014). */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

void ferry_resample(uint64_t *state, size_t count, uint32_t *times)
{
    memset(times, 0, count * sizeof *times);
    for (size_t i = 0; i < count; i++) times[(next_random(state) >> 32) * count >> 32]++;
}

ferry_interval ferry_resampled_interval(double value, double *scores, size_t count)
{
    size_t known = 0;
    for (size_t i = 0; i < count; i++)
        if (!isnan(scores[i])) scores[known++] = scores[i];
    if (known == 0) return (ferry_interval){value, NAN, NAN};
    ferry_sort_numbers(scores, known);
    const size_t outside = known / 40;
    return (ferry_interval){value, scores[outside], scores[known - 1 - outside]};
}

double ferry_resampled_p(const double *differences, size_t count)
{
    size_t positive = 0, negative = 0, known = 0;
    for (size_t i = 0; i < count; i++) {
        if (!isnan(differences[i])) known++;
        positive += differences[i] > 0;
        negative += differences[i] < 0;
    }
    const size_t most = positive > negative ? positive : negative;
    return known > 0 ? fmin(1, 2 * ((double)(known - most) + 1) / ((double)known + 1)) : NAN;
}
