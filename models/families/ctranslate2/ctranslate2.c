/* CTranslate2's directories and Argos packages: recognition, sizes, choices, tensors. */
#include "ctranslate2.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "models/plan/plan_tensors.h"
#include "models/families/choices.h"
#include "models/families/families.h"

/* ---- recognition ---- */

static bool is_folder(const ferry_import_plan *plan, const char *folder)
{
    static const char *const vocabularies[] = {"shared_vocabulary.json", "shared_vocabulary.txt",
                                               "target_vocabulary.json", "target_vocabulary.txt"};
    const ferry_short_text name = ferry_ct2_join(folder, "model.bin");
    ferry_view bytes;
    if (!ferry_source_has(plan->source, name.text)) return false;
    for (size_t i = 0; i < 4; i++)
        if (ferry_source_has(plan->source, ferry_ct2_join(folder, vocabularies[i]).text)) return true;
    return ferry_source_look(plan->source, name.text, &bytes, NULL) == FERRY_OK && ferry_is_ctranslate2(bytes);
}

/* Other systems have a model.bin, too. The names of the vocabularies and the file's contents are CTranslate2's own. */
static const char *find_folder(const ferry_import_plan *plan)
{
    return is_folder(plan, "") ? "" : is_folder(plan, "model/") ? "model/" : NULL;
}

/* Beside weights and config.json of transformers, model.bin is a second copy of the model. */
bool ferry_import_is_ctranslate2(const ferry_import_plan *plan, ferry_json config)
{
    const char *selected = plan->source->selected;
    if (selected != NULL ? strcmp(selected, "model.bin") != 0
                         : ferry_import_is_huggingface(plan, config) && ferry_import_has_weights(plan, &selected))
        return false;
    return find_folder(plan) != NULL;
}

/* ---- variables ---- */

ferry_short_text ferry_ct2_join(const char *scope, const char *name)
{
    const bool slash = scope[0] != 0 && scope[strlen(scope) - 1] != '/';
    return ferry_format("%s%s%s", scope, slash ? "/" : "", name);
}

const ferry_weights_entry *ferry_ct2_look(const ferry_ctranslate2 *model, const char *scope, const char *name)
{
    return ferry_weights_find(&model->plan->weights, ferry_ct2_join(scope, name).text);
}

ferry_status ferry_ct2_fail(const ferry_ctranslate2 *model, const char *scope, const char *what, ferry_error *error)
{
    return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: '%s': %s", model->file, ferry_printable_text(scope).text,
                      what);
}

double ferry_ct2_number(const ferry_ctranslate2 *model, const char *scope, const char *name, double missing)
{
    const ferry_weights_entry *entry = ferry_ct2_look(model, scope, name);
    float value;
    if (entry == NULL || ferry_tensor_count(&entry->tensor) != 1) return missing;
    model->plan->used[entry - model->plan->weights.entries] = true;
    ferry_import_widen(&entry->tensor, 0, 1, 1, &value);
    return (double)value;
}

ferry_status ferry_ct2_size(const ferry_ctranslate2 *model, const char *scope, const char *name, int32_t dims,
                            int32_t index, int32_t *size, ferry_error *error)
{
    const ferry_short_text full = ferry_ct2_join(scope, name);
    const ferry_weights_entry *entry = ferry_ct2_look(model, scope, name);
    if (entry == NULL)
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: tensor '%s' is missing", model->file, full.text);
    const int64_t found = entry->tensor.shape[index];
    if (entry->tensor.dims != dims || found < 1 || found > FERRY_MAX_VOCABULARY) {
        return ferry_import_fail_tensor(entry, FERRY_ERROR_FORMAT, error,
                                        "expected %d dimensions of 1 to %d, found %d of %" PRId64, (int)dims,
                                        (int)FERRY_MAX_VOCABULARY, (int)entry->tensor.dims, found);
    }
    *size = (int32_t)found;
    return FERRY_OK;
}

/* ---- what cannot be run ---- */

