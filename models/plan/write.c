/* Writes a plan as a model file. docs/model-file.md explains every key. */
#include "write.h"
#include "write_tensors.h"
#include "gguf_write.h"
#include "plan_tensors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FEATURES = 32 };

/* ---- what follows from the plan's tensors ---- */

static bool has_tensor(const ferry_import_plan *plan, const char *name)
{
    for (size_t i = 0; i < plan->tensor_count; i++)
        if (strcmp(plan->tensors[i].name, name) == 0) return true;
    return false;
}

static void complete_stack(ferry_stack *stack, const ferry_import_plan *plan, const char *name)
{
    stack->has_embedding_norm = has_tensor(plan, ferry_format("%s.embd_norm.weight", name).text);
    stack->has_final_norm = has_tensor(plan, ferry_format("%s.output_norm.weight", name).text);
    stack->linear_bias = has_tensor(plan, ferry_format("%s.blk.0.ffn_up.bias", name).text);
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
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->texts[i], text) == 0) return;
    list->views[list->count++] = (ferry_view){text, strlen(text)};
}

static void add_stack_features(feature_list *list, const ferry_stack *stack)
{
    add_feature(list, "norm", ferry_norm_names[stack->norm]);
    add_feature(list, "norm-position", ferry_norm_position_names[stack->pre_norm]);
    add_feature(list, "activation", ferry_activation_names[stack->activation]);
    add_feature(list, "position", stack->position.scheme->name);
    const ferry_position_parameter *parameter = stack->position.scheme->parameters;
    for (size_t i = 0; parameter != NULL && parameter->key != NULL; i++, parameter++)
        if (parameter->word != NULL && ferry_position_says(&stack->position, i))
            add_feature(list, parameter->word, parameter->choices[(int)stack->position.values[i]]);
    if (stack->gated) add_feature(list, "ffn", "gated");
    if (stack->has_embedding_norm) add_feature(list, "embedding-norm", "");
    if (!stack->pre_norm && stack->has_final_norm) add_feature(list, "final-norm", "post");
    if (stack->pre_norm && !stack->has_final_norm) add_feature(list, "final-norm", "none");
}

static void put_features(ferry_gguf_writer *writer, const ferry_import_plan *plan, const ferry_schema_values *values,
                         const ferry_import_options *options)
{
    feature_list list = {.count = 0};
    const ferry_transformer *model = values->transformer;
    const ferry_tokenizer_config *text = values->text;
    const ferry_model_languages *languages = values->languages;
    add_feature(&list, "encoder-decoder", "");
    add_feature(&list, "panels16", "");
    for (size_t i = 0; i < plan->tensor_count; i++) {
        const ferry_import_tensor *tensor = &plan->tensors[i];
        if (tensor->form != FERRY_IMPORT_MATRIX) continue;
        const ferry_matrix_kind kind = ferry_import_matrix_kind(plan, tensor, options);
        add_feature(&list, "type",
                    kind == FERRY_MATRIX_STEPS ? "i4" : ferry_type_name(ferry_import_matrix_type(tensor, options)));
        if (ferry_import_has_coarse(plan, tensor, options)) add_feature(&list, "output-coarse", "bound");
        if (kind == FERRY_MATRIX_PLANES) add_feature(&list, "planes", "");
    }
    add_feature(&list, "decoder", ferry_block_names[model->ssru]);
    add_stack_features(&list, &model->encoder);
    add_stack_features(&list, &model->decoder);
    if (model->output_scale != 1) add_feature(&list, "output-scale", "");
    if (values->generation->start_id < 0) add_feature(&list, "start", "zero");
    if (model->sentence_inputs) add_feature(&list, "inputs", "sentence");
    if (values->shortlist) add_feature(&list, "shortlist", "");
    add_feature(&list, "policy", ferry_policy_names[values->generation->decoding.search.policy]);
    add_feature(&list, "tokenizer", ferry_tokenizer_names[text->kind]);
    if (text->source_moses.size > 0) add_feature(&list, "moses", "");
    if (text->opus_punctuation) add_feature(&list, "opus-punctuation", "");
    if (languages->source_tag != FERRY_TAG_NONE || languages->target_tag != FERRY_TAG_NONE ||
        languages->prompt_count > 0)
        add_feature(&list, "languages", "");
    ferry_gguf_put_texts(writer, "ferry.features", list.views, list.count);
}

/* ---- keys ---- */

