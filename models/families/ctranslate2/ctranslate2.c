/* CTranslate2's directories and Argos packages: recognition, sizes, choices. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ctranslate2.h"
#include "base/printable.h"

/* ---- recognition ---- */

static bool has_file(const ferry_import_plan *plan, const char *folder, const char *name)
{
    return ferry_import_has_file(plan, ferry_ctranslate2_join(folder, name).text);
}

/* model.bin is a name that others use, too; the vocabularies' names are CTranslate2's own. */
static const char *find_folder(const ferry_import_plan *plan)
{
    static const char *const folders[] = {"", "model/"};
    static const char *const vocabularies[] = {"shared_vocabulary.json", "shared_vocabulary.txt",
                                               "target_vocabulary.json", "target_vocabulary.txt"};
    for (size_t i = 0; i < 2; i++) {
        if (!has_file(plan, folders[i], "model.bin")) continue;
        for (size_t j = 0; j < 4; j++) {
            if (has_file(plan, folders[i], vocabularies[j])) return folders[i];
        }
    }
    return NULL;
}

bool ferry_import_is_ctranslate2(const ferry_import_plan *plan, ferry_json config)
{
    (void)config;
    return find_folder(plan) != NULL;
}

/* ---- variables ---- */

ferry_name ferry_ctranslate2_join(const char *scope, const char *name)
{
    const bool slash = scope[0] != 0 && scope[strlen(scope) - 1] != '/';
    return ferry_name_format("%s%s%s", scope, slash ? "/" : "", name);
}

ferry_status ferry_ctranslate2_fail(const ferry_ctranslate2 *model, const char *scope, const char *what,
                                    ferry_error *error)
{
    return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: '%s': %s", model->file,
                      ferry_printable_view((ferry_view){scope, strlen(scope)}).text, what);
}

ferry_status ferry_ctranslate2_number(const ferry_ctranslate2 *model, const char *scope, const char *name,
                                      double *value, ferry_error *error)
{
    const ferry_name full = ferry_ctranslate2_join(scope, name);
    const ferry_weights_entry *entry = ferry_import_find(model->plan, "", full.text);
    if (entry == NULL) return FERRY_OK;
    const ferry_tensor *tensor = &entry->tensor;
    float real = 0;
    int8_t small = 0;
    int16_t middle = 0;
    int32_t large = 0;
    if (ferry_tensor_count(tensor) != 1) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: '%s': expected one number", model->file, full.text);
    }
    switch (tensor->type) {
    case FERRY_I8: memcpy(&small, tensor->data, sizeof small); break;
    case FERRY_I16: memcpy(&middle, tensor->data, sizeof middle); break;
    case FERRY_I32: memcpy(&large, tensor->data, sizeof large); break;
    default: ferry_import_widen(tensor, 0, 1, 1, &real);
    }
    *value = (double)real + small + middle + large;
    return FERRY_OK;
}

ferry_status ferry_ctranslate2_size(const ferry_ctranslate2 *model, const char *scope, const char *name, int32_t dims,
                                    int32_t index, int32_t *size, ferry_error *error)
{
    const ferry_name full = ferry_ctranslate2_join(scope, name);
    const ferry_weights_entry *entry = ferry_weights_find(&model->plan->weights, full.text);
    if (entry == NULL) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: tensor '%s' is missing", model->file, full.text);
    }
    const int64_t found = entry->tensor.shape[index];
    if (entry->tensor.dims != dims || found < 1 || found > FERRY_IMPORT_MAX_VOCABULARY) {
        return ferry_fail(error, FERRY_ERROR_FORMAT,
                          "%s: tensor '%s': expected %d dimensions of 1 to %d, found %d of %" PRId64, model->file,
                          full.text, (int)dims, (int)FERRY_IMPORT_MAX_VOCABULARY, (int)entry->tensor.dims, found);
    }
    *size = (int32_t)found;
    return FERRY_OK;
}

