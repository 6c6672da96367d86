#include "position.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/system.h"
#include "base/utf8.h"
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
    const ferry_name name = layer < 0 ? ferry_name_format("'%s'", tensor->name)
                                      : ferry_name_format("'%s' of layer %d", tensor->name, (int)layer);
    const size_t count = (size_t)shape[0] * (size_t)shape[1];
    for (size_t i = 0; !any && i < count; i++)
        if (!isfinite((*data)[i]) || ((*data)[i] < 0 && !negative))
            return ferry_fail(error, FERRY_ERROR_FORMAT, "tensor %s: expected finite numbers%s, found %g", name.text,
                              negative ? "" : " from 0 on", (double)(*data)[i]);
    return FERRY_OK;
}

/* The value from the source, or the declared one. */
static ferry_status read_parameter(const ferry_position *position, const ferry_position_source *source,
                                   const ferry_position_parameter *parameter, double *value, ferry_error *error)
{
    const bool choice = parameter->kind == FERRY_POSITION_CHOICE, any = source->parameter != NULL;
    ferry_view text = {0};
    *value = NAN;
    if (!any || !source->parameter(source->user, parameter, &text, value)) {
        const char *declared = any || parameter->usual == NULL ? parameter->missing : parameter->usual;
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
    const double least = ferry_position_evaluate(position, parameter->least);
    const double most = ferry_position_evaluate(position, parameter->most);
    if (parameter->kind == FERRY_POSITION_REAL) {
        if (*value > least && *value <= most) return FERRY_OK;
        return ferry_fail(error, FERRY_ERROR_FORMAT, "position.%s: expected a real number above %s, up to %s",
                          parameter->key, parameter->least, parameter->most);
    }
    if (*value >= least && *value <= most && (!parameter->even || fmod(*value, 2) == 0)) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_FORMAT, "position.%s: expected %s %s from %.0f to %s%.0f", parameter->key,
                      parameter->even ? "an even" : "a", parameter->unit != NULL ? parameter->unit : "number", least,
                      strcmp(parameter->most, "K") == 0 ? "the head width, " : "", most);
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

/* Numbers in the tensors of the scheme, or in those that hooks read. */
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
    const ferry_name purpose = ferry_name_format("%s positions", position->scheme->name);
    const double few = 1 << 22, most_for_each = 64, given = count_numbers(position, false);
    size_t floats, bytes;
    if (!ferry_mul_size(rows, width, &floats) || !ferry_mul_size(floats, sizeof **tables, &bytes) ||
        bytes > SIZE_MAX / 2 || head > SIZE_MAX / 4)
        return ferry_fail_memory(error, purpose.text, SIZE_MAX, 1);
    /* They grow with the tensors: one that is much larger was made to fill memory. */
    if ((double)floats > few && (double)floats > most_for_each * given)
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED,
                          "%s: expected tables of at most %.0f numbers for each of the %.0f in their tensors, "
                          "found %.0f",
                          purpose.text, most_for_each, given, (double)floats);
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

ferry_name ferry_position_choices(const ferry_position_parameter *parameter)
{
    const char *const *choices = parameter->choices;
    ferry_name list = ferry_name_format("'%s'", choices[0]);
    for (int32_t i = 1; choices[i] != NULL; i++)
        list = ferry_name_format("%s%s'%s'", list.text, choices[i + 1] != NULL ? ", " : " or ", choices[i]);
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

ferry_name ferry_position_parameters(const ferry_position *position)
{
    const ferry_position_parameter *parameters = position->scheme->parameters;
    ferry_name list = {""};
    for (size_t i = 0; parameters != NULL && parameters[i].key != NULL; i++)
        if (ferry_position_says(position, i)) {
            const double value = position->values[i];
            const ferry_name shown =
                parameters[i].kind == FERRY_POSITION_CHOICE
                    ? ferry_name_format("%s", parameters[i].choices[(size_t)value])
                    : ferry_name_format(parameters[i].kind == FERRY_POSITION_REAL ? "%g" : "%.0f", value);
            list = ferry_name_format("%s%s%s %s", list.text, i > 0 ? ", " : "", parameters[i].key, shown.text);
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

/* ---- terms by clipped distance ---- */

static int32_t clamp(int32_t value, int32_t least, int32_t most)
{
    return value < least ? least : value > most ? most : value;
}

ferry_clipped_keys ferry_clipped_split(const ferry_clipped *clipped, int32_t position, int32_t keys)
{
    const int32_t left = clamp(position - clipped->zero + 1, 0, keys);
    return (ferry_clipped_keys){
        .left = left,
        .right = clamp(position - clipped->zero + clipped->count - 1, left, keys),
        .first = left - position + clipped->zero,
    };
}

ferry_clipped_range ferry_clipped_meets(const ferry_clipped *clipped, const ferry_position_tile *tile, bool causal)
{
    const int32_t nearest = causal ? 0 : tile->keys - 1 - tile->first;
    const int32_t furthest = -(tile->first + tile->queries - 1);
    const int32_t base = clamp(furthest + clipped->zero, 0, clipped->count - 1) / FERRY_LANES * FERRY_LANES;
    return (ferry_clipped_range){base, clamp(nearest + clipped->zero, 0, clipped->count - 1) - base + 1};
}

size_t ferry_clipped_width(const ferry_clipped *clipped, int32_t queries, int32_t keys)
{
    const size_t apart = (size_t)queries + (size_t)keys + FERRY_LANES, count = (size_t)clipped->count;
    return ferry_round_up(apart < count ? apart : count, FERRY_LANES);
}

static void add_constant(float *x, float value, int32_t n)
{
    for (int32_t j = 0; j < n; j++) x[j] += value;
}

void ferry_clipped_add(const ferry_clipped *clipped, const ferry_kernels *kernels, const float *terms, int32_t position,
                       int32_t keys, float *scores)
{
    const ferry_clipped_keys split = ferry_clipped_split(clipped, position, keys);
    if (split.left > 0) add_constant(scores, terms[0], split.left);
    kernels->add(scores + split.left, terms + split.first, (size_t)(split.right - split.left));
    if (split.right < keys) add_constant(scores + split.right, terms[clipped->count - 1], keys - split.right);
}

void ferry_clipped_scores(const ferry_clipped *clipped, const ferry_position *position, const float *panels,
                          const ferry_position_tile *tile)
{
    const int32_t K = position->stack.head_width;
    const ferry_clipped_range range = ferry_clipped_meets(clipped, tile, position->stack.causal);
    const size_t width = ferry_round_up((size_t)range.rows, FERRY_LANES);
    tile->kernels->product(tile->scratch, width, tile->q, tile->ldq, tile->queries,
                           panels + (size_t)range.base * (size_t)K, K, range.rows, NULL);
    for (int32_t i = 0; i < tile->queries; i++)
        ferry_clipped_add(clipped, tile->kernels, tile->scratch + (size_t)i * width - range.base, tile->first + i,
                          ferry_position_visible(position, tile, i), tile->scores + (size_t)i * tile->ld_scores);
}
