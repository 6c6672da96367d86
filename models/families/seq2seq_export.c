/* The generic export layout "seq2seq-export-1": what any training script can write. */
#include <math.h>
#include <string.h>

#include "models/plan/plan.h"
#include "base/printable.h"

static ferry_status read_size(ferry_json config, const char *key, int32_t most, int32_t *size, ferry_error *error)
{
    FERRY_TRY(ferry_json_require(config, key, error));
    return ferry_json_integer(config, key, 1, most, size, error);
}

static ferry_status read_flag(ferry_json config, const char *key, bool *flag, ferry_error *error)
{
    FERRY_TRY(ferry_json_require(config, key, error));
    return ferry_json_bool(config, key, flag, error);
}

static ferry_status read_stack(ferry_json config, const char *layers_key, int32_t d_model, ferry_stack *stack,
                               ferry_error *error)
{
    const char *activation = "";
    FERRY_TRY(read_size(config, layers_key, FERRY_IMPORT_MAX_SIZE, &stack->layer_count, error));
    FERRY_TRY(read_size(config, "attention_heads", FERRY_IMPORT_MAX_SIZE, &stack->heads, error));
    FERRY_TRY(read_size(config, "ffn_dim", FERRY_IMPORT_MAX_SIZE, &stack->ffn_width, error));
    FERRY_TRY(read_size(config, "vocab_size", FERRY_IMPORT_MAX_VOCABULARY, &stack->vocab_size, error));
    FERRY_TRY(read_flag(config, "pre_norm", &stack->pre_norm, error));
    FERRY_TRY(ferry_json_require(config, "layer_norm_eps", error));
    FERRY_TRY(ferry_json_float(config, "layer_norm_eps", &stack->norm_eps, error));
    FERRY_TRY(ferry_json_require(config, "activation", error));
    FERRY_TRY(ferry_json_text(config, "activation", &activation, error));
    FERRY_TRY(ferry_import_activation(config.file, activation, &stack->activation, error));
    if (d_model % stack->heads != 0) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: d_model %d is no multiple of attention_heads %d", config.file,
                          (int)d_model, (int)stack->heads);
    }
    stack->head_width = d_model / stack->heads;
    stack->attention_scale = (float)(1 / sqrt((double)stack->head_width));
    return FERRY_OK;
}

static ferry_status read_ids(ferry_import_plan *plan, ferry_json config, ferry_error *error)
{
    static const char *const keys[] = {"eos_token_id", "pad_token_id", "decoder_start_token_id"};
    ferry_transformer *model = &plan->model;
    int32_t ids[3] = {0};
    for (int i = 0; i < 3; i++) {
        FERRY_TRY(ferry_json_require(config, keys[i], error));
        FERRY_TRY(ferry_json_integer(config, keys[i], 0, model->decoder.vocab_size - 1, &ids[i], error));
    }
    plan->generation.pad_id = ids[1];
    plan->generation.start_id = ids[2];
    plan->generation.decoding.renormalize = true;
    FERRY_TRY(ferry_import_ids(plan, &ids[0], 1, &plan->generation.eos_ids, &plan->generation.eos_count, error));
    return ferry_import_ids(plan, &ids[1], 1, &plan->generation.decoding.suppressed_ids,
                            &plan->generation.decoding.suppressed_count, error);
}

static ferry_status add_embeddings(ferry_import_plan *plan, ferry_error *error)
{
    static const struct {
        const char *source, *name;
    } separate[] = {{"encoder.embed_tokens.weight", "enc.token_embd.weight"},
                    {"decoder.embed_tokens.weight", "dec.token_embd.weight"},
                    {"lm_head.weight", "output.weight"}};
    const int32_t V = plan->model.decoder.vocab_size, D = plan->model.d_model;
    const ferry_weights_entry *tensor;
    if (plan->tied_embeddings) {
        FERRY_TRY(ferry_import_take(plan, "", "shared.weight", V, D, &tensor, error));
        return ferry_import_add(plan, tensor, FERRY_IMPORT_MATRIX, error, "token_embd.weight");
    }
    for (int i = 0; i < 3; i++) {
        FERRY_TRY(ferry_import_take(plan, "", separate[i].source, V, D, &tensor, error));
        FERRY_TRY(ferry_import_add(plan, tensor, FERRY_IMPORT_MATRIX, error, "%s", separate[i].name));
    }
    return FERRY_OK;
}

