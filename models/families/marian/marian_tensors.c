/* Marian's matrices are [in, out] (y = x W + b), its embeddings [V, D]. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "marian.h"
#include "base/printable.h"

typedef struct tensor_name {
    char text[128];
} tensor_name;

static tensor_name join(const char *from, const char *behind)
{
    tensor_name result;
    snprintf(result.text, sizeof result.text, "%.96s%.31s", from, behind); /* names are ours: none is as long */
    return result;
}

/* ---- single tensors ---- */

static ferry_status find(ferry_import_plan *plan, const char *name, const ferry_weights_entry **entry,
                         ferry_error *error)
{
    *entry = ferry_import_find(plan, "", name);
    if (*entry != NULL) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: tensor '%s' is missing", ferry_import_source_path(plan->source),
                      name);
}

/* [rows, columns] as the source has it: floating-point numbers, or integers with a multiplier. */
static ferry_status find_matrix(ferry_import_plan *plan, const char *name, int32_t rows, int32_t columns,
                                const ferry_weights_entry **entry, ferry_error *error)
{
    FERRY_TRY(find(plan, name, entry, error));
    const ferry_tensor *tensor = &(*entry)->tensor;
    if ((*entry)->multiplier == 0) return ferry_import_check_shape(plan, *entry, rows, columns, error);
    if (tensor->dims == 2 && tensor->shape[0] == rows && tensor->shape[1] == columns) return FERRY_OK;
    char shape[100];
    return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: tensor '%s': expected shape [%" PRId32 ", %" PRId32 "], found %s",
                      (*entry)->file, name, rows, columns, ferry_tensor_shape_text(tensor, shape, sizeof shape));
}

/* The multiplier of a product's inputs, "X_QuantMultA". Where the name holds "Wemb", Bergamot's exporter stored the
 * number itself as a quantized matrix of one element. 0: there is none. */
static ferry_status input_multiplier(ferry_import_plan *plan, const char *matrix, float *value, ferry_error *error)
{
    const ferry_weights_entry *entry = ferry_import_find(plan, "", join(matrix, "_QuantMultA").text);
    *value = 0;
    if (entry == NULL) return FERRY_OK;
    if (entry->tensor.type == FERRY_I8 && entry->multiplier != 0 && ferry_tensor_count(&entry->tensor) == 1) {
        *value = (float)*(const int8_t *)entry->tensor.data * (1 / entry->multiplier);
    } else {
        FERRY_TRY(ferry_import_check_shape(plan, entry, 1, 0, error));
        ferry_import_widen(&entry->tensor, 0, 1, 1, value);
    }
    if (*value > 0 && *value <= 1e30f) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: tensor '%s': expected a positive number, found %g", entry->file,
                      ferry_printable_view(entry->tensor.name).text, (double)*value);
}

/* Integers whose inputs have no multiplier of their own are multiplied as Marian does it: by the sentence. */
static void set_inputs(ferry_import_plan *plan, ferry_import_tensor *tensor, float multiplier)
{
    if (tensor->source->tensor.type != FERRY_I8) return;
    tensor->input_multiplier = multiplier;
    if (multiplier == 0) plan->model.sentence_inputs = true;
}

static ferry_status add_vector(ferry_import_plan *plan, const char *from, const char *to, int32_t N, ferry_error *error)
{
    const ferry_weights_entry *entry;
    FERRY_TRY(ferry_import_take(plan, "", from, N, 0, &entry, error));
    return ferry_import_add(plan, entry, FERRY_IMPORT_VECTOR, error, "%s", to);
}

/* W [K, N] → to.weight; `bias` NULL: none. */
static ferry_status add_linear(ferry_import_plan *plan, const char *weight, const char *bias, const char *to, int32_t N,
                               int32_t K, ferry_error *error)
{
    const ferry_weights_entry *entry;
    float multiplier;
    FERRY_TRY(find_matrix(plan, weight, K, N, &entry, error));
    FERRY_TRY(input_multiplier(plan, weight, &multiplier, error));
    ferry_import_tensor tensor = ferry_import_transposed(entry, FERRY_IMPORT_MATRIX);
    set_inputs(plan, &tensor, multiplier);
    FERRY_TRY(ferry_import_add_tensor(plan, &tensor, error, "%s.weight", to));
    return bias != NULL ? add_vector(plan, bias, join(to, ".bias").text, N, error) : FERRY_OK;
}

/* `from` is the norm's name without "_ln_scale…"; `pre`: one that stands before its block. */
static ferry_status add_norm(ferry_import_plan *plan, ferry_norm_kind kind, const char *from, bool pre, const char *to,
                             ferry_error *error)
{
    const int32_t D = plan->model.d_model;
    const bool rms = kind == FERRY_RMS_NORM;
    const char *scale = rms ? (pre ? "_rms_scale_pre" : "_rms_scale") : (pre ? "_ln_scale_pre" : "_ln_scale");
    FERRY_TRY(add_vector(plan, join(from, scale).text, join(to, ".weight").text, D, error));
    if (rms) return FERRY_OK;
    return add_vector(plan, join(from, pre ? "_ln_bias_pre" : "_ln_bias").text, join(to, ".bias").text, D, error);
}

