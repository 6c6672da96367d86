/* From a plan to a model file. docs/model-file.md explains every key. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../engine/base/half.h"
#include "gguf_write.h"
#include "import_plan.h"
#include "printable.h"

enum { FORMAT = 1, MAX_FEATURES = 24, VECTOR_CHUNK = 1 << 14 };

/* ---- keys ---- */

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
    }
    return "";
}

static void put_features(ferry_gguf_writer *writer, const ferry_import_plan *plan, ferry_type type)
{
    feature_list list = {.count = 0};
    const ferry_stack *stacks[] = {&plan->model.encoder, &plan->model.decoder};
    const ferry_import_position *positions[] = {&plan->encoder_position, &plan->decoder_position};
    add_feature(&list, "encoder-decoder", "");
    add_feature(&list, "panels16", "");
    add_feature(&list, "type", ferry_type_name(type));
    add_feature(&list, "norm", "layernorm");
    add_feature(&list, "decoder", "attention");
    for (int i = 0; i < 2; i++) {
        add_feature(&list, "norm-position", stacks[i]->pre_norm ? "pre" : "post");
        add_feature(&list, "activation", activation_name(stacks[i]->activation));
        add_feature(&list, "position", positions[i]->type);
    }
    add_feature(&list, "policy", "huggingface");
    add_feature(&list, "tokenizer", plan->text.present ? "sentencepiece" : "none");
    ferry_gguf_put_texts(writer, "ferry.features", list.views, list.count);
}

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

static void put_stack(ferry_gguf_writer *writer, const char *name, const ferry_stack *stack,
                      const ferry_import_position *position)
{
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
    ferry_gguf_put_string(writer, stack_key(name, "norm").text, "layernorm");
    ferry_gguf_put_string(writer, stack_key(name, "norm_position").text, stack->pre_norm ? "pre" : "post");
    ferry_gguf_put_f32(writer, stack_key(name, "norm_eps").text, stack->norm_eps);
    ferry_gguf_put_bool(writer, stack_key(name, "final_norm").text, stack->pre_norm);
    ferry_gguf_put_bool(writer, stack_key(name, "linear_bias").text, true);
    ferry_gguf_put_f32(writer, stack_key(name, "attention_scale").text, stack->attention_scale);
    ferry_gguf_put_string(writer, stack_key(name, "position.type").text, position->type);
    put_parameters(writer, name, position);
}

static void put_graph(ferry_gguf_writer *writer, const ferry_import_plan *plan)
{
    const ferry_transformer *model = &plan->model;
    ferry_gguf_put_u32(writer, "ferry.d_model", (uint32_t)model->d_model);
    ferry_gguf_put_f32(writer, "ferry.embedding_scale", model->embedding_scale);
    ferry_gguf_put_bool(writer, "ferry.tied_embeddings", plan->tied_embeddings);
    ferry_gguf_put_bool(writer, "ferry.tied_output", plan->tied_output);
    ferry_gguf_put_bool(writer, "ferry.output_bias", plan->output_bias);
    put_stack(writer, "encoder", &model->encoder, &plan->encoder_position);
    put_stack(writer, "decoder", &model->decoder, &plan->decoder_position);
    ferry_gguf_put_string(writer, "ferry.decoder.block", "attention");
    ferry_gguf_put_u32(writer, "ferry.start_id", (uint32_t)model->start_id);
    ferry_gguf_put_i32s(writer, "ferry.eos_ids", model->eos_ids, (size_t)model->eos_count);
    ferry_gguf_put_i32(writer, "ferry.pad_id", model->pad_id);
}

