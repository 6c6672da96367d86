/* CTranslate2's layers: fused matrices are cut into the rows of queries, keys and values. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ctranslate2.h"
#include "base/printable.h"

typedef struct layer_reader {
    const ferry_ctranslate2 *model;
    const ferry_stack *stack;
    bool biases;           /* some matrix of the stack has a bias: those without get zeros */
    const char *from, *to; /* "encoder/layer_0", "enc.blk.0" */
} layer_reader;

/* Rows of a matrix that become one of the model file's. */
typedef struct part {
    const char *to;
    int32_t rows;
} part;

/* ---- matrices ---- */

static ferry_status check_scales(const ferry_ctranslate2 *model, const ferry_weights_entry *scale, int32_t N,
                                 ferry_error *error)
{
    const int64_t count = ferry_tensor_count(&scale->tensor);
    bool usable = scale->tensor.type == FERRY_F32 && (count == 1 || count == N);
    for (int64_t i = 0; usable && i < count; i++) {
        float value;
        ferry_import_widen(&scale->tensor, i, 1, 1, &value);
        usable = isfinite(value) && value > 0;
    }
    if (usable) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: '%s': expected 1 or %d positive float32 numbers", model->file,
                      ferry_printable_view(scale->tensor.name).text, (int)N);
}

/* Integers are the values times a factor: one for each row, or one for all. */
ferry_status ferry_ctranslate2_matrix(const ferry_ctranslate2 *model, const char *scope, int32_t N, int32_t K,
                                      ferry_import_tensor *matrix, ferry_error *error)
{
    const ferry_ctranslate2_name name = ferry_ctranslate2_join(scope, "weight");
    const ferry_weights_entry *entry = ferry_import_find(model->plan, "", name.text);
    const ferry_weights_entry *scale =
        ferry_import_find(model->plan, "", ferry_ctranslate2_join(scope, "weight_scale").text);
    if (entry == NULL) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: tensor '%s' is missing", model->file, name.text);
    }
    if (entry->tensor.dims != 2 || entry->tensor.shape[0] != N || entry->tensor.shape[1] != K) {
        char found[100];
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: tensor '%s': expected shape [%d, %d], found %s", model->file,
                          name.text, (int)N, (int)K, ferry_tensor_shape_text(&entry->tensor, found, sizeof found));
    }
    *matrix = ferry_import_rows(entry, FERRY_IMPORT_MATRIX, 0, N);
    if (scale == NULL) return FERRY_OK;
    FERRY_TRY(check_scales(model, scale, N, error));
    matrix->multipliers = scale->tensor.data;
    matrix->multiplier_count = (int32_t)ferry_tensor_count(&scale->tensor);
    return FERRY_OK;
}

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

static ferry_status add_bias(const layer_reader *reader, const ferry_weights_entry *bias, int32_t first, const part *to,
                             ferry_error *error)
{
    const ferry_import_tensor zeros = {.form = FERRY_IMPORT_VECTOR, .N = to->rows, .K = 1};
    if (!reader->biases) return FERRY_OK;
    const ferry_import_tensor rows =
        bias != NULL ? ferry_import_rows(bias, FERRY_IMPORT_VECTOR, first, to->rows) : zeros;
    return ferry_import_add_tensor(reader->model->plan, &rows, error, "%s.%s.bias", reader->to, to->to);
}

