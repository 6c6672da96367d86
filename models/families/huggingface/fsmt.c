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
                                             .forced_last_id = 2,
                                             .untied_output = true,
                                             .output = "decoder.output_projection.weight",
                                             .position = read_position};

/* Without a file of its own, decoding has the defaults of the configuration's class. */
static ferry_status read_decoding_defaults(ferry_import_plan *plan, ferry_json config, ferry_error *error)
{
    ferry_options *decoding = &plan->generation.decoding;
    ferry_json generation;
    FERRY_TRY(ferry_import_optional_json(plan, "generation_config.json", &generation, error));
    if (generation.object != NULL) return FERRY_OK;
    if (ferry_json_get(config, "num_beams") == NULL) decoding->beam = 5;
    if (ferry_json_get(config, "max_length") == NULL) decoding->max_length = 200 - 1; /* without the start */
    return FERRY_OK;
}

/* Three matrices, or one: the source's words, the target's, and the output. */
static ferry_status read_network(ferry_import_plan *plan, ferry_json config, ferry_error *error)
{
    int32_t *source = &plan->model.encoder.vocab_size, *target = &plan->model.decoder.vocab_size;
    FERRY_TRY(ferry_huggingface_config(plan, config, &fsmt, error));
    *source = *target = WORDS;
    FERRY_TRY(ferry_json_integer(config, "src_vocab_size", 1, FERRY_MAX_VOCABULARY, source, error));
    FERRY_TRY(ferry_json_integer(config, "tgt_vocab_size", 1, FERRY_MAX_VOCABULARY, target, error));
    plan->model.tied_embeddings = plan->model.tied_output;
    if (plan->model.tied_embeddings && *source != *target) {
        return ferry_fail(error, FERRY_ERROR_FORMAT,
                          "%s: 'tie_word_embeddings' with src_vocab_size %d but tgt_vocab_size %d", config.file,
                          (int)*source, (int)*target);
    }
    FERRY_TRY(ferry_huggingface_network(plan, config, &fsmt, error));
    return read_decoding_defaults(plan, config, error);
}

ferry_status ferry_import_fsmt(ferry_import_plan *plan, ferry_json config, ferry_error *error)
{
    plan->kind = "huggingface-fsmt";
    return read_network(plan, config, error);
}
