/* The families of Hugging Face with the layers of BART: MarianMT, M2M-100 and NLLB-200, mBART, Pegasus, FSMT. */
#include <string.h>

#include "huggingface.h"
#include "models/text/tokenizer_json.h"
#include "models/text/vocabularies.h"
#include "models/families/families.h"
#include "models/text/language_tags.h"

/* Vocabularies {piece: id} of both sides, which may be one: `source` and `target` are the same object then. The source
 * has an unknown piece and an end, which follows a line; `silent` pieces of the target (the last one is NULL), padding
 * and start have no text. */
static ferry_status read_vocabularies(ferry_import_plan *plan, ferry_json source, ferry_json target,
                                      const char *const *silent, ferry_error *error)
{
    ferry_tokenizer_config *text = &plan->text;
    const int32_t more[] = {plan->generation.pad_id, plan->generation.start_id};
    text->present = true;
    text->source_count = plan->model.encoder.vocab_size;
    text->target_count = plan->model.decoder.vocab_size;
    plan->vocabulary_files[0] = source.file;
    plan->vocabulary_files[1] = target.file;
    FERRY_TRY(ferry_import_vocabulary(plan, source, text->source_count, &text->source_pieces, error));
    text->target_pieces = text->source_pieces;
    if (target.object != source.object || text->source_count != text->target_count)
        FERRY_TRY(ferry_import_vocabulary(plan, target, text->target_count, &text->target_pieces, error));
    FERRY_TRY(ferry_json_require(source, "<unk>", error));
    FERRY_TRY(ferry_json_require(source, "</s>", error));
    FERRY_TRY(ferry_huggingface_check_eos(plan, target, error));
    const int32_t suffix = ferry_import_piece_id(source, "</s>");
    text->source_unk_id = ferry_import_piece_id(source, "<unk>");
    FERRY_TRY(ferry_import_ids(plan, &suffix, 1, &text->suffix_ids, &text->suffix_count, error));
    for (; *silent != NULL; silent++) {
        const int32_t id = ferry_import_piece_id(target, *silent);
        FERRY_TRY(ferry_import_special(plan, &id, 1, error));
    }
    return ferry_import_special(plan, more, 2, error);
}

/* ---- MarianMT: OPUS-MT's models in Hugging Face's form ---- */

static ferry_status read_marian_sizes(ferry_import_plan *plan, ferry_json config, ferry_error *error)
{
    const int32_t *source = &plan->model.encoder.vocab_size;
    int32_t *target = &plan->model.decoder.vocab_size;
    FERRY_TRY(ferry_json_bool(config, "share_encoder_decoder_embeddings", &plan->model.tied_embeddings, error));
    FERRY_TRY(ferry_json_integer(config, "decoder_vocab_size", 1, FERRY_MAX_VOCABULARY, target, error));
    if (!plan->model.tied_embeddings || *source == *target) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_FORMAT,
                      "%s: 'share_encoder_decoder_embeddings' with vocab_size %d but decoder_vocab_size %d",
                      config.file, (int)*source, (int)*target);
}

static bool is_code(const char *language)
{
    return language != NULL && *language != 0 && strchr(language, ' ') == NULL;
}

