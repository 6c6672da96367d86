/* Directories of Hugging Face's transformers: MarianMT. Names, defaults and rules are those of transformers 5. */
#include <math.h>
#include <string.h>

#include "import_plan.h"
#include "printable.h"

static ferry_view text_view(const char *text)
{
    return (ferry_view){text, strlen(text)};
}

static bool ends_with(const char *text, const char *ending)
{
    const size_t size = strlen(text), ending_size = strlen(ending);
    return size >= ending_size && strcmp(text + size - ending_size, ending) == 0;
}

/* ---- config.json ---- */

static ferry_status check_kind(ferry_json config, ferry_error *error)
{
    const json_t *classes = ferry_json_get(config, "architectures");
    const char *name = json_string_value(json_array_get(classes, 0));
    if (ferry_json_get(config, "quantization_config") != NULL) {
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED,
                          "%s: 'quantization_config': quantised weights are not supported", config.file);
    }
    if (name == NULL || ends_with(name, "MTModel") || ends_with(name, "ForConditionalGeneration")) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: architecture '%s' does not translate", config.file,
                      ferry_printable_view(text_view(name)).text);
}

static ferry_status read_stack(ferry_json config, bool decoder, int32_t d_model, ferry_stack *stack, ferry_error *error)
{
    const int32_t most = FERRY_IMPORT_MAX_SIZE;
    const char *activation = "gelu";
    *stack = (ferry_stack){.layer_count = 12, .heads = 16, .ffn_width = 4096, .norm_eps = 1e-5f};
    FERRY_TRY(
        ferry_json_integer(config, decoder ? "decoder_layers" : "encoder_layers", 1, most, &stack->layer_count, error));
    FERRY_TRY(ferry_json_integer(config, decoder ? "decoder_attention_heads" : "encoder_attention_heads", 1, most,
                                 &stack->heads, error));
    FERRY_TRY(
        ferry_json_integer(config, decoder ? "decoder_ffn_dim" : "encoder_ffn_dim", 1, most, &stack->ffn_width, error));
    FERRY_TRY(ferry_json_text(config, "activation_function", &activation, error));
    FERRY_TRY(ferry_import_activation(config.file, activation, &stack->activation, error));
    if (d_model % stack->heads != 0) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: d_model %d is no multiple of %d attention heads", config.file,
                          (int)d_model, (int)stack->heads);
    }
    stack->head_width = d_model / stack->heads;
    stack->attention_scale = (float)(1 / sqrt((double)stack->head_width));
    return FERRY_OK;
}

static ferry_status read_config(ferry_import_plan *plan, ferry_json config, ferry_error *error)
{
    ferry_transformer *model = &plan->model;
    const int32_t most = FERRY_IMPORT_MAX_VOCABULARY;
    bool scale = false;
    model->d_model = 1024;
    plan->tied_embeddings = true;
    plan->tied_output = true;
    FERRY_TRY(ferry_json_integer(config, "d_model", 1, FERRY_IMPORT_MAX_SIZE, &model->d_model, error));
    FERRY_TRY(read_stack(config, false, model->d_model, &model->encoder, error));
    FERRY_TRY(read_stack(config, true, model->d_model, &model->decoder, error));
    FERRY_TRY(ferry_json_bool(config, "scale_embedding", &scale, error));
    FERRY_TRY(ferry_json_bool(config, "share_encoder_decoder_embeddings", &plan->tied_embeddings, error));
    FERRY_TRY(ferry_json_bool(config, "tie_word_embeddings", &plan->tied_output, error));
    model->embedding_scale = scale ? (float)sqrt((double)model->d_model) : 1;
    int32_t *const source_size = &model->encoder.vocab_size, *const target_size = &model->decoder.vocab_size;
    *source_size = 58101;
    FERRY_TRY(ferry_json_integer(config, "vocab_size", 1, most, source_size, error));
    *target_size = *source_size;
    FERRY_TRY(ferry_json_integer(config, "decoder_vocab_size", 1, most, target_size, error));
    if (plan->tied_embeddings && *source_size != *target_size) {
        return ferry_fail(error, FERRY_ERROR_FORMAT,
                          "%s: 'share_encoder_decoder_embeddings' with vocab_size %d but decoder_vocab_size %d",
                          config.file, (int)*source_size, (int)*target_size);
    }
    return FERRY_OK;
}

static ferry_status read_decoding(ferry_import_plan *plan, ferry_json config, ferry_error *error)
{
    static const int32_t default_eos[] = {0};
    ferry_transformer *model = &plan->model;
    ferry_json generation;
    model->pad_id = model->start_id = 58100;
    model->eos_ids = default_eos;
    model->eos_count = 1;
    FERRY_TRY(ferry_import_optional_json(plan, "generation_config.json", &generation, error));
    FERRY_TRY(ferry_import_generation(plan, config, generation, 0, error));
    /* With pad suppressed before the softmax: what every published Marian directory asks for or was made for. */
    model->decoding.renormalize = true;
    return FERRY_OK;
}

/* ---- tensors ---- */

