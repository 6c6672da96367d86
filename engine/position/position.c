#include "position.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/system.h"
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
    &ferry_position_kerple,
    &ferry_position_fire,
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

static ferry_status check_numbers(const ferry_position_tensor *tensor, int32_t layer, const float *data, size_t count,
                                  ferry_error *error)
{
    const bool negative = tensor->numbers == FERRY_POSITION_FINITE;
    const ferry_name name = layer < 0 ? ferry_name_format("'%s'", tensor->name)
                                      : ferry_name_format("'%s' of layer %d", tensor->name, (int)layer);
    for (size_t i = 0; i < count; i++)
        if (!isfinite(data[i]) || (data[i] < 0 && !negative))
            return ferry_fail(error, FERRY_ERROR_FORMAT, "tensor %s: expected finite numbers%s, found %g", name.text,
                              negative ? "" : " from 0 on", (double)data[i]);
    return FERRY_OK;
}

ferry_status ferry_position_take(const ferry_position *position, const ferry_position_binding *binding, size_t index,
                                 int32_t layer, const float **data, ferry_error *error)
{
    const ferry_position_source *source = binding->source;
    const ferry_position_tensor *tensor = &position->scheme->tensors[index];
    int64_t shape[2] = {1, 1};
    const int32_t dims = ferry_position_shape(position, tensor, shape);
    if (dims == 0) return FERRY_OK;
    FERRY_TRY(source->tensor(source->user, tensor, layer, dims, shape, data, error));
    if (tensor->numbers == FERRY_POSITION_ANY) return FERRY_OK;
    return check_numbers(tensor, layer, *data, (size_t)shape[0] * (size_t)shape[1], error);
}

static ferry_status bind(ferry_position *position, const ferry_position_binding *binding, ferry_error *error)
{
    const ferry_position_scheme *scheme = position->scheme;
    const ferry_position_tensor *tensors = scheme->tensors;
    FERRY_TRY(ferry_position_read(position, binding->source, error));
    if (scheme->pairs && position->stack.d_model % 2 != 0)
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s positions: d_model %d does not split into pairs", scheme->name,
                          (int)position->stack.d_model);
    if (scheme->limit != NULL) position->limit = (int32_t)ferry_position_evaluate(position, scheme->limit);
    for (size_t i = 0; tensors != NULL && tensors[i].name != NULL; i++)
        if (!tensors[i].per_layer)
            FERRY_TRY(ferry_position_take(position, binding, i, -1, &position->tensors[i], error));
    return scheme->bind != NULL ? scheme->bind(position, binding, error) : FERRY_OK;
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
    ferry_status status = bind(position, &(ferry_position_binding){source, kernels}, error);
    if (status != FERRY_OK) ferry_position_unbind(position);
    return status;
}

void ferry_position_unbind(ferry_position *position)
{
    ferry_aligned_free(position->derived);
    memset(position, 0, sizeof *position);
}

/* Capacity for `count` rows, rounded up to a multiple of FERRY_LANES; existing rows are kept. */
static ferry_status reserve(ferry_position_state *state, int32_t count, size_t width, ferry_error *error)
{
    if (count <= state->capacity) return FERRY_OK;
    const size_t capacity = ferry_round_up(count > INT32_MAX / 4 ? (size_t)count : 2 * (size_t)count, FERRY_LANES);
    size_t floats, bytes;
    if (capacity > INT32_MAX || !ferry_mul_size(capacity, width, &floats) ||
        !ferry_mul_size(floats, sizeof(float), &bytes))
        return ferry_fail(error, FERRY_ERROR_LIMIT, "%d positions of %zu numbers are more than memory can hold",
                          (int)count, width);
    if (bytes > SIZE_MAX / 2) return ferry_fail_memory(error, "rows by position", bytes);
    bytes = ferry_round_up(bytes, 64);
    if (!ferry_account_take(state->account, bytes)) return ferry_fail_memory(error, "rows by position", bytes);
    float *rows = ferry_aligned_alloc(64, bytes);
    if (rows == NULL) {
        ferry_account_give(state->account, bytes);
        return ferry_fail_memory(error, "rows by position", bytes);
    }
    if (state->count > 0) memcpy(rows, state->rows, (size_t)state->count * width * sizeof *rows);
    ferry_large_free(state->rows, state->bytes);
    ferry_account_give(state->account, state->bytes);
    state->rows = rows;
    state->capacity = (int32_t)capacity;
    state->bytes = bytes;
    return FERRY_OK;
}

ferry_status ferry_position_extend(const ferry_position *position, ferry_position_state *state,
                                   const ferry_kernels *kernels, int32_t count, ferry_error *error)
{
    if (position->limit > 0 && count > position->limit)
        return ferry_fail(error, FERRY_ERROR_LIMIT,
                          "%s of %d tokens: the model's %s positions end at %d; split the text into shorter sentences",
                          position->stack.causal ? "a translation" : "a sentence", (int)count, position->scheme->name,
                          (int)position->limit);
    if (position->scheme->fill == NULL || count <= state->count) return FERRY_OK;
    FERRY_TRY(reserve(state, count, (size_t)ferry_position_evaluate(position, position->scheme->row), error));
    count = (int32_t)ferry_round_up((size_t)count, FERRY_LANES);
    position->scheme->fill(position, kernels, state->rows, state->count, count);
    state->count = count;
    return FERRY_OK;
}

size_t ferry_position_scratch(const ferry_position *position, int32_t queries, int32_t keys)
{
    return position->scheme->scratch != NULL ? position->scheme->scratch(position, queries, keys) : 0;
}

/* What its tensors say again, in other words, grows with them: a table that is much larger was made to fill memory. */
static ferry_status check_tables(const ferry_position *position, double numbers, ferry_error *error)
{
    const double few = 1 << 22, most_for_each = 64;
    const ferry_position_tensor *tensor = position->scheme->tensors;
    double given = 0;
    for (; tensor != NULL && tensor->name != NULL; tensor++) {
        int64_t shape[2] = {1, 1};
        if (ferry_position_shape(position, tensor, shape) == 0) continue;
        given += (double)shape[0] * (double)shape[1] * (tensor->per_layer ? position->stack.layers : 1);
    }
    if (numbers <= few || numbers <= most_for_each * given) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_UNSUPPORTED,
                      "%s positions: expected tables of at most %.0f numbers for each of the %.0f in their tensors, "
                      "found %.0f",
                      position->scheme->name, most_for_each, given, numbers);
}

ferry_status ferry_position_allocate(ferry_position *position, size_t head, size_t rows, size_t width, float **tables,
                                     ferry_error *error)
{
    const ferry_name purpose = ferry_name_format("%s positions", position->scheme->name);
    size_t floats, bytes;
    if (!ferry_mul_size(rows, width, &floats) || !ferry_mul_size(floats, sizeof **tables, &bytes) ||
        bytes > SIZE_MAX / 2 || head > SIZE_MAX / 4)
        return ferry_fail_memory(error, purpose.text, SIZE_MAX);
    FERRY_TRY(check_tables(position, (double)floats, error));
    head = ferry_round_up(head, 64);
    bytes = head + ferry_round_up(bytes, 64);
    unsigned char *block = ferry_aligned_alloc(64, bytes);
    if (block == NULL) return ferry_fail_memory(error, purpose.text, bytes);
    *tables = (float *)(void *)(block + head);
    position->derived = block;
    return FERRY_OK;
}

void ferry_position_state_destroy(ferry_position_state *state)
{
    ferry_aligned_free(state->rows);
    ferry_account_give(state->account, state->bytes);
    *state = (ferry_position_state){.account = state->account};
}
