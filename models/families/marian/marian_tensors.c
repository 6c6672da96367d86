/* Marian's matrices are [in, out] (y = x W + b), its embeddings [V, D]. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "marian.h"
#include "models/plan/plan_tensors.h"
#include "models/families/families.h"

/* ---- single tensors ---- */

/* [rows, columns] as the source has it: floating-point numbers, or integers with a multiplier. */
static ferry_status find_matrix(ferry_import_plan *plan, const char *name, int32_t rows, int32_t columns,
                                const ferry_weights_entry **entry, ferry_error *error)
{
    *entry = ferry_import_find(plan, "", name);
    if (*entry == NULL || (*entry)->multiplier == 0)
        return ferry_import_take(plan, "", name, rows, columns, entry, error);
    const ferry_tensor *tensor = &(*entry)->tensor;
    if (tensor->dims == 2 && tensor->shape[0] == rows && tensor->shape[1] == columns) return FERRY_OK;
    char shape[100];
    return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: tensor '%s': expected shape [%" PRId32 ", %" PRId32 "], found %s",
                      (*entry)->file, name, rows, columns, ferry_tensor_shape_text(tensor, shape, sizeof shape));
}

/* The multiplier of a product's inputs, "X_QuantMultA". Where the name holds "Wemb", Bergamot's exporter stored the
 * number itself as a quantized matrix of one element. 0: there is none. */
static ferry_status input_multiplier(ferry_import_plan *plan, const char *matrix, float *value, ferry_error *error)
{
    const ferry_weights_entry *entry = ferry_import_find(plan, "", ferry_format("%s_QuantMultA", matrix).text);
    *value = 0;
    if (entry == NULL) return FERRY_OK;
    if (entry->tensor.type == FERRY_I8 && entry->multiplier != 0 && ferry_tensor_count(&entry->tensor) == 1) {
        *value = (float)*(const int8_t *)entry->tensor.data * (1 / entry->multiplier);
    } else {
        FERRY_TRY(ferry_import_check_shape(entry, 1, 0, error));
        ferry_import_widen(&entry->tensor, 0, 1, 1, value);
    }
    if (*value > 0 && *value <= 1e30f) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: tensor '%s': expected a positive number, found %g", entry->file,
                      ferry_printable_view(entry->tensor.name).text, (double)*value);
}

/* Inputs of an integer matrix without a multiplier are scaled for each sentence, as in Marian. */
static void set_inputs(ferry_import_plan *plan, ferry_import_tensor *tensor, float multiplier)
{
    if (tensor->source->tensor.type != FERRY_I8) return;
    tensor->input_multiplier = multiplier;
    if (multiplier == 0) plan->model.sentence_inputs = true;
}

/* W [K, N] becomes [N, K]. `context` is the plan. */
static ferry_status read_matrix(void *context, const char *name, int32_t N, int32_t K, ferry_import_tensor *matrix,
                                ferry_error *error)
{
    ferry_import_plan *plan = context;
    const ferry_weights_entry *entry;
    float multiplier;
    FERRY_TRY(find_matrix(plan, name, K, N, &entry, error));
    FERRY_TRY(input_multiplier(plan, name, &multiplier, error));
    *matrix = ferry_import_transposed(entry, FERRY_IMPORT_MATRIX);
    set_inputs(plan, matrix, multiplier);
    return FERRY_OK;
}

/* ---- layers ---- */