static ferry_status read_marian_text(ferry_import_plan *plan, ferry_json config, ferry_error *error)
{
    static const char *const silent[] = {"</s>", "<unk>", "<pad>", NULL};
    ferry_tokenizer_config *text = &plan->text;
    const char *source = NULL, *target = NULL;
    ferry_json tokenizer, from, to;
    bool found;
    (void)config;
    /* With pad suppressed before the softmax: what every published Marian directory asks for or was made for. */
    plan->generation.decoding.search.renormalize = true;
    if (ferry_import_uses_tokenizer_json(plan, "source.spm")) {
        FERRY_TRY(ferry_import_tokenizer_json(plan, error));
        FERRY_TRY(ferry_import_optional_json(plan, "tokenizer_config.json", &tokenizer, error));
    } else {
        const char *target_file = ferry_source_has(plan->source, "target.spm") ? "target.spm" : "";
        text->leading_tag = true;
        FERRY_TRY(ferry_import_segmenters(plan, "source.spm", target_file, error));
        FERRY_TRY(ferry_import_optional_json(plan, "tokenizer_config.json", &tokenizer, error));
        /* vocab.json for the source, and for the target unless there is a target_vocab.json in use. */
        bool separate = !plan->model.tied_embeddings && ferry_source_has(plan->source, "target_vocab.json");
        FERRY_TRY(ferry_import_json(plan, "vocab.json", &from, error));
        FERRY_TRY(ferry_json_bool(tokenizer, "separate_vocabs", &separate, error));
        to = from;
        if (separate) FERRY_TRY(ferry_import_json(plan, "target_vocab.json", &to, error));
        FERRY_TRY(read_vocabularies(plan, from, to, silent, error));
    }
    /* Pieces ">>fra<<" of the source's vocabulary are tags of target languages; without them a model has one pair. */
    FERRY_TRY(ferry_import_tag_pieces(plan, text->source_pieces, text->source_count, &found, error));
    if (found) return FERRY_OK;
    FERRY_TRY(ferry_json_text(tokenizer, "source_lang", &source, error));
    FERRY_TRY(ferry_json_text(tokenizer, "target_lang", &target, error));
    if (!is_code(source) || !is_code(target)) return FERRY_OK;
    return ferry_import_language_pair(plan, ferry_text_view(source), ferry_text_view(target), error);
}

const ferry_huggingface_family ferry_huggingface_marian = {.kind = "huggingface-marian",
                                                           .vocab_size = 58101,
                                                           .activation = "gelu",
                                                           .pad_id = 58100,
                                                           .start_id = 58100,
                                                           .eos_id = 0,
                                                           .output_bias = true,
                                                           .stored_positions = true,
                                                           .sizes = read_marian_sizes,
                                                           .text = read_marian_text};

/* ---- M2M-100, SMaLL-100 and NLLB-200: one network, three kinds of text ---- */

static const char small100_kind[] = "huggingface-small100";

static const char m2m_codes[] =
    "af am ar ast az ba be bg bn br bs ca ceb cs cy da de el en es et fa ff fi fr fy ga gd gl gu ha he hi hr ht "
    "hu hy id ig ilo is it ja jv ka kk km kn ko lb lg ln lo lt lv mg mk ml mn mr ms my ne nl no ns oc or pa pl ps "
    "pt ro ru sd si sk sl so sq sr ss su sv sw ta th tl tn tr uk ur uz vi wo xh yi yo zh zu";
static const char wmt21_codes[] = "en ha is ja cs ru zh de";

