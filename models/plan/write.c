/* From a plan to a model file. docs/model-file.md explains every key. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gguf_write.h"
#include "tensors.h"

enum { FORMAT = 1, MAX_FEATURES = 32 };

/* ---- what follows from the plan's tensors ---- */

static bool has_tensor(const ferry_import_plan *plan, const char *name)
{
    for (size_t i = 0; i < plan->tensor_count; i++) {
        if (strcmp(plan->tensors[i].name, name) == 0) return true;
    }
    return false;
}

static bool has_final_norm(const ferry_import_plan *plan, bool decoder)
{
    return has_tensor(plan, decoder ? "dec.output_norm.weight" : "enc.output_norm.weight");
}

static bool has_embedding_norm(const ferry_import_plan *plan, bool decoder)
{
    return has_tensor(plan, decoder ? "dec.embd_norm.weight" : "enc.embd_norm.weight");
}

static bool has_linear_bias(const ferry_import_plan *plan, bool decoder)
{
    return has_tensor(plan, decoder ? "dec.blk.0.ffn_up.bias" : "enc.blk.0.ffn_up.bias");
}

static bool has_shortlist(const ferry_import_plan *plan)
{
    return has_tensor(plan, "shortlist.offsets");
}

/* ---- features ---- */

typedef struct feature_list {
    char texts[MAX_FEATURES][64];
    ferry_view views[MAX_FEATURES];
    size_t count;
} feature_list;

static void add_feature(feature_list *list, const char *kind, const char *value)
{
    char *text = list->texts[list->count];
    snprintf(text, sizeof list->texts[0], "%s%s%s", kind, value[0] != '\0' ? ":" : "", value);
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->texts[i], text) == 0) return;
    }
    list->views[list->count++] = (ferry_view){text, strlen(text)};
}

static const char *activation_name(ferry_activation activation)
{
    switch (activation) {
    case FERRY_RELU: return "relu";
    case FERRY_GELU: return "gelu";
    case FERRY_SWISH: return "swish";
    case FERRY_GELU_TANH: return "gelu_tanh";
    case FERRY_GELU_SIGMOID: return "gelu_sigmoid";
    }
    return "";
}

static const char *norm_name(ferry_norm_kind kind)
{
    return kind == FERRY_RMS_NORM ? "rms" : "layernorm";
}

static const char *policy_name(ferry_policy policy)
{
    static const char *const names[] = {[FERRY_POLICY_HUGGINGFACE] = "huggingface",
                                        [FERRY_POLICY_MARIAN] = "marian",
                                        [FERRY_POLICY_CTRANSLATE2] = "ctranslate2"};
    return names[policy];
}

static const char *tokenizer_name(const ferry_model_text *text)
{
    if (!text->present) return "none";
    return text->source_model.size > 0 ? "sentencepiece" : "pieces";
}

static void add_stack_features(feature_list *list, const ferry_import_plan *plan, bool decoder)
{
    const ferry_stack *stack = decoder ? &plan->model.decoder : &plan->model.encoder;
    const bool final_norm = has_final_norm(plan, decoder);
    add_feature(list, "norm", norm_name(stack->norm));
    add_feature(list, "norm-position", stack->pre_norm ? "pre" : "post");
    add_feature(list, "activation", activation_name(stack->activation));
    add_feature(list, "position", (decoder ? plan->decoder_position : plan->encoder_position).type);
    if (stack->gated) add_feature(list, "ffn", "gated");
    if (has_embedding_norm(plan, decoder)) add_feature(list, "embedding-norm", "");
    if (!stack->pre_norm && final_norm) add_feature(list, "final-norm", "post");
    if (stack->pre_norm && !final_norm) add_feature(list, "final-norm", "none");
}

static void put_features(ferry_gguf_writer *writer, const ferry_import_plan *plan, const ferry_import_options *options)
{
    feature_list list = {.count = 0};
    const ferry_transformer *model = &plan->model;
    const ferry_model_languages *languages = &plan->text.languages;
    add_feature(&list, "encoder-decoder", "");
    add_feature(&list, "panels16", "");
    for (size_t i = 0; i < plan->tensor_count; i++) {
        const ferry_import_tensor *tensor = &plan->tensors[i];
        if (tensor->form != FERRY_IMPORT_MATRIX) continue;
        add_feature(&list, "type", ferry_type_name(ferry_import_matrix_type(tensor, options)));
    }
    add_feature(&list, "decoder", model->ssru ? "ssru" : "attention");
    add_stack_features(&list, plan, false);
    add_stack_features(&list, plan, true);
    if (model->output_scale != 1) add_feature(&list, "output-scale", "");
    if (plan->generation.start_id < 0) add_feature(&list, "start", "zero");
    if (model->sentence_inputs) add_feature(&list, "inputs", "sentence");
    if (has_shortlist(plan)) add_feature(&list, "shortlist", "");
    add_feature(&list, "policy", policy_name(plan->generation.decoding.policy));
    add_feature(&list, "tokenizer", tokenizer_name(&plan->text));
    if (plan->text.opus_punctuation) add_feature(&list, "opus-punctuation", "");
    if (languages->source_tag != FERRY_TAG_NONE || languages->target_tag != FERRY_TAG_NONE ||
        languages->prompt_count > 0) {
        add_feature(&list, "languages", "");
    }
    ferry_gguf_put_texts(writer, "ferry.features", list.views, list.count);
}