/* The norm after an SSRU has the part "ffn" in its name, the one before it does not. */
static const ferry_layer_row layer_rows[] = {
    {"ssru_input", "rnn_W", "DD", .needs = FERRY_ROW_SSRU},
    {"ssru_forget", "rnn_Wf", "DD", .needs = FERRY_ROW_SSRU, .bias = "rnn_bf"},
    {"attn_norm", "rnn", "D", .needs = FERRY_ROW_SSRU | FERRY_ROW_PRE_NORM},
    {"attn_norm", "rnn_ffn", "D", .needs = FERRY_ROW_SSRU | FERRY_ROW_POST_NORM},
    {"attn_q", "self_Wq", "DD", .needs = FERRY_ROW_ATTENTION, .bias = "self_bq"},
    {"attn_k", "self_Wk", "DD", .needs = FERRY_ROW_ATTENTION, .bias = "self_bk"},
    {"attn_v", "self_Wv", "DD", .needs = FERRY_ROW_ATTENTION, .bias = "self_bv"},
    {"attn_o", "self_Wo", "DD", .needs = FERRY_ROW_ATTENTION, .bias = "self_bo"},
    {"attn_norm", "self_Wo", "D", .needs = FERRY_ROW_ATTENTION},
    {"cross_attn_q", "context_Wq", "DD", .needs = FERRY_ROW_DECODER, .bias = "context_bq"},
    {"cross_attn_k", "context_Wk", "DD", .needs = FERRY_ROW_DECODER, .bias = "context_bk"},
    {"cross_attn_v", "context_Wv", "DD", .needs = FERRY_ROW_DECODER, .bias = "context_bv"},
    {"cross_attn_o", "context_Wo", "DD", .needs = FERRY_ROW_DECODER, .bias = "context_bo"},
    {"cross_attn_norm", "context_Wo", "D", .needs = FERRY_ROW_DECODER},
    {"ffn_up", "ffn_W1", "FD", .bias = "ffn_b1"},
    {"ffn_down", "ffn_W2", "DF", .bias = "ffn_b2"},
    {"ffn_norm", "ffn_ffn", .shape = "D"},
};
static const ferry_layer_row embedding_norm = {"embd_norm", "emb", "D", .needs = FERRY_ROW_STACK};
static const ferry_layer_row final_norm = {"output_norm", "top", "D", .needs = FERRY_ROW_STACK};

/* [RMS norm][before its block] */
static const ferry_layer_endings norm_endings[2][2] = {{{"_ln_scale", "_ln_bias"}, {"_ln_scale_pre", "_ln_bias_pre"}},
                                                       {{"_rms_scale", NULL}, {"_rms_scale_pre", NULL}}};

/* The numbers in the names of a stack's layers, from 1. A tied decoder layer has the number of an earlier layer. */
static ferry_status layer_numbers(ferry_import_plan *plan, const ferry_marian *marian, bool decoder,
                                  const int32_t **numbers, ferry_error *error)
{
    static const char key[] = "transformer-tied-layers";
    const json_t *tied = decoder ? ferry_json_get(marian->config, key) : NULL;
    const int32_t count = decoder ? plan->model.decoder.layer_count : plan->model.encoder.layer_count;
    const size_t tied_count = ferry_json_text_count(tied);
    int32_t *list = ferry_arena_alloc(&plan->arena, (size_t)count, sizeof *list);
    if (list == NULL) return ferry_fail_memory(error, "a list of layers", (size_t)count, sizeof *list);
    if (tied_count != 0 && tied_count != (size_t)count) {
        return ferry_fail(error, FERRY_ERROR_FORMAT,
                          "%s: '%s': expected a number for each of %" PRId32 " decoder layers, found %zu",
                          marian->config.file, key, count, tied_count);
    }
    for (int32_t i = 0; i < count; i++) {
        list[i] = i + 1;
        if (tied_count == 0) continue;
        const json_t *one = json_is_array(tied) ? json_array_get(tied, (size_t)i) : tied;
        FERRY_TRY(ferry_json_integer_value(marian->config, key, one, 1, count, &list[i], error));
    }
    *numbers = list;
    return FERRY_OK;
}

static ferry_status add_stack(ferry_import_plan *plan, const ferry_marian *marian, bool decoder, ferry_error *error)
{
    const ferry_stack *stack = decoder ? &plan->model.decoder : &plan->model.encoder;
    const ferry_layer_endings *norms = norm_endings[stack->norm == FERRY_RMS_NORM];
    const char *emb = "d", *top = "";
    ferry_layer_table table = {.rows = layer_rows,
                               .count = sizeof layer_rows / sizeof layer_rows[0],
                               .layer = "_l",
                               .separator = "_",
                               .norm = norms[stack->pre_norm],
                               .matrix = read_matrix,
                               .context = plan};
    FERRY_TRY(layer_numbers(plan, marian, decoder, &table.numbers, error));
    FERRY_TRY(ferry_import_layers(plan, &table, decoder, error));
    /* After the configuration's check, the only operations besides dropout are norms. */
    FERRY_TRY(ferry_json_text(marian->config, "transformer-postprocess-emb", &emb, error));
    FERRY_TRY(ferry_json_text(marian->config, "transformer-postprocess-top", &top, error));
    table.count = 1;
    if (strpbrk(emb, "nr") != NULL) {
        table.rows = &embedding_norm;
        table.norm = norms[true];
        FERRY_TRY(ferry_import_layers(plan, &table, decoder, error));
    }
    if (strpbrk(top, "nr") == NULL) return FERRY_OK;
    table.rows = &final_norm;
    table.norm = norms[false];
    return ferry_import_layers(plan, &table, decoder, error);
}

