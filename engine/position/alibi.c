/* ALiBi (Press et al. 2022, section 3): attention with linear biases,
 *
 *     score(i, j) - m_h·|i - j|
 *
 * where the paper's slopes are m_h = 2^(-8(h + 1)/H) for a power of two H; other H take the slopes of the next lower
 * power of two n, and then every second slope of 2n. `slopes` says `formula`, or `given`: the tensor `slopes` [H]. */
#include "schemes.h"

#include <math.h>
#include <stdlib.h>

typedef struct alibi {
    const float *slopes; /* [H]: computed, or the file's */
    float computed[];
} alibi;

static void compute_slopes(float *slopes, int32_t H)
{
    int32_t n = 1;
    while (n <= H / 2) n *= 2;
    for (int32_t h = 0; h < H; h++) {
        const double exponent = h < n ? (double)(h + 1) / (double)n : (double)(2 * (h - n) + 1) / (double)(2 * n);
        slopes[h] = (float)exp2(-8 * exponent);
    }
}

static ferry_status bind(ferry_position *position, const ferry_position_source *source, const ferry_kernels *kernels,
                         ferry_error *error)
{
    (void)kernels;
    const int32_t H = position->stack.heads;
    const int given = ferry_position_choice(source, "slopes", "formula", "given");
    if (given < 0) return ferry_fail(error, FERRY_ERROR_FORMAT, "position.slopes: expected 'formula' or 'given'");
    alibi *parameters = calloc(1, sizeof *parameters + (size_t)H * sizeof(float));
    if (parameters == NULL) return ferry_fail_memory(error, "ALiBi slopes", (size_t)H * sizeof(float));
    position->parameters = parameters;
    if (!given) {
        compute_slopes(parameters->computed, H);
        parameters->slopes = parameters->computed;
        return FERRY_OK;
    }
    const int64_t shape[] = {H};
    return source->tensor(source->user, "slopes", -1, 1, shape, &parameters->slopes, error);
}

static void score(const ferry_position *position, const ferry_position_state *state, const ferry_kernels *kernels,
                  const ferry_position_tile *tile)
{
    (void)state;
    (void)kernels;
    const alibi *parameters = position->parameters;
    const float slope = parameters->slopes[tile->head];
    for (int32_t i = 0; i < tile->queries; i++) {
        float *row = tile->scores + (size_t)i * tile->ld_scores;
        const int32_t at = tile->first + i, keys = ferry_position_visible(position, tile, i);
        for (int32_t j = 0; j < keys; j++) row[j] -= slope * (float)abs(at - j);
    }
}

static void cost(const ferry_position *position, ferry_position_cost *result)
{
    const ferry_position_stack *stack = &position->stack;
    result->model_bytes = (int64_t)stack->heads * (int64_t)sizeof(float);
    result->key_operations = (int64_t)stack->layers * stack->heads;
}

static const ferry_position_parameter usual[] = {{.key = "slopes", .text = "formula"}, {.key = NULL}};

const ferry_position_scheme ferry_position_alibi = {
    .name = "alibi", .usual = usual, .bind = bind, .score = score, .cost = cost};
