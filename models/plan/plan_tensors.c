/* Which tensor of the source becomes which tensor of the model file. */
#include "plan_tensors.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/tensor.h"

const ferry_weights_entry *ferry_import_find(ferry_import_plan *plan, const char *prefix, const char *name)
{
    const ferry_weights_entry *entry = ferry_weights_find(&plan->weights, ferry_format("%s%s", prefix, name).text);
    if (entry != NULL) plan->used[entry - plan->weights.entries] = true;
    return entry;
}

bool ferry_import_has_prefix(const ferry_import_plan *plan, const char *prefix)
{
    const ferry_view wanted = ferry_text_view(prefix);
    size_t first = 0, end = plan->weights.count; /* the first name after `prefix`, in the order of names */
    while (first < end) {
        const size_t middle = first + (end - first) / 2;
        if (ferry_view_compare(plan->weights.entries[middle].tensor.name, wanted) > 0)
            end = middle;
        else
            first = middle + 1;
    }
    if (first == plan->weights.count) return false;
    const ferry_view name = plan->weights.entries[first].tensor.name;
    return name.size > wanted.size && memcmp(name.data, wanted.data, wanted.size) == 0;
}

/* Number of dimensions before the first that is not 1. The last dimension always counts. */
static int32_t leading_ones(const ferry_tensor *tensor)
{
    int32_t at = 0;
    while (at + 1 < tensor->dims && tensor->shape[at] == 1) at++;
    return at;
}

static bool is_floating(ferry_type type)
{
    return type == FERRY_F32 || type == FERRY_F16 || type == FERRY_BF16 || type == FERRY_F64;
}

ferry_status ferry_import_check_shape(const ferry_weights_entry *entry, int32_t N, int32_t K, ferry_error *error)
{
    const ferry_tensor *tensor = &entry->tensor;
    if (!is_floating(tensor->type)) {
        return ferry_import_fail_tensor(entry, FERRY_ERROR_UNSUPPORTED, error,
                                        "expected floating-point numbers, found %s integers",
                                        ferry_type_name(tensor->type));
    }
    const ferry_tensor expected = {.dims = K > 0 ? 2 : 1, .shape = {N, K > 0 ? K : 1, 1, 1}};
    const int32_t from = leading_ones(tensor), first = leading_ones(&expected), dims = expected.dims - first;
    if (tensor->dims - from == dims &&
        memcmp(tensor->shape + from, expected.shape + first, (size_t)dims * sizeof *tensor->shape) == 0)
        return FERRY_OK;
    char wanted[100], found[100];
    return ferry_import_fail_tensor(entry, FERRY_ERROR_FORMAT, error, "expected shape %s, found %s",
                                    ferry_tensor_shape_text(&expected, wanted, sizeof wanted),
                                    ferry_tensor_shape_text(tensor, found, sizeof found));
}

ferry_status ferry_import_take(ferry_import_plan *plan, const char *prefix, const char *name, int32_t N, int32_t K,
                               const ferry_weights_entry **entry, ferry_error *error)
{
    *entry = ferry_import_find(plan, prefix, name);
    if (*entry == NULL)
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: tensor '%s%s' is missing", plan->source->path, prefix, name);
    return ferry_import_check_shape(*entry, N, K, error);
}

ferry_import_tensor ferry_import_whole(const ferry_weights_entry *source, ferry_import_form form)
{
    const int32_t dims = source->tensor.dims;
    const bool vector = form == FERRY_IMPORT_VECTOR || form == FERRY_IMPORT_INTEGERS;
    int64_t last = dims > 0 ? source->tensor.shape[dims - 1] : 1;
    int64_t before = dims > 1 ? source->tensor.shape[dims - 2] : 1;
    const bool fits = last <= INT32_MAX && before <= INT32_MAX &&
                      ferry_tensor_count(&source->tensor) == (vector ? last : before * last);
    if (!fits) last = before = 0;
    const int64_t last_stride = dims > 0 ? source->strides[dims - 1] : 1;
    const int64_t before_stride = dims > 1 ? source->strides[dims - 2] : 0;
    ferry_import_tensor result = {.form = form, .source = source};
    result.N = (int32_t)(vector ? last : before);
    result.K = (int32_t)(vector ? fits : last);
    result.row = vector ? last_stride : before_stride;
    result.column = vector ? 0 : last_stride;
    if (source->multiplier != 0) {
        result.multipliers = &source->multiplier;
        result.multiplier_count = 1;
    }
    return result;
}

