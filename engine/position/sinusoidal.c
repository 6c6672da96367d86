/* Sinusoidal positions (Vaswani et al. 2017, section 3.5), added to the embedding:
 *
 *     angle_k(pos) = (pos + first) / 10000^(k / divisor),  k = 0 … D/2 - 1
 *
 * The families differ in the parameters of the model file:
 * - exponent_divisor: `half` (D/2: the paper, Hugging Face's Marian) or `half_minus_one` (D/2 - 1: tensor2tensor,
 * Marian itself, fairseq). The same weights run with both, and give different scores.
 * - layout: `interleaved` (sin in column 2k, cos in 2k + 1) or `split` (sines, then cosines).
 * - first: the number of the first position (0; fairseq's pad + 1 = 2).
 *
 * The double-precision result is rounded once, so that the rows do not depend on the machine's float sine. */
#include "position.h"
#include "schemes.h"

#include <math.h>

enum { LAYOUT, EXPONENT_DIVISOR, FIRST }; /* parameters */
enum { INTERLEAVED, SPLIT };              /* layouts */
static const ferry_position_parameter parameters[] = {
    {"layout", FERRY_POSITION_CHOICE,
     "`interleaved`: sin in column 2k, cos in column 2k + 1; `split`: sines, then cosines",
     .choices = {"interleaved", "split"}, .default_value = "interleaved"},
    {"exponent_divisor", FERRY_POSITION_CHOICE,
     "angle_k(pos) = pos / 10000^(k / divisor); `half`: D/2, `half_minus_one`: D/2 - 1",
     .choices = {"half", "half_minus_one"}, .default_value = "half"},
    {"first", FERRY_POSITION_INTEGER, "pos of the first token: 0, or 2 in fairseq's families", .min = "0",
     .max = "65536", .default_value = "0"},
    {0},
};

static int32_t divisor_of(const ferry_position *position)
{
    return position->stack.d_model / 2 - (int32_t)position->values[EXPONENT_DIVISOR];
}

static ferry_status bind(ferry_position *position, const ferry_position_binding *binding, ferry_error *error)
{
    (void)binding;
    if (divisor_of(position) >= 1) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_FORMAT, "sinusoidal positions: d_model %d does not split into pairs",
                      (int)position->stack.d_model);
}

static void fill(const ferry_position *position, const ferry_kernels *kernels, float *rows, int32_t first, int32_t end)
{
    (void)kernels;
    const bool interleaved = position->values[LAYOUT] == (double)INTERLEAVED;
    const int32_t D = position->stack.d_model, half = D / 2;
    for (int32_t k = 0; k < half; k++) {
        const double frequency = 1.0 / pow(10000.0, (double)k / (double)divisor_of(position));
        float *sine = rows + (interleaved ? 2 * k : k);
        float *cosine = interleaved ? sine + 1 : sine + half;
        for (int32_t row = first; row < end; row++) {
            const double angle = ((double)row + position->values[FIRST]) * frequency;
            sine[(size_t)row * (size_t)D] = (float)sin(angle);
            cosine[(size_t)row * (size_t)D] = (float)cos(angle);
        }
    }
}

static void embed(const ferry_position *position, const ferry_position_state *state, const ferry_kernels *kernels,
                  float *x /* [count, D] */, int32_t first, int32_t count)
{
    const size_t D = (size_t)position->stack.d_model;
    kernels->add(x, state->rows + (size_t)first * D, (size_t)count * D);
}

const ferry_position_scheme ferry_position_sinusoidal = {.name = "sinusoidal",
                                                         .title = "sinusoidal",
                                                         .paper = "Vaswani et al. 2017",
                                                         .parameters = parameters,
                                                         .pairs = true,
                                                         .bind = bind,
                                                         .row = "D",
                                                         .fill = fill,
                                                         .embed = embed,
                                                         .token_operations = "D"};
