#include "steps.h"

#include <math.h>
#include <stddef.h>

#include "engine/kernels/kernels.h"

enum { GROUP = FERRY_STEP_INPUTS, LANES = 8, MAX_STEP = 18 /* 18·7 ≤ 127 */, MAX_STEP_OF_8 = 15 /* 15·8 ≤ 127 */ };

/* q [32] for x and a step s > 0; returns Σ (x - s·q)², by lanes, whose order no compiler changes. */
static float try_step(const float *x, int s, float *q)
{
    const float shift = 0x1.8p23f; /* adding it rounds to an integer, ties to even */
    const float step = (float)s, inverse = 1 / step, low = s > MAX_STEP_OF_8 ? -7 : -8;
    float errors[LANES] = {0}, sum = 0;
    for (int k = 0; k < GROUP; k += LANES)
        for (int l = 0; l < LANES; l++) {
            float nearest = x[k + l] * inverse + shift - shift;
            nearest = nearest > low ? nearest : low;
            nearest = nearest < 7.0f ? nearest : 7.0f;
            const float error = x[k + l] - step * nearest;
            errors[l] += error * error;
            q[k + l] = nearest;
        }
    for (int l = 0; l < LANES; l++) sum += errors[l];
    return sum;
}

void ferry_steps_quantize(const float *x, int32_t K, int8_t *steps, int8_t *q)
{
    for (int32_t at = 0; at < K; at += GROUP, steps++) {
        float both[2][GROUP], max = 0, least = INFINITY, tried[GROUP]; /* x and -x: a negative step turns the signs */
        for (int k = 0; k < GROUP; k++) {
            both[0][k] = x[at + k];
            both[1][k] = -x[at + k];
            max = fmaxf(max, fabsf(x[at + k]));
        }
        /* Smaller steps clip the largest x by a quarter or more, larger ones leave levels unused. */
        const int first = max > 10 ? (int)(max / 10) : 1, end = (int)(max / 5) + 2;
        for (int s = first; s <= end && s <= MAX_STEP; s++)
            for (int sign = 0; sign < 2; sign++) {
                const float error = try_step(both[sign], s, tried);
                if (error >= least) continue;
                least = error;
                *steps = (int8_t)(sign == 0 ? s : -s);
                for (int k = 0; k < GROUP; k++) q[at + k] = (int8_t)tried[k];
            }
    }
}
