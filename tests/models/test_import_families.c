/* What directories of M2M-100, NLLB-200 and mBART-50 say, in every way in which they say it; what Ferry cannot do is
 * refused by name. */
#include "tests/support/families.h"

#include "models/families/huggingface/huggingface.h"

/* ---- languages ---- */

/* A pair, or tags among the pieces. */
TEST(test_languages_of_marian)
{
    char *source = data_file("models/marian-separate");
    const edit tag = {"vocab.json", "\"<pad>\"", "\">>fra<<\""};
    const edit blank = {"tokenizer_config.json", "\"source_lang\": \"en\"", "\"source_lang\": \"en fr\""};
    const ferry_model_file *file = converted(source);
    assert_int_equal(file->text.languages.count, 2);
    assert_true(file->text.languages.default_source == 0 && file->text.languages.default_target == 1);
    file = converted(variant(source, &tag, 1));
    assert_int_equal(file->text.languages.count, 1);
    assert_int_equal(file->text.languages.target_ids[find_language(&file->text.languages, "fra fr")], 900);
    assert_true(file->text.languages.source_tag == FERRY_TAG_NONE);
    assert_true(file->text.languages.target_tag == FERRY_TAG_PREFIX);
    file = converted(variant(source, &blank, 1));
    assert_int_equal(file->text.languages.count, 0);
}

TEST(test_languages_of_m2m)
{
    char *source = small_family("m2m100");
    const ferry_model_file *file = converted(source);
    const ferry_model_languages *languages = &file->text.languages;
    assert_int_equal(languages->count, 100);
    assert_true(has_text(ferry_texts_at(languages->names, 0), "af afr"));
    assert_true(has_text(ferry_texts_at(languages->names, 99), "zu zul"));
    assert_int_equal(languages->target_ids[find_language(languages, "de deu")], 1516);
    assert_int_equal(languages->source_ids[find_language(languages, "en eng")], 1518);
    assert_true(languages->source_tag == FERRY_TAG_PREFIX && languages->target_tag == FERRY_TAG_FIRST);
    assert_true(languages->default_source < 0 && languages->default_target < 0);
    find_language(languages, "no nor nb nob");
    find_language(languages, "zh zho cmn");
    find_language(languages, "ns nso");
    for (int32_t id = 1500; id < 1600; id++) assert_true(is_special(&file->text, id));
    assert_true(is_special(&file->text, 0) && is_special(&file->text, 3) && !is_special(&file->text, 4));
}

/* Positions are counted from the one after the padding id. */
TEST(test_positions_of_m2m)
{
    char *source = small_family("m2m100");
    const edit padding = {"config.json", "\"pad_token_id\": 1,", "\"pad_token_id\": 5,"};
    assert_true(described(opened(source), "half_minus_one, first 2"));
    assert_true(described(opened(variant(source, &padding, 1)), "half_minus_one, first 6"));
}

TEST(test_wmt21_languages)
{
    char *source = small_family("m2m100");
    const edit wmt21 = {"tokenizer_config.json", "\"m2m100\"", "\"wmt21\""};
    const ferry_model_file *file = converted(variant(source, &wmt21, 1));
    assert_int_equal(file->text.languages.count, 8);
    assert_int_equal(file->text.languages.target_ids[find_language(&file->text.languages, "de deu")], 1507);
    refuse_edit(source, "tokenizer_config.json", "\"m2m100\"", "\"mars\"", FERRY_ERROR_UNSUPPORTED,
                "'language_codes': expected 'm2m100' or 'wmt21'");
    refuse_edit(source, "config.json", "\"vocab_size\": 1608", "\"vocab_size\": 1599", FERRY_ERROR_FORMAT,
                "expected shape [1599, 64], found [1608, 64]");
}

/* Ids of languages stand in one of two files, or follow from a list in one of two others, or from the built-in one. In
 * this directory <mask> stands before the languages, which no list says. */