/* y = W x + b whose rows are those of the parts, one after another. */
static ferry_status add_linear(const layer_reader *reader, const char *from, const part *parts, int32_t count,
                               int32_t K, ferry_error *error)
{
    ferry_import_plan *plan = reader->model->plan;
    const ferry_ctranslate2_name scope = ferry_ctranslate2_join(reader->from, from);
    const ferry_weights_entry *bias = ferry_import_find(plan, "", ferry_ctranslate2_join(scope.text, "bias").text);
    ferry_import_tensor whole;
    int32_t N = 0;
    for (int32_t i = 0; i < count; i++) N += parts[i].rows;
    FERRY_TRY(ferry_ctranslate2_matrix(reader->model, scope.text, N, K, &whole, error));
    if (bias != NULL) FERRY_TRY(ferry_import_check_shape(plan, bias, N, 0, error));
    for (int32_t i = 0, first = 0; i < count; first += parts[i++].rows) {
        const ferry_import_tensor rows = cut_rows(&whole, first, parts[i].rows);
        FERRY_TRY(ferry_import_add_tensor(plan, &rows, error, "%s.%s.weight", reader->to, parts[i].to));
        FERRY_TRY(add_bias(reader, bias, first, &parts[i], error));
    }
    return FERRY_OK;
}

/* ---- norms ---- */

static ferry_status add_norm(const layer_reader *reader, const char *from, const char *to, ferry_error *error)
{
    ferry_import_plan *plan = reader->model->plan;
    const ferry_ctranslate2_name scope = ferry_ctranslate2_join(reader->from, from);
    const ferry_weights_entry *gamma, *beta;
    FERRY_TRY(ferry_import_take(plan, "", ferry_ctranslate2_join(scope.text, "gamma").text, plan->model.d_model, 0,
                                &gamma, error));
    FERRY_TRY(ferry_import_add(plan, gamma, FERRY_IMPORT_VECTOR, error, "%s.%s.weight", reader->to, to));
    if (reader->stack->norm == FERRY_RMS_NORM) return FERRY_OK;
    FERRY_TRY(ferry_import_take(plan, "", ferry_ctranslate2_join(scope.text, "beta").text, plan->model.d_model, 0,
                                &beta, error));
    return ferry_import_add(plan, beta, FERRY_IMPORT_VECTOR, error, "%s.%s.bias", reader->to, to);
}

static ferry_status add_optional_norm(const layer_reader *reader, const char *from, const char *to, ferry_error *error)
{
    const ferry_ctranslate2_name scope = ferry_ctranslate2_join(reader->from, from);
    const ferry_ctranslate2_name gamma = ferry_ctranslate2_join(scope.text, "gamma");
    if (ferry_weights_find(&reader->model->plan->weights, gamma.text) == NULL) return FERRY_OK;
    return add_norm(reader, from, to, error);
}

/* ---- layers ---- */

/* Every attention of a stack must be like its first one, with a key and a value for each head. */
static ferry_status check_attention(const layer_reader *reader, const char *name, ferry_error *error)
{
    const ferry_ctranslate2 *model = reader->model;
    const ferry_stack *stack = reader->stack;
    const ferry_ctranslate2_name scope = ferry_ctranslate2_join(reader->from, name);
    double scale = 1 / sqrt((double)stack->head_width), heads = stack->heads, width = stack->head_width, query = 0;
    FERRY_TRY(ferry_ctranslate2_number(model, scope.text, "queries_scale", &scale, error));
    FERRY_TRY(ferry_ctranslate2_number(model, scope.text, "num_heads_kv", &heads, error));
    FERRY_TRY(ferry_ctranslate2_number(model, scope.text, "head_dim", &width, error));
    FERRY_TRY(ferry_ctranslate2_number(model, scope.text, "multi_query", &query, error));
    if (heads != stack->heads || (query != 0 && stack->heads > 1)) {
        return ferry_ctranslate2_fail(model, scope.text, "keys and values shared by heads are not supported", error);
    }
    if ((float)scale != stack->attention_scale) {
        return ferry_ctranslate2_fail(model, scope.text, "scales of its own are not supported", error);
    }
    if (width == stack->head_width) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: '%s': head_dim %g does not fit the matrices' %d", model->file,
                      scope.text, width, (int)stack->head_width);
}