static const char nllb_codes[] =
    "ace_Arab ace_Latn acm_Arab acq_Arab aeb_Arab afr_Latn ajp_Arab aka_Latn amh_Ethi apc_Arab arb_Arab ars_Arab "
    "ary_Arab arz_Arab asm_Beng ast_Latn awa_Deva ayr_Latn azb_Arab azj_Latn bak_Cyrl bam_Latn ban_Latn bel_Cyrl "
    "bem_Latn ben_Beng bho_Deva bjn_Arab bjn_Latn bod_Tibt bos_Latn bug_Latn bul_Cyrl cat_Latn ceb_Latn ces_Latn "
    "cjk_Latn ckb_Arab crh_Latn cym_Latn dan_Latn deu_Latn dik_Latn dyu_Latn dzo_Tibt ell_Grek eng_Latn epo_Latn "
    "est_Latn eus_Latn ewe_Latn fao_Latn pes_Arab fij_Latn fin_Latn fon_Latn fra_Latn fur_Latn fuv_Latn gla_Latn "
    "gle_Latn glg_Latn grn_Latn guj_Gujr hat_Latn hau_Latn heb_Hebr hin_Deva hne_Deva hrv_Latn hun_Latn hye_Armn "
    "ibo_Latn ilo_Latn ind_Latn isl_Latn ita_Latn jav_Latn jpn_Jpan kab_Latn kac_Latn kam_Latn kan_Knda kas_Arab "
    "kas_Deva kat_Geor knc_Arab knc_Latn kaz_Cyrl kbp_Latn kea_Latn khm_Khmr kik_Latn kin_Latn kir_Cyrl kmb_Latn "
    "kon_Latn kor_Hang kmr_Latn lao_Laoo lvs_Latn lij_Latn lim_Latn lin_Latn lit_Latn lmo_Latn ltg_Latn ltz_Latn "
    "lua_Latn lug_Latn luo_Latn lus_Latn mag_Deva mai_Deva mal_Mlym mar_Deva min_Latn mkd_Cyrl plt_Latn mlt_Latn "
    "mni_Beng khk_Cyrl mos_Latn mri_Latn zsm_Latn mya_Mymr nld_Latn nno_Latn nob_Latn npi_Deva nso_Latn nus_Latn "
    "nya_Latn oci_Latn gaz_Latn ory_Orya pag_Latn pan_Guru pap_Latn pol_Latn por_Latn prs_Arab pbt_Arab quy_Latn "
    "ron_Latn run_Latn rus_Cyrl sag_Latn san_Deva sat_Beng scn_Latn shn_Mymr sin_Sinh slk_Latn slv_Latn smo_Latn "
    "sna_Latn snd_Arab som_Latn sot_Latn spa_Latn als_Latn srd_Latn srp_Cyrl ssw_Latn sun_Latn swe_Latn swh_Latn "
    "szl_Latn tam_Taml tat_Cyrl tel_Telu tgk_Cyrl tgl_Latn tha_Thai tir_Ethi taq_Latn taq_Tfng tpi_Latn tsn_Latn "
    "tso_Latn tuk_Latn tum_Latn tur_Latn twi_Latn tzm_Tfng uig_Arab ukr_Cyrl umb_Latn urd_Arab uzn_Latn vec_Latn "
    "vie_Latn war_Latn wol_Latn xho_Latn ydd_Hebr yor_Latn yue_Hant zho_Hans zho_Hant zul_Latn";

/* vocab.json, then one language a row. */
static ferry_status read_m2m_vocabulary(ferry_import_plan *plan, ferry_json tokenizer, ferry_error *error)
{
    ferry_tokenizer_config *text = &plan->text;
    const int32_t V = plan->model.encoder.vocab_size;
    const char *codes = "m2m100";
    const ferry_string_table *pieces;
    ferry_json vocabulary;
    ferry_import_tags list = {NULL, NULL, 0};
    FERRY_TRY(ferry_huggingface_segmenter(plan, "sentencepiece.bpe.model", error));
    FERRY_TRY(ferry_import_json(plan, "vocab.json", &vocabulary, error));
    FERRY_TRY(ferry_import_vocabulary(plan, vocabulary, V, &pieces, error));
    plan->vocabulary_files[0] = plan->vocabulary_files[1] = vocabulary.file;
    FERRY_TRY(ferry_json_require(vocabulary, "<unk>", error));
    FERRY_TRY(ferry_huggingface_check_eos(plan, vocabulary, error));
    FERRY_TRY(ferry_json_text(tokenizer, "language_codes", &codes, error));
    const bool wmt21 = strcmp(codes, "wmt21") == 0;
    if (!wmt21 && strcmp(codes, "m2m100") != 0) {
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: 'language_codes': expected 'm2m100' or 'wmt21'",
                          tokenizer.file);
    }
    const int32_t first = (int32_t)json_object_size(vocabulary.object); /* at most V, as its ids differ */
    FERRY_TRY(ferry_multilingual_list(plan, wmt21 ? wmt21_codes : m2m_codes, first, &list, error));
    if (first + list.count > V) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: %d pieces and %d languages do not fit a vocabulary of %d",
                          vocabulary.file, (int)first, (int)list.count, (int)V);
    }
    ferry_import_one_vocabulary(plan, pieces, ferry_import_piece_id(vocabulary, "<unk>"));
    const int32_t own[] = {ferry_import_piece_id(vocabulary, "<s>"), text->source_unk_id};
    FERRY_TRY(ferry_import_special(plan, list.ids, list.count, error));
    FERRY_TRY(ferry_import_special(plan, own, 2, error));
    FERRY_TRY(ferry_import_special_ids(plan, error));
    const bool small = strcmp(plan->kind, small100_kind) == 0;
    return ferry_multilingual_tags(plan, &list, "__", small ? FERRY_TAG_NONE : FERRY_TAG_PREFIX, error);
}