ferry_import_tensor ferry_import_transposed(const ferry_weights_entry *source, ferry_import_form form)
{
    ferry_import_tensor result = ferry_import_whole(source, form);
    const ferry_import_tensor other = result;
    result.N = other.K;
    result.K = other.N;
    result.row = other.column;
    result.column = other.row;
    return result;
}

ferry_import_tensor ferry_import_rows(const ferry_import_tensor *whole, int32_t first, int32_t N)
{
    ferry_import_tensor rows = *whole;
    rows.offset += first * rows.row;
    rows.N = N;
    if (rows.multiplier_count > 1) {
        rows.multipliers = (const char *)rows.multipliers + (size_t)first * sizeof(float);
        rows.multiplier_count = N;
    }
    return rows;
}

/* Whether all numbers of the tensor are inside the source's bytes. */
static bool is_inside(const ferry_import_tensor *tensor)
{
    const ferry_tensor *source = &tensor->source->tensor;
    const size_t size = ferry_type_size(source->type);
    size_t rows, columns, last;
    if (size == 0 || tensor->offset < 0 || tensor->row < 0 || tensor->column < 0) return false;
    return ferry_mul_size((size_t)tensor->N - 1, (size_t)tensor->row, &rows) &&
           ferry_mul_size((size_t)tensor->K - 1, (size_t)tensor->column, &columns) &&
           ferry_add_size(rows, columns, &last) && ferry_add_size(last, (size_t)tensor->offset, &last) &&
           last < source->bytes / size;
}

static ferry_status check_source(const ferry_import_tensor *tensor, ferry_error *error)
{
    const ferry_weights_entry *entry = tensor->source;
    if (entry == NULL) return FERRY_OK;
    const ferry_type type = entry->tensor.type;
    const bool codes = type == FERRY_I8 || type == FERRY_I16;
    const bool scaled =
        tensor->scales != NULL ||
        (tensor->multipliers != NULL && (tensor->multiplier_count == 1 || tensor->multiplier_count == tensor->N));
    if (!codes && !is_floating(type)) {
        return ferry_import_fail_tensor(entry, FERRY_ERROR_UNSUPPORTED, error,
                                        "element type %s is not supported for '%s'", ferry_type_name(type),
                                        tensor->name);
    }
    if (codes && !scaled)
        return ferry_import_fail_tensor(entry, FERRY_ERROR_FORMAT, error, "integers without a multiplier");
    char shape[100];
    if (tensor->packed != NULL) return FERRY_OK; /* as the reader of the model file has checked */
    if (tensor->N >= 1 && tensor->K >= 1 && is_inside(tensor)) return FERRY_OK;
    return ferry_import_fail_tensor(entry, FERRY_ERROR_FORMAT, error, "shape %s does not hold '%s'",
                                    ferry_tensor_shape_text(&entry->tensor, shape, sizeof shape), tensor->name);
}

ferry_status ferry_import_add_tensor(ferry_import_plan *plan, const ferry_import_tensor *tensor, ferry_error *error,
                                     const char *name, ...)
{
    va_list arguments;
    ferry_import_tensor *added = NULL;
    if (ferry_account_take(plan->account, 2 * sizeof *added)) /* the array may be half empty */
        added = ferry_array_add(&plan->tensors, &plan->tensor_count, &plan->tensor_capacity, sizeof *added);
    if (added == NULL) return ferry_fail_memory(error, "a list of tensors", plan->tensor_count, sizeof *added);
    *added = *tensor;
    va_start(arguments, name);
    vsnprintf(added->name, sizeof added->name, name, arguments);
    va_end(arguments);
    const ferry_status status = check_source(added, error);
    if (status != FERRY_OK) plan->tensor_count--;
    return status;
}

ferry_status ferry_import_check_unused(const ferry_import_plan *plan, bool (*ignored)(ferry_view name),
                                       ferry_error *error)
{
    for (size_t i = 0; i < plan->weights.count; i++) {
        const ferry_weights_entry *entry = &plan->weights.entries[i];
        if (plan->used[i] || (ignored != NULL && ignored(entry->tensor.name))) continue;
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: tensor '%s' is unknown", entry->file,
                          ferry_printable_view(entry->tensor.name).text);
    }
    return FERRY_OK;
}

