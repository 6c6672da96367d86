/* mBART-50, and mBART-25, whose decoder starts with the language itself: trained further for one target language. */
#include "huggingface.h"

#include "base/memory.h"

#define CODES25                                                                                                        \
    "ar_AR cs_CZ de_DE en_XX es_XX et_EE fi_FI fr_XX gu_IN hi_IN it_IT ja_XX kk_KZ ko_KR lt_LT lv_LV my_MM ne_NP "     \
    "nl_XX ro_RO ru_RU si_LK tr_TR vi_VN zh_CN"
static const char codes25[] = CODES25;
static const char codes50[] =
    CODES25 " af_ZA az_AZ bn_IN fa_IR he_IL hr_HR id_ID ka_GE km_KH mk_MK ml_IN "
            "mn_MN mr_IN pl_PL ps_AF pt_XX sv_SE sw_KE ta_IN te_IN th_TH tl_XX uk_UA ur_PK xh_ZA gl_ES sl_SI";

enum { MBART50_WORDS = 250054, UNUSED_ROWS = 2 };

/* ---- the network ---- */

static ferry_status read_position(ferry_import_plan *plan, bool decoder, ferry_error *error)
{
    const char *name = decoder ? "decoder.embed_positions.weight" : "encoder.embed_positions.weight";
    const int32_t D = plan->model.d_model;
    const ferry_weights_entry *table = ferry_import_find(plan, plan->prefix, name);
    if (table == NULL || table->tensor.shape[0] <= UNUSED_ROWS || table->tensor.shape[0] > FERRY_MAX_SIZE) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: tensor '%s%s': expected a table of positions, found %s",
                          ferry_import_source_path(plan->source), plan->prefix, name,
                          table == NULL ? "none" : "another size");
    }
    const int32_t rows = (int32_t)table->tensor.shape[0] - UNUSED_ROWS;
    FERRY_TRY(ferry_import_check_shape(table, rows + UNUSED_ROWS, D, error));
    return ferry_import_learned(plan, decoder, table, UNUSED_ROWS, rows, error);
}

static const ferry_huggingface_class mbart = {.vocab_size = 50265,
                                              .activation = "gelu",
                                              .pad_id = 1,
                                              .start_id = 0,
                                              .eos_id = 2,
                                              .pre_norm = true,
                                              .embedding_norms = true,
                                              .output_bias = true,
                                              .position = read_position};

/* ---- the text ---- */

/* Which of the two: the class of the tokenizer says so, or the vocabulary's size. */
static ferry_status is_mbart50(ferry_import_plan *plan, ferry_json config, bool *fifty, ferry_error *error)
{
    const char *class = "", *config_class = "";
    ferry_json tokenizer;
    FERRY_TRY(ferry_import_optional_json(plan, "tokenizer_config.json", &tokenizer, error));
    FERRY_TRY(ferry_json_text(tokenizer, "tokenizer_class", &class, error));
    FERRY_TRY(ferry_json_text(config, "tokenizer_class", &config_class, error));
    *fifty = ferry_text_begins(class, "MBart50") || ferry_text_begins(config_class, "MBart50") ||
             plan->model.encoder.vocab_size == MBART50_WORDS;
    return FERRY_OK;
}

/* The language whose tag is the start token is the only target; nothing is forced. */
static ferry_status take_target(ferry_import_plan *plan, ferry_json config, ferry_error *error)
{
    ferry_model_languages *languages = &plan->text.languages;
    const int32_t count = languages->count, start = plan->generation.start_id;
    int32_t *numbers = ferry_arena_alloc(&plan->arena, (size_t)count, 2 * sizeof *numbers);
    if (numbers == NULL) return ferry_fail_memory(error, "a list of languages", (size_t)count * 2 * sizeof *numbers);
    bool found = false;
    for (int32_t i = 0; i < count; i++) {
        const bool is_start = languages->target_ids[i] == start;
        numbers[i] = is_start ? FERRY_LANGUAGE_SOURCE | FERRY_LANGUAGE_TARGET : FERRY_LANGUAGE_SOURCE;
        numbers[count + i] = -1;
        if (is_start) languages->default_target = i;
        found = found || is_start;
    }
    languages->roles = numbers;
    languages->target_ids = numbers + count;
    languages->target_tag = FERRY_TAG_NONE;
    if (found) return FERRY_OK;
    return ferry_fail(
        error, FERRY_ERROR_UNSUPPORTED,
        "%s: mBART-25: 'decoder_start_token_id': expected the tag of the target language, found %d; mBART-50 "
        "has the tokenizer class MBart50Tokenizer or %d words",
        config.file, (int)start, (int)MBART50_WORDS);
}

ferry_status ferry_import_mbart(ferry_import_plan *plan, ferry_json config, ferry_error *error)
{
    bool fifty;
    FERRY_TRY(ferry_huggingface_config(plan, config, &mbart, error));
    FERRY_TRY(is_mbart50(plan, config, &fifty, error));
    plan->kind = fifty ? "huggingface-mbart50" : "huggingface-mbart25";
    FERRY_TRY(ferry_huggingface_network(plan, config, &mbart, error));
    FERRY_TRY(ferry_multilingual_text(plan, "aa_AA", fifty ? codes50 : codes25,
                                      fifty ? FERRY_TAG_PREFIX : FERRY_TAG_SUFFIX, error));
    return fifty ? FERRY_OK : take_target(plan, config, error);
}
