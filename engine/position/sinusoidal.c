/* Sinusoidal positions (Vaswani et al. 2017, section 3.5), added to the embedding:
 *
 *     angle_k(pos) = (pos + first) / 10000^(k / divisor),  k = 0 … D/2 - 1
 *
 * Families differ, and the model file says how:
 * - exponent_divisor: `half` (D/2: the paper, Hugging Face's Marian) or `half_minus_one` (D/2 - 1: tensor2tensor,
 * Marian itself, fairseq). The same weights run with both, and give different scores.
 * - layout: `interleaved` (sin in column 2k, cos in 2k + 1) or `split` (sines, then cosines).
 * - first: the number of the first position (0; fairseq's pad + 1 = 2).
 *
 * The double-precision result is rounded once, so that the rows do not depend on the machine's float sine. */
#include "schemes.h"

#include <math.h>
#include <stdlib.h>

typedef struct sinusoidal {
    bool interleaved;
    int32_t divisor;
    int32_t first;
} sinusoidal;

static ferry_status bind(ferry_position *position, const ferry_position_source *source, const ferry_kernels *kernels,
                         ferry_error *error)
{
    (void)kernels;
    const int layout = ferry_position_choice(source, "layout", "interleaved", "split");
    if (layout < 0) return ferry_fail(error, FERRY_ERROR_FORMAT, "position.layout: expected 'interleaved' or 'split'");
    const int minus_one = ferry_position_choice(source, "exponent_divisor", "half", "half_minus_one");
    if (minus_one < 0)
        return ferry_fail(error, FERRY_ERROR_FORMAT, "position.exponent_divisor: expected 'half' or 'half_minus_one'");
    int64_t first;
    if (!source->integer(source->user, "first", &first) || first < 0 || first > 65536)
        return ferry_fail(error, FERRY_ERROR_FORMAT, "position.first: expected a number from 0 to 65536");
    const int32_t half = position->stack.d_model / 2;
    if (position->stack.d_model % 2 != 0 || half - minus_one < 1)
        return ferry_fail(error, FERRY_ERROR_FORMAT, "sinusoidal positions: d_model %d does not split into pairs",
                          (int)position->stack.d_model);
    sinusoidal *parameters = calloc(1, sizeof *parameters);
    if (parameters == NULL) return ferry_fail_memory(error, "sinusoidal positions", sizeof *parameters);
    parameters->interleaved = layout == 0;
    parameters->divisor = half - minus_one;
    parameters->first = (int32_t)first;
    position->parameters = parameters;
    return FERRY_OK;
}

static ferry_status extend(const ferry_position *position, ferry_position_state *state, const ferry_kernels *kernels,
                           int32_t count, ferry_error *error)
{
    (void)kernels;
    const sinusoidal *parameters = position->parameters;
    const int32_t D = position->stack.d_model, half = D / 2;
    FERRY_TRY(ferry_position_state_reserve(state, count, D, error));
    /* As many rows as there is room for: a decoder that asks for one more each step finds them ready. */
    for (int32_t k = 0; k < half; k++) {
        const double frequency = 1.0 / pow(10000.0, (double)k / (double)parameters->divisor);
        float *sine = state->rows + (parameters->interleaved ? 2 * k : k);
        float *cosine = parameters->interleaved ? sine + 1 : sine + half;
        for (int32_t row = state->count; row < state->capacity; row++) {
            const double angle = ((double)row + (double)parameters->first) * frequency;
            sine[(size_t)row * (size_t)D] = (float)sin(angle);
            cosine[(size_t)row * (size_t)D] = (float)cos(angle);
        }
    }
    state->count = state->capacity;
    return FERRY_OK;
}

static void embed(const ferry_position *position, const ferry_position_state *state, const ferry_kernels *kernels,
                  float *x /* [count, D] */, int32_t first, int32_t count)
{
    const size_t D = (size_t)position->stack.d_model;
    kernels->add(x, state->rows + (size_t)first * D, (size_t)count * D);
}

static void cost(const ferry_position *position, ferry_position_cost *result)
{
    result->position_bytes = position->stack.d_model * (int64_t)sizeof(float);
    result->token_operations = position->stack.d_model;
}

static const ferry_position_parameter usual[] = {{.key = "layout", .text = "interleaved"},
                                                 {.key = "exponent_divisor", .text = "half"},
                                                 {.key = "first", .number = 0},
                                                 {.key = NULL}};

const ferry_position_scheme ferry_position_sinusoidal = {
    .name = "sinusoidal", .usual = usual, .bind = bind, .extend = extend, .embed = embed, .cost = cost};