/* ---- keys ---- */

typedef struct key_text {
    char text[64];
} key_text;

static key_text stack_key(const char *stack, const char *key)
{
    key_text result;
    snprintf(result.text, sizeof result.text, "ferry.%s.%s", stack, key);
    return result;
}

static void put_parameters(ferry_gguf_writer *writer, const char *stack, const ferry_import_position *position)
{
    for (size_t i = 0; i < position->count; i++) {
        const ferry_import_parameter *parameter = &position->parameters[i];
        key_text key;
        snprintf(key.text, sizeof key.text, "ferry.%s.position.%s", stack, parameter->key);
        switch (parameter->kind) {
        case FERRY_IMPORT_TEXT: ferry_gguf_put_string(writer, key.text, parameter->text); break;
        case FERRY_IMPORT_INTEGER: ferry_gguf_put_u32(writer, key.text, (uint32_t)parameter->integer); break;
        case FERRY_IMPORT_REAL: ferry_gguf_put_f32(writer, key.text, parameter->real); break;
        }
    }
}

static void put_stack(ferry_gguf_writer *writer, const ferry_import_plan *plan, bool decoder)
{
    const char *name = decoder ? "decoder" : "encoder";
    const ferry_stack *stack = decoder ? &plan->model.decoder : &plan->model.encoder;
    const ferry_import_position *position = decoder ? &plan->decoder_position : &plan->encoder_position;
    const struct {
        const char *key;
        int32_t value;
    } sizes[] = {{"layers", stack->layer_count},
                 {"heads", stack->heads},
                 {"head_width", stack->head_width},
                 {"ffn_width", stack->ffn_width},
                 {"vocab_size", stack->vocab_size}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        ferry_gguf_put_u32(writer, stack_key(name, sizes[i].key).text, (uint32_t)sizes[i].value);
    }
    ferry_gguf_put_string(writer, stack_key(name, "activation").text, activation_name(stack->activation));
    ferry_gguf_put_bool(writer, stack_key(name, "ffn_gated").text, stack->gated);
    ferry_gguf_put_string(writer, stack_key(name, "norm").text, norm_name(stack->norm));
    ferry_gguf_put_string(writer, stack_key(name, "norm_position").text, stack->pre_norm ? "pre" : "post");
    ferry_gguf_put_f32(writer, stack_key(name, "norm_eps").text, stack->norm_eps);
    ferry_gguf_put_bool(writer, stack_key(name, "embedding_norm").text, has_embedding_norm(plan, decoder));
    ferry_gguf_put_bool(writer, stack_key(name, "final_norm").text, has_final_norm(plan, decoder));
    ferry_gguf_put_bool(writer, stack_key(name, "linear_bias").text, has_linear_bias(plan, decoder));
    ferry_gguf_put_f32(writer, stack_key(name, "attention_scale").text, stack->attention_scale);
    ferry_gguf_put_string(writer, stack_key(name, "position.type").text, position->type);
    put_parameters(writer, name, position);
}

static void put_graph(ferry_gguf_writer *writer, const ferry_import_plan *plan)
{
    const ferry_transformer *model = &plan->model;
    ferry_gguf_put_u32(writer, "ferry.d_model", (uint32_t)model->d_model);
    ferry_gguf_put_f32(writer, "ferry.embedding_scale", model->embedding_scale);
    ferry_gguf_put_f32(writer, "ferry.output_scale", model->output_scale);
    ferry_gguf_put_bool(writer, "ferry.tied_embeddings", plan->tied_embeddings);
    ferry_gguf_put_bool(writer, "ferry.tied_output", plan->tied_output);
    ferry_gguf_put_bool(writer, "ferry.output_bias", plan->output_bias);
    ferry_gguf_put_bool(writer, "ferry.inputs_by_sentence", model->sentence_inputs);
    put_stack(writer, plan, false);
    put_stack(writer, plan, true);
    ferry_gguf_put_string(writer, "ferry.decoder.block", model->ssru ? "ssru" : "attention");
    ferry_gguf_put_i32(writer, "ferry.alignment_layer", plan->generation.alignment_layer);
    ferry_gguf_put_i32(writer, "ferry.alignment_head", plan->generation.alignment_head);
    if (has_shortlist(plan)) {
        ferry_gguf_put_u32(writer, "ferry.shortlist.first", (uint32_t)plan->generation.shortlist.first);
        ferry_gguf_put_bool(writer, "ferry.shortlist.shared", plan->generation.shortlist.shared);
    }
    ferry_gguf_put_i32(writer, "ferry.start_id", plan->generation.start_id);
    ferry_gguf_put_i32s(writer, "ferry.eos_ids", plan->generation.eos_ids, (size_t)plan->generation.eos_count);
    ferry_gguf_put_i32(writer, "ferry.pad_id", plan->generation.pad_id);
}

