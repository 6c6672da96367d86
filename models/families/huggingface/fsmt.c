/* FSMT: fairseq's models of WMT 2016 and 2019. */
#include "huggingface.h"
#include "models/plan/json_keys.h"

/* ---- the network ---- */

/* Transformers 5 stores the table, of which the padding has the row before the first. */
static ferry_status read_position(ferry_import_plan *plan, bool decoder, ferry_error *error)
{
    const char *name = decoder ? "decoder.embed_positions.weight" : "encoder.embed_positions.weight";
    const ferry_weights_entry *table = ferry_import_find(plan, plan->prefix, name);
    if (table == NULL) return ferry_huggingface_fairseq_position(plan, decoder, error);
    return ferry_import_position_table(plan, decoder, table, plan->generation.pad_id + 1, error);
}

enum { WORDS = 42024 };

static const ferry_huggingface_class fsmt = {.vocab_size = WORDS,
                                             .scale_embedding = true,
                                             .activation = "relu",
                                             .pad_id = 1,
                                             .start_id = 2,
                                             .eos_id = 2,
                                             .untied_output = true,
                                             .output = "decoder.output_projection.weight",
                                             .position = read_position};

/* Three matrices, or one: the source's words, the target's, and the output. */
static ferry_status read_network(ferry_import_plan *plan, ferry_json config, ferry_error *error)
{
    int32_t *source = &plan->model.encoder.vocab_size, *target = &plan->model.decoder.vocab_size;
    const ferry_json_key keys[] = {{"src_vocab_size", .integer = source, 1, FERRY_MAX_VOCABULARY},
                                   {"tgt_vocab_size", .integer = target, 1, FERRY_MAX_VOCABULARY,
                                    .other = "vocab_size"}};
    FERRY_TRY(ferry_huggingface_config(plan, config, &fsmt, error));
    *source = *target = WORDS;
    FERRY_TRY(ferry_json_read(config, keys, 2, false, error));
    plan->model.tied_embeddings = plan->model.tied_output;
    if (plan->model.tied_embeddings && *source != *target) {
        return ferry_fail(error, FERRY_ERROR_FORMAT,
                          "%s: 'tie_word_embeddings' with src_vocab_size %d but tgt_vocab_size %d", config.file,
                          (int)*source, (int)*target);
    }
    return ferry_huggingface_network(plan, config, &fsmt, error);
}

/* ---- the text: Moses' words, merged pairs of each, two vocabularies ---- */

/* `langs`, of the tokenizer or of the model. */
static ferry_status read_languages(ferry_import_plan *plan, ferry_json tokenizer, ferry_json config, ferry_error *error)
{
    const ferry_json json = ferry_json_get(tokenizer, "langs") != NULL ? tokenizer : config;
    const json_t *pair = ferry_json_get(json, "langs");
    const char *source = json_string_value(json_array_get(pair, 0)),
               *target = json_string_value(json_array_get(pair, 1));
    if (json_array_size(pair) != 2 || source == NULL || target == NULL || *source == 0 || *target == 0)
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: 'langs': expected two languages", json.file);
    plan->text.source_moses = ferry_text_view(source);
    plan->text.target_moses = ferry_text_view(target);
    return ferry_import_language_pair(plan, source, target, error);
}

static ferry_status read_vocabularies(ferry_import_plan *plan, ferry_error *error)
{
    static const char *const silent[] = {"<s>", "<pad>", "</s>", "<unk>", NULL};
    ferry_model_text *text = &plan->text;
    ferry_json source, target;
    text->source_count = plan->model.encoder.vocab_size;
    text->target_count = plan->model.decoder.vocab_size;
    FERRY_TRY(ferry_import_json(plan, "vocab-src.json", &source, error));
    FERRY_TRY(ferry_import_json(plan, "vocab-tgt.json", &target, error));
    FERRY_TRY(ferry_import_vocabulary(plan, source, text->source_count, &text->source_pieces, error));
    FERRY_TRY(ferry_import_vocabulary(plan, target, text->target_count, &text->target_pieces, error));
    plan->vocabulary_files[0] = source.file;
    plan->vocabulary_files[1] = target.file;
    return ferry_huggingface_special_pieces(plan, source, target, silent, error);
}

static ferry_status read_text(ferry_import_plan *plan, ferry_json config, ferry_error *error)
{
    ferry_json tokenizer;
    bool lower = false;
    FERRY_TRY(ferry_import_optional_json(plan, "tokenizer_config.json", &tokenizer, error));
    FERRY_TRY(ferry_json_bool(tokenizer, "do_lower_case", &lower, error));
    if (lower)
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: 'do_lower_case' true is not supported", tokenizer.file);
    plan->text.present = true;
    FERRY_TRY(read_vocabularies(plan, error));
    FERRY_TRY(ferry_import_merges(plan, "merges.txt", "merges.txt", true, error));
    return read_languages(plan, tokenizer, config, error);
}

ferry_status ferry_import_fsmt(ferry_import_plan *plan, ferry_json config, ferry_error *error)
{
    plan->kind = "huggingface-fsmt";
    FERRY_TRY(read_network(plan, config, error));
    return read_text(plan, config, error);
}