static void put_decoding(ferry_gguf_writer *writer, const ferry_decoding *decoding)
{
    static const char *const stopping[] = {[FERRY_EARLY_STOPPING_FALSE] = "false",
                                           [FERRY_EARLY_STOPPING_TRUE] = "true",
                                           [FERRY_EARLY_STOPPING_NEVER] = "never"};
    ferry_gguf_put_string(writer, "ferry.decoding.policy", "huggingface");
    ferry_gguf_put_u32(writer, "ferry.decoding.beam", (uint32_t)decoding->beam);
    ferry_gguf_put_f32(writer, "ferry.decoding.length_penalty", decoding->length_penalty);
    ferry_gguf_put_string(writer, "ferry.decoding.early_stopping", stopping[decoding->early_stopping]);
    ferry_gguf_put_u32(writer, "ferry.decoding.max_length", (uint32_t)decoding->max_length);
    ferry_gguf_put_u32(writer, "ferry.decoding.min_length", (uint32_t)decoding->min_length);
    ferry_gguf_put_f32(writer, "ferry.decoding.repetition_penalty", decoding->repetition_penalty);
    ferry_gguf_put_u32(writer, "ferry.decoding.no_repeat_ngram", (uint32_t)decoding->no_repeat_ngram);
    ferry_gguf_put_bool(writer, "ferry.decoding.renormalize", decoding->renormalize);
    ferry_gguf_put_i32(writer, "ferry.decoding.forced_first_id", decoding->forced_first_id);
    ferry_gguf_put_i32(writer, "ferry.decoding.forced_last_id", decoding->forced_last_id);
    ferry_gguf_put_i32s(writer, "ferry.decoding.suppressed_ids", decoding->suppressed_ids,
                        (size_t)decoding->suppressed_count);
}

static bool same_pieces(const ferry_model_text *text)
{
    if (text->source_count != text->target_count) return false;
    for (int32_t i = 0; i < text->source_count; i++) {
        if (!ferry_view_equal(text->source_pieces[i], text->target_pieces[i])) return false;
    }
    return true;
}

static void put_text(ferry_gguf_writer *writer, const ferry_model_text *text)
{
    ferry_gguf_put_string(writer, "ferry.tokenizer.kind", text->present ? "sentencepiece" : "none");
    if (!text->present) return;
    ferry_gguf_put_u32(writer, "ferry.tokenizer.source.unk_id", (uint32_t)text->source_unk_id);
    ferry_gguf_put_bool(writer, "ferry.tokenizer.source.leading_tag", text->leading_tag);
    ferry_gguf_put_i32s(writer, "ferry.tokenizer.source.prefix_ids", text->prefix_ids, (size_t)text->prefix_count);
    ferry_gguf_put_i32s(writer, "ferry.tokenizer.source.suffix_ids", text->suffix_ids, (size_t)text->suffix_count);
    ferry_gguf_put_i32s(writer, "ferry.tokenizer.target.special_ids", text->special_ids, (size_t)text->special_count);
    ferry_gguf_put_bytes(writer, "ferry.tokenizer.source.model", text->source_model);
    if (!ferry_view_equal(text->source_model, text->target_model)) {
        ferry_gguf_put_bytes(writer, "ferry.tokenizer.target.model", text->target_model);
    }
    ferry_gguf_put_texts(writer, "ferry.tokenizer.source.pieces", text->source_pieces, (size_t)text->source_count);
    if (!same_pieces(text)) {
        ferry_gguf_put_texts(writer, "ferry.tokenizer.target.pieces", text->target_pieces, (size_t)text->target_count);
    }
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static ferry_status put_origin(ferry_gguf_writer *writer, const ferry_import_plan *plan, ferry_error *error)
{
    const size_t count = plan->map_count + plan->weights.part_count;
    ferry_view *files = calloc(count + 1, sizeof *files);
    uint64_t *sizes = calloc(count + 1, sizeof *sizes);
    ferry_status status = FERRY_OK;
    if (files == NULL || sizes == NULL) {
        status = ferry_fail_memory(error, "a list of files", count * sizeof *files);
    } else {
        for (size_t i = 0; i < count; i++) {
            const bool map = i < plan->map_count;
            const size_t part = i - plan->map_count;
            const char *file = map ? plan->map_names[i] : base_name(ferry_safetensors_part_path(&plan->weights, part));
            files[i] = (ferry_view){file, strlen(file)};
            sizes[i] = map ? plan->maps[i].bytes.size : ferry_safetensors_part_size(&plan->weights, part);
        }
        ferry_gguf_put_string(writer, "ferry.origin.kind", plan->kind);
        ferry_gguf_put_string(writer, "ferry.origin.name", plan->name);
        if (plan->licence.size > 0) ferry_gguf_put_text(writer, "ferry.origin.licence", plan->licence);
        ferry_gguf_put_texts(writer, "ferry.origin.files", files, count);
        ferry_gguf_put_u64s(writer, "ferry.origin.sizes", sizes, count);
    }
    free(files);
    free(sizes);
    return status;
}

/* ---- tensors ---- */

static void declare(ferry_gguf_writer *writer, const ferry_import_tensor *tensor, ferry_type type)
{
    const int64_t *shape = tensor->source->shape;
    const int64_t vector[] = {ferry_tensor_count(tensor->source)};
    const int64_t panels[] = {(shape[0] + FERRY_LANES - 1) / FERRY_LANES, shape[1], FERRY_LANES};
    switch (tensor->form) {
    case FERRY_IMPORT_VECTOR: ferry_gguf_declare(writer, tensor->name, FERRY_F32, 1, vector); break;
    case FERRY_IMPORT_TABLE: ferry_gguf_declare(writer, tensor->name, FERRY_F32, 2, shape); break;
    case FERRY_IMPORT_MATRIX: ferry_gguf_declare(writer, tensor->name, type, 3, panels); break;
    }
}

/* What one tensor is written through: `rows` receives what the source says, `panel` its packed form. */
typedef struct tensor_writer {
    const ferry_import_plan *plan;
    ferry_gguf_writer *writer;
    ferry_type type;
    float *rows;
    float *panel;
    uint16_t *halves;
    size_t capacity; /* of each, elements */
} tensor_writer;

static ferry_status fail_overflow(const tensor_writer *converter, const ferry_import_tensor *tensor, const char *type,
                                  ferry_error *error)
{
    return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: tensor '%s': a value is too large for %s",
                      ferry_safetensors_path(&converter->plan->weights, tensor->source),
                      ferry_printable_view(tensor->source->name).text, type);
}