/* With vocab.json, ids are its; without, SentencePiece's. */
static ferry_status read_text(ferry_import_plan *plan, ferry_error *error)
{
    ferry_model_text *text = &plan->text;
    const ferry_transformer *model = &plan->model;
    const int32_t V = model->decoder.vocab_size;
    int32_t target_unk;
    ferry_json vocabulary;
    if (!ferry_import_has_file(plan, "source.spm")) return FERRY_OK;
    text->present = true;
    const char *target = ferry_import_has_file(plan, "target.spm") ? "target.spm" : NULL;
    FERRY_TRY(ferry_import_segmenters(plan, "source.spm", target, error));
    FERRY_TRY(ferry_import_optional_json(plan, "vocab.json", &vocabulary, error));
    if (vocabulary.object != NULL) {
        FERRY_TRY(ferry_import_vocabulary(plan, vocabulary, V, &text->source_pieces, error));
        text->target_pieces = text->source_pieces;
        text->source_unk_id = target_unk = ferry_import_piece_id(vocabulary, "<unk>");
        FERRY_TRY(ferry_json_require(vocabulary, "<unk>", error));
    } else {
        FERRY_TRY(ferry_import_own_vocabulary(plan, 0, V, &text->source_pieces, &text->source_unk_id, error));
        FERRY_TRY(ferry_import_own_vocabulary(plan, 1, V, &text->target_pieces, &target_unk, error));
    }
    text->source_count = text->target_count = V;
    const int32_t special[] = {plan->generation.eos_ids[0], plan->generation.pad_id, plan->generation.start_id,
                               target_unk};
    FERRY_TRY(ferry_import_ids(plan, plan->generation.eos_ids, 1, &text->suffix_ids, &text->suffix_count, error));
    return ferry_import_ids(plan, special, 4, &text->special_ids, &text->special_count, error);
}

bool ferry_import_is_export_layout(const ferry_import_plan *plan, ferry_json config)
{
    (void)plan;
    const char *format = json_string_value(ferry_json_get(config, "format"));
    return format != NULL && strcmp(format, "seq2seq-export-1") == 0;
}

ferry_status ferry_import_export_layout(ferry_import_plan *plan, ferry_json config, ferry_error *error)
{
    ferry_transformer *model = &plan->model;
    bool scale = false;
    plan->kind = "seq2seq-export-1";
    FERRY_TRY(read_size(config, "d_model", FERRY_IMPORT_MAX_SIZE, &model->d_model, error));
    FERRY_TRY(read_stack(config, "encoder_layers", model->d_model, &model->encoder, error));
    FERRY_TRY(read_stack(config, "decoder_layers", model->d_model, &model->decoder, error));
    FERRY_TRY(read_flag(config, "scale_embedding", &scale, error));
    FERRY_TRY(read_flag(config, "tied_embeddings", &plan->tied_embeddings, error));
    model->embedding_scale = scale ? (float)sqrt((double)model->d_model) : 1;
    plan->tied_output = plan->tied_embeddings;
    FERRY_TRY(read_ids(plan, config, error));
    FERRY_TRY(ferry_import_open_weights(plan, error));
    FERRY_TRY(ferry_import_positions(plan, config, error));
    FERRY_TRY(add_embeddings(plan, error));
    FERRY_TRY(ferry_import_bart_layers(plan, error));
    FERRY_TRY(ferry_import_bart_bias(plan, error));
    FERRY_TRY(ferry_import_check_unused(plan, NULL, error));
    return read_text(plan, error);
}