/* ---- what cannot be run ---- */

static bool contains(ferry_view name, const char *part)
{
    const size_t size = strlen(part);
    for (size_t i = 0; i + size <= name.size; i++) {
        if (memcmp(name.data + i, part, size) == 0) return true;
    }
    return false;
}

static ferry_status refuse_variables(const ferry_ctranslate2 *model, ferry_error *error)
{
    static const char *const features[][2] = {
        {"/q_norm/", "norms of each head's queries"},
        {"/k_norm/", "norms of each head's keys"},
        {"/v_norm/", "norms of each head's values"},
        {"/input_layer_norm/", "norms before and behind each block (T5Gemma)"},
        {"/external_p", "norms before and behind each block (T5Gemma)"},
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
            if (!contains(name, features[j][0])) continue;
            return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: '%s': %s are not supported", model->file,
                              ferry_printable_view(name).text, features[j][1]);
        }
    }
    return FERRY_OK;
}

static ferry_status check_header(const ferry_ctranslate2 *model, ferry_error *error)
{
    static const char *const known[] = {"", "TransformerBase", "TransformerBig", "TransformerSpec"};
    static const uint32_t newest_revision = 7;
    const char *name = model->header.specification;
    bool is_known = false;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) is_known = is_known || strcmp(name, known[i]) == 0;
    if (!is_known) {
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED,
                          "%s: a model of the kind '%s', not an encoder and decoder for translation", model->file,
                          ferry_printable_view((ferry_view){name, strlen(name)}).text);
    }
    if (model->header.revision <= newest_revision) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: revision %" PRIu32 " of %s is newer than Ferry", model->file,
                      model->header.revision, name);
}

static ferry_status check_config(const ferry_ctranslate2 *model, ferry_error *error)
{
    int32_t quantization = 0;
    FERRY_TRY(ferry_json_integer(model->config, "quantization_type", INT32_MIN, INT32_MAX, &quantization, error));
    if (quantization == 0) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: 'quantization_type' %d: weights of 4 bits are not supported",
                      model->config.file, (int)quantization);
}

/* ---- stacks ---- */

/* Before revision 5 most attributes stood above the stacks. */
static const char *attribute_scope(const ferry_ctranslate2 *model, bool decoder)
{
    return model->header.revision < 5 ? "" : decoder ? "decoder" : "encoder";
}

static ferry_status read_activation(const ferry_ctranslate2 *model, const char *scope, ferry_activation *activation,
                                    ferry_error *error)
{
    static const ferry_activation known[] = {FERRY_RELU, FERRY_GELU_TANH, FERRY_SWISH, FERRY_GELU, FERRY_GELU_SIGMOID};
    double code = 0;
    FERRY_TRY(ferry_ctranslate2_number(model, scope, "activation", &code, error));
    if (code >= 0 && code <= 4) {
        *activation = known[(int)code];
        return FERRY_OK;
    }
    const char *name = code == 5 ? "tanh" : code == 6 ? "sigmoid" : "unknown";
    return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: activation %g (%s) is not supported", model->file, code,
                      name);
}

static int32_t count_layers(const ferry_ctranslate2 *model, const char *stack)
{
    const ferry_weights *weights = &model->plan->weights;
    int32_t layers = 0;
    for (bool found = true; found; layers += found ? 1 : 0) {
        char start[48];
        const int size = snprintf(start, sizeof start, "%s/layer_%d/", stack, (int)layers);
        found = false;
        for (size_t i = 0; i < weights->count && !found; i++) {
            const ferry_view name = weights->entries[i].tensor.name;
            found = name.size > (size_t)size && memcmp(name.data, start, (size_t)size) == 0;
        }
    }
    return layers;
}

