#include "position.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/system.h"
#include "base/utf8.h"
#include "schemes.h"
#include "base/memory.h"

static const ferry_position_scheme none = {.name = "none"};

#define ROW(name) &ferry_position_##name,
static const ferry_position_scheme *const schemes[] = {&none, FERRY_POSITION_SCHEMES(ROW)};
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

ferry_status ferry_position_take(const ferry_position *position, const ferry_position_binding *binding, size_t index,
                                 int32_t layer, const float **data, ferry_error *error)
{
    const ferry_position_source *source = binding->source;
    const ferry_position_tensor *tensor = &position->scheme->tensors[index];
    int64_t shape[2] = {1, 1};
    const int32_t dims = ferry_position_shape(position, tensor, shape);
    if (dims == 0) return FERRY_OK;
    FERRY_TRY(source->tensor(source->user, tensor, layer, dims, shape, data, error));
    const bool any = tensor->numbers == FERRY_POSITION_ANY, negative = tensor->numbers == FERRY_POSITION_FINITE;
    const ferry_short_text name =
        layer < 0 ? ferry_format("'%s'", tensor->name) : ferry_format("'%s' of layer %d", tensor->name, (int)layer);
    const size_t count = (size_t)shape[0] * (size_t)shape[1];
    for (size_t i = 0; !any && i < count; i++)
        if (!isfinite((*data)[i]) || ((*data)[i] < 0 && !negative))
            return ferry_fail(error, FERRY_ERROR_FORMAT, "tensor %s: expected finite numbers%s, found %g", name.text,
                              negative ? "" : " from 0 on", (double)(*data)[i]);
    return FERRY_OK;
}

/* The source's value; otherwise `default_value` in an untrained model, or `if_missing`. */
static ferry_status read_parameter(const ferry_position *position, const ferry_position_source *source,
                                   const ferry_position_parameter *parameter, double *value, ferry_error *error)
{
    const bool choice = parameter->kind == FERRY_POSITION_CHOICE, any = source->parameter != NULL;
    ferry_view text = {0};
    *value = NAN;
    if (!any || !source->parameter(source->user, parameter, &text, value)) {
        const char *declared =
            any || parameter->default_value == NULL ? parameter->if_missing : parameter->default_value;
        if (declared != NULL && choice)
            text = ferry_text_view(declared);
        else if (declared != NULL)
            *value = ferry_position_evaluate(position, declared);
    }
    if (choice) {
        *value = ferry_position_choice(parameter, text);
        if (*value >= 0) return FERRY_OK;
        return ferry_fail(error, FERRY_ERROR_FORMAT, "position.%s: expected %s, found '%s'", parameter->key,
                          ferry_position_choices(parameter).text, ferry_printable_view(text).text);
    }
    const double min = ferry_position_evaluate(position, parameter->min);
    const double max = ferry_position_evaluate(position, parameter->max);
    if (parameter->kind == FERRY_POSITION_REAL) {
        if (*value > min && *value <= max) return FERRY_OK;
        return ferry_fail(error, FERRY_ERROR_FORMAT, "position.%s: expected a real number above %s, up to %s",
                          parameter->key, parameter->min, parameter->max);
    }
    if (*value >= min && *value <= max && (!parameter->even || fmod(*value, 2) == 0)) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_FORMAT, "position.%s: expected %s %s from %.0f to %s%.0f", parameter->key,
                      parameter->even ? "an even" : "a", parameter->unit != NULL ? parameter->unit : "number", min,
                      strcmp(parameter->max, "K") == 0 ? "the head width, " : "", max);
}