/* Elements first … first + count - 1 of the source into converter->rows. */
static ferry_status read_rows(const tensor_writer *converter, const ferry_import_tensor *tensor, size_t first,
                              size_t count, ferry_error *error)
{
    ferry_import_widen(tensor->source, first, count, converter->rows);
    if (tensor->source->type != FERRY_F64) return FERRY_OK;
    for (size_t i = 0; i < count; i++) {
        if (isinf(converter->rows[i])) return fail_overflow(converter, tensor, "f32", error);
    }
    return FERRY_OK;
}

static ferry_status append_halves(const tensor_writer *converter, const ferry_import_tensor *tensor, size_t count,
                                  ferry_error *error)
{
    const uint16_t infinity = 0x7c00;
    for (size_t i = 0; i < count; i++) {
        converter->halves[i] = ferry_f32_to_f16(converter->panel[i]);
        if ((converter->halves[i] & 0x7fff) == infinity && !isinf(converter->panel[i])) {
            return fail_overflow(converter, tensor, "f16: use f32", error);
        }
    }
    return ferry_gguf_writer_append(converter->writer, converter->halves, count * sizeof *converter->halves, error);
}

/* Panel by panel: 16 rows at a time are in memory. */
static ferry_status write_matrix(const tensor_writer *converter, const ferry_import_tensor *tensor, ferry_error *error)
{
    const int64_t N = tensor->source->shape[0];
    const int32_t K = (int32_t)tensor->source->shape[1];
    for (int64_t n = 0; n < N; n += FERRY_LANES) {
        const int32_t rows = N - n < FERRY_LANES ? (int32_t)(N - n) : FERRY_LANES;
        const size_t count = (size_t)FERRY_LANES * (size_t)K;
        FERRY_TRY(read_rows(converter, tensor, (size_t)n * (size_t)K, (size_t)rows * (size_t)K, error));
        ferry_panels_pack(converter->panel, converter->rows, rows, K);
        if (converter->type == FERRY_F16) {
            FERRY_TRY(append_halves(converter, tensor, count, error));
        } else {
            FERRY_TRY(ferry_gguf_writer_append(converter->writer, converter->panel, count * sizeof(float), error));
        }
    }
    return FERRY_OK;
}