static ferry_status read_heads(const ferry_ctranslate2 *model, bool decoder, ferry_stack *stack, ferry_error *error)
{
    const char *scope = decoder ? "decoder/layer_0/self_attention" : "encoder/layer_0/self_attention";
    int32_t inner;
    double heads = strcmp(model->header.specification, "TransformerBig") == 0 ? 16 : 8, scale = 0;
    FERRY_TRY(ferry_ctranslate2_number(model, attribute_scope(model, decoder), "num_heads", &heads, error));
    FERRY_TRY(ferry_ctranslate2_size(model, scope, "linear_1/weight", 2, 1, &inner, error));
    if (!(heads >= 1 && heads <= inner) || inner % (int32_t)heads != 0) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: %d columns of '%s/linear_1/weight' for %g heads", model->file,
                          (int)inner, scope, heads);
    }
    stack->heads = (int32_t)heads;
    stack->head_width = inner / stack->heads;
    scale = 1 / sqrt((double)stack->head_width);
    FERRY_TRY(ferry_ctranslate2_number(model, scope, "queries_scale", &scale, error));
    stack->attention_scale = (float)scale;
    return FERRY_OK;
}

static ferry_status read_norm(const ferry_ctranslate2 *model, const char *name, ferry_stack *stack, ferry_error *error)
{
    const ferry_name beta = ferry_ctranslate2_join(name, "layer_0/self_attention/layer_norm/beta");
    stack->norm = ferry_weights_find(&model->plan->weights, beta.text) != NULL ? FERRY_LAYER_NORM : FERRY_RMS_NORM;
    stack->norm_eps = stack->norm == FERRY_LAYER_NORM ? 1e-5f : 1e-6f;
    return ferry_json_float(model->config, "layer_norm_epsilon", &stack->norm_eps, error);
}

static ferry_status read_stack(const ferry_ctranslate2 *model, bool decoder, ferry_stack *stack, ferry_error *error)
{
    const char *name = decoder ? "decoder" : "encoder", *scope = attribute_scope(model, decoder);
    double pre_norm = 1, window = 0, shared_keys = 0;
    *stack = (ferry_stack){.layer_count = count_layers(model, name)};
    if (stack->layer_count == 0) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: no layers '%s/layer_0/…'", model->file, name);
    }
    FERRY_TRY(read_heads(model, decoder, stack, error));
    FERRY_TRY(read_activation(model, scope, &stack->activation, error));
    FERRY_TRY(ferry_ctranslate2_number(model, scope, "pre_norm", &pre_norm, error));
    FERRY_TRY(ferry_ctranslate2_number(model, name, "sliding_window", &window, error));
    FERRY_TRY(ferry_ctranslate2_number(model, name, "multi_query_attention", &shared_keys, error));
    if (window != 0) return ferry_ctranslate2_fail(model, name, "a sliding window is not supported", error);
    FERRY_TRY(read_norm(model, name, stack, error));
    stack->pre_norm = pre_norm != 0;
    const ferry_name gate = ferry_ctranslate2_join(name, "layer_0/ffn/linear_0_noact/weight");
    stack->gated = ferry_weights_find(&model->plan->weights, gate.text) != NULL;
    return ferry_ctranslate2_size(model, name, "layer_0/ffn/linear_0/weight", 2, 0, &stack->ffn_width, error);
}

/* ---- embeddings and output ---- */

/* The name was given a number when there could be several. */
static const char *encoder_embeddings(const ferry_ctranslate2 *model)
{
    return model->header.revision < 4 ? "encoder/embeddings" : "encoder/embeddings_0";
}

/* A flag, or the factor itself. */
static ferry_status read_scale(const ferry_ctranslate2 *model, bool decoder, double *scale, ferry_error *error)
{
    const char *scope = decoder ? "decoder" : "encoder", *name = "scale_embeddings";
    if (model->header.revision < 4) {
        scope = decoder ? "decoder/embeddings" : "encoder/embeddings";
        name = "multiply_by_sqrt_depth";
    }
    const ferry_weights_entry *entry =
        ferry_weights_find(&model->plan->weights, ferry_ctranslate2_join(scope, name).text);
    double value = 1;
    FERRY_TRY(ferry_ctranslate2_number(model, scope, name, &value, error));
    const bool factor = entry != NULL && entry->tensor.type != FERRY_I8;
    *scale = factor ? value : value != 0 ? sqrt((double)model->plan->model.d_model) : 1;
    return FERRY_OK;
}