TEST(test_languages_of_nllb)
{
    static const edit edits[] = {{"tokenizer_config.json", NULL, "{}"},
                                 {"tokenizer.json", NULL, NULL},
                                 {"special_tokens_map.json", NULL, NULL}};
    static const int32_t german[] = {1243, 1243, 1242, 1242};
    char *source = small_family("nllb");
    for (size_t count = 0; count <= 3; count++) {
        const ferry_model_file *file = converted(variant(source, edits, count));
        const ferry_model_text *text = &file->text;
        const ferry_model_languages *languages = &text->languages;
        const int32_t first = count < 2 ? 1202 : 1201;
        assert_int_equal(languages->count, 202);
        assert_int_equal(languages->target_ids[find_language(languages, "deu_Latn de deu")], german[count]);
        for (int32_t i = 0; i < 202; i++) assert_int_equal(languages->source_ids[i], first + i);
        for (int32_t id = 1201; id <= 1403; id++) assert_true(is_special(text, id));
        for (int32_t id = 0; id <= 3; id++) assert_true(is_special(text, id));
        assert_false(is_special(text, 1200));
        assert_int_equal(text->source_unk_id, 3);
        assert_true(text->suffix_count == 1 && text->suffix_ids[0] == 2);
        assert_true(languages->source_tag == FERRY_TAG_PREFIX);
    }
}

/* One script of a language has its short name: the first, but Latin ones before Arabic ones for some. */
TEST(test_names_of_scripts)
{
    char *source = small_family("nllb");
    const ferry_model_file *file = converted(source);
    static const char *const names[] = {"zho_Hans zh zho cmn",    "zho_Hant",        "ace_Latn ace",        "ace_Arab",
                                        "kas_Arab ks kas",        "kas_Deva",        "knc_Latn knc kr kau", "knc_Arab",
                                        "nob_Latn nb nob no nor", "nno_Latn nn nno", "arb_Arab arb ar ara"};
    for (size_t i = 0; i < COUNT(names); i++) find_language(&file->text.languages, names[i]);
}

/* Added tokens that are no languages: special ones have no text, others are words. */
TEST(test_added_tokens)
{
    char *source = small_family("nllb");
    const edit added = {"tokenizer_config.json", NULL,
                        "{\"added_tokens_decoder\": {\"1300\": {\"content\": \"deu_Latn\", \"special\": true}, "
                        "\"1302\": {\"content\": \"word\", \"special\": false}, "
                        "\"1301\": {\"content\": \"<x>\", \"special\": true}, "
                        "\"1299\": {\"content\": \"fra_Latn\", \"special\": true}}}"};
    const ferry_model_file *file = converted(variant(source, &added, 1));
    assert_int_equal(file->text.languages.count, 2);
    assert_int_equal(file->text.languages.target_ids[0], 1299);
    assert_int_equal(file->text.languages.target_ids[1], 1300);
    assert_true(is_special(&file->text, 1300) && is_special(&file->text, 1301) && !is_special(&file->text, 1302));
    assert_true(has_text(ferry_texts_at(file->text.target_pieces, 1302), "word"));
    assert_int_equal(ferry_texts_at(file->text.target_pieces, 1301).size, 0);
    refuse_edit(source, "tokenizer_config.json", "\"1202\": {", "\"1404\": {", FERRY_ERROR_FORMAT,
                "added token 'ace_Arab': expected a text and an id from 0 to 1403");
    refuse_edit(source, "tokenizer_config.json", "\"1202\": {", "\"1200\": {", FERRY_ERROR_FORMAT,
                "202 languages with ids from 1200 to 1403, but the pieces end before 1201");
}