static ferry_status refuse_variables(const ferry_ctranslate2 *model, ferry_error *error)
{
    static const char *const features[][2] = {
        {"/q_norm/", "norms of each head's queries"},
        {"/k_norm/", "norms of each head's keys"},
        {"/v_norm/", "norms of each head's values"},
        {"/input_layer_norm/", "norms before and after each block (T5Gemma)"},
        {"/external_p", "norms before and after each block (T5Gemma)"},
        {"/merged_encoder_attention", "cross-attention inside self-attention (T5Gemma 2)"},
        {"/memory_kv", "cross-attention inside self-attention (T5Gemma 2)"},
        {"/relative_asymmetric_position_keys", "asymmetric relative positions (speech models)"},
        {"/relative_left_max_position", "asymmetric relative positions (speech models)"},
        {"/project_in/", "projections around the layers"},
        {"/project_out/", "projections around the layers"},
        {"encoder/embeddings_1/", "source factors"},
        {"/layer_norm_use_residual", "norms whose gain is 1 + gamma"},
        {"/weight_zero", "weights of 4 bits (AWQ)"},
        {"/rotary_scaling_long_factor", "scaled rotations (su)"}};
    for (size_t i = 0; i < model->plan->weights.count; i++) {
        const ferry_view name = model->plan->weights.entries[i].tensor.name;
        for (size_t j = 0; j < sizeof features / sizeof features[0]; j++) {
            if (!ferry_view_contains(name, features[j][0])) continue;
            return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: '%s': %s are not supported", model->file,
                              ferry_printable_view(name).text, features[j][1]);
        }
    }
    return FERRY_OK;
}

static ferry_status check_kind(const ferry_ctranslate2 *model, ferry_error *error)
{
    static const uint32_t newest_revision = 7;
    const char *name = model->header.specification;
    if (*name != 0 && strcmp(name, "TransformerBase") != 0 && strcmp(name, "TransformerBig") != 0 &&
        strcmp(name, "TransformerSpec") != 0) {
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED,
                          "%s: a model of the kind '%s', not an encoder and decoder for translation", model->file,
                          ferry_printable_text(name).text);
    }
    if (model->header.revision > newest_revision)
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: revision %" PRIu32 " of %s is newer than Ferry",
                          model->file, model->header.revision, name);
    const bool missing = model->config.object == NULL;
    if (model->header.version >= FERRY_CTRANSLATE2_CONFIG &&
        (missing || (ferry_import_is_huggingface(model->plan, model->config) &&
                     json_object_get(model->config.object, "decoder_start_token") == NULL)))
        return ferry_fail(error, FERRY_ERROR_FORMAT,
                          "%s: expected the tokens ('decoder_start_token' and others) that %s of version %" PRIu32
                          " of CTranslate2 needs, found %s",
                          model->config.file, model->file, model->header.version,
                          missing ? "no such file" : "a configuration of transformers");
    /* What a configuration of transformers says of the network, CTranslate2 made variables of. */
    const bool other = ferry_import_is_huggingface(model->plan, model->config);
    return ferry_check_choices(model->config, FERRY_CHOICE_CONFIG,
                               FERRY_CHOICES_CTRANSLATE2 | (other ? 0 : FERRY_CHOICES_EXPORT), error);
}

/* ---- stacks ---- */

/* Before revision 5 most attributes were above the stacks. */
static const char *attribute_scope(const ferry_ctranslate2 *model, bool decoder)
{
    return model->header.revision < 5 ? "" : decoder ? "decoder" : "encoder";
}

static ferry_status read_heads(const ferry_ctranslate2 *model, bool decoder, ferry_stack *stack, ferry_error *error)
{
    const char *scope = decoder ? "decoder/layer_0/self_attention" : "encoder/layer_0/self_attention";
    const double default_heads = strcmp(model->header.specification, "TransformerBig") == 0 ? 16 : 8;
    const double heads = ferry_ct2_number(model, attribute_scope(model, decoder), "num_heads", default_heads);
    int32_t inner;
    FERRY_TRY(ferry_ct2_size(model, scope, "linear_1/weight", 2, 1, &inner, error));
    if (!(heads >= 1 && heads <= inner) || inner % (int32_t)heads != 0) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: %d columns of '%s/linear_1/weight' for %g heads", model->file,
                          (int)inner, scope, heads);
    }
    stack->heads = (int32_t)heads;
    stack->head_width = inner / stack->heads;
    const double scale = 1 / sqrt((double)stack->head_width);
    stack->attention_scale = (float)ferry_ct2_number(model, scope, "queries_scale", scale);
    return FERRY_OK;
}

