/* Layers under the names of the BART family. */
#include <math.h>
#include <string.h>

#include "huggingface.h"
#include "models/plan/layer_table.h"
#include "base/utf8.h"

static const ferry_layer_row rows[] = {
    {"attn_q", "self_attn.q_proj", .shape = "AD"},
    {"attn_k", "self_attn.k_proj", .shape = "AD"},
    {"attn_v", "self_attn.v_proj", .shape = "AD"},
    {"attn_o", "self_attn.out_proj", .shape = "DA"},
    {"attn_norm", "self_attn_layer_norm", .shape = "D"},
    {"cross_attn_q", "encoder_attn.q_proj", .shape = "AD", .needs = FERRY_ROW_DECODER},
    {"cross_attn_k", "encoder_attn.k_proj", .shape = "AD", .needs = FERRY_ROW_DECODER},
    {"cross_attn_v", "encoder_attn.v_proj", .shape = "AD", .needs = FERRY_ROW_DECODER},
    {"cross_attn_o", "encoder_attn.out_proj", .shape = "DA", .needs = FERRY_ROW_DECODER},
    {"cross_attn_norm", "encoder_attn_layer_norm", .shape = "D", .needs = FERRY_ROW_DECODER},
    {"ffn_up", "fc1", .shape = "FD"},
    {"ffn_down", "fc2", .shape = "DF"},
    {"ffn_norm", "final_layer_norm", .shape = "D"},
    {"output_norm", "layer_norm", .shape = "D", .needs = FERRY_ROW_STACK | FERRY_ROW_PRE_NORM},
};
static const ferry_layer_row embedding_norm = {
    .to = "embd_norm", .from = "layernorm_embedding", .shape = "D", .needs = FERRY_ROW_STACK};

/* Of both stacks. */
static ferry_status add_rows(ferry_import_plan *plan, const ferry_layer_row *table_rows, size_t count,
                             ferry_error *error)
{
    const ferry_layer_table table = {.rows = table_rows,
                                     .count = count,
                                     .layer = ".layers.",
                                     .separator = ".",
                                     .linear = {".weight", ".bias"},
                                     .norm = {".weight", ".bias"}};
    FERRY_TRY(ferry_import_layers(plan, &table, false, error));
    return ferry_import_layers(plan, &table, true, error);
}

ferry_status ferry_import_bart_layers(ferry_import_plan *plan, ferry_error *error)
{
    return add_rows(plan, rows, sizeof rows / sizeof rows[0], error);
}

ferry_status ferry_import_bart_embedding_norms(ferry_import_plan *plan, ferry_error *error)
{
    return add_rows(plan, &embedding_norm, 1, error);
}

/* Of a vector, or one row. */
static bool is_zero(const ferry_weights_entry *entry)
{
    const int64_t step = entry->tensor.dims > 0 ? entry->strides[entry->tensor.dims - 1] : 1;
    for (int64_t i = 0; i < ferry_tensor_count(&entry->tensor); i++) {
        float value;
        ferry_import_widen(&entry->tensor, i * step, 1, 1, &value);
        if (value != 0) return false;
    }
    return true;
}

ferry_status ferry_import_bart_bias(ferry_import_plan *plan, ferry_error *error)
{
    const ferry_weights_entry *bias = ferry_import_find(plan, "", "final_logits_bias");
    if (bias == NULL) return FERRY_OK;
    FERRY_TRY(ferry_import_check_shape(bias, 1, plan->model.decoder.vocab_size, error));
    if (is_zero(bias)) return FERRY_OK;
    plan->model.output_bias = true;
    return ferry_import_add(plan, bias, FERRY_IMPORT_VECTOR, error, "output.bias");
}

ferry_status ferry_import_activation(const char *file, const char *name, ferry_activation *activation,
                                     ferry_error *error)
{
    static const struct {
        const char *name;
        ferry_activation activation;
    } known[] = {{"relu", FERRY_RELU},
                 {"gelu", FERRY_GELU},
                 {"gelu_python", FERRY_GELU},
                 {"gelu_new", FERRY_GELU_TANH},
                 {"gelu_pytorch_tanh", FERRY_GELU_TANH},
                 {"gelu_fast", FERRY_GELU_TANH},
                 {"gelu_accurate", FERRY_GELU_TANH},
                 {"quick_gelu", FERRY_GELU_SIGMOID},
                 {"swish", FERRY_SWISH},
                 {"silu", FERRY_SWISH}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(name, known[i].name) != 0) continue;
        *activation = known[i].activation;
        return FERRY_OK;
    }
    return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: activation '%s' is not supported", file,
                      ferry_printable_view(ferry_text_view(name)).text);
}

ferry_status ferry_import_split_heads(const char *file, int32_t d_model, ferry_stack *stack, ferry_error *error)
{
    if (d_model % stack->heads != 0) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: a width of %d is not a multiple of its %d attention heads",
                          file, (int)d_model, (int)stack->heads);
    }
    stack->head_width = d_model / stack->heads;
    stack->attention_scale = (float)(1 / sqrt((double)stack->head_width));
    return FERRY_OK;
}
