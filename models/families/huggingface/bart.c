/* Layers under the names of the BART family. */
#include <stdio.h>
#include <string.h>

#include "huggingface.h"
#include "base/printable.h"

/* One linear layer or norm: weight [N, K] (K = 0: a norm's [N]) and bias [N]. */
static ferry_status add_pair(ferry_import_plan *plan, const char *from, const char *to, int32_t N, int32_t K,
                             ferry_error *error)
{
    char name[128];
    const ferry_weights_entry *weight, *bias;
    snprintf(name, sizeof name, "%s.weight", from);
    FERRY_TRY(ferry_import_take(plan, plan->prefix, name, N, K, &weight, error));
    snprintf(name, sizeof name, "%s.bias", from);
    FERRY_TRY(ferry_import_take(plan, plan->prefix, name, N, 0, &bias, error));
    FERRY_TRY(
        ferry_import_add(plan, weight, K > 0 ? FERRY_IMPORT_MATRIX : FERRY_IMPORT_VECTOR, error, "%s.weight", to));
    return ferry_import_add(plan, bias, FERRY_IMPORT_VECTOR, error, "%s.bias", to);
}

/* Names of the BART family and of the model file, below a layer. */
static ferry_status add_attention(ferry_import_plan *plan, const char *from, const char *to, const char *module,
                                  const char *short_name, int32_t inner, ferry_error *error)
{
    static const char *const projections[] = {"q_proj", "k_proj", "v_proj", "out_proj"};
    static const char *const letters[] = {"q", "k", "v", "o"};
    const int32_t D = plan->model.d_model;
    char source[96], target[64];
    for (int i = 0; i < 4; i++) {
        snprintf(source, sizeof source, "%s.%s.%s", from, module, projections[i]);
        snprintf(target, sizeof target, "%s.%s_%s", to, short_name, letters[i]);
        FERRY_TRY(add_pair(plan, source, target, i == 3 ? D : inner, i == 3 ? inner : D, error));
    }
    snprintf(source, sizeof source, "%s.%s_layer_norm", from, module);
    snprintf(target, sizeof target, "%s.%s_norm", to, short_name);
    return add_pair(plan, source, target, D, 0, error);
}

static ferry_status add_layer(ferry_import_plan *plan, const ferry_stack *stack, const char *from, const char *to,
                              bool decoder, ferry_error *error)
{
    const int32_t D = plan->model.d_model, F = stack->ffn_width, inner = stack->heads * stack->head_width;
    char source[96], target[64];
    FERRY_TRY(add_attention(plan, from, to, "self_attn", "attn", inner, error));
    if (decoder) FERRY_TRY(add_attention(plan, from, to, "encoder_attn", "cross_attn", inner, error));
    snprintf(source, sizeof source, "%s.fc1", from);
    snprintf(target, sizeof target, "%s.ffn_up", to);
    FERRY_TRY(add_pair(plan, source, target, F, D, error));
    snprintf(source, sizeof source, "%s.fc2", from);
    snprintf(target, sizeof target, "%s.ffn_down", to);
    FERRY_TRY(add_pair(plan, source, target, D, F, error));
    snprintf(source, sizeof source, "%s.final_layer_norm", from);
    snprintf(target, sizeof target, "%s.ffn_norm", to);
    return add_pair(plan, source, target, D, 0, error);
}

static ferry_status add_stack(ferry_import_plan *plan, const ferry_stack *stack, bool decoder, ferry_error *error)
{
    const char *from = decoder ? "decoder" : "encoder";
    const char *to = decoder ? "dec" : "enc";
    char source[64], target[32];
    for (int32_t i = 0; i < stack->layer_count; i++) {
        snprintf(source, sizeof source, "%s.layers.%d", from, (int)i);
        snprintf(target, sizeof target, "%s.blk.%d", to, (int)i);
        FERRY_TRY(add_layer(plan, stack, source, target, decoder, error));
    }
    if (!stack->pre_norm) return FERRY_OK;
    snprintf(source, sizeof source, "%s.layer_norm", from);
    snprintf(target, sizeof target, "%s.output_norm", to);
    return add_pair(plan, source, target, plan->model.d_model, 0, error);
}

ferry_status ferry_import_bart_layers(ferry_import_plan *plan, ferry_error *error)
{
    FERRY_TRY(add_stack(plan, &plan->model.encoder, false, error));
    return add_stack(plan, &plan->model.decoder, true, error);
}

ferry_status ferry_import_bart_norm(ferry_import_plan *plan, const char *from, const char *to, ferry_error *error)
{
    return add_pair(plan, from, to, plan->model.d_model, 0, error);
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
    FERRY_TRY(ferry_import_check_shape(plan, bias, 1, plan->model.decoder.vocab_size, error));
    if (is_zero(bias)) return FERRY_OK;
    plan->output_bias = true;
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
                      ferry_printable_view((ferry_view){name, strlen(name)}).text);
}
