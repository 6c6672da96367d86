/* Learned absolute positions (Gehring et al. 2017): one trained row for each position is added to the embedding.
 *
 * The table ends where training ended, so the scheme has a limit; a longer text is refused, never cut. */
#include "schemes.h"

#include <stdlib.h>

typedef struct learned {
    const float *table; /* [limit, D] */
} learned;

static ferry_status bind(ferry_position *position, const ferry_position_source *source, const ferry_kernels *kernels,
                         ferry_error *error)
{
    (void)kernels;
    int64_t rows;
    if (!source->integer(source->user, "max_positions", &rows) || rows < 1 || rows > INT32_MAX)
        return ferry_fail(error, FERRY_ERROR_FORMAT,
                          "position.max_positions: expected a number of positions from 1 to %d", INT32_MAX);
    learned *parameters = calloc(1, sizeof *parameters);
    if (parameters == NULL) return ferry_fail_memory(error, "learned positions", sizeof *parameters);
    position->parameters = parameters;
    position->limit = (int32_t)rows;
    const int64_t shape[] = {rows, position->stack.d_model};
    return source->tensor(source->user, "weight", -1, 2, shape, &parameters->table, error);
}

static void embed(const ferry_position *position, const ferry_position_state *state, const ferry_kernels *kernels,
                  float *x /* [count, D] */, int32_t first, int32_t count)
{
    (void)state;
    const learned *parameters = position->parameters;
    const size_t D = (size_t)position->stack.d_model;
    kernels->add(x, parameters->table + (size_t)first * D, (size_t)count * D);
}

static void cost(const ferry_position *position, ferry_position_cost *result)
{
    const int64_t D = position->stack.d_model;
    result->model_bytes = position->limit * D * (int64_t)sizeof(float);
    result->token_operations = D;
}

static const ferry_position_parameter usual[] = {{.key = "max_positions", .number = 1024}, {.key = NULL}};

const ferry_position_scheme ferry_position_learned = {
    .name = "learned", .usual = usual, .bind = bind, .embed = embed, .cost = cost};