static bool same_matrix(const ferry_import_tensor *a, const ferry_import_tensor *b)
{
    return a->N == b->N && a->source->tensor.data == b->source->tensor.data;
}

static ferry_status add_embeddings(const ferry_ctranslate2 *model, ferry_error *error)
{
    ferry_import_plan *plan = model->plan;
    const int32_t D = plan->model.d_model, V = plan->model.decoder.vocab_size;
    ferry_import_tensor source, target, output;
    FERRY_TRY(
        ferry_ctranslate2_matrix(model, encoder_embeddings(model), plan->model.encoder.vocab_size, D, &source, error));
    FERRY_TRY(ferry_ctranslate2_matrix(model, "decoder/embeddings", V, D, &target, error));
    FERRY_TRY(ferry_ctranslate2_matrix(model, "decoder/projection", V, D, &output, error));
    plan->tied_embeddings = same_matrix(&source, &target);
    plan->tied_output = same_matrix(&target, &output);
    const char *name = plan->tied_embeddings ? "token_embd.weight" : "dec.token_embd.weight";
    FERRY_TRY(ferry_import_add_tensor(plan, &target, error, "%s", name));
    if (!plan->tied_embeddings) {
        FERRY_TRY(ferry_import_add_tensor(plan, &source, error, "enc.token_embd.weight"));
    }
    if (!plan->tied_output) FERRY_TRY(ferry_import_add_tensor(plan, &output, error, "output.weight"));
    const ferry_weights_entry *bias = ferry_import_find(plan, "", "decoder/projection/bias");
    plan->output_bias = bias != NULL;
    if (bias == NULL) return FERRY_OK;
    FERRY_TRY(ferry_import_check_shape(plan, bias, V, 0, error));
    return ferry_import_add(plan, bias, FERRY_IMPORT_VECTOR, error, "output.bias");
}

static ferry_status read_sizes(const ferry_ctranslate2 *model, ferry_error *error)
{
    ferry_transformer *graph = &model->plan->model;
    double source_scale, target_scale;
    FERRY_TRY(read_stack(model, false, &graph->encoder, error));
    FERRY_TRY(read_stack(model, true, &graph->decoder, error));
    const char *embeddings = encoder_embeddings(model);
    FERRY_TRY(ferry_ctranslate2_size(model, embeddings, "weight", 2, 0, &graph->encoder.vocab_size, error));
    FERRY_TRY(ferry_ctranslate2_size(model, embeddings, "weight", 2, 1, &graph->d_model, error));
    FERRY_TRY(ferry_ctranslate2_size(model, "decoder/embeddings", "weight", 2, 0, &graph->decoder.vocab_size, error));
    FERRY_TRY(read_scale(model, false, &source_scale, error));
    FERRY_TRY(read_scale(model, true, &target_scale, error));
    graph->embedding_scale = (float)source_scale;
    if (source_scale == target_scale) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_UNSUPPORTED,
                      "%s: embeddings are scaled by %g in the encoder and %g in the decoder: not supported",
                      model->file, source_scale, target_scale);
}

/* ---- decoder ---- */

/* The attention that is reported: a layer, counted from the end when negative, and the mean of its first heads. */
static ferry_status read_alignment(const ferry_ctranslate2 *model, ferry_error *error)
{
    ferry_transformer *graph = &model->plan->model;
    const char *scope = attribute_scope(model, true);
    double layer = -1, heads = 1;
    FERRY_TRY(ferry_ctranslate2_number(model, scope, "alignment_layer", &layer, error));
    FERRY_TRY(ferry_ctranslate2_number(model, scope, "alignment_heads", &heads, error));
    if (layer < 0) layer += graph->decoder.layer_count;
    if (heads != 1 || layer < 0 || layer >= graph->decoder.layer_count) return FERRY_OK; /* a mean is no head */
    model->plan->generation.alignment_layer = (int32_t)layer;
    model->plan->generation.alignment_head = 0;
    return FERRY_OK;
}