static void put_key(ferry_gguf_writer *writer, const char *name, const ferry_key *key, const char *group)
{
    static const ferry_gguf_type elements[] = {
        [FERRY_KEY_IDS] = FERRY_GGUF_I32, [FERRY_KEY_SIZES] = FERRY_GGUF_U64, [FERRY_KEY_REALS] = FERRY_GGUF_F64};
    const char *place = group + key->offset;
    const void *values;
    const ferry_string_table *texts;
    ferry_view bytes;
    switch (key->kind) {
    case FERRY_KEY_SIZE: ferry_gguf_put(writer, name, FERRY_GGUF_U32, place); break;
    case FERRY_KEY_ID: ferry_gguf_put(writer, name, FERRY_GGUF_I32, place); break;
    case FERRY_KEY_REAL: ferry_gguf_put(writer, name, FERRY_GGUF_F32, place); break;
    case FERRY_KEY_BOOL: ferry_gguf_put_bool(writer, name, ferry_key_integer(key, group) != 0); break;
    case FERRY_KEY_CHOICE: ferry_gguf_put_string(writer, name, key->choices[ferry_key_integer(key, group)]); break;
    case FERRY_KEY_TEXT: ferry_gguf_put(writer, name, FERRY_GGUF_TEXT, place); break;
    case FERRY_KEY_BYTES:
        memcpy(&bytes, place, sizeof bytes);
        ferry_gguf_put_array(writer, name, FERRY_GGUF_U8, bytes.data, bytes.size);
        break;
    case FERRY_KEY_TEXTS:
        memcpy(&texts, place, sizeof texts);
        ferry_gguf_put_list(writer, name, texts, ferry_key_count(key, group));
        break;
    default:
        memcpy(&values, place, sizeof values);
        ferry_gguf_put_array(writer, name, elements[key->kind], values, ferry_key_count(key, group));
    }
}

static void put_position(ferry_gguf_writer *writer, const char *prefix, const ferry_position *position)
{
    const ferry_position_parameter *parameters = position->scheme->parameters;
    ferry_gguf_put_string(writer, ferry_format("%sposition.type", prefix).text, position->scheme->name);
    for (size_t i = 0; parameters != NULL && parameters[i].key != NULL; i++) {
        const ferry_short_text key = ferry_format("%sposition.%s", prefix, parameters[i].key);
        const double value = position->values[i];
        if (!ferry_position_says(position, i)) continue;
        switch (parameters[i].kind) {
        case FERRY_POSITION_CHOICE: ferry_gguf_put_string(writer, key.text, parameters[i].choices[(int)value]); break;
        case FERRY_POSITION_INTEGER: ferry_gguf_put_u32(writer, key.text, (uint32_t)value); break;
        case FERRY_POSITION_REAL: ferry_gguf_put_f32(writer, key.text, (float)value); break;
        }
    }
}

/* Refuses values above the limits of a model file, and real numbers outside of their range. */
static ferry_status check_work(const char *name, const ferry_key *key, const void *group, ferry_error *error)
{
    const size_t count = key->max_count > 0 ? ferry_key_count(key, group) : 0;
    if (count > key->max_count)
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: a model file has at most %zu, found %zu", name,
                          key->max_count, count);
    if (key->file_max == 0 && key->kind != FERRY_KEY_REAL) return FERRY_OK;
    const double value = ferry_key_number(key, group);
    const double max = key->file_max == 0 ? key->max : key->file_max;
    if (ferry_key_admits(key, value, max)) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: a model file has %s, found %.10g", name,
                      ferry_key_range(key, max).text, value);
}

/* Whether the key is an optional array that is absent, although its count, which is another array's, is above 0. */
static bool is_missing(const ferry_key *key, const void *group)
{
    const void *values;
    if (!key->optional || !key->matches) return false;
    memcpy(&values, (const char *)group + key->offset, sizeof values);
    return values == NULL && ferry_key_count(key, group) > 0;
}