TEST(test_place_of_nllb_tags)
{
    char *source = small_family("nllb");
    const edit edits[] = {{"tokenizer_config.json", NULL, "{\"legacy_behaviour\": true}"},
                          {"generation_config.json", "{", "{\"forced_bos_token_id\": 1243, "},
                          {"generation_config.json", "\"eos_token_id\": 2", "\"eos_token_id\": [2, 50]"}};
    const ferry_model_file *file = converted(variant(source, edits, 3));
    assert_true(is_special(&file->text, 2) && is_special(&file->text, 50));
    const ferry_model_languages *languages = &file->text.languages;
    assert_true(languages->source_tag == FERRY_TAG_SUFFIX && languages->target_tag == FERRY_TAG_FIRST);
    assert_int_equal(languages->default_target, 41);
    assert_int_equal(file->generation.decoding.forced_first_id, -1);
    const edit other = {"generation_config.json", "{", "{\"forced_bos_token_id\": 7, "};
    file = converted(variant(source, &other, 1));
    assert_int_equal(file->text.languages.default_target, -1);
    assert_int_equal(file->generation.decoding.forced_first_id, 7);
}

TEST(test_mbart)
{
    char *source = small_family("mbart50");
    const ferry_model_file *file = converted(source);
    assert_int_equal(file->text.languages.count, 52);
    assert_int_equal(file->text.languages.target_ids[find_language(&file->text.languages, "de_DE de deu")], 1003);
    assert_true(is_special(&file->text, 1001) && is_special(&file->text, 1053) && !is_special(&file->text, 1000));
    assert_int_equal(file->generation.decoding.forced_last_id, 2);
    assert_non_null(file->transformer.encoder.embedding_norm.weight);
    const edit edits[] = {{"config.json", "MBart50Tokenizer", "MBartTokenizer"},
                          {"tokenizer_config.json", "MBart50Tokenizer", "MBartTokenizer"}};
    refuse_source(variant(source, edits, 2), FERRY_ERROR_UNSUPPORTED,
                  "mBART-25: 'decoder_start_token_id': expected the tag of the target language, found 2");
}

/* Keys that are absent have the defaults of their class, not a common one. */
TEST(test_defaults_of_classes)
{
    const edit m2m[] = {{"config.json", "\"scale_embedding\": true,", ""},
                        {"config.json", "\"activation_function\": \"relu\",", ""},
                        {"generation_config.json", NULL, NULL}};
    const edit mbart[] = {{"config.json", "\"scale_embedding\": true,", ""},
                          {"config.json", "\"activation_function\": \"gelu\",", ""},
                          {"config.json", "\"forced_eos_token_id\": 2,", ""},
                          {"generation_config.json", NULL, NULL}};
    const edit t5[] = {{"config.json", "\"relative_attention_num_buckets\": 16,", ""},
                       {"tokenizer_config.json", NULL, "{}"}};
    char *source = small_family("m2m100");
    const ferry_model_file *file = converted(variant(source, m2m, 3));
    assert_true(file->transformer.embedding_scale == 8);
    assert_int_equal(file->transformer.encoder.activation, FERRY_RELU);
    assert_int_equal(file->generation.decoding.forced_last_id, -1);
    source = small_family("mbart50");
    file = converted(variant(source, mbart, 4));
    assert_true(file->transformer.embedding_scale == 1);
    assert_int_equal(file->transformer.encoder.activation, FERRY_GELU);
    assert_int_equal(file->generation.decoding.forced_last_id, -1);
    source = small_family("t5");
    refuse_edit(source, t5[0].file, t5[0].from, t5[0].to, FERRY_ERROR_FORMAT, "expected shape [32, 4], found [16, 4]");
    file = converted(variant(source, &t5[1], 1));
    for (int32_t id = 1100; id < 1112; id++) assert_true(is_special(&file->text, id));
}

/* Two names of one matrix may be stored in different orders. */
TEST(test_same_numbers)
{
    const float rows[] = {1, 2, 3, 4, 5, 6}, columns[] = {1, 4, 2, 5, 3, 6}, other[] = {1, 4, 2, 5, 3, 7};
    const ferry_tensor tensor = {.type = FERRY_F32, .dims = 2, .shape = {2, 3, 1, 1}, .bytes = sizeof rows};
    ferry_weights_entry a = {.tensor = tensor, .strides = {3, 1, 1, 1}};
    ferry_weights_entry b = {.tensor = tensor, .strides = {1, 2, 1, 1}}, c = b;
    a.tensor.data = rows;
    b.tensor.data = columns;
    c.tensor.data = other;
    assert_true(ferry_huggingface_same_numbers(&a, &b));
    assert_false(ferry_huggingface_same_numbers(&a, &c));
    assert_true(ferry_huggingface_same_numbers(&c, &c));
    b.tensor.type = FERRY_F16;
    assert_false(ferry_huggingface_same_numbers(&a, &b));
}