/* Published directories have M2M-100's class, and the program of the tokenizer beside it. */
bool ferry_import_is_small100(const ferry_import_plan *plan, const char *tokenizer_class)
{
    return strcmp(tokenizer_class, "SMALL100Tokenizer") == 0 ||
           ferry_source_has(plan->source, "tokenization_small100.py");
}

static ferry_status read_m2m_kind(ferry_import_plan *plan, ferry_json config, ferry_error *error)
{
    const char *class = "";
    ferry_json tokenizer;
    (void)config;
    FERRY_TRY(ferry_import_optional_json(plan, "tokenizer_config.json", &tokenizer, error));
    FERRY_TRY(ferry_json_text(tokenizer, "tokenizer_class", &class, error));
    if (ferry_import_is_small100(plan, class))
        plan->kind = small100_kind;
    else if (ferry_text_begins(class, "Nllb") || !ferry_source_has(plan->source, "vocab.json"))
        plan->kind = "huggingface-nllb";
    return FERRY_OK;
}

static ferry_status read_m2m_text(ferry_import_plan *plan, ferry_json config, ferry_error *error)
{
    bool legacy = false;
    ferry_json tokenizer;
    (void)config;
    FERRY_TRY(ferry_import_optional_json(plan, "tokenizer_config.json", &tokenizer, error));
    if (strcmp(plan->kind, "huggingface-nllb") != 0) return read_m2m_vocabulary(plan, tokenizer, error);
    FERRY_TRY(ferry_json_bool(tokenizer, "legacy_behaviour", &legacy, error));
    return ferry_multilingual_text(plan, "aaa_Aaaa", nllb_codes, legacy ? FERRY_TAG_SUFFIX : FERRY_TAG_PREFIX, error);
}

const ferry_huggingface_family ferry_huggingface_m2m = {.kind = "huggingface-m2m100",
                                                        .vocab_size = 128112,
                                                        .scale_embedding = true,
                                                        .activation = "relu",
                                                        .pad_id = 1,
                                                        .start_id = 2,
                                                        .eos_id = 2,
                                                        .pre_norm = true,
                                                        .fairseq_positions = true,
                                                        .sizes = read_m2m_kind,
                                                        .text = read_m2m_text};

/* ---- mBART-50, and mBART-25, whose decoder starts with the language: trained further for one target language ---- */

#define CODES25                                                                                                        \
    "ar_AR cs_CZ de_DE en_XX es_XX et_EE fi_FI fr_XX gu_IN hi_IN it_IT ja_XX kk_KZ ko_KR lt_LT lv_LV my_MM ne_NP "     \
    "nl_XX ro_RO ru_RU si_LK tr_TR vi_VN zh_CN"
static const char codes25[] = CODES25;
static const char codes50[] =
    CODES25 " af_ZA az_AZ bn_IN fa_IR he_IL hr_HR id_ID ka_GE km_KH mk_MK ml_IN "
            "mn_MN mr_IN pl_PL ps_AF pt_XX sv_SE sw_KE ta_IN te_IN th_TH tl_XX uk_UA ur_PK xh_ZA gl_ES sl_SI";

enum { MBART50_WORDS = 250054 };

