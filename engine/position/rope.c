/* Rotary positions (Su et al. 2021, equation 34): queries and keys are rotated, pair by pair, by
 *
 *     angle_k(pos) = pos·theta^(-2k/n),  k = 0 … n/2 - 1
 *
 * so that their product depends on the distance alone. The families differ in the parameters of the model file:
 * - layout: `half` rotates the pairs (x_k, x_{k + n/2}) (GPT-NeoX, LLaMA), `interleaved` the pairs (x_2k, x_{2k + 1})
 * (the paper).
 * - dims: n, when not the whole head rotates; the rest carries no position.
 * - scaling: smaller angles, for texts longer than the L = original_length positions of training. `linear` divides all
 *   angles by `factor` (Chen et al. 2023). `llama3` (Dubey et al. 2024) and `yarn` (Peng et al. 2023, equation 23 and
 *   their code) divide the angles of pairs that turn at most `slow` times in L positions, keep those from `fast`
 *   turns on, and interpolate in between. `yarn` also multiplies q·k by attention_factor squared.
 *
 * Keys enter the cache rotated, so a step rotates one row. */
#include "position.h"
#include "schemes.h"

#include <math.h>

#define PI 3.14159265358979323846

enum { THETA, LAYOUT, DIMS, SCALING, FACTOR, ORIGINAL_LENGTH, FAST, SLOW, ATTENTION_FACTOR }; /* parameters */
enum { HALF, INTERLEAVED };                                                                   /* layouts */
enum { UNSCALED, LINEAR, LLAMA3, YARN };                                                      /* scalings */
#define FROM(first) .when = "scaling", .from = first
static const ferry_position_parameter parameters[] = {
    {"theta", FERRY_POSITION_REAL, "angle_k(pos) = pos·theta^(-2k/dims)", .min = "1", .max = "1e12",
     .default_value = "10000"},
    {"layout", FERRY_POSITION_CHOICE,
     "`half` rotates the pairs (x_k, x_{k + dims/2}), `interleaved` the pairs (x_2k, x_{2k + 1})",
     .choices = {"half", "interleaved"}, .default_value = "half"},
    {"dims", FERRY_POSITION_INTEGER, "rotated dimensions of a head", .min = "2", .max = "K", .even = true,
     .if_missing = "K"},
    {"scaling", FERRY_POSITION_CHOICE,
     "smaller angles, for texts longer than in training ([encodings.md](encodings.md#rope)); all but `none` are words "
     "in `ferry.features`; each parameter below exists for the scaling that it names and those after it",
     .choices = {"none", "linear", "llama3", "yarn"}, .if_missing = "none", .word = "rotation"},
    {"factor", FERRY_POSITION_REAL, "`linear`: angles are divided by it", .min = "0", .max = "1e6", FROM(LINEAR)},
    {"original_length", FERRY_POSITION_INTEGER, "`llama3`: L, the positions in training", .min = "1",
     .max = "1000000000", FROM(LLAMA3)},
    {"fast", FERRY_POSITION_REAL, "`llama3`: pairs with at least this number of turns in L positions keep their angles",
     .min = "0", .max = "1e6", FROM(LLAMA3)},
    {"slow", FERRY_POSITION_REAL,
     "`llama3`: angles of pairs with at most this number of turns are divided by the factor", .min = "0", .max = "1e6",
     FROM(LLAMA3)},
    {"attention_factor", FERRY_POSITION_REAL, "`yarn`: cosines and sines are multiplied by it", .min = "0",
     .max = "1e6", FROM(YARN)},
    {0},
};

/* Index, not rounded, of the pair that turns `turns` times in the original length. */
static double pair_of(const ferry_position *position, double turns)
{
    const double n = position->values[DIMS], L = position->values[ORIGINAL_LENGTH];
    return n * log(L / (turns * 2 * PI)) / (2 * log(position->values[THETA]));
}

/* Interpolation weight of pair k: 1 keeps its frequency, 0 divides it by `factor`. */
static double kept(const ferry_position *position, int32_t k, double frequency)
{
    const double *values = position->values;
    if (values[SCALING] == UNSCALED) return 1;
    if (values[SCALING] == LINEAR) return 0;
    if (values[SCALING] == LLAMA3) {
        const double turns = values[ORIGINAL_LENGTH] * frequency / (2 * PI);
        if (!(values[FAST] > values[SLOW])) return turns >= values[FAST];
        return fmin(1, fmax(0, (turns - values[SLOW]) / (values[FAST] - values[SLOW])));
    }
    const double first = fmax(0, floor(pair_of(position, values[FAST])));
    const double last = fmin(values[DIMS] - 1, ceil(pair_of(position, values[SLOW])));
    return 1 - fmin(1, fmax(0, (k - first) / (last == first ? 1e-3 : last - first)));
}

/* A row: n/2 cosines, then n/2 sines, computed in double precision and rounded once. */
static void fill(const ferry_position *position, const ferry_kernels *kernels, float *rows, int32_t first, int32_t end)
{
    (void)kernels;
    const int32_t n = (int32_t)position->values[DIMS];
    for (int32_t k = 0; k < n / 2; k++) {
        const double own = pow(position->values[THETA], -2.0 * (double)k / (double)n), share = kept(position, k, own);
        const double frequency = own * (share + (1 - share) / position->values[FACTOR]);
        const double length = position->values[ATTENTION_FACTOR];
        for (int32_t row = first; row < end; row++) {
            float *cosine = rows + (size_t)row * (size_t)n + k;
            cosine[0] = (float)(length * cos((double)row * frequency));
            cosine[n / 2] = (float)(length * sin((double)row * frequency));
        }
    }
}

/* Pair k is (x[k·step], x[k·step + apart]). */
static inline void rotate_pairs(float *restrict x /* [n] */, const float *restrict row, int32_t n, int32_t step,
                                int32_t apart)
{
    for (int32_t k = 0; k < n / 2; k++) {
        float *first = x + (size_t)k * (size_t)step, *second = first + apart;
        const float a = *first, b = *second, cosine = row[k], sine = row[n / 2 + k];
        *first = a * cosine - b * sine;
        *second = b * cosine + a * sine;
    }
}

static void rotate(const ferry_position *position, const ferry_position_state *state, float *x /* [count, H·K] */,
                   int32_t first, int32_t count)
{
    const int32_t n = (int32_t)position->values[DIMS], H = position->stack.heads;
    for (int32_t i = 0; i < count; i++) {
        const float *row = state->rows + (size_t)(first + i) * (size_t)n;
        for (int32_t h = 0; h < H; h++, x += position->stack.head_width)
            if (position->values[LAYOUT] == (double)INTERLEAVED)
                rotate_pairs(x, row, n, 2, 1);
            else
                rotate_pairs(x, row, n, 1, n / 2);
    }
}

const ferry_position_scheme ferry_position_rope = {.name = "rope",
                                                   .title = "RoPE",
                                                   .paper = "Su et al. 2021",
                                                   .for_long_texts = true,
                                                   .parameters = parameters,
                                                   .row = "dims",
                                                   .fill = fill,
                                                   .rotate = rotate,
                                                   .token_operations = "dims*4*layers*H"};
