#include "steps.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "engine/kernels/kernels.h"
#include "feedback.h"

enum { GROUP = FERRY_STEP_INPUTS, LANES = 8, MAX_STEP = 18 /* 18·7 ≤ 127 */, MAX_STEP_OF_8 = 15 /* 15·8 ≤ 127 */ };

/* x / s, rounded to one of the codes of s, whose 1 / s is `inverse` and whose least code is `low`. */
static inline float nearest_code(float x, float inverse, float low)
{
    const float shift = 0x1.8p23f; /* adding it rounds to an integer, ties to even */
    float nearest = x * inverse + shift - shift;
    nearest = nearest > low ? nearest : low;
    return nearest < 7.0f ? nearest : 7.0f;
}

static float least_code(int s)
{
    return s > MAX_STEP_OF_8 || s < -MAX_STEP_OF_8 ? -7 : -8;
}

/* Σ (x - s·q)² with the best q for x [32] and a step s, by lanes, whose order no compiler changes. */
static float try_step(const float *x, int s)
{
    const float step = (float)s, inverse = 1 / step, low = least_code(s);
    float errors[LANES] = {0}, sum = 0;
    for (int k = 0; k < GROUP; k += LANES)
        for (int l = 0; l < LANES; l++) {
            const float error = x[k + l] - step * nearest_code(x[k + l], inverse, low);
            errors[l] += error * error;
        }
    for (int l = 0; l < LANES; l++) sum += errors[l];
    return sum;
}

/* The best step for x [32], |x| ≤ 127. */
static int best_step(const float *x)
{
    float max = 0, least = INFINITY;
    int best = 1;
    for (int k = 0; k < GROUP; k++) max = fmaxf(max, fabsf(x[k]));
    /* Smaller steps clip the largest x by a quarter or more, larger ones leave levels unused. */
    const int first = max > 10 ? (int)(max / 10) : 1, end = (int)(max / 5) + 2;
    for (int s = first; s <= end && s <= MAX_STEP; s++)
        for (int sign = 1; sign >= -1; sign -= 2) { /* of a negative step, -8 is the largest code */
            const float error = try_step(x, sign * s);
            if (error >= least) continue;
            least = error;
            best = sign * s;
        }
    return best;
}

void ferry_steps_quantize(const float *x, int32_t K, const float *feedback, int8_t *steps, int8_t *q)
{
    float wanted[FERRY_FEEDBACK_INPUTS];
    for (int32_t at = 0, count; at < K; at += count) {
        count = K - at < FERRY_FEEDBACK_INPUTS ? K - at : FERRY_FEEDBACK_INPUTS;
        memcpy(wanted, x + at, (size_t)count * sizeof *x);
        for (int32_t k = 0; k < count; k++) {
            if (k % GROUP == 0) {
                for (int32_t i = k; i < k + GROUP; i++) { /* also if they are not numbers, as of weights of 1e30 */
                    wanted[i] = wanted[i] > -127.0f ? wanted[i] : -127.0f;
                    wanted[i] = wanted[i] < 127.0f ? wanted[i] : 127.0f;
                }
                *steps++ = (int8_t)best_step(wanted + k);
            }
            const int s = steps[-1];
            const float code = nearest_code(wanted[k], 1 / (float)s, least_code(s));
            const float error = (float)s * code - x[at + k];
            q[at + k] = (int8_t)code;
            if (feedback == NULL) continue;
            for (int32_t i = k + 1; i < count; i++) wanted[i] -= error * feedback[k * count + i];
        }
        if (feedback != NULL) feedback += count * count;
    }
}