/* ---- embeddings and the output ---- */

/* A table of embeddings [V, D]; `output`: it is the output matrix, too, whose inputs may have a multiplier under its
 * name or, from an older exporter, under the name of a matrix that had none. */
static ferry_status add_embedding(ferry_import_plan *plan, const char *name, int32_t V, bool output, const char *to,
                                  ferry_error *error)
{
    const ferry_weights_entry *entry;
    float multiplier;
    FERRY_TRY(find_matrix(plan, name, V, plan->model.d_model, &entry, error));
    ferry_import_tensor tensor = ferry_import_whole(entry, FERRY_IMPORT_MATRIX);
    FERRY_TRY(input_multiplier(plan, name, &multiplier, error));
    if (multiplier == 0) FERRY_TRY(input_multiplier(plan, "none", &multiplier, error));
    if (output) set_inputs(plan, &tensor, multiplier);
    return ferry_import_add_tensor(plan, &tensor, error, "%s", to);
}

static ferry_status add_embeddings(ferry_import_plan *plan, ferry_error *error)
{
    const int32_t source = plan->model.encoder.vocab_size, target = plan->model.decoder.vocab_size;
    if (!plan->model.tied_embeddings) {
        FERRY_TRY(add_embedding(plan, "encoder_Wemb", source, false, "enc.token_embd.weight", error));
        return add_embedding(plan, "decoder_Wemb", target, plan->model.tied_output, "dec.token_embd.weight", error);
    }
    if (source == target)
        return add_embedding(plan, "Wemb", source, plan->model.tied_output, "token_embd.weight", error);
    return ferry_fail(error, FERRY_ERROR_FORMAT,
                      "%s: one embedding for vocabularies of %" PRId32 " and of %" PRId32 " words", plan->source->path,
                      source, target);
}

/* Entries that are no weights: the configuration, tables of approximate search, multipliers of products that the file
 * does not quantize. */
static bool is_ignored(ferry_view name)
{
    static const char *const starts[] = {"special:", "lsh_output_codes", "lsh_output_rotation"};
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++)
        if (ferry_view_begins(name, starts[i])) return true;
    return ferry_view_ends(name, "_QuantMultA");
}

ferry_status ferry_marian_tensors(ferry_import_plan *plan, const ferry_marian *marian, ferry_error *error)
{
    const int32_t V = plan->model.decoder.vocab_size, D = plan->model.d_model;
    bool omit = false;
    if (ferry_weights_find(&plan->weights, "Wpos") != NULL) {
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: tensor 'Wpos': learned positions are not supported",
                          plan->source->path);
    }
    FERRY_TRY(add_embeddings(plan, error));
    FERRY_TRY(add_stack(plan, marian, false, error));
    FERRY_TRY(add_stack(plan, marian, true, error));
    if (!plan->model.tied_output) {
        /* [V, D], or in old models [D, V]. */
        static const char *const names[] = {"decoder_ff_logit_out_Wt", "decoder_ff_logit_out_W"};
        const ferry_weights_entry *entry = ferry_weights_find(&plan->weights, names[0]);
        ferry_import_tensor matrix;
        if (entry != NULL) {
            FERRY_TRY(find_matrix(plan, names[0], V, D, &entry, error));
            if (entry->multiplier != 0)
                return ferry_fail(error, FERRY_ERROR_UNSUPPORTED,
                                  "%s: tensor '%s': a quantized output matrix of its own is not supported", entry->file,
                                  names[0]);
            matrix = ferry_import_whole(entry, FERRY_IMPORT_MATRIX);
        } else {
            FERRY_TRY(read_matrix(plan, names[1], V, D, &matrix, error));
        }
        FERRY_TRY(ferry_import_add_tensor(plan, &matrix, error, "output.weight"));
    }
    FERRY_TRY(ferry_json_bool(marian->config, "output-omit-bias", &omit, error));
    plan->model.output_bias = !omit;
    if (!omit) {
        const ferry_weights_entry *bias;
        FERRY_TRY(ferry_import_take(plan, "", "decoder_ff_logit_out_b", V, 0, &bias, error));
        FERRY_TRY(ferry_import_add(plan, bias, FERRY_IMPORT_VECTOR, error, "output.bias"));
    }
    return ferry_import_check_unused(plan, is_ignored, error);
}