/* Every group of keys in the order of the schema, which is the file's. */
static ferry_status put_keys(ferry_gguf_writer *writer, const ferry_schema_values *values, ferry_error *error)
{
    for (ferry_key_group group = 0; group < FERRY_KEY_GROUPS; group++) {
        const ferry_key_table table = ferry_schema_keys(group);
        const bool absent = (group == FERRY_KEYS_TOKENIZER && values->text->kind == FERRY_TOKENIZER_NONE) ||
                            (group == FERRY_KEYS_LANGUAGES && values->languages->count == 0);
        for (const ferry_key *key = table.keys; key < table.keys + table.count && !absent; key++) {
            if (!ferry_key_applies(key, values) || is_missing(key, ferry_schema_group(values, group))) continue;
            const ferry_short_text name = ferry_format("%s%s", table.prefix, key->name);
            FERRY_TRY(check_work(name.text, key, ferry_schema_group(values, group), error));
            put_key(writer, name.text, key, ferry_schema_group(values, group));
        }
        if (group == FERRY_KEYS_ENCODER) put_position(writer, table.prefix, &values->transformer->encoder.position);
        if (group == FERRY_KEYS_DECODER) put_position(writer, table.prefix, &values->transformer->decoder.position);
    }
    return FERRY_OK;
}

/* ---- origin ---- */

/* The files that were read, in memory of `arena`. */
static ferry_status list_files(const ferry_import_plan *plan, ferry_arena *arena, ferry_model_origin *origin,
                               ferry_error *error)
{
    const size_t count = plan->source->read_count;
    ferry_view *files = ferry_arena_alloc(arena, count, sizeof *files);
    ferry_view *hashes = ferry_arena_alloc(arena, count, sizeof *hashes);
    uint64_t *sizes = ferry_arena_alloc(arena, count, sizeof *sizes);
    if (files == NULL || hashes == NULL || sizes == NULL)
        return ferry_fail_memory(error, "a list of files", count, sizeof *files);
    for (size_t i = 0; i < count; i++) {
        ferry_source_file *file = plan->source->read[i];
        files[i] = ferry_text_view(file->published);
        sizes[i] = file->original.size;
        hashes[i] = ferry_text_view(ferry_source_hash(plan->source, file));
    }
    *origin = (ferry_model_origin){
        .kind = ferry_text_view(plan->kind),
        .name = ferry_text_view(plan->name),
        .license = plan->license,
        .training = ferry_text_view(plan->training != NULL ? plan->training : ""),
        .trained_length = plan->trained_length,
        .trained_seed = plan->trained_seed,
        .trained_tokens = plan->trained_tokens,
        .sizes = sizes,
        .file_count = count,
    };
    FERRY_TRY(ferry_string_table_join(arena, files, count, &origin->files, error));
    return ferry_string_table_join(arena, hashes, count, &origin->hashes, error);
}

/* Everything before the tensors. */
static ferry_status put_head(ferry_gguf_writer *writer, const ferry_import_plan *plan,
                             const ferry_import_options *options, ferry_arena *arena, ferry_error *error)
{
    ferry_transformer model = plan->model;
    ferry_generation generation = plan->generation;
    ferry_tokenizer_config text = plan->text;
    ferry_model_languages languages = plan->languages;
    ferry_model_origin origin;
    const ferry_schema_values values = {&model,     &generation, &text,
                                        &languages, &origin,     has_tensor(plan, "shortlist.offsets")};
    complete_stack(&model.encoder, plan, "enc");
    complete_stack(&model.decoder, plan, "dec");
    text.kind = ferry_import_tokenizer_kind(&text);
    if (plan->file != NULL)
        origin = plan->file->origin;
    else
        FERRY_TRY(list_files(plan, arena, &origin, error));
    ferry_gguf_put_string(writer, "general.architecture", "ferry");
    ferry_gguf_put_string(writer, "general.name", options->name != NULL ? options->name : plan->name);
    ferry_gguf_put_u32(writer, "ferry.format", FERRY_FILE_FORMAT);
    ferry_gguf_put_hash(writer);
    put_features(writer, plan, &values, options);
    return put_keys(writer, &values, error);
}

ferry_status ferry_import_write(const ferry_import_plan *plan, const char *output, const ferry_import_options *options,
                                ferry_error *error)
{
    ferry_gguf_writer *writer;
    ferry_arena arena = {.account = plan->account};
    FERRY_TRY(ferry_gguf_writer_create(output, options->file, plan->account, &writer, error));
    ferry_status status = put_head(writer, plan, options, &arena, error);
    if (status == FERRY_OK) status = ferry_import_declare(plan, writer, options, error);
    if (status == FERRY_OK) status = ferry_import_append(plan, writer, options, error);
    if (status == FERRY_OK) status = ferry_gguf_writer_finish(writer, error);
    ferry_gguf_writer_destroy(writer);
    ferry_arena_destroy(&arena);
    return status;
}
