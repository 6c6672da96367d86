#include "layer_table.h"

/* A stack on its way into the plan. */
typedef struct walk {
    ferry_import_plan *plan;
    const ferry_layer_table *table;
    const ferry_stack *stack;
    bool decoder;
    bool biases; /* matrices have biases */
} walk;

/* ---- names ---- */

/* Without plan->prefix. */
static ferry_name source_name(const walk *state, int32_t layer, const char *from, const char *ending)
{
    const ferry_layer_table *table = state->table;
    const char *stack = state->decoder ? "decoder" : "encoder";
    if (layer < 0) return ferry_name_format("%s%s%s%s", stack, table->separator, from, ending);
    const int32_t number = table->numbers != NULL ? table->numbers[layer] : layer;
    return ferry_name_format("%s%s%d%s%s%s", stack, table->layer, (int)number, table->separator, from, ending);
}

static ferry_name target_name(const walk *state, int32_t layer, const char *to)
{
    const char *stack = state->decoder ? "dec" : "enc";
    if (layer < 0) return ferry_name_format("%s.%s", stack, to);
    return ferry_name_format("%s.blk.%d.%s", stack, (int)layer, to);
}

static bool is_norm(const ferry_layer_row *row)
{
    return row->shape[1] == '\0';
}

/* Text is empty: the row has no bias. */
static ferry_name bias_name(const walk *state, const ferry_layer_row *row, int32_t layer)
{
    const ferry_layer_table *table = state->table;
    const char *ending = is_norm(row) ? table->norm.bias : table->linear.bias;
    if (row->bias != NULL) return source_name(state, layer, row->bias, "");
    if (ending == NULL || (is_norm(row) && state->stack->norm == FERRY_RMS_NORM)) return (ferry_name){""};
    return source_name(state, layer, row->from, ending);
}

static bool has_tensor(const walk *state, ferry_name name)
{
    const ferry_name full = ferry_name_format("%s%s", state->plan->prefix, name.text);
    return ferry_weights_find(&state->plan->weights, full.text) != NULL;
}

/* ---- rows ---- */

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
    const ferry_name name = source_name(state, layer, row->from, K > 0 ? table->linear.weight : table->norm.weight);
    FERRY_TRY(ferry_import_take(state->plan, state->plan->prefix, name.text, N, K, &entry, error));
    *weight = ferry_import_rows(entry, K > 0 ? FERRY_IMPORT_MATRIX : FERRY_IMPORT_VECTOR, 0, N);
    return FERRY_OK;
}

/* Rows first … first + N - 1. */
static ferry_import_tensor cut_rows(const ferry_import_tensor *whole, int32_t first, int32_t N)
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

/* Zeros where the source has none and the table permits it. */
static ferry_status read_bias(const walk *state, const ferry_layer_row *row, ferry_name name, int32_t N,
                              ferry_import_tensor *bias, ferry_error *error)
{
    const ferry_weights_entry *entry;
    *bias = (ferry_import_tensor){.form = FERRY_IMPORT_VECTOR, .N = N, .K = 1};
    if (state->table->zero_bias && !is_norm(row) && !has_tensor(state, name)) return FERRY_OK;
    FERRY_TRY(ferry_import_take(state->plan, state->plan->prefix, name.text, N, 0, &entry, error));
    *bias = ferry_import_rows(entry, FERRY_IMPORT_VECTOR, 0, N);
    return FERRY_OK;
}

/* A layer below 0 is the whole stack. */
static ferry_status add_row(const walk *state, const ferry_layer_row *row, int32_t layer, ferry_error *error)
{
    const int32_t slices = row->slices > 0 ? row->slices : 1;
    const int32_t N = size_of(state, row->shape[0]), K = is_norm(row) ? 0 : size_of(state, row->shape[1]);
    const ferry_name to = target_name(state, layer, row->to), bias_from = bias_name(state, row, layer);
    const bool has_bias = *bias_from.text != '\0' && (is_norm(row) || state->biases);
    ferry_import_tensor weight, bias;
    if ((row->needs & FERRY_ROW_OPTIONAL) != 0) {
        const char *ending = is_norm(row) ? state->table->norm.weight : state->table->linear.weight;
        if (!has_tensor(state, source_name(state, layer, row->from, ending))) return FERRY_OK;
    }
    FERRY_TRY(read_weight(state, row, layer, slices * N, K, &weight, error));
    if (has_bias) FERRY_TRY(read_bias(state, row, bias_from, slices * N, &bias, error));
    weight = cut_rows(&weight, row->slice * N, N);
    FERRY_TRY(ferry_import_add_tensor(state->plan, &weight, error, "%s.weight", to.text));
    if (!has_bias) return FERRY_OK;
    bias = cut_rows(&bias, row->slice * N, N);
    return ferry_import_add_tensor(state->plan, &bias, error, "%s.bias", to.text);
}

/* ---- the walk ---- */

/* Whether a matrix of any layer has a bias. Where there are fewer tensors than layers, some of these are missing. */
static bool has_biases(const walk *state)
{
    const size_t tensors = state->plan->weights.count, layers = (size_t)state->stack->layer_count;
    const int32_t most = (int32_t)(layers < tensors ? layers : tensors);
    for (size_t i = 0; i < state->table->count; i++) {
        const ferry_layer_row *row = &state->table->rows[i];
        if (is_norm(row) || !is_used(state, row)) continue;
        for (int32_t layer = 0; layer < most; layer++)
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