static void find_prefix(ferry_import_plan *plan)
{
    plan->prefix = "";
    for (size_t i = 0; i < plan->weights.tensor_count; i++) {
        const ferry_view name = plan->weights.tensors[i].name;
        if (name.size > 6 && memcmp(name.data, "model.", 6) == 0) plan->prefix = "model.";
    }
}

/* The first of `names` that exists carries the matrix [V, D]; others that exist must be equal to it. */
static ferry_status take_tied(ferry_import_plan *plan, const char *const *names, int32_t V, const ferry_tensor **tensor,
                              ferry_error *error)
{
    *tensor = NULL;
    for (; *names != NULL; names++) {
        const char *prefix = strcmp(*names, "lm_head.weight") == 0 ? "" : plan->prefix;
        const ferry_tensor *found = ferry_import_find(plan, prefix, *names);
        if (found == NULL) continue;
        FERRY_TRY(ferry_import_check_shape(plan, found, V, plan->model.d_model, error));
        if (*tensor == NULL) {
            *tensor = found;
        } else if (found->type != (*tensor)->type || memcmp(found->data, (*tensor)->data, found->bytes) != 0) {
            return ferry_fail(error, FERRY_ERROR_FORMAT,
                              "%s: tensors '%s' and '%s' differ, but the configuration says that they are one",
                              plan->directory, ferry_printable_view((*tensor)->name).text,
                              ferry_printable_view(found->name).text);
        }
    }
    if (*tensor != NULL) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: no tensor holds the embeddings ('%sshared.weight' or another)",
                      plan->directory, plan->prefix);
}

static ferry_status add_embeddings(ferry_import_plan *plan, ferry_error *error)
{
    static const char output[] = "lm_head.weight";
    const char *const output_alias = plan->tied_output ? output : NULL;
    const char *const shared[] = {"shared.weight", "decoder.embed_tokens.weight", "encoder.embed_tokens.weight",
                                  output_alias, NULL};
    const char *const source[] = {"encoder.embed_tokens.weight", NULL};
    const char *const target[] = {"decoder.embed_tokens.weight", output_alias, NULL};
    const ferry_transformer *model = &plan->model;
    const int32_t V = model->decoder.vocab_size;
    const ferry_tensor *tensor;
    if (plan->tied_embeddings) {
        FERRY_TRY(take_tied(plan, shared, V, &tensor, error));
        FERRY_TRY(ferry_import_add(plan, tensor, FERRY_IMPORT_MATRIX, error, "token_embd.weight"));
    } else {
        FERRY_TRY(take_tied(plan, source, model->encoder.vocab_size, &tensor, error));
        FERRY_TRY(ferry_import_add(plan, tensor, FERRY_IMPORT_MATRIX, error, "enc.token_embd.weight"));
        FERRY_TRY(take_tied(plan, target, V, &tensor, error));
        FERRY_TRY(ferry_import_add(plan, tensor, FERRY_IMPORT_MATRIX, error, "dec.token_embd.weight"));
    }
    if (plan->tied_output) return FERRY_OK;
    FERRY_TRY(ferry_import_take(plan, "", output, V, model->d_model, &tensor, error));
    return ferry_import_add(plan, tensor, FERRY_IMPORT_MATRIX, error, "output.weight");
}

/* table[p][k] = sin(p / 10000^(k/h)), table[p][h + k] = cos(the same), h = D/2. */
static bool is_marian_table(const ferry_tensor *table)
{
    const int64_t D = table->shape[1], h = D / 2;
    for (int64_t p = 0; p < table->shape[0]; p++) {
        for (int64_t i = 0; i < D; i++) {
            float stored;
            const double angle = (double)p / pow(10000, (double)(i % h) / (double)h);
            ferry_import_widen(table, (size_t)(p * D + i), 1, &stored);
            if (!(fabs((double)stored - (i < h ? sin(angle) : cos(angle))) < 1e-3)) return false;
        }
    }
    return true;
}

/* A stored table that is the formula says nothing new, and the formula has no end; another one is obeyed. */
static ferry_status read_position(ferry_import_plan *plan, bool decoder, ferry_import_position *position,
                                  ferry_error *error)
{
    *position = (ferry_import_position){.type = "sinusoidal",
                                        .parameters = {{"layout", FERRY_IMPORT_TEXT, .text = "split"},
                                                       {"exponent_divisor", FERRY_IMPORT_TEXT, .text = "half"},
                                                       {"first", FERRY_IMPORT_INTEGER, .integer = 0}},
                                        .count = 3};
    const int32_t D = plan->model.d_model;
    if (D % 2 != 0) {
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: d_model %d: sinusoidal positions need an even one",
                          plan->directory, (int)D);
    }
    const ferry_tensor *table =
        ferry_import_find(plan, plan->prefix,
                          decoder ? "decoder.embed_positions.weight" : "encoder.embed_positions.weight");
    if (table == NULL) return FERRY_OK;
    const int32_t rows = table->shape[0] < FERRY_IMPORT_MAX_SIZE ? (int32_t)table->shape[0] : FERRY_IMPORT_MAX_SIZE;
    FERRY_TRY(ferry_import_check_shape(plan, table, rows, D, error));
    if (is_marian_table(table)) return FERRY_OK;
    *position = (ferry_import_position){.type = "learned",
                                        .parameters = {{"max_positions", FERRY_IMPORT_INTEGER, .integer = rows}},
                                        .count = 1};
    return ferry_import_add(plan, table, FERRY_IMPORT_TABLE, error, "%s.position.weight", decoder ? "dec" : "enc");
}