static ferry_status bind(ferry_position *position, const ferry_position_binding *binding, ferry_error *error)
{
    const ferry_position_scheme *scheme = position->scheme;
    const ferry_position_tensor *tensors = scheme->tensors;
    const ferry_position_parameter *parameters = scheme->parameters;
    for (size_t i = 0; parameters != NULL && parameters[i].key != NULL; i++)
        if (ferry_position_has(position, i))
            FERRY_TRY(read_parameter(position, binding->source, &parameters[i], &position->values[i], error));
        else
            position->values[i] = 1;
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
    if (bytes > SIZE_MAX / 2) return ferry_fail_memory(error, "rows by position", bytes, 1);
    bytes = ferry_round_up(bytes, 64);
    const bool counted = ferry_account_take(state->account, bytes);
    float *rows = counted ? ferry_aligned_alloc(64, bytes) : NULL;
    if (counted && rows == NULL) ferry_account_undo(state->account, bytes);
    if (rows == NULL) return ferry_account_fail(state->account, "rows by position", bytes, 1, error);
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

/* Numbers in all tensors of the scheme; `kept`: in the tensors that hooks read. */
static double count_numbers(const ferry_position *position, bool kept)
{
    const ferry_position_tensor *tensor = position->scheme->tensors;
    double count = 0;
    for (; tensor != NULL && tensor->name != NULL; tensor++) {
        int64_t shape[2] = {1, 1};
        if ((kept && !tensor->kept) || ferry_position_shape(position, tensor, shape) == 0) continue;
        count += (double)shape[0] * (double)shape[1] * (tensor->per_layer ? position->stack.layers : 1);
    }
    return count;
}

ferry_status ferry_position_allocate(ferry_position *position, size_t head, size_t rows, size_t width, float **tables,
                                     ferry_error *error)
{
    const ferry_short_text purpose = ferry_format("%s positions", position->scheme->name);
    const double few = 1 << 22, max_for_each = 64, given = count_numbers(position, false);
    size_t floats, bytes;
    if (!ferry_mul_size(rows, width, &floats) || !ferry_mul_size(floats, sizeof **tables, &bytes) ||
        bytes > SIZE_MAX / 2 || head > SIZE_MAX / 4)
        return ferry_fail_memory(error, purpose.text, SIZE_MAX, 1);
    /* So that a small hostile file cannot fill memory. */
    if ((double)floats > few && (double)floats > max_for_each * given)
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED,
                          "%s: expected tables of at most %.0f numbers for each of the %.0f in their tensors, "
                          "found %.0f",
                          purpose.text, max_for_each, given, (double)floats);
    head = ferry_round_up(head, 64);
    position->derived_bytes = bytes;
    bytes = head + ferry_round_up(bytes, 64);
    unsigned char *block = ferry_aligned_alloc(64, bytes);
    if (block == NULL) return ferry_fail_memory(error, purpose.text, bytes, 1);
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

/* ---- declarations: parameters and tensors, their values and sizes ---- */

size_t ferry_position_parameter_index(const ferry_position *position, ferry_view key)
{
    const ferry_position_parameter *parameters = position->scheme->parameters;
    size_t i = 0;
    while (parameters[i].key != NULL && !ferry_view_is(key, parameters[i].key)) i++;
    return i;
}

static double look_up(const ferry_position *position, ferry_view name)
{
    const ferry_position_stack *stack = &position->stack;
    if (ferry_view_is(name, "D")) return stack->d_model;
    if (ferry_view_is(name, "H")) return stack->heads;
    if (ferry_view_is(name, "K")) return stack->head_width;
    if (ferry_view_is(name, "layers")) return stack->layers;
    if (ferry_view_is(name, "directions")) return stack->causal ? 1 : 2;
    return position->values[ferry_position_parameter_index(position, name)];
}

double ferry_position_evaluate(const ferry_position *position, const char *expression)
{
    double result = 0;
    char operation = '+';
    for (const char *at = expression; operation != '\0' && operation != ','; at++) {
        const size_t length = strcspn(at, "*/+,");
        const double operand =
            isdigit((unsigned char)*at) ? strtod(at, NULL) : look_up(position, (ferry_view){at, length});
        if (operation == '*')
            result *= operand;
        else if (operation == '/')
            result = floor(result / operand);
        else
            result += operand;
        at += length;
        operation = *at;
    }
    return result;
}

int32_t ferry_position_choice(const ferry_position_parameter *parameter, ferry_view text)
{
    for (int32_t i = 0; parameter->choices[i] != NULL; i++)
        if (ferry_view_is(text, parameter->choices[i])) return i;
    return -1;
}

ferry_short_text ferry_position_choices(const ferry_position_parameter *parameter)
{
    const char *const *choices = parameter->choices;
    ferry_short_text list = ferry_format("'%s'", choices[0]);
    for (int32_t i = 1; choices[i] != NULL; i++)
        list = ferry_format("%s%s'%s'", list.text, choices[i + 1] != NULL ? ", " : " or ", choices[i]);
    return list;
}

bool ferry_position_has(const ferry_position *position, size_t index)
{
    const ferry_position_parameter *parameter = &position->scheme->parameters[index];
    return parameter->when == NULL ||
           position->values[ferry_position_parameter_index(position, ferry_text_view(parameter->when))] >=
               parameter->from;
}

bool ferry_position_says(const ferry_position *position, size_t index)
{
    const bool first = position->scheme->parameters[index].word != NULL && position->values[index] == 0;
    return !first && ferry_position_has(position, index);
}

int32_t ferry_position_shape(const ferry_position *position, const ferry_position_tensor *tensor, int64_t shape[2])
{
    if (tensor->when != NULL) {
        const size_t length = strcspn(tensor->when, "=");
        const size_t i = ferry_position_parameter_index(position, (ferry_view){tensor->when, length});
        const ferry_view choice = ferry_text_view(tensor->when + length + 1);
        if (position->values[i] != ferry_position_choice(&position->scheme->parameters[i], choice)) return 0;
    }
    const char *comma = strchr(tensor->shape, ',');
    shape[0] = (int64_t)ferry_position_evaluate(position, tensor->shape);
    if (comma != NULL) shape[1] = (int64_t)ferry_position_evaluate(position, comma + 2);
    return comma != NULL ? 2 : 1;
}

ferry_short_text ferry_position_parameters(const ferry_position *position)
{
    const ferry_position_parameter *parameters = position->scheme->parameters;
    ferry_short_text list = {""};
    for (size_t i = 0; parameters != NULL && parameters[i].key != NULL; i++)
        if (ferry_position_says(position, i)) {
            const double value = position->values[i];
            const ferry_short_text shown =
                parameters[i].kind == FERRY_POSITION_CHOICE
                    ? ferry_format("%s", parameters[i].choices[(size_t)value])
                    : ferry_format(parameters[i].kind == FERRY_POSITION_REAL ? "%g" : "%.0f", value);
            list = ferry_format("%s%s%s %s", list.text, i > 0 ? ", " : "", parameters[i].key, shown.text);
        }
    return list;
}

bool ferry_position_has_weights(const ferry_position *position)
{
    return count_numbers(position, false) > 0;
}

ferry_position_cost ferry_position_get_cost(const ferry_position *position)
{
    const ferry_position_scheme *scheme = position->scheme;
    const char *const expressions[] = {scheme->row, scheme->token_operations, scheme->key_operations};
    int64_t values[3] = {0};
    for (int i = 0; i < 3; i++)
        if (expressions[i] != NULL) values[i] = (int64_t)ferry_position_evaluate(position, expressions[i]);
    return (ferry_position_cost){
        .model_bytes = (int64_t)(position->derived_bytes + (size_t)count_numbers(position, true) * sizeof(float)),
        .position_bytes = values[0] * (int64_t)sizeof(float),
        .token_operations = values[1],
        .key_operations = values[2],
    };
}