/* One element as float32; f64 and large integers are rounded. */
static float widen(ferry_type type, const unsigned char *data)
{
    float single;
    double wide;
    uint16_t half;
    int16_t integer;
    int32_t large;
    switch (type) {
    case FERRY_F32: memcpy(&single, data, sizeof single); return single;
    case FERRY_F64: memcpy(&wide, data, sizeof wide); return (float)wide;
    case FERRY_I8: return (int8_t)*data;
    case FERRY_I16: memcpy(&integer, data, sizeof integer); return integer;
    case FERRY_I32: memcpy(&large, data, sizeof large); return (float)large;
    default:
        memcpy(&half, data, sizeof half);
        return type == FERRY_F16 ? ferry_f16_to_f32(half) : ferry_bf16_to_f32(half);
    }
}

void ferry_import_widen(const ferry_tensor *tensor, int64_t first, int64_t step, size_t count, float *values)
{
    const size_t size = ferry_type_size(tensor->type), stride = (size_t)step * size;
    const unsigned char *data = (const unsigned char *)tensor->data + (size_t)first * size;
    if (tensor->type == FERRY_F32 && step == 1) {
        memcpy(values, data, count * size);
        return;
    }
    for (size_t i = 0; i < count; i++, data += stride) values[i] = widen(tensor->type, data);
}

/* ---- layers ---- */

/* The stack whose tensors are being added. */
typedef struct walk {
    ferry_import_plan *plan;
    const ferry_layer_table *table;
    const ferry_stack *stack;
    bool decoder;
    bool biases; /* matrices have biases */
} walk;

/* Without plan->prefix. */
static ferry_short_text source_name(const walk *state, int32_t layer, const char *from, const char *ending)
{
    const ferry_layer_table *table = state->table;
    const char *stack = state->decoder ? "decoder" : "encoder";
    if (layer < 0) return ferry_format("%s%s%s%s", stack, table->separator, from, ending);
    const int32_t number = table->numbers != NULL ? table->numbers[layer] : layer;
    return ferry_format("%s%s%d%s%s%s", stack, table->layer, (int)number, table->separator, from, ending);
}

static bool is_norm(const ferry_layer_row *row)
{
    return row->shape[1] == '\0';
}

/* Text is empty: the row has no bias. */
static ferry_short_text bias_name(const walk *state, const ferry_layer_row *row, int32_t layer)
{
    const ferry_layer_table *table = state->table;
    const char *ending = is_norm(row) ? table->norm.bias : table->linear.bias;
    if (row->bias != NULL) return source_name(state, layer, row->bias, "");
    if (ending == NULL || (is_norm(row) && state->stack->norm == FERRY_RMS_NORM)) return (ferry_short_text){""};
    return source_name(state, layer, row->from, ending);
}

static bool has_tensor(const walk *state, ferry_short_text name)
{
    const ferry_short_text full = ferry_format("%s%s", state->plan->prefix, name.text);
    return ferry_weights_find(&state->plan->weights, full.text) != NULL;
}

static int32_t size_of(const walk *state, char letter)
{
    switch (letter) {
    case 'A': return state->stack->heads * state->stack->head_width;
    case 'F': return state->stack->ffn_width;
    default: return state->plan->model.d_model;
    }
}

static bool is_used(const walk *state, const ferry_layer_row *row)
{
    const bool ssru = state->decoder && state->plan->model.ssru;
    const unsigned facts = (state->decoder ? FERRY_ROW_DECODER : FERRY_ROW_ENCODER) |
                           (state->stack->pre_norm ? FERRY_ROW_PRE_NORM : FERRY_ROW_POST_NORM) |
                           (state->stack->gated ? FERRY_ROW_GATED : FERRY_ROW_PLAIN) |
                           (ssru ? FERRY_ROW_SSRU : FERRY_ROW_ATTENTION) | FERRY_ROW_STACK | FERRY_ROW_OPTIONAL;
    return (row->needs & ~facts) == 0;
}

/* [slices · N, K], or a norm's [N] with K = 0. */
static ferry_status read_weight(const walk *state, const ferry_layer_row *row, int32_t layer, int32_t N, int32_t K,
                                ferry_import_tensor *weight, ferry_error *error)
{
    const ferry_layer_table *table = state->table;
    const ferry_weights_entry *entry;
    if (K > 0 && table->matrix != NULL)
        return table->matrix(table->context, source_name(state, layer, row->from, "").text, N, K, weight, error);
    const ferry_short_text name =
        source_name(state, layer, row->from, K > 0 ? table->linear.weight : table->norm.weight);
    FERRY_TRY(ferry_import_take(state->plan, state->plan->prefix, name.text, N, K, &entry, error));
    *weight = ferry_import_whole(entry, K > 0 ? FERRY_IMPORT_MATRIX : FERRY_IMPORT_VECTOR);
    return FERRY_OK;
}