/* The class of the tokenizer says which of the two it is, or the vocabulary's size. */
static ferry_status read_mbart_kind(ferry_import_plan *plan, ferry_json config, ferry_error *error)
{
    const char *class = "", *config_class = "";
    ferry_json tokenizer;
    FERRY_TRY(ferry_import_optional_json(plan, "tokenizer_config.json", &tokenizer, error));
    FERRY_TRY(ferry_json_text(tokenizer, "tokenizer_class", &class, error));
    FERRY_TRY(ferry_json_text(config, "tokenizer_class", &config_class, error));
    if (ferry_text_begins(class, "MBart50") || ferry_text_begins(config_class, "MBart50") ||
        plan->model.encoder.vocab_size == MBART50_WORDS)
        plan->kind = "huggingface-mbart50";
    return FERRY_OK;
}

static ferry_status read_mbart_text(ferry_import_plan *plan, ferry_json config, ferry_error *error)
{
    ferry_model_languages *languages = &plan->languages;
    if (strcmp(plan->kind, "huggingface-mbart50") == 0)
        return ferry_multilingual_text(plan, "aa_AA", codes50, FERRY_TAG_PREFIX, error);
    FERRY_TRY(ferry_multilingual_text(plan, "aa_AA", codes25, FERRY_TAG_SUFFIX, error));
    /* The language whose tag is the start token is the only target; nothing is forced. */
    const int32_t count = languages->count, start = plan->generation.start_id;
    int32_t *numbers = ferry_arena_alloc(&plan->arena, (size_t)count, 2 * sizeof *numbers);
    if (numbers == NULL) return ferry_fail_memory(error, "a list of languages", (size_t)count * 2, sizeof *numbers);
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

const ferry_huggingface_family ferry_huggingface_mbart = {.kind = "huggingface-mbart25",
                                                          .vocab_size = 50265,
                                                          .activation = "gelu",
                                                          .pad_id = 1,
                                                          .start_id = 0,
                                                          .eos_id = 2,
                                                          .pre_norm = true,
                                                          .embedding_norms = true,
                                                          .output_bias = true,
                                                          .stored_positions = true,
                                                          .learned_from = 2,
                                                          .sizes = read_mbart_kind,
                                                          .text = read_mbart_text};

/* ---- Pegasus, which summarizes ---- */

/* Padding, end, two masks and 101 words of pre-training come before the pieces, whose first one is the unknown piece.
 * SentencePiece's own padding and end are unused. */
enum { PEGASUS_OFFSET = 103, PEGASUS_UNKNOWN = 2, MAX_OFFSET = 1 << 20 };

static ferry_status read_pegasus_text(ferry_import_plan *plan, ferry_json config, ferry_error *error)
{
    static const char model[] = "spiece.model";
    const int32_t V = plan->model.encoder.vocab_size;
    int32_t offset = PEGASUS_OFFSET;
    ferry_json tokenizer;
    const ferry_string_table *joined;
    ferry_view *pieces;
    (void)config;
    if (ferry_import_uses_tokenizer_json(plan, model)) return ferry_import_tokenizer_json(plan, error);
    FERRY_TRY(ferry_import_optional_json(plan, "tokenizer_config.json", &tokenizer, error));
    FERRY_TRY(ferry_json_integer(tokenizer, "offset", 0, MAX_OFFSET, &offset, error));
    if (offset != PEGASUS_OFFSET)
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: 'offset': expected %d, found %d", tokenizer.file,
                          PEGASUS_OFFSET, (int)offset);
    FERRY_TRY(ferry_huggingface_segmenter(plan, model, error));
    FERRY_TRY(ferry_huggingface_shifted_pieces(plan, PEGASUS_UNKNOWN, PEGASUS_UNKNOWN, offset, &pieces, error));
    FERRY_TRY(ferry_string_table_join(&plan->arena, pieces, (size_t)V, &joined, error));
    ferry_import_one_vocabulary(plan, joined, PEGASUS_UNKNOWN + PEGASUS_OFFSET);
    FERRY_TRY(ferry_import_special_ids(plan, error));
    for (int32_t i = 0; i <= PEGASUS_UNKNOWN + PEGASUS_OFFSET; i++) FERRY_TRY(ferry_import_special(plan, &i, 1, error));
    return ferry_import_compare_tokenizer_json(plan, error);
}

