#include "position.h"

#include <stdlib.h>
#include <string.h>

#include "schemes.h"

static const ferry_position_scheme none = {.name = "none"};

static const ferry_position_scheme *const schemes[] = {
    &none,
    &ferry_position_learned,
    &ferry_position_sinusoidal,
    &ferry_position_shaw,
    &ferry_position_t5,
    &ferry_position_transformer_xl,
    &ferry_position_deberta,
    &ferry_position_rope,
    &ferry_position_alibi,
};
enum { SCHEMES = sizeof schemes / sizeof schemes[0] };

const ferry_position_scheme *ferry_position_find(ferry_view name)
{
    for (size_t i = 0; i < SCHEMES; i++)
        if (ferry_view_equal(name, (ferry_view){schemes[i]->name, strlen(schemes[i]->name)})) return schemes[i];
    return NULL;
}

const ferry_position_scheme *ferry_position_at(size_t index)
{
    return index < SCHEMES ? schemes[index] : NULL;
}

ferry_status ferry_position_bind(ferry_view name, const ferry_position_stack *stack,
                                 const ferry_position_source *source, const ferry_kernels *kernels,
                                 ferry_position *position, ferry_error *error)
{
    memset(position, 0, sizeof *position);
    const ferry_position_scheme *scheme = ferry_position_find(name);
    if (scheme == NULL)
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "positional encoding '%.*s' is not supported by this build",
                          (int)(name.size < 64 ? name.size : 64), name.data);
    position->scheme = scheme;
    position->stack = *stack;
    ferry_status status = FERRY_OK;
    if (scheme->bind != NULL) status = scheme->bind(position, source, kernels, error);
    if (status != FERRY_OK) ferry_position_unbind(position);
    return status;
}

void ferry_position_unbind(ferry_position *position)
{
    free(position->parameters);
    memset(position, 0, sizeof *position);
}

ferry_status ferry_position_extend(const ferry_position *position, ferry_position_state *state,
                                   const ferry_kernels *kernels, int32_t count, ferry_error *error)
{
    if (position->limit > 0 && count > position->limit)
        return ferry_fail(error, FERRY_ERROR_LIMIT,
                          "%s of %d tokens: the model's %s positions end at %d; split the text into shorter sentences",
                          position->stack.causal ? "a translation" : "a sentence", (int)count, position->scheme->name,
                          (int)position->limit);
    if (position->scheme->extend == NULL || count <= state->count) return FERRY_OK;
    return position->scheme->extend(position, state, kernels, count, error);
}

size_t ferry_position_scratch(const ferry_position *position, int32_t queries, int32_t keys)
{
    return position->scheme->scratch != NULL ? position->scheme->scratch(position, queries, keys) : 0;
}

int ferry_position_choice(const ferry_position_source *source, const char *key, const char *a, const char *b)
{
    ferry_view value;
    if (!source->text(source->user, key, &value)) return -1;
    if (ferry_view_equal(value, (ferry_view){a, strlen(a)})) return 0;
    if (ferry_view_equal(value, (ferry_view){b, strlen(b)})) return 1;
    return -1;
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
    float *rows = bytes <= SIZE_MAX - 63 ? aligned_alloc(64, ferry_round_up(bytes, 64)) : NULL;
    if (rows == NULL) return ferry_fail_memory(error, "rows by position", bytes);
    if (state->count > 0) memcpy(rows, state->rows, (size_t)state->count * (size_t)width * sizeof *rows);
    free(state->rows);
    state->rows = rows;
    state->capacity = capacity;
    return FERRY_OK;
}
