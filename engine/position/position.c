#include "position.h"

#include <stdlib.h>
#include <string.h>

#include "schemes.h"

static const ferry_position_scheme none = {.name = "none"};

static const ferry_position_scheme *const schemes[] = {
    &none,
    &ferry_position_learned,
    &ferry_position_sinusoidal,
};

ferry_status ferry_position_bind(ferry_view name, const ferry_position_stack *stack,
                                 const ferry_position_source *source, ferry_position *position, ferry_error *error)
{
    memset(position, 0, sizeof *position);
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
        const ferry_view candidate = {schemes[i]->name, strlen(schemes[i]->name)};
        if (!ferry_view_equal(name, candidate)) continue;
        position->scheme = schemes[i];
        position->stack = *stack;
        ferry_status status = FERRY_OK;
        if (schemes[i]->bind != NULL) status = schemes[i]->bind(position, source, error);
        if (status != FERRY_OK) ferry_position_unbind(position);
        return status;
    }
    return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "positional encoding '%.*s' is not supported by this build",
                      (int)(name.size < 64 ? name.size : 64), name.data);
}

void ferry_position_unbind(ferry_position *position)
{
    free(position->parameters);
    memset(position, 0, sizeof *position);
}

ferry_status ferry_position_extend(const ferry_position *position, ferry_position_state *state, int32_t count,
                                   ferry_error *error)
{
    if (position->limit > 0 && count > position->limit)
        return ferry_fail(error, FERRY_ERROR_LIMIT,
                          "%s of %d tokens: the model's %s positions end at %d; split the text into shorter sentences",
                          position->stack.causal ? "a translation" : "a sentence", (int)count, position->scheme->name,
                          (int)position->limit);
    if (position->scheme->extend == NULL || count <= state->count) return FERRY_OK;
    return position->scheme->extend(position, state, count, error);
}

void ferry_position_state_destroy(ferry_position_state *state)
{
    free(state->rows);
    memset(state, 0, sizeof *state);
}

ferry_status ferry_position_state_reserve(ferry_position_state *state, int32_t count, int32_t width, ferry_error *error)
{
    if (count <= state->capacity) return FERRY_OK;
    int32_t capacity = count > INT32_MAX / 2 ? count : 2 * count;
    size_t floats, bytes;
    if (!ferry_mul_size((size_t)capacity, (size_t)width, &floats) || !ferry_mul_size(floats, sizeof(float), &bytes))
        return ferry_fail(error, FERRY_ERROR_LIMIT, "%d positions of %d numbers are more than memory can hold",
                          (int)count, (int)width);
    float *rows = realloc(state->rows, bytes);
    if (rows == NULL) return ferry_fail_memory(error, "rows by position", bytes);
    state->rows = rows;
    state->capacity = capacity;
    return FERRY_OK;
}