const ferry_huggingface_family ferry_huggingface_pegasus = {.kind = "huggingface-pegasus",
                                                            .vocab_size = 50265,
                                                            .activation = "gelu",
                                                            .pad_id = 0,
                                                            .start_id = 0,
                                                            .eos_id = 1,
                                                            .pre_norm = true,
                                                            .output_bias = true,
                                                            .stored_positions = true,
                                                            .text = read_pegasus_text};

/* ---- FSMT: fairseq's models of WMT 2016 and 2019 ---- */

enum { FSMT_WORDS = 42024 };

/* Three matrices, or one: the source's words, the target's, and the output. */
static ferry_status read_fsmt_sizes(ferry_import_plan *plan, ferry_json config, ferry_error *error)
{
    int32_t *source = &plan->model.encoder.vocab_size, *target = &plan->model.decoder.vocab_size;
    const ferry_json_key keys[] = {{"src_vocab_size", .integer = source, 1, FERRY_MAX_VOCABULARY},
                                   {"tgt_vocab_size", .integer = target, 1, FERRY_MAX_VOCABULARY,
                                    .other = "vocab_size"}};
    *source = *target = FSMT_WORDS;
    FERRY_TRY(ferry_json_read(config, keys, 2, false, error));
    plan->model.tied_embeddings = plan->model.tied_output;
    if (!plan->model.tied_embeddings || *source == *target) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_FORMAT,
                      "%s: 'tie_word_embeddings' with src_vocab_size %d but tgt_vocab_size %d", config.file,
                      (int)*source, (int)*target);
}

/* Moses' words, merged pairs of each, two vocabularies; `langs`, of the tokenizer or of the model. */
static ferry_status read_fsmt_text(ferry_import_plan *plan, ferry_json config, ferry_error *error)
{
    static const char *const silent[] = {"<s>", "<pad>", "</s>", "<unk>", NULL};
    ferry_tokenizer_config *text = &plan->text;
    ferry_json tokenizer, from, to;
    FERRY_TRY(ferry_import_optional_json(plan, "tokenizer_config.json", &tokenizer, error));
    FERRY_TRY(ferry_import_json(plan, "vocab-src.json", &from, error));
    FERRY_TRY(ferry_import_json(plan, "vocab-tgt.json", &to, error));
    FERRY_TRY(read_vocabularies(plan, from, to, silent, error));
    FERRY_TRY(ferry_import_merges(plan, "merges.txt", "merges.txt", true, error));
    const ferry_json json = ferry_json_get(tokenizer, "langs") != NULL ? tokenizer : config;
    const json_t *pair = ferry_json_get(json, "langs");
    const char *source = json_string_value(json_array_get(pair, 0));
    const char *target = json_string_value(json_array_get(pair, 1));
    if (json_array_size(pair) != 2 || source == NULL || target == NULL || *source == 0 || *target == 0)
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: 'langs': expected two languages", json.file);
    text->source_moses = ferry_text_view(source);
    text->target_moses = ferry_text_view(target);
    return ferry_import_language_pair(plan, text->source_moses, text->target_moses, error);
}

const ferry_huggingface_family ferry_huggingface_fsmt = {.kind = "huggingface-fsmt",
                                                         .vocab_size = FSMT_WORDS,
                                                         .scale_embedding = true,
                                                         .activation = "relu",
                                                         .pad_id = 1,
                                                         .start_id = 2,
                                                         .eos_id = 2,
                                                         .untied_output = true,
                                                         .output = "decoder.output_projection.weight",
                                                         .fairseq_positions = true,
                                                         .stored_positions = true, /* by transformers 5 */
                                                         .sizes = read_fsmt_sizes,
                                                         .text = read_fsmt_text};