/* ---- layers ---- */

static ferry_status add_attention(ferry_import_plan *plan, const ferry_stack *stack, const char *from, const char *to,
                                  ferry_error *error)
{
    static const char letters[] = "qkvo";
    const int32_t D = plan->model.d_model;
    for (int i = 0; i < 4; i++) {
        char weight[128], bias[128], name[128];
        snprintf(weight, sizeof weight, "%s_W%c", from, letters[i]);
        snprintf(bias, sizeof bias, "%s_b%c", from, letters[i]);
        snprintf(name, sizeof name, "%s_%c", to, letters[i]);
        FERRY_TRY(add_linear(plan, weight, bias, name, D, D, error));
    }
    return add_norm(plan, stack->norm, join(from, "_Wo").text, stack->pre_norm, join(to, "_norm").text, error);
}

/* The norm's name has the part "ffn" only behind the block. */
static ferry_status add_ssru(ferry_import_plan *plan, const ferry_stack *stack, const char *from, const char *to,
                             ferry_error *error)
{
    const int32_t D = plan->model.d_model;
    FERRY_TRY(add_linear(plan, join(from, "_W").text, NULL, join(to, ".ssru_input").text, D, D, error));
    FERRY_TRY(
        add_linear(plan, join(from, "_Wf").text, join(from, "_bf").text, join(to, ".ssru_forget").text, D, D, error));
    const tensor_name norm = stack->pre_norm ? join(from, "") : join(from, "_ffn");
    return add_norm(plan, stack->norm, norm.text, stack->pre_norm, join(to, ".attn_norm").text, error);
}

static ferry_status add_ffn(ferry_import_plan *plan, const ferry_stack *stack, const char *from, const char *to,
                            ferry_error *error)
{
    const int32_t D = plan->model.d_model, F = stack->ffn_width;
    FERRY_TRY(add_linear(plan, join(from, "_W1").text, join(from, "_b1").text, join(to, ".ffn_up").text, F, D, error));
    FERRY_TRY(
        add_linear(plan, join(from, "_W2").text, join(from, "_b2").text, join(to, ".ffn_down").text, D, F, error));
    return add_norm(plan, stack->norm, join(from, "_ffn").text, stack->pre_norm, join(to, ".ffn_norm").text, error);
}

/* `from` is "decoder_l1", `to` "dec.blk.0". */
static ferry_status add_layer(ferry_import_plan *plan, bool decoder, const char *from, const char *to,
                              ferry_error *error)
{
    const ferry_stack *stack = decoder ? &plan->model.decoder : &plan->model.encoder;
    if (decoder && plan->model.ssru) {
        FERRY_TRY(add_ssru(plan, stack, join(from, "_rnn").text, to, error));
    } else {
        FERRY_TRY(add_attention(plan, stack, join(from, "_self").text, join(to, ".attn").text, error));
    }
    if (decoder) {
        FERRY_TRY(add_attention(plan, stack, join(from, "_context").text, join(to, ".cross_attn").text, error));
    }
    return add_ffn(plan, stack, join(from, "_ffn").text, to, error);
}

/* The number in the names of decoder layer `layer`: with tied layers, an earlier one's. */
static ferry_status layer_number(const ferry_marian *marian, bool decoder, int32_t layer, int32_t count,
                                 int32_t *number, ferry_error *error)
{
    static const char key[] = "transformer-tied-layers";
    const ferry_yaml_entry *tied = ferry_yaml_get(&marian->config, key);
    *number = layer + 1;
    if (!decoder || tied == NULL || tied->count == 0) return FERRY_OK;
    if (tied->count != (size_t)count) {
        return ferry_fail(error, FERRY_ERROR_FORMAT,
                          "%s: '%s': expected a number for each of %" PRId32 " decoder layers, found %zu",
                          marian->config.file, key, count, tied->count);
    }
    const ferry_yaml_entry one = {key, &tied->values[layer], 1, false};
    const ferry_yaml list = {marian->config.file, (ferry_yaml_entry *)(uintptr_t)&one, 1};
    return ferry_yaml_integer(&list, key, 1, count, number, error);
}

static ferry_status add_stack(ferry_import_plan *plan, const ferry_marian *marian, bool decoder, ferry_error *error)
{
    const ferry_stack *stack = decoder ? &plan->model.decoder : &plan->model.encoder;
    const char *from = decoder ? "decoder" : "encoder", *to = decoder ? "dec" : "enc";
    const char *emb = "d", *top = "";
    for (int32_t i = 0; i < stack->layer_count; i++) {
        char source[64], target[64];
        int32_t number;
        FERRY_TRY(layer_number(marian, decoder, i, stack->layer_count, &number, error));
        snprintf(source, sizeof source, "%s_l%" PRId32, from, number);
        snprintf(target, sizeof target, "%s.blk.%" PRId32, to, i);
        FERRY_TRY(add_layer(plan, decoder, source, target, error));
    }
    /* The only operations that the configuration's check lets through besides dropout are norms. */
    FERRY_TRY(ferry_yaml_text(&marian->config, "transformer-postprocess-emb", &emb, error));
    FERRY_TRY(ferry_yaml_text(&marian->config, "transformer-postprocess-top", &top, error));
    if (strpbrk(emb, "nr") != NULL) {
        FERRY_TRY(add_norm(plan, stack->norm, join(from, "_emb").text, true, join(to, ".embd_norm").text, error));
    }
    if (strpbrk(top, "nr") == NULL) return FERRY_OK;
    return add_norm(plan, stack->norm, join(from, "_top").text, false, join(to, ".output_norm").text, error);
}