static ferry_status add_self_attention(const layer_reader *reader, ferry_error *error)
{
    const int32_t D = reader->model->plan->model.d_model, inner = reader->stack->heads * reader->stack->head_width;
    const part fused[] = {{"attn_q", inner}, {"attn_k", inner}, {"attn_v", inner}}, out = {"attn_o", D};
    FERRY_TRY(check_attention(reader, "self_attention", error));
    FERRY_TRY(add_linear(reader, "self_attention/linear_0", fused, 3, D, error));
    FERRY_TRY(add_linear(reader, "self_attention/linear_1", &out, 1, inner, error));
    return add_norm(reader, "self_attention/layer_norm", "attn_norm", error);
}

static ferry_status add_cross_attention(const layer_reader *reader, ferry_error *error)
{
    const int32_t D = reader->model->plan->model.d_model, inner = reader->stack->heads * reader->stack->head_width;
    const part query = {"cross_attn_q", inner}, out = {"cross_attn_o", D};
    const part fused[] = {{"cross_attn_k", inner}, {"cross_attn_v", inner}};
    FERRY_TRY(check_attention(reader, "attention", error));
    FERRY_TRY(add_linear(reader, "attention/linear_0", &query, 1, D, error));
    FERRY_TRY(add_linear(reader, "attention/linear_1", fused, 2, D, error));
    FERRY_TRY(add_linear(reader, "attention/linear_2", &out, 1, inner, error));
    return add_norm(reader, "attention/layer_norm", "cross_attn_norm", error);
}

/* linear_1(act(linear_0 u)), or gated: linear_1(act(linear_0 u) ⊙ linear_0_noact u). */
static ferry_status add_feed_forward(const layer_reader *reader, ferry_error *error)
{
    const int32_t D = reader->model->plan->model.d_model, F = reader->stack->ffn_width;
    const part up = {"ffn_up", F}, gate = {"ffn_gate", F}, down = {"ffn_down", D};
    const bool gated = reader->stack->gated;
    FERRY_TRY(add_linear(reader, "ffn/linear_0", gated ? &gate : &up, 1, D, error));
    if (gated) FERRY_TRY(add_linear(reader, "ffn/linear_0_noact", &up, 1, D, error));
    FERRY_TRY(add_linear(reader, "ffn/linear_1", &down, 1, F, error));
    return add_norm(reader, "ffn/layer_norm", "ffn_norm", error);
}

static bool has_biases(const ferry_weights *weights, const char *stack)
{
    static const char end[] = "/bias";
    char start[32];
    const size_t size = (size_t)snprintf(start, sizeof start, "%s/layer_", stack);
    for (size_t i = 0; i < weights->count; i++) {
        const ferry_view name = weights->entries[i].tensor.name;
        if (name.size > size + sizeof end && memcmp(name.data, start, size) == 0 &&
            memcmp(name.data + name.size - (sizeof end - 1), end, sizeof end - 1) == 0) {
            return true;
        }
    }
    return false;
}

ferry_status ferry_ctranslate2_layers(const ferry_ctranslate2 *model, bool decoder, ferry_error *error)
{
    const char *name = decoder ? "decoder" : "encoder", *to = decoder ? "dec" : "enc";
    const ferry_stack *stack = decoder ? &model->plan->model.decoder : &model->plan->model.encoder;
    layer_reader reader = {model, stack, has_biases(&model->plan->weights, name), name, to};
    FERRY_TRY(add_optional_norm(&reader, "layernorm_embedding", "embd_norm", error));
    FERRY_TRY(add_optional_norm(&reader, "layer_norm", "output_norm", error));
    for (int32_t i = 0; i < stack->layer_count; i++) {
        char scope[48], target[32];
        snprintf(scope, sizeof scope, "%s/layer_%d", name, (int)i);
        snprintf(target, sizeof target, "%s.blk.%d", to, (int)i);
        reader.from = scope;
        reader.to = target;
        FERRY_TRY(add_self_attention(&reader, error));
        if (decoder) FERRY_TRY(add_cross_attention(&reader, error));
        FERRY_TRY(add_feed_forward(&reader, error));
    }
    return FERRY_OK;
}
