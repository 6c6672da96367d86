/* CTranslate2's layers. */
#include <math.h>

#include "ctranslate2.h"
#include "models/plan/layer_table.h"
#include "base/utf8.h"

/* Fused matrices hold the rows of queries, keys and values, one after another. */
static const ferry_layer_row rows[] = {
    {"embd_norm", "layernorm_embedding", .shape = "D", .needs = FERRY_ROW_STACK | FERRY_ROW_OPTIONAL},
    {"output_norm", "layer_norm", .shape = "D", .needs = FERRY_ROW_STACK | FERRY_ROW_OPTIONAL},
    {"attn_q", "self_attention/linear_0", .shape = "AD", .slice = 0, .slices = 3},
    {"attn_k", "self_attention/linear_0", .shape = "AD", .slice = 1, .slices = 3},
    {"attn_v", "self_attention/linear_0", .shape = "AD", .slice = 2, .slices = 3},
    {"attn_o", "self_attention/linear_1", .shape = "DA"},
    {"attn_norm", "self_attention/layer_norm", .shape = "D"},
    {"cross_attn_q", "attention/linear_0", .shape = "AD", .needs = FERRY_ROW_DECODER},
    {"cross_attn_k", "attention/linear_1", .shape = "AD", .needs = FERRY_ROW_DECODER, .slice = 0, .slices = 2},
    {"cross_attn_v", "attention/linear_1", .shape = "AD", .needs = FERRY_ROW_DECODER, .slice = 1, .slices = 2},
    {"cross_attn_o", "attention/linear_2", .shape = "DA", .needs = FERRY_ROW_DECODER},
    {"cross_attn_norm", "attention/layer_norm", .shape = "D", .needs = FERRY_ROW_DECODER},
    /* linear_1(act(linear_0 u)), or gated: linear_1(act(linear_0 u) ⊙ linear_0_noact u) */
    {"ffn_up", "ffn/linear_0", .shape = "FD", .needs = FERRY_ROW_PLAIN},
    {"ffn_gate", "ffn/linear_0", .shape = "FD", .needs = FERRY_ROW_GATED},
    {"ffn_up", "ffn/linear_0_noact", .shape = "FD", .needs = FERRY_ROW_GATED},
    {"ffn_down", "ffn/linear_1", .shape = "DF"},
    {"ffn_norm", "ffn/layer_norm", .shape = "D"},
};

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
    const ferry_name name = ferry_ctranslate2_join(scope, "weight");
    const ferry_weights_entry *entry = ferry_import_find(model->plan, "", name.text);
    const ferry_weights_entry *scale =
        ferry_import_find(model->plan, "", ferry_ctranslate2_join(scope, "weight_scale").text);
    if (entry == NULL)
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: tensor '%s' is missing", model->file, name.text);
    if (entry->tensor.dims != 2 || entry->tensor.shape[0] != N || entry->tensor.shape[1] != K) {
        char found[100];
        return ferry_import_fail_tensor(entry, FERRY_ERROR_FORMAT, error, "expected shape [%d, %d], found %s", (int)N,
                                        (int)K, ferry_tensor_shape_text(&entry->tensor, found, sizeof found));
    }
    *matrix = ferry_import_rows(entry, FERRY_IMPORT_MATRIX, 0, N);
    if (scale == NULL) return FERRY_OK;
    FERRY_TRY(check_scales(model, scale, N, error));
    matrix->multipliers = scale->tensor.data;
    matrix->multiplier_count = (int32_t)ferry_tensor_count(&scale->tensor);
    return FERRY_OK;
}

static ferry_status read_matrix(void *model, const char *scope, int32_t N, int32_t K, ferry_import_tensor *matrix,
                                ferry_error *error)
{
    return ferry_ctranslate2_matrix(model, scope, N, K, matrix, error);
}

/* ---- layers ---- */

/* Every attention of a stack must be like its first one, with a key and a value for each head. */
static ferry_status check_attention(const ferry_ctranslate2 *model, const ferry_stack *stack, ferry_name scope,
                                    ferry_error *error)
{
    const double usual = 1 / sqrt((double)stack->head_width);
    const double scale = ferry_ctranslate2_number(model, scope.text, "queries_scale", usual);
    const double heads = ferry_ctranslate2_number(model, scope.text, "num_heads_kv", stack->heads);
    const double width = ferry_ctranslate2_number(model, scope.text, "head_dim", stack->head_width);
    const bool one_key = ferry_ctranslate2_number(model, scope.text, "multi_query", 0) != 0;
    if (heads != stack->heads || (one_key && stack->heads > 1))
        return ferry_ctranslate2_fail(model, scope.text, "keys and values shared by heads are not supported", error);
    if ((float)scale != stack->attention_scale) {
        return ferry_ctranslate2_fail(model, scope.text, "a scale other than the first layer's is not supported",
                                      error);
    }
    if (width == stack->head_width) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: '%s': head_dim %g does not fit the matrices' %d", model->file,
                      scope.text, width, (int)stack->head_width);
}

ferry_status ferry_ctranslate2_layers(ferry_ctranslate2 *model, bool decoder, ferry_error *error)
{
    const char *name = decoder ? "decoder" : "encoder";
    const ferry_stack *stack = decoder ? &model->plan->model.decoder : &model->plan->model.encoder;
    const ferry_layer_table table = {.rows = rows,
                                     .count = sizeof rows / sizeof rows[0],
                                     .layer = "/layer_",
                                     .separator = "/",
                                     .linear = {"/weight", "/bias"},
                                     .norm = {"/gamma", "/beta"},
                                     .zero_bias = true,
                                     .matrix = read_matrix,
                                     .context = model};
    for (int32_t i = 0; i < stack->layer_count; i++) {
        const ferry_name self = ferry_name_format("%s/layer_%d/self_attention", name, (int)i);
        const ferry_name cross = ferry_name_format("%s/layer_%d/attention", name, (int)i);
        FERRY_TRY(check_attention(model, stack, self, error));
        if (decoder) FERRY_TRY(check_attention(model, stack, cross, error));
    }
    return ferry_import_layers(model->plan, &table, decoder, error);
}