/* ---- embeddings and the output ---- */

static const char *const output_names[] = {"decoder_ff_logit_out_Wt", "decoder_ff_logit_out_W"};

/* A table of embeddings [V, D]; `output`: it is the output matrix, too, whose inputs may have a multiplier under its
 * name or, from an older exporter, under the name of a matrix that had none. */
static ferry_status add_embedding(ferry_import_plan *plan, const char *name, int32_t V, bool output, const char *to,
                                  ferry_error *error)
{
    const ferry_weights_entry *entry;
    float multiplier;
    FERRY_TRY(find_matrix(plan, name, V, plan->model.d_model, &entry, error));
    ferry_import_tensor tensor = ferry_import_rows(entry, FERRY_IMPORT_MATRIX, 0, V);
    FERRY_TRY(input_multiplier(plan, name, &multiplier, error));
    if (multiplier == 0) FERRY_TRY(input_multiplier(plan, "none", &multiplier, error));
    if (output) set_inputs(plan, &tensor, multiplier);
    return ferry_import_add_tensor(plan, &tensor, error, "%s", to);
}

static ferry_status add_embeddings(ferry_import_plan *plan, ferry_error *error)
{
    const int32_t source = plan->model.encoder.vocab_size, target = plan->model.decoder.vocab_size;
    if (!plan->tied_embeddings) {
        FERRY_TRY(add_embedding(plan, "encoder_Wemb", source, false, "enc.token_embd.weight", error));
        return add_embedding(plan, "decoder_Wemb", target, plan->tied_output, "dec.token_embd.weight", error);
    }
    if (source == target) return add_embedding(plan, "Wemb", source, plan->tied_output, "token_embd.weight", error);
    return ferry_fail(error, FERRY_ERROR_FORMAT,
                      "%s: one embedding for vocabularies of %" PRId32 " and of %" PRId32 " words",
                      ferry_import_source_path(plan->source), source, target);
}

/* [V, D], or in old models [D, V]. */
static ferry_status add_output(ferry_import_plan *plan, ferry_error *error)
{
    const int32_t V = plan->model.decoder.vocab_size, D = plan->model.d_model;
    const ferry_weights_entry *entry;
    if (plan->tied_output) return FERRY_OK;
    if (ferry_weights_find(&plan->weights, output_names[0]) == NULL) {
        return add_linear(plan, output_names[1], NULL, "output", V, D, error);
    }
    FERRY_TRY(find_matrix(plan, output_names[0], V, D, &entry, error));
    if (entry->multiplier == 0) return ferry_import_add(plan, entry, FERRY_IMPORT_MATRIX, error, "output.weight");
    return ferry_fail(error, FERRY_ERROR_UNSUPPORTED,
                      "%s: tensor '%s': a quantized output matrix of its own is not supported", entry->file,
                      output_names[0]);
}

static ferry_status add_output_bias(ferry_import_plan *plan, const ferry_marian *marian, ferry_error *error)
{
    bool omit = false;
    FERRY_TRY(ferry_yaml_bool(&marian->config, "output-omit-bias", &omit, error));
    plan->output_bias = !omit;
    if (omit) return FERRY_OK;
    return add_vector(plan, "decoder_ff_logit_out_b", "output.bias", plan->model.decoder.vocab_size, error);
}

/* What is no weight: the configuration, tables of approximate search, multipliers of products that the file does not
 * quantize. */
static bool is_ignored(ferry_view name)
{
    static const char *const starts[] = {"special:", "lsh_output_codes", "lsh_output_rotation"};
    static const char end[] = "_QuantMultA";
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
        const size_t size = strlen(starts[i]);
        if (name.size >= size && memcmp(name.data, starts[i], size) == 0) return true;
    }
    return name.size >= sizeof end - 1 && memcmp(name.data + name.size - (sizeof end - 1), end, sizeof end - 1) == 0;
}

ferry_status ferry_marian_tensors(ferry_import_plan *plan, const ferry_marian *marian, ferry_error *error)
{
    if (ferry_weights_find(&plan->weights, "Wpos") != NULL) {
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: tensor 'Wpos': learned positions are not supported",
                          ferry_import_source_path(plan->source));
    }
    FERRY_TRY(add_embeddings(plan, error));
    FERRY_TRY(add_stack(plan, marian, false, error));
    FERRY_TRY(add_stack(plan, marian, true, error));
    FERRY_TRY(add_output(plan, error));
    FERRY_TRY(add_output_bias(plan, marian, error));
    return ferry_import_check_unused(plan, is_ignored, error);
}
