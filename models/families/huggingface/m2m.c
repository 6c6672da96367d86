/* M2M-100 and NLLB-200: one network, two ways to text. */
#include <string.h>

#include "huggingface.h"

/* ---- the network ---- */

/* Rows of the table are counted from the one after the padding id: the angle of the first token is two steps. */
ferry_status ferry_huggingface_fairseq_position(ferry_import_plan *plan, bool decoder, ferry_error *error)
{
    ferry_import_sinusoidal(plan, decoder, false, true, plan->generation.pad_id + 1);
    if (plan->model.d_model % 2 == 0 && plan->model.d_model >= 4) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: d_model %d: sinusoidal positions need an even one of at least 4",
                      ferry_import_source_path(plan->source), (int)plan->model.d_model);
}

static const ferry_huggingface_class m2m = {.vocab_size = 128112,
                                            .scale_embedding = true,
                                            .activation = "relu",
                                            .pad_id = 1,
                                            .start_id = 2,
                                            .eos_id = 2,
                                            .pre_norm = true,
                                            .position = ferry_huggingface_fairseq_position};

/* ---- M2M-100's text: vocab.json, then one language a row ---- */

static const char m2m_codes[] =
    "af am ar ast az ba be bg bn br bs ca ceb cs cy da de el en es et fa ff fi fr fy ga gd gl gu ha he hi hr ht "
    "hu hy id ig ilo is it ja jv ka kk km kn ko lb lg ln lo lt lv mg mk ml mn mr ms my ne nl no ns oc or pa pl ps "
    "pt ro ru sd si sk sl so sq sr ss su sv sw ta th tl tn tr uk ur uz vi wo xh yi yo zh zu";
static const char wmt21_codes[] = "en ha is ja cs ru zh de";

static ferry_status read_m2m_text(ferry_import_plan *plan, ferry_json tokenizer, ferry_error *error)
{
    ferry_model_text *text = &plan->text;
    const int32_t V = plan->model.encoder.vocab_size;
    const char *codes = "m2m100";
    const ferry_texts *pieces;
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
    return ferry_multilingual_tags(plan, &list, "__", FERRY_TAG_PREFIX, error);
}

/* ---- NLLB-200's text ---- */

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

ferry_status ferry_import_m2m(ferry_import_plan *plan, ferry_json config, ferry_error *error)
{
    const char *class = "";
    bool legacy = false;
    ferry_json tokenizer;
    FERRY_TRY(ferry_import_optional_json(plan, "tokenizer_config.json", &tokenizer, error));
    FERRY_TRY(ferry_json_text(tokenizer, "tokenizer_class", &class, error));
    const bool nllb = ferry_text_begins(class, "Nllb") || !ferry_import_has_file(plan, "vocab.json");
    plan->kind = nllb ? "huggingface-nllb" : "huggingface-m2m100";
    FERRY_TRY(ferry_huggingface_config(plan, config, &m2m, error));
    FERRY_TRY(ferry_huggingface_network(plan, config, &m2m, error));
    if (!nllb) return read_m2m_text(plan, tokenizer, error);
    FERRY_TRY(ferry_json_bool(tokenizer, "legacy_behaviour", &legacy, error));
    return ferry_multilingual_text(plan, "aaa_Aaaa", nllb_codes, legacy ? FERRY_TAG_SUFFIX : FERRY_TAG_PREFIX, error);
}
