/* Rotary positions (Su et al. 2021, equation 34): queries and keys are rotated, pair by pair, by
 *
 *     angle_k(pos) = pos·theta^(-2k/n),  k = 0 … n/2 - 1
 *
 * so that their product depends on the distance alone. Families differ, and the model file says how:
 * - layout: `half` rotates the pairs (x_k, x_{k + n/2}) (GPT-NeoX, LLaMA), `interleaved` the pairs (x_2k, x_{2k + 1})
 * (the paper).
 * - dims: n, when not the whole head rotates; the rest carries no position.
 *
 * Keys enter the cache rotated, so a step rotates one row. */
#include "schemes.h"

#include <math.h>
#include <stdlib.h>

typedef struct rope {
    bool interleaved;
    int32_t dims; /* n */
    double theta;
} rope;

static ferry_status bind_dims(const ferry_position_source *source, int32_t K, int32_t *dims, ferry_error *error)
{
    int64_t value = K;
    double real;
    ferry_view text;
    bool valid = source->integer(source->user, "dims", &value);
    if (!valid) /* absent, or not an integer */
        valid = !source->real(source->user, "dims", &real) && !source->text(source->user, "dims", &text);
    if (!valid || value < 2 || value > K || value % 2 != 0)
        return ferry_fail(error, FERRY_ERROR_FORMAT,
                          "position.dims: expected an even number from 2 to the head width, %d", (int)K);
    *dims = (int32_t)value;
    return FERRY_OK;
}

static ferry_status bind(ferry_position *position, const ferry_position_source *source, const ferry_kernels *kernels,
                         ferry_error *error)
{
    (void)kernels;
    const int interleaved = ferry_position_choice(source, "layout", "half", "interleaved");
    if (interleaved < 0)
        return ferry_fail(error, FERRY_ERROR_FORMAT, "position.layout: expected 'half' or 'interleaved'");
    double theta;
    if (!source->real(source->user, "theta", &theta) || !(theta > 1 && theta <= 1e12))
        return ferry_fail(error, FERRY_ERROR_FORMAT, "position.theta: expected a real number above 1, up to 1e12");
    int32_t dims = 0;
    FERRY_TRY(bind_dims(source, position->stack.head_width, &dims, error));
    rope *parameters = calloc(1, sizeof *parameters);
    if (parameters == NULL) return ferry_fail_memory(error, "rotary positions", sizeof *parameters);
    *parameters = (rope){interleaved == 1, dims, theta};
    position->parameters = parameters;
    return FERRY_OK;
}

/* A row: n/2 cosines, then n/2 sines; in double precision, rounded once. */
static ferry_status extend(const ferry_position *position, ferry_position_state *state, const ferry_kernels *kernels,
                           int32_t count, ferry_error *error)
{
    (void)kernels;
    const rope *parameters = position->parameters;
    const int32_t n = parameters->dims;
    FERRY_TRY(ferry_position_state_reserve(state, count, n, error));
    for (int32_t k = 0; k < n / 2; k++) {
        const double frequency = pow(parameters->theta, -2.0 * (double)k / (double)n);
        for (int32_t row = state->count; row < state->capacity; row++) {
            float *cosine = state->rows + (size_t)row * (size_t)n + k;
            cosine[0] = (float)cos((double)row * frequency);
            cosine[n / 2] = (float)sin((double)row * frequency);
        }
    }
    state->count = state->capacity;
    return FERRY_OK;
}

static void rotate_half(float *restrict x /* [n] */, const float *restrict row, int32_t n)
{
    const int32_t half = n / 2;
    for (int32_t k = 0; k < half; k++) {
        const float a = x[k], b = x[half + k], cosine = row[k], sine = row[half + k];
        x[k] = a * cosine - b * sine;
        x[half + k] = b * cosine + a * sine;
    }
}

static void rotate_interleaved(float *restrict x /* [n] */, const float *restrict row, int32_t n)
{
    const int32_t half = n / 2;
    for (int32_t k = 0; k < half; k++) {
        const float a = x[2 * k], b = x[2 * k + 1], cosine = row[k], sine = row[half + k];
        x[2 * k] = a * cosine - b * sine;
        x[2 * k + 1] = b * cosine + a * sine;
    }
}

static void rotate(const ferry_position *position, const ferry_position_state *state, float *x /* [count, H·K] */,
                   int32_t first, int32_t count)
{
    const rope *parameters = position->parameters;
    const int32_t n = parameters->dims, H = position->stack.heads;
    for (int32_t i = 0; i < count; i++) {
        const float *row = state->rows + (size_t)(first + i) * (size_t)n;
        for (int32_t h = 0; h < H; h++, x += position->stack.head_width) {
            if (parameters->interleaved)
                rotate_interleaved(x, row, n);
            else
                rotate_half(x, row, n);
        }
    }
}

static void cost(const ferry_position *position, ferry_position_cost *result)
{
    const rope *parameters = position->parameters;
    const ferry_position_stack *stack = &position->stack;
    result->position_bytes = parameters->dims * (int64_t)sizeof(float);
    result->token_operations = (int64_t)2 * 2 * stack->layers * stack->heads * parameters->dims; /* q and k */
}

static const ferry_position_parameter usual[] = {{.key = "theta", .number = 10000},
                                                 {.key = "layout", .text = "half"},
                                                 {.key = NULL}};

const ferry_position_scheme ferry_position_rope = {
    .name = "rope", .usual = usual, .bind = bind, .extend = extend, .rotate = rotate, .cost = cost};