static ferry_status read_stack(const ferry_ctranslate2 *model, bool decoder, ferry_stack *stack, ferry_error *error)
{
    static const ferry_activation activations[] = {FERRY_RELU, FERRY_GELU_TANH, FERRY_SWISH, FERRY_GELU,
                                                   FERRY_GELU_SIGMOID};
    const char *name = decoder ? "decoder" : "encoder", *scope = attribute_scope(model, decoder);
    int32_t layers = 0;
    while (ferry_import_has_prefix(model->plan, ferry_format("%s/layer_%d/", name, (int)layers).text)) layers++;
    *stack = (ferry_stack){.layer_count = layers};
    if (layers == 0) return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: no layers '%s/layer_0/…'", model->file, name);
    FERRY_TRY(read_heads(model, decoder, stack, error));
    const double code = ferry_ct2_number(model, scope, "activation", 0);
    if (!(code >= 0 && code <= 4))
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: activation %g (%s) is not supported", model->file, code,
                          code == 5   ? "tanh"
                          : code == 6 ? "sigmoid"
                                      : "unknown");
    stack->activation = activations[(int)code];
    (void)ferry_ct2_number(model, name, "multi_query_attention", 0); /* the layers' own numbers are checked */
    if (ferry_ct2_number(model, name, "sliding_window", 0) != 0)
        return ferry_ct2_fail(model, name, "a sliding window is not supported", error);
    const bool rms = ferry_ct2_look(model, name, "layer_0/self_attention/layer_norm/beta") == NULL;
    stack->norm = rms ? FERRY_RMS_NORM : FERRY_LAYER_NORM;
    stack->norm_eps = rms ? 1e-6f : 1e-5f;
    stack->pre_norm = ferry_ct2_number(model, scope, "pre_norm", 1) != 0;
    stack->gated = ferry_ct2_look(model, name, "layer_0/ffn/linear_0_noact/weight") != NULL;
    FERRY_TRY(ferry_json_float(model->config, "layer_norm_epsilon", &stack->norm_eps, error));
    return ferry_ct2_size(model, name, "layer_0/ffn/linear_0/weight", 2, 0, &stack->ffn_width, error);
}

/* ---- layers ---- */

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

/* Integers are the values times a factor: one for each row, or one for all. */
static ferry_status read_matrix(void *context, const char *scope, int32_t N, int32_t K, ferry_import_tensor *matrix,
                                ferry_error *error)
{
    const ferry_ctranslate2 *model = context;
    const ferry_short_text name = ferry_ct2_join(scope, "weight");
    const ferry_weights_entry *entry = ferry_import_find(model->plan, "", name.text);
    const ferry_weights_entry *scale = ferry_import_find(model->plan, "", ferry_ct2_join(scope, "weight_scale").text);
    if (entry == NULL)
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: tensor '%s' is missing", model->file, name.text);
    if (entry->tensor.dims != 2 || entry->tensor.shape[0] != N || entry->tensor.shape[1] != K) {
        char found[100];
        return ferry_import_fail_tensor(entry, FERRY_ERROR_FORMAT, error, "expected shape [%d, %d], found %s", (int)N,
                                        (int)K, ferry_tensor_shape_text(&entry->tensor, found, sizeof found));
    }
    *matrix = ferry_import_whole(entry, FERRY_IMPORT_MATRIX);
    if (scale == NULL) return FERRY_OK;
    const int64_t count = ferry_tensor_count(&scale->tensor);
    bool usable = scale->tensor.type == FERRY_F32 && (count == 1 || count == N);
    for (int64_t i = 0; usable && i < count; i++) {
        float value;
        ferry_import_widen(&scale->tensor, i, 1, 1, &value);
        usable = isfinite(value) && value > 0;
    }
    if (!usable)
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: '%s': expected 1 or %d positive float32 numbers", model->file,
                          ferry_printable_view(scale->tensor.name).text, (int)N);
    matrix->multipliers = scale->tensor.data;
    matrix->multiplier_count = (int32_t)count;
    return FERRY_OK;
}