/* ---- refusals ---- */

TEST(test_families_refused)
{
    static const char *const refused[][2] = {
        {"nllb-moe", "mixtures of experts"},
        {"switch_transformers", "mixtures of experts"},
        {"bart", "byte-level pairs"},
        {"t5gemma", "grouped keys"},
        {"IndicTrans", "a program in the directory"},
    };
    static const refusal rows[] = {
        {"config.json", "\"model_type\": \"t5\"", "\"model_type\": \"whisper\"", FERRY_ERROR_UNSUPPORTED,
         "expected 'marian', 'm2m_100', 'mbart', 't5', 'mt5', 'umt5', 'pegasus' or 'fsmt', found 'whisper'"},
        {"config.json", "{", "{\"auto_map\": {}, ", FERRY_ERROR_UNSUPPORTED, "'auto_map'"},
        {"config.json", "{", "{\"tie_encoder_decoder\": true, ", FERRY_ERROR_UNSUPPORTED,
         "'tie_encoder_decoder' true is not supported"},
        {"config.json", "\"is_encoder_decoder\": true", "\"is_encoder_decoder\": false", FERRY_ERROR_UNSUPPORTED,
         "'is_encoder_decoder' false is not supported"},
        {"config.json", "{", "{\"pruned_heads\": {\"1\": [0]}, ", FERRY_ERROR_UNSUPPORTED, "'pruned_heads'"},
        {"config.json", "T5ForConditionalGeneration", "T5EncoderModel", FERRY_ERROR_UNSUPPORTED,
         "architecture 'T5EncoderModel' does not translate"},
        {"tokenizer_config.json", "T5Tokenizer", "ByT5Tokenizer", FERRY_ERROR_UNSUPPORTED, "ByT5 is not supported"},
        {"config.json", "\"dense_act_fn\": \"relu\"", "\"dense_act_fn\": \"mish\"", FERRY_ERROR_UNSUPPORTED,
         "activation 'mish' is not supported"},
    };
    char *source = small_family("t5"), type[64], message[128];
    for (size_t i = 0; i < COUNT(refused); i++) {
        snprintf(type, sizeof type, "\"model_type\": \"%s\"", refused[i][0]);
        refuse_edit(source, "config.json", "\"model_type\": \"t5\"", type, FERRY_ERROR_UNSUPPORTED, refused[i][1]);
        snprintf(message, sizeof message, "model type '%s' is not supported", refused[i][0]);
        refuse_edit(source, "config.json", "\"model_type\": \"t5\"", type, FERRY_ERROR_UNSUPPORTED, message);
    }
    refuse_edits(source, rows, COUNT(rows));
}

TEST(test_missing_segmenter)
{
    char *source = small_family("nllb");
    const edit edits[] = {{"sentencepiece.bpe.model", NULL, NULL}, {"tokenizer.json", NULL, NULL}};
    assert_int_equal(converted(variant(source, edits, 1))->text.kind, FERRY_TOKENIZER_BPE);
    refuse_source(variant(source, edits, 2), FERRY_ERROR_UNSUPPORTED,
                  "expected sentencepiece.bpe.model or tokenizer.json, found neither");
}

TEST(test_family_without_model_type)
{
    char *source = small_family("t5");
    const edit edits[] = {{"config.json", "\"model_type\": \"t5\",", ""}};
    const ferry_model_file *file = converted(variant(source, edits, 1));
    assert_true(text_key(file, "ferry.origin.kind", "huggingface-t5"));
}