/* A layer below 0 is the whole stack. */
static ferry_status add_row(const walk *state, const ferry_layer_row *row, int32_t layer, ferry_error *error)
{
    const int32_t slices = row->slices > 0 ? row->slices : 1;
    const int32_t N = size_of(state, row->shape[0]), K = is_norm(row) ? 0 : size_of(state, row->shape[1]);
    const char *stack = state->decoder ? "dec" : "enc";
    const ferry_short_text to =
        layer < 0 ? ferry_format("%s.%s", stack, row->to) : ferry_format("%s.blk.%d.%s", stack, (int)layer, row->to);
    const ferry_short_text bias_from = bias_name(state, row, layer);
    const bool has_bias = *bias_from.text != '\0' && (is_norm(row) || state->biases);
    ferry_import_tensor weight, bias;
    if ((row->needs & FERRY_ROW_OPTIONAL) != 0) {
        const char *ending = is_norm(row) ? state->table->norm.weight : state->table->linear.weight;
        if (!has_tensor(state, source_name(state, layer, row->from, ending))) return FERRY_OK;
    }
    FERRY_TRY(read_weight(state, row, layer, slices * N, K, &weight, error));
    if (has_bias) {
        /* Zeros if the source has no bias and the table permits it. */
        const ferry_weights_entry *entry;
        bias = (ferry_import_tensor){.form = FERRY_IMPORT_VECTOR, .N = slices * N, .K = 1};
        if (!state->table->zero_bias || is_norm(row) || has_tensor(state, bias_from)) {
            FERRY_TRY(ferry_import_take(state->plan, state->plan->prefix, bias_from.text, bias.N, 0, &entry, error));
            bias = ferry_import_whole(entry, FERRY_IMPORT_VECTOR);
        }
    }
    weight = ferry_import_rows(&weight, row->slice * N, N);
    FERRY_TRY(ferry_import_add_tensor(state->plan, &weight, error, "%s.weight", to.text));
    if (!has_bias) return FERRY_OK;
    bias = ferry_import_rows(&bias, row->slice * N, N);
    return ferry_import_add_tensor(state->plan, &bias, error, "%s.bias", to.text);
}

/* Whether a matrix of any layer has a bias. With fewer tensors than layers, some layers are missing. */
static bool has_biases(const walk *state)
{
    const size_t tensors = state->plan->weights.count, layers = (size_t)state->stack->layer_count;
    const int32_t max = (int32_t)(layers < tensors ? layers : tensors);
    for (size_t i = 0; i < state->table->count; i++) {
        const ferry_layer_row *row = &state->table->rows[i];
        if (is_norm(row) || !is_used(state, row)) continue;
        for (int32_t layer = 0; layer < max; layer++)
            if (has_tensor(state, bias_name(state, row, layer))) return true;
    }
    return false;
}

/* The rows [first, last) that are used. */
static ferry_status add_rows(const walk *state, size_t first, size_t last, int32_t layer, ferry_error *error)
{
    for (size_t i = first; i < last; i++) {
        const ferry_layer_row *row = &state->table->rows[i];
        if (is_used(state, row)) FERRY_TRY(add_row(state, row, layer, error));
    }
    return FERRY_OK;
}

ferry_status ferry_import_layers(ferry_import_plan *plan, const ferry_layer_table *table, bool decoder,
                                 ferry_error *error)
{
    walk state = {plan, table, decoder ? &plan->model.decoder : &plan->model.encoder, decoder, true};
    size_t first = 0, last = table->count; /* of the rows of layers */
    while (first < last && (table->rows[first].needs & FERRY_ROW_STACK) != 0) first++;
    while (first < last && (table->rows[last - 1].needs & FERRY_ROW_STACK) != 0) last--;
    if (table->zero_bias) state.biases = has_biases(&state);
    FERRY_TRY(add_rows(&state, 0, first, -1, error));
    for (int32_t layer = 0; layer < state.stack->layer_count; layer++)
        FERRY_TRY(add_rows(&state, first, last, layer, error));
    return add_rows(&state, last, table->count, -1, error);
}