/* Every attention of a stack must have the shape of its first one, with a key and a value for each head. */
static ferry_status check_attention(const ferry_ctranslate2 *model, const ferry_stack *stack, ferry_short_text scope,
                                    ferry_error *error)
{
    const double default_scale = 1 / sqrt((double)stack->head_width);
    const double scale = ferry_ct2_number(model, scope.text, "queries_scale", default_scale);
    const double heads = ferry_ct2_number(model, scope.text, "num_heads_kv", stack->heads);
    const double width = ferry_ct2_number(model, scope.text, "head_dim", stack->head_width);
    const bool one_key = ferry_ct2_number(model, scope.text, "multi_query", 0) != 0;
    if (heads != stack->heads || (one_key && stack->heads > 1))
        return ferry_ct2_fail(model, scope.text, "keys and values shared by heads are not supported", error);
    if ((float)scale != stack->attention_scale)
        return ferry_ct2_fail(model, scope.text, "a scale other than the first layer's is not supported", error);
    if (width == stack->head_width) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: '%s': head_dim %g does not fit the matrices' %d", model->file,
                      scope.text, width, (int)stack->head_width);
}

static ferry_status add_layers(ferry_ctranslate2 *model, bool decoder, ferry_error *error)
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
        const ferry_short_text self = ferry_format("%s/layer_%d/self_attention", name, (int)i);
        const ferry_short_text cross = ferry_format("%s/layer_%d/attention", name, (int)i);
        FERRY_TRY(check_attention(model, stack, self, error));
        if (decoder) FERRY_TRY(check_attention(model, stack, cross, error));
    }
    return ferry_import_layers(model->plan, &table, decoder, error);
}

/* ---- embeddings and output ---- */

/* The name was given a number when there could be several. */
static const char *encoder_embeddings(const ferry_ctranslate2 *model)
{
    return model->header.revision < 4 ? "encoder/embeddings" : "encoder/embeddings_0";
}

/* A flag, or the factor itself. */
static double read_scale(const ferry_ctranslate2 *model, bool decoder)
{
    const bool old = model->header.revision < 4;
    const char *scope = decoder ? "decoder" : "encoder", *name = old ? "multiply_by_sqrt_depth" : "scale_embeddings";
    if (old) scope = decoder ? "decoder/embeddings" : "encoder/embeddings";
    const ferry_weights_entry *entry = ferry_ct2_look(model, scope, name);
    const double value = ferry_ct2_number(model, scope, name, 1);
    if (entry != NULL && entry->tensor.type != FERRY_I8) return value;
    return value != 0 ? sqrt((double)model->plan->model.d_model) : 1;
}

static bool same_matrix(const ferry_import_tensor *a, const ferry_import_tensor *b)
{
    return a->N == b->N && a->source->tensor.data == b->source->tensor.data;
}

static ferry_status add_embeddings(ferry_ctranslate2 *model, ferry_error *error)
{
    ferry_import_plan *plan = model->plan;
    const char *const names[] = {encoder_embeddings(model), "decoder/embeddings", "decoder/projection"};
    const int32_t D = plan->model.d_model, V = plan->model.decoder.vocab_size;
    ferry_import_tensor source, target, output;
    FERRY_TRY(read_matrix(model, names[0], plan->model.encoder.vocab_size, D, &source, error));
    FERRY_TRY(read_matrix(model, names[1], V, D, &target, error));
    FERRY_TRY(read_matrix(model, names[2], V, D, &output, error));
    plan->model.tied_embeddings = same_matrix(&source, &target);
    plan->model.tied_output = same_matrix(&target, &output);
    const char *name = plan->model.tied_embeddings ? "token_embd.weight" : "dec.token_embd.weight";
    FERRY_TRY(ferry_import_add_tensor(plan, &target, error, "%s", name));
    if (!plan->model.tied_embeddings) FERRY_TRY(ferry_import_add_tensor(plan, &source, error, "enc.token_embd.weight"));
    if (!plan->model.tied_output) FERRY_TRY(ferry_import_add_tensor(plan, &output, error, "output.weight"));
    const ferry_weights_entry *bias = ferry_import_find(plan, "", "decoder/projection/bias");
    plan->model.output_bias = bias != NULL;
    if (bias == NULL) return FERRY_OK;
    FERRY_TRY(ferry_import_check_shape(bias, V, 0, error));
    return ferry_import_add(plan, bias, FERRY_IMPORT_VECTOR, error, "output.bias");
}