static ferry_status read_decoder(ferry_ctranslate2 *model, ferry_error *error)
{
    double zero_start = 0, scale = 1, cap = 0, merge = 0;
    FERRY_TRY(ferry_ctranslate2_number(model, "decoder", "start_from_zero_embedding", &zero_start, error));
    FERRY_TRY(ferry_ctranslate2_number(model, "decoder", "scale_outputs", &scale, error));
    FERRY_TRY(ferry_ctranslate2_number(model, "decoder", "final_logit_softcapping", &cap, error));
    FERRY_TRY(ferry_ctranslate2_number(model, attribute_scope(model, false), "embeddings_merge", &merge, error));
    if (cap != 0) return ferry_ctranslate2_fail(model, "decoder", "soft caps of logits are not supported", error);
    model->zero_start = zero_start != 0;
    model->plan->model.output_scale = (float)scale;
    return read_alignment(model, error);
}

/* The defaults of its translate_batch, or of the program that runs Argos packages. */
static void set_decoding(ferry_decoding *decoding, bool argos)
{
    decoding->policy = FERRY_POLICY_CTRANSLATE2;
    decoding->beam = argos ? 4 : 2;
    decoding->length_penalty = argos ? 0.2f : 1;
    decoding->max_length = 256;
    decoding->min_length = 1;
}

/* ---- all ---- */

static ferry_status open_model(ferry_ctranslate2 *model, ferry_error *error)
{
    ferry_view bytes;
    ferry_import_plan *plan = model->plan;
    const ferry_name name = ferry_ctranslate2_join(model->folder, "model.bin");
    model->file = ferry_import_source_label(plan->source, name.text);
    FERRY_TRY(ferry_import_map(plan, name.text, &bytes, error));
    ferry_weights_close(&plan->weights);
    FERRY_TRY(ferry_ctranslate2_read(bytes, model->file, &model->header, &plan->weights, error));
    FERRY_TRY(ferry_import_weights_ready(plan, error));
    FERRY_TRY(check_header(model, error));
    FERRY_TRY(check_config(model, error));
    return refuse_variables(model, error);
}

ferry_status ferry_import_ctranslate2(ferry_import_plan *plan, ferry_json config, ferry_error *error)
{
    ferry_ctranslate2 model = {.plan = plan, .folder = find_folder(plan), .config = config};
    ferry_json metadata;
    FERRY_TRY(ferry_import_optional_json(plan, "metadata.json", &metadata, error));
    if (model.folder[0] != 0) FERRY_TRY(ferry_import_optional_json(plan, "model/config.json", &model.config, error));
    plan->kind = metadata.object != NULL ? "argos" : "ctranslate2";
    set_decoding(&plan->generation.decoding, metadata.object != NULL);
    FERRY_TRY(open_model(&model, error));
    FERRY_TRY(ferry_ctranslate2_tokens(&model, error));
    FERRY_TRY(read_sizes(&model, error));
    FERRY_TRY(read_decoder(&model, error));
    FERRY_TRY(add_embeddings(&model, error));
    FERRY_TRY(ferry_ctranslate2_layers(&model, false, error));
    FERRY_TRY(ferry_ctranslate2_layers(&model, true, error));
    FERRY_TRY(ferry_ctranslate2_positions(&model, false, error));
    FERRY_TRY(ferry_ctranslate2_positions(&model, true, error));
    FERRY_TRY(ferry_import_check_unused(plan, NULL, error));
    return ferry_ctranslate2_text(&model, metadata, error);
}