static void put_decoding(ferry_gguf_writer *writer, const ferry_options *decoding)
{
    static const char *const stopping[] = {[FERRY_EARLY_STOPPING_FALSE] = "false",
                                           [FERRY_EARLY_STOPPING_TRUE] = "true",
                                           [FERRY_EARLY_STOPPING_NEVER] = "never"};
    ferry_gguf_put_string(writer, "ferry.decoding.policy", policy_name(decoding->policy));
    ferry_gguf_put_u32(writer, "ferry.decoding.beam", (uint32_t)decoding->beam);
    ferry_gguf_put_f32(writer, "ferry.decoding.length_penalty", decoding->length_penalty);
    ferry_gguf_put_f32(writer, "ferry.decoding.word_penalty", decoding->word_penalty);
    ferry_gguf_put_string(writer, "ferry.decoding.early_stopping", stopping[decoding->early_stopping]);
    ferry_gguf_put_u32(writer, "ferry.decoding.max_length", (uint32_t)decoding->max_length);
    ferry_gguf_put_f32(writer, "ferry.decoding.length_factor", decoding->length_factor);
    ferry_gguf_put_u32(writer, "ferry.decoding.length_extra", (uint32_t)decoding->length_extra);
    ferry_gguf_put_u32(writer, "ferry.decoding.min_length", (uint32_t)decoding->min_length);
    ferry_gguf_put_f32(writer, "ferry.decoding.repetition_penalty", decoding->repetition_penalty);
    ferry_gguf_put_u32(writer, "ferry.decoding.no_repeat_ngram", (uint32_t)decoding->no_repeat_ngram);
    ferry_gguf_put_bool(writer, "ferry.decoding.renormalize", decoding->renormalize);
    ferry_gguf_put_i32(writer, "ferry.decoding.forced_first_id", decoding->forced_first_id);
    ferry_gguf_put_i32(writer, "ferry.decoding.forced_last_id", decoding->forced_last_id);
    ferry_gguf_put_i32s(writer, "ferry.decoding.suppressed_ids", decoding->suppressed_ids,
                        (size_t)decoding->suppressed_count);
    ferry_gguf_put_bool(writer, "ferry.decoding.shortlist", decoding->shortlist);
}

static bool same_pieces(const ferry_model_text *text)
{
    if (text->source_count != text->target_count) return false;
    for (int32_t i = 0; i < text->source_count; i++) {
        if (!ferry_view_equal(text->source_pieces[i], text->target_pieces[i])) return false;
    }
    return true;
}

static void put_segmenters(ferry_gguf_writer *writer, const ferry_model_text *text)
{
    if (text->source_model.size == 0) return;
    ferry_gguf_put_bytes(writer, "ferry.tokenizer.source.model", text->source_model);
    if (!ferry_view_equal(text->source_model, text->target_model)) {
        ferry_gguf_put_bytes(writer, "ferry.tokenizer.target.model", text->target_model);
    }
}

static void put_text(ferry_gguf_writer *writer, const ferry_model_text *text)
{
    ferry_gguf_put_string(writer, "ferry.tokenizer.kind", tokenizer_name(text));
    if (!text->present) return;
    ferry_gguf_put_u32(writer, "ferry.tokenizer.source.unk_id", (uint32_t)text->source_unk_id);
    ferry_gguf_put_bool(writer, "ferry.tokenizer.source.leading_tag", text->leading_tag);
    ferry_gguf_put_bool(writer, "ferry.tokenizer.source.opus_punctuation", text->opus_punctuation);
    ferry_gguf_put_i32s(writer, "ferry.tokenizer.source.prefix_ids", text->prefix_ids, (size_t)text->prefix_count);
    ferry_gguf_put_i32s(writer, "ferry.tokenizer.source.suffix_ids", text->suffix_ids, (size_t)text->suffix_count);
    ferry_gguf_put_i32s(writer, "ferry.tokenizer.target.special_ids", text->special_ids, (size_t)text->special_count);
    put_segmenters(writer, text);
    ferry_gguf_put_texts(writer, "ferry.tokenizer.source.pieces", text->source_pieces, (size_t)text->source_count);
    if (!same_pieces(text)) {
        ferry_gguf_put_texts(writer, "ferry.tokenizer.target.pieces", text->target_pieces, (size_t)text->target_count);
    }
}