static ferry_status read_sizes(const ferry_ctranslate2 *model, ferry_error *error)
{
    ferry_transformer *graph = &model->plan->model;
    FERRY_TRY(read_stack(model, false, &graph->encoder, error));
    FERRY_TRY(read_stack(model, true, &graph->decoder, error));
    const char *embeddings = encoder_embeddings(model);
    FERRY_TRY(ferry_ct2_size(model, embeddings, "weight", 2, 0, &graph->encoder.vocab_size, error));
    FERRY_TRY(ferry_ct2_size(model, embeddings, "weight", 2, 1, &graph->d_model, error));
    FERRY_TRY(ferry_ct2_size(model, "decoder/embeddings", "weight", 2, 0, &graph->decoder.vocab_size, error));
    const double source_scale = read_scale(model, false), target_scale = read_scale(model, true);
    graph->embedding_scale = (float)source_scale;
    if (source_scale == target_scale) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_UNSUPPORTED,
                      "%s: embeddings are scaled by %g in the encoder and %g in the decoder: not supported",
                      model->file, source_scale, target_scale);
}

/* The alignment's attention: the mean of the first heads of a layer. A negative layer counts from the end; 0 heads mean
 * all. */
static void read_alignment(const ferry_ctranslate2 *model)
{
    const int32_t layers = model->plan->model.decoder.layer_count, all = model->plan->model.decoder.heads;
    const char *scope = attribute_scope(model, true);
    const double layer = ferry_ct2_number(model, scope, "alignment_layer", -1);
    const double heads = ferry_ct2_number(model, scope, "alignment_heads", 1);
    const double index = layer < 0 ? layer + layers : layer;
    if (!(heads >= 0 && heads <= all && index >= 0 && index < layers)) return;
    model->plan->generation.alignment_layer = (int32_t)index;
    model->plan->generation.alignment_head = 0;
    model->plan->generation.alignment_heads = heads > 0 ? (int32_t)heads : all;
}

ferry_status ferry_import_ctranslate2(ferry_import_plan *plan, ferry_json config, ferry_error *error)
{
    ferry_ctranslate2 model = {.plan = plan, .folder = find_folder(plan), .config = config};
    ferry_decoding *decoding = &plan->generation.decoding;
    ferry_json metadata;
    ferry_view bytes;
    FERRY_TRY(ferry_import_optional_json(plan, "metadata.json", &metadata, error));
    if (model.folder[0] != 0) FERRY_TRY(ferry_import_optional_json(plan, "model/config.json", &model.config, error));
    /* The defaults of its translate_batch, or of the program that runs Argos packages. */
    const bool argos = metadata.object != NULL;
    plan->kind = argos ? "argos" : "ctranslate2";
    decoding->search.policy = FERRY_POLICY_CTRANSLATE2;
    decoding->options.beam = argos ? 4 : 2;
    decoding->options.length_penalty = argos ? 0.2f : 1;
    decoding->options.max_length = 256;
    decoding->options.min_length = 1;

    const ferry_short_text name = ferry_ct2_join(model.folder, "model.bin");
    model.file = ferry_source_label(plan->source, name.text);
    FERRY_TRY(ferry_source_map(plan->source, name.text, &bytes, error));
    FERRY_TRY(ferry_ctranslate2_read(bytes, model.file, plan->account, &model.header, &plan->weights, error));
    FERRY_TRY(ferry_import_weights_ready(plan, error));
    FERRY_TRY(check_kind(&model, error));
    FERRY_TRY(refuse_variables(&model, error));
    FERRY_TRY(ferry_ct2_tokens(&model, error));
    FERRY_TRY(read_sizes(&model, error));
    (void)ferry_ct2_number(&model, attribute_scope(&model, false), "embeddings_merge", 0);
    if (ferry_ct2_number(&model, "decoder", "final_logit_softcapping", 0) != 0)
        return ferry_ct2_fail(&model, "decoder", "soft caps of logits are not supported", error);
    model.zero_start = ferry_ct2_number(&model, "decoder", "start_from_zero_embedding", 0) != 0;
    plan->model.output_scale = (float)ferry_ct2_number(&model, "decoder", "scale_outputs", 1);
    read_alignment(&model);
    FERRY_TRY(add_embeddings(&model, error));
    FERRY_TRY(add_layers(&model, false, error));
    FERRY_TRY(add_layers(&model, true, error));
    FERRY_TRY(ferry_ct2_positions(&model, false, error));
    FERRY_TRY(ferry_ct2_positions(&model, true, error));
    FERRY_TRY(ferry_import_check_unused(plan, NULL, error));
    return ferry_ct2_text(&model, metadata, error);
}