static ferry_status write_rows(const tensor_writer *converter, const ferry_import_tensor *tensor, ferry_error *error)
{
    const size_t total = (size_t)ferry_tensor_count(tensor->source);
    for (size_t first = 0; first < total; first += VECTOR_CHUNK) {
        const size_t count = total - first < VECTOR_CHUNK ? total - first : VECTOR_CHUNK;
        FERRY_TRY(read_rows(converter, tensor, first, count, error));
        FERRY_TRY(ferry_gguf_writer_append(converter->writer, converter->rows, count * sizeof(float), error));
    }
    return FERRY_OK;
}

static ferry_status allocate_converter(tensor_writer *converter, ferry_error *error)
{
    converter->capacity = VECTOR_CHUNK;
    for (size_t i = 0; i < converter->plan->tensor_count; i++) {
        const ferry_import_tensor *tensor = &converter->plan->tensors[i];
        if (tensor->form != FERRY_IMPORT_MATRIX) continue;
        const size_t count = (size_t)FERRY_LANES * (size_t)tensor->source->shape[1];
        if (count > converter->capacity) converter->capacity = count;
    }
    converter->rows = malloc(converter->capacity * sizeof *converter->rows);
    converter->panel = malloc(converter->capacity * sizeof *converter->panel);
    converter->halves = malloc(converter->capacity * sizeof *converter->halves);
    if (converter->rows != NULL && converter->panel != NULL && converter->halves != NULL) return FERRY_OK;
    return ferry_fail_memory(error, "a panel of a matrix", converter->capacity * sizeof *converter->rows);
}

static ferry_status write_tensors(const ferry_import_plan *plan, ferry_gguf_writer *writer, ferry_type type,
                                  ferry_error *error)
{
    tensor_writer converter = {.plan = plan, .writer = writer, .type = type};
    ferry_status status = allocate_converter(&converter, error);
    for (size_t i = 0; status == FERRY_OK && i < plan->tensor_count; i++) {
        const ferry_import_tensor *tensor = &plan->tensors[i];
        status = tensor->form == FERRY_IMPORT_MATRIX ? write_matrix(&converter, tensor, error)
                                                     : write_rows(&converter, tensor, error);
        ferry_safetensors_release(&plan->weights, tensor->source);
    }
    free(converter.rows);
    free(converter.panel);
    free(converter.halves);
    return status;
}

ferry_status ferry_import_write(const ferry_import_plan *plan, const char *output, ferry_type type, const char *name,
                                ferry_error *error)
{
    ferry_gguf_writer *writer;
    FERRY_TRY(ferry_gguf_writer_create(output, &writer, error));
    ferry_gguf_put_string(writer, "general.architecture", "ferry");
    ferry_gguf_put_string(writer, "general.name", name);
    ferry_gguf_put_u32(writer, "ferry.format", FORMAT);
    put_features(writer, plan, type);
    put_graph(writer, plan);
    put_decoding(writer, &plan->model.decoding);
    put_text(writer, &plan->text);
    ferry_status status = put_origin(writer, plan, error);
    for (size_t i = 0; i < plan->tensor_count; i++) declare(writer, &plan->tensors[i], type);
    if (status == FERRY_OK) status = ferry_gguf_writer_start(writer, error);
    if (status == FERRY_OK) status = write_tensors(plan, writer, type, error);
    if (status == FERRY_OK) status = ferry_gguf_writer_finish(writer, error);
    ferry_gguf_writer_destroy(writer);
    return status;
}