static void put_languages(ferry_gguf_writer *writer, const ferry_model_languages *languages)
{
    static const char *const places[] = {[FERRY_TAG_NONE] = "none",
                                         [FERRY_TAG_PREFIX] = "prefix",
                                         [FERRY_TAG_SUFFIX] = "suffix",
                                         [FERRY_TAG_FIRST] = "first"};
    const size_t count = (size_t)languages->count, prompts = (size_t)languages->prompt_count;
    if (count == 0) return;
    ferry_gguf_put_texts(writer, "ferry.languages.names", languages->names, count);
    ferry_gguf_put_i32s(writer, "ferry.languages.roles", languages->roles, count);
    ferry_gguf_put_i32s(writer, "ferry.languages.source_ids", languages->source_ids, count);
    ferry_gguf_put_i32s(writer, "ferry.languages.target_ids", languages->target_ids, count);
    ferry_gguf_put_string(writer, "ferry.languages.source_tag", places[languages->source_tag]);
    ferry_gguf_put_string(writer, "ferry.languages.target_tag", places[languages->target_tag]);
    ferry_gguf_put_texts(writer, "ferry.languages.prompts", languages->prompts, prompts);
    ferry_gguf_put_i32s(writer, "ferry.languages.prompt_sources", languages->prompt_sources, prompts);
    ferry_gguf_put_i32s(writer, "ferry.languages.prompt_targets", languages->prompt_targets, prompts);
    ferry_gguf_put_i32(writer, "ferry.languages.default_source", languages->default_source);
    ferry_gguf_put_i32(writer, "ferry.languages.default_target", languages->default_target);
}

static ferry_status put_files(ferry_gguf_writer *writer, const ferry_import_plan *plan, ferry_view *files,
                              ferry_view *hashes, uint64_t *sizes, size_t count, ferry_error *error)
{
    for (size_t i = 0; i < count; i++) {
        const char *name, *hash;
        FERRY_TRY(ferry_import_source_read(plan->source, i, &name, &sizes[i], &hash, error));
        files[i] = (ferry_view){name, strlen(name)};
        hashes[i] = (ferry_view){hash, strlen(hash)};
    }
    ferry_gguf_put_texts(writer, "ferry.origin.files", files, count);
    ferry_gguf_put_u64s(writer, "ferry.origin.sizes", sizes, count);
    ferry_gguf_put_texts(writer, "ferry.origin.hashes", hashes, count);
    return FERRY_OK;
}

static ferry_status put_origin(ferry_gguf_writer *writer, const ferry_import_plan *plan, ferry_error *error)
{
    const size_t count = ferry_import_source_read_count(plan->source);
    ferry_view *files = calloc(count + 1, sizeof *files);
    ferry_view *hashes = calloc(count + 1, sizeof *hashes);
    uint64_t *sizes = calloc(count + 1, sizeof *sizes);
    ferry_gguf_put_string(writer, "ferry.origin.kind", plan->kind);
    ferry_gguf_put_string(writer, "ferry.origin.name", plan->name);
    if (plan->license.size > 0) ferry_gguf_put_text(writer, "ferry.origin.licence", plan->license);
    const ferry_status status = files != NULL && hashes != NULL && sizes != NULL
                                    ? put_files(writer, plan, files, hashes, sizes, count, error)
                                    : ferry_fail_memory(error, "a list of files", count * sizeof *files);
    free(files);
    free(hashes);
    free(sizes);
    return status;
}

ferry_status ferry_import_write(const ferry_import_plan *plan, const char *output, const ferry_import_options *options,
                                ferry_error *error)
{
    ferry_gguf_writer *writer;
    FERRY_TRY(ferry_gguf_writer_create(output, &writer, error));
    ferry_gguf_put_string(writer, "general.architecture", "ferry");
    ferry_gguf_put_string(writer, "general.name", options->name != NULL ? options->name : plan->name);
    ferry_gguf_put_u32(writer, "ferry.format", FORMAT);
    put_features(writer, plan, options);
    put_graph(writer, plan);
    put_decoding(writer, &plan->generation.decoding);
    put_text(writer, &plan->text);
    put_languages(writer, &plan->text.languages);
    ferry_status status = put_origin(writer, plan, error);
    if (status == FERRY_OK) status = ferry_import_declare(plan, writer, options, error);
    if (status == FERRY_OK) status = ferry_gguf_writer_start(writer, error);
    if (status == FERRY_OK) status = ferry_import_append(plan, writer, options, error);
    if (status == FERRY_OK) status = ferry_gguf_writer_finish(writer, error);
    ferry_gguf_writer_destroy(writer);
    return status;
}
