/* MarianMT: OPUS-MT's models in Hugging Face's form. */
#include <string.h>

#include "huggingface.h"
#include "tokenizer_json.h"

/* A stored table that equals the formula adds nothing, and the formula has no end; another one is used as it is. */
ferry_status ferry_huggingface_marian_position(ferry_import_plan *plan, bool decoder, ferry_error *error)
{
    const char *name = decoder ? "decoder.embed_positions.weight" : "encoder.embed_positions.weight";
    const ferry_weights_entry *table = ferry_import_find(plan, plan->prefix, name);
    if (table != NULL) return ferry_import_position_table(plan, decoder, table, 0, error);
    ferry_import_sinusoidal(plan, decoder, false, false, 0);
    if (plan->model.d_model % 2 == 0) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: d_model %d: sinusoidal positions need an even one",
                      ferry_import_source_path(plan->source), (int)plan->model.d_model);
}

static ferry_status read_network(ferry_import_plan *plan, ferry_json config, ferry_error *error)
{
    static const ferry_huggingface_class marian = {.vocab_size = 58101,
                                                   .activation = "gelu",
                                                   .pad_id = 58100,
                                                   .start_id = 58100,
                                                   .eos_id = 0,
                                                   .output_bias = true,
                                                   .position = ferry_huggingface_marian_position};
    const int32_t *source = &plan->model.encoder.vocab_size;
    int32_t *target = &plan->model.decoder.vocab_size;
    FERRY_TRY(ferry_huggingface_config(plan, config, &marian, error));
    FERRY_TRY(ferry_json_bool(config, "share_encoder_decoder_embeddings", &plan->model.tied_embeddings, error));
    FERRY_TRY(ferry_json_integer(config, "decoder_vocab_size", 1, FERRY_MAX_VOCABULARY, target, error));
    if (plan->model.tied_embeddings && *source != *target) {
        return ferry_fail(error, FERRY_ERROR_FORMAT,
                          "%s: 'share_encoder_decoder_embeddings' with vocab_size %d but decoder_vocab_size %d",
                          config.file, (int)*source, (int)*target);
    }
    FERRY_TRY(ferry_huggingface_network(plan, config, &marian, error));
    /* With pad suppressed before the softmax: what every published Marian directory asks for or was made for. */
    plan->generation.decoding.search.renormalize = true;
    return FERRY_OK;
}

/* ---- texts ---- */

/* vocab.json for the source, and for the target unless there is a target_vocab.json in use. */
static ferry_status read_vocabularies(ferry_import_plan *plan, ferry_json tokenizer, ferry_json *source,
                                      ferry_json *target, ferry_error *error)
{
    ferry_model_text *text = &plan->text;
    text->source_count = plan->model.encoder.vocab_size;
    text->target_count = plan->model.decoder.vocab_size;
    FERRY_TRY(ferry_import_json(plan, "vocab.json", source, error));
    FERRY_TRY(ferry_import_vocabulary(plan, *source, text->source_count, &text->source_pieces, error));
    bool separate = !plan->model.tied_embeddings && ferry_import_has_file(plan, "target_vocab.json");
    FERRY_TRY(ferry_json_bool(tokenizer, "separate_vocabs", &separate, error));
    if (separate) FERRY_TRY(ferry_import_json(plan, "target_vocab.json", target, error));
    if (!separate) *target = *source;
    plan->vocabulary_files[0] = source->file;
    plan->vocabulary_files[1] = target->file;
    if (!separate && text->source_count == text->target_count) {
        text->target_pieces = text->source_pieces;
        return FERRY_OK;
    }
    return ferry_import_vocabulary(plan, *target, text->target_count, &text->target_pieces, error);
}

static bool is_code(const char *language)
{
    return language != NULL && *language != 0 && strchr(language, ' ') == NULL;
}

/* Pieces ">>fra<<" of the source's vocabulary are tags of target languages; without them a model has one pair. */
static ferry_status read_languages(ferry_import_plan *plan, ferry_json tokenizer, ferry_error *error)
{
    const ferry_model_text *text = &plan->text;
    bool found;
    FERRY_TRY(ferry_import_tag_pieces(plan, text->source_pieces, text->source_count, &found, error));
    if (found) return FERRY_OK;
    const char *source = NULL, *target = NULL;
    FERRY_TRY(ferry_json_text(tokenizer, "source_lang", &source, error));
    FERRY_TRY(ferry_json_text(tokenizer, "target_lang", &target, error));
    if (!is_code(source) || !is_code(target)) return FERRY_OK;
    return ferry_import_language_pair(plan, source, target, error);
}

static ferry_status read_text(ferry_import_plan *plan, ferry_error *error)
{
    static const char *const silent[] = {"</s>", "<unk>", "<pad>", NULL};
    ferry_json tokenizer, source, target;
    if (ferry_import_uses_tokenizer_json(plan, "source.spm")) {
        FERRY_TRY(ferry_import_tokenizer_json(plan, error));
        FERRY_TRY(ferry_import_optional_json(plan, "tokenizer_config.json", &tokenizer, error));
        return read_languages(plan, tokenizer, error);
    }
    plan->text.present = plan->text.leading_tag = true;
    const char *target_file = ferry_import_has_file(plan, "target.spm") ? "target.spm" : "";
    FERRY_TRY(ferry_import_segmenters(plan, "source.spm", target_file, error));
    FERRY_TRY(ferry_import_optional_json(plan, "tokenizer_config.json", &tokenizer, error));
    FERRY_TRY(read_vocabularies(plan, tokenizer, &source, &target, error));
    FERRY_TRY(ferry_huggingface_special_pieces(plan, source, target, silent, error));
    return read_languages(plan, tokenizer, error);
}

ferry_status ferry_import_marianmt(ferry_import_plan *plan, ferry_json config, ferry_error *error)
{
    plan->kind = "huggingface-marian";
    FERRY_TRY(read_network(plan, config, error));
    return read_text(plan, error);
}