/* Left-overs of old files and buffers that are computed. */
static bool is_ignored(ferry_view name)
{
    static const char *const endings[] = {".version", "._float_tensor", ".embed_positions.weights", ".masked_bias",
                                          "num_batches_tracked"};
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        const size_t size = strlen(endings[i]);
        if (name.size >= size && memcmp(name.data + name.size - size, endings[i], size) == 0) return true;
    }
    return false;
}

static ferry_status read_tensors(ferry_import_plan *plan, ferry_error *error)
{
    FERRY_TRY(ferry_import_open_weights(plan, error));
    find_prefix(plan);
    FERRY_TRY(read_position(plan, false, &plan->encoder_position, error));
    FERRY_TRY(read_position(plan, true, &plan->decoder_position, error));
    FERRY_TRY(add_embeddings(plan, error));
    FERRY_TRY(ferry_import_bart_layers(plan, error));
    FERRY_TRY(ferry_import_bart_bias(plan, error));
    return ferry_import_check_unused(plan, is_ignored, error);
}

/* ---- texts ---- */

static ferry_status check_eos(const ferry_transformer *model, ferry_json vocabulary, ferry_error *error)
{
    FERRY_TRY(ferry_json_require(vocabulary, "</s>", error));
    const int32_t id = ferry_import_piece_id(vocabulary, "</s>");
    for (int32_t i = 0; i < model->eos_count; i++) {
        if (model->eos_ids[i] == id) return FERRY_OK;
    }
    return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: '</s>' has id %d, but the configuration's eos_token_id is %d",
                      vocabulary.file, (int)id, (int)model->eos_ids[0]);
}

/* vocab.json for the source, and for the target unless there is a target_vocab.json in use. */
static ferry_status read_vocabularies(ferry_import_plan *plan, ferry_json *source, ferry_json *target,
                                      ferry_error *error)
{
    ferry_model_text *text = &plan->text;
    ferry_json tokenizer;
    text->source_count = plan->model.encoder.vocab_size;
    text->target_count = plan->model.decoder.vocab_size;
    FERRY_TRY(ferry_import_json(plan, "vocab.json", source, error));
    FERRY_TRY(ferry_import_vocabulary(plan, *source, text->source_count, &text->source_pieces, error));
    FERRY_TRY(ferry_import_optional_json(plan, "tokenizer_config.json", &tokenizer, error));
    bool separate = !plan->tied_embeddings && ferry_import_has_file(plan, "target_vocab.json");
    FERRY_TRY(ferry_json_bool(tokenizer, "separate_vocabs", &separate, error));
    if (separate) FERRY_TRY(ferry_import_json(plan, "target_vocab.json", target, error));
    if (!separate) *target = *source;
    if (!separate && text->source_count == text->target_count) {
        text->target_pieces = text->source_pieces;
        return FERRY_OK;
    }
    return ferry_import_vocabulary(plan, *target, text->target_count, &text->target_pieces, error);
}

static ferry_status read_text(ferry_import_plan *plan, ferry_error *error)
{
    ferry_model_text *text = &plan->text;
    const ferry_transformer *model = &plan->model;
    ferry_json source, target;
    text->present = true;
    text->leading_tag = true;
    FERRY_TRY(ferry_import_segmenters(plan, error));
    FERRY_TRY(read_vocabularies(plan, &source, &target, error));
    FERRY_TRY(ferry_json_require(source, "<unk>", error));
    FERRY_TRY(ferry_json_require(source, "</s>", error));
    FERRY_TRY(check_eos(model, target, error));
    text->source_unk_id = ferry_import_piece_id(source, "<unk>");
    const int32_t suffix[] = {ferry_import_piece_id(source, "</s>")};
    const int32_t special[] = {ferry_import_piece_id(target, "</s>"), ferry_import_piece_id(target, "<unk>"),
                               ferry_import_piece_id(target, "<pad>"), model->pad_id, model->start_id};
    FERRY_TRY(ferry_import_ids(plan, suffix, 1, &text->suffix_ids, &text->suffix_count, error));
    return ferry_import_ids(plan, special, 5, &text->special_ids, &text->special_count, error);
}

ferry_status ferry_import_huggingface(ferry_import_plan *plan, ferry_json config, ferry_error *error)
{
    plan->kind = "huggingface-marian";
    FERRY_TRY(check_kind(config, error));
    FERRY_TRY(read_config(plan, config, error));
    FERRY_TRY(read_decoding(plan, config, error));
    FERRY_TRY(read_tensors(plan, error));
    return read_text(plan, error);
}
