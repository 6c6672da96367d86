/* What directories of M2M-100, NLLB-200 and mBART-50 say, in every way in which they say it; what Ferry cannot do is
 * refused by name. */
#include "tests/support/refusals.h"

#include "models/families/huggingface/huggingface.h"

/* ---- languages ---- */

/* A pair, or tags among the pieces; one vocabulary for both sides only where the key or the tie says so. */
TEST(test_languages_of_marian)
{
    static const saying rows[] = {
        {{{"config.json", "{", "{"}},
         "languages.names en eng|de deu; languages.default_source 0; languages.default_target 1; "
         "tokenizer.source.leading_tag true; tokenizer.target.special_ids 0 1 700"},
        {{{"vocab.json", "\"<pad>\"", "\">>fra<<\""}},
         "languages.names fra fr; languages.target_ids 900; languages.source_tag none; languages.target_tag prefix"},
        {{{"tokenizer_config.json", "\"source_lang\": \"en\"", "\"source_lang\": \"en fr\""}},
         "languages.names absent"},
        {{{"tokenizer_config.json", "\"source_lang\": \"en\"", "\"source_lang\": \"\""}}, "languages.names absent"},
        {{{"tokenizer_config.json", "\"target_lang\": \"de\"", "\"target_lang\": \"\""}}, "languages.names absent"},
        {{{"tokenizer_config.json", "\"target_lang\"", "\"unknown\""}}, "languages.names absent"},
    };
    char *source = data_file("models/marian-separate");
    const edit keyless = {"tokenizer_config.json", "\"separate_vocabs\": true", "\"unknown\": true"};
    check_sayings(source, rows, COUNT(rows));
    const ferry_tokenizer_config *text = &converted(variant(source, &keyless, 1))->text;
    assert_true(text->source_count == 901 && text->target_count == 701);
    assert_true(has_text(ferry_string_table_at(text->target_pieces, 700), "<pad>"));
    refuse_edit(source, "tokenizer_config.json", "\"separate_vocabs\": true", "\"separate_vocabs\": false",
                FERRY_ERROR_FORMAT, "vocab.json: piece");
}

TEST(test_languages_of_m2m)
{
    char *source = small_family("m2m100");
    const ferry_model_file *file = converted(source);
    const ferry_model_languages *languages = &file->languages;
    assert_int_equal(languages->count, 100);
    assert_true(has_text(ferry_string_table_at(languages->names, 0), "af afr"));
    assert_true(has_text(ferry_string_table_at(languages->names, 99), "zu zul"));
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
    static const saying rows[] = {
        {{{"config.json", "{", "{"}}, "encoder.position.first 2; decoder.position.first 2"},
        {{{"config.json", "\"pad_token_id\": 1,", "\"pad_token_id\": 5,"}},
         "decoder.position.first 6; encoder.position.exponent_divisor half_minus_one"},
    };
    static const char *const widths[][2] = {
        {"\"d_model\": 3", "d_model 3: sinusoidal positions need an even one of at"},
        {"\"d_model\": 2", "d_model 2: sinusoidal positions need an even one of at"},
        {"\"d_model\": 4", "expected shape [60, 4], found [60, 16]"}};
    char *source = data_file("huggingface/m2m100");
    check_sayings(small_family("m2m100"), rows, COUNT(rows));
    for (size_t i = 0; i < COUNT(widths); i++) {
        const edit edits[] = {{"config.json", "\"d_model\": 16", widths[i][0]},
                              {"config.json", "\"encoder_attention_heads\": 4", "\"encoder_attention_heads\": 1"},
                              {"config.json", "\"decoder_attention_heads\": 2", "\"decoder_attention_heads\": 1"}};
        refuse_source(variant(source, edits, 3), FERRY_ERROR_FORMAT, widths[i][1]);
    }
}

/* The languages follow the words of vocab.json, up to the last row. */
TEST(test_wmt21_languages)
{
    char *source = data_file("huggingface/m2m100");
    for (int words = 52; words <= 53; words++) {
        json_t *vocabulary = load_json(in_directory(source, "vocab.json"));
        for (int id = (int)json_object_size(vocabulary); id < words; id++)
            json_object_set_new(vocabulary, ferry_format("word %d", id).text, json_integer(id));
        char *text = json_dumps(vocabulary, 0), *directory = variant(source, &(edit){"vocab.json", NULL, text}, 1);
        free(text);
        if (words == 52)
            check_file_keys(converted(directory), "languages.names en eng|ha hau|is isl|ja jpn|cs ces|ru rus|zh zho "
                                                  "cmn|de deu; languages.target_ids 52 53 54 55 56 57 58 59");
        else
            refuse_source(directory, FERRY_ERROR_FORMAT, "53 pieces and 8 languages do not fit a vocabulary of 60");
    }
    refuse_edit(source, "tokenizer_config.json", "\"wmt21\"", "\"mars\"", FERRY_ERROR_UNSUPPORTED,
                "'language_codes': expected 'm2m100' or 'wmt21'");
    refuse_edit(source, "vocab.json", "\"<unk>\"", "\"<u>\"", FERRY_ERROR_FORMAT, "vocab.json: '<unk>' is missing");
}

/* Without vocab.json, or by the class of its tokenizer, the same network has NLLB's text. */
TEST(test_kinds_of_m2m)
{
    static const saying rows[] = {
        {{{"config.json", "{", "{"}}, "origin.kind huggingface-m2m100"},
        {{{"vocab.json", NULL, NULL},

          {"tokenizer_config.json", NULL, "{\"additional_special_tokens\": [\"deu_Latn\", \"fra_Latn\"]}"}},
         "origin.kind huggingface-nllb; languages.target_ids 41 42"},
        {{{"tokenizer_config.json", NULL,
           "{\"tokenizer_class\": \"NllbTokenizerFast\", \"extra_special_tokens\": [\"deu_Latn\"]}"}},
         "origin.kind huggingface-nllb; languages.names deu_Latn de deu; languages.target_ids 41"},
    };
    check_sayings(data_file("huggingface/m2m100"), rows, COUNT(rows));
}

/* Ids of languages stand in one of two files, or follow from a list in one of two others, or from the built-in one. In
 * this directory <mask> stands before the languages, which no list says. */
TEST(test_languages_of_nllb)
{
    static const edit edits[] = {{"tokenizer_config.json", NULL,
                                  "{\"added_tokens_decoder\": {\"5\": {\"content\": \"<x>\", \"special\": true}}}"},
                                 {"tokenizer.json", NULL, NULL},
                                 {"special_tokens_map.json", NULL, NULL}};
    static const int32_t german[] = {1243, 1243, 1242, 1242};
    char *source = small_family("nllb");
    for (size_t count = 0; count <= 3; count++) {
        const ferry_model_file *file = converted(variant(source, edits, count));
        const ferry_tokenizer_config *text = &file->text;
        const ferry_model_languages *languages = &file->languages;
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
    for (size_t i = 0; i < COUNT(names); i++) find_language(&file->languages, names[i]);
}

/* A list that names languages counts, whatever its file and key are and whatever else is in it; ids follow the pieces.
 */
TEST(test_lists_of_languages)
{
    static const char *const files[] = {"tokenizer_config.json", "special_tokens_map.json"},
                             *const keys[] = {"additional_special_tokens", "extra_special_tokens"};
    for (int i = 0; i < 4; i++) {
        char text[200];
        snprintf(text, sizeof text, "{\"%s\": [\"fra_Latn\", \"<x>\", {\"content\": \"deu_Latn\"}]}", keys[i % 2]);
        const saying row = {{{"tokenizer_config.json", NULL, "{}"},
                             {"tokenizer.json", NULL, NULL},
                             {"special_tokens_map.json", NULL, "{\"additional_special_tokens\": [\"<y>\"]}"},
                             {files[i / 2], NULL, text}},
                            "languages.names fra_Latn fr fra|deu_Latn de deu; languages.source_ids 1201 1202; "
                            "tokenizer.target.special_ids 1201 1202 0 3 1203 2 1"};
        check_sayings(small_family("nllb"), &row, 1);
    }
}

/* Added tokens that are no languages: special ones have names, which no text becomes, others are words, also in the
 * first row after the pieces and in the last one. */
TEST(test_added_tokens)
{
    static const refused_edit bad[] = {
        {"tokenizer_config.json", "\"1202\": {", "\"1404\": {", FERRY_ERROR_FORMAT,
         "…added token 'ace_Arab': expected a text and an id from 0 to 1403"},
        {"tokenizer_config.json", "\"1202\": {", "\"1202a\": {", FERRY_ERROR_FORMAT,
         "…added token 'ace_Arab': expected"},
        {"tokenizer_config.json", "\"1202\": {", "\"1202\": 7, \"0001\": {", FERRY_ERROR_FORMAT,
         "…added token '': expected a text"},
        {"tokenizer_config.json", "\"1202\": {", "\"1200\": {", FERRY_ERROR_FORMAT,
         "…202 languages with ids from 1200 to 1403, but the pieces end before 1201"},
    };
    char *source = small_family("nllb");
    const edit added = {"tokenizer_config.json", NULL,
                        "{\"added_tokens_decoder\": {\"1300\": {\"content\": \"deu_Latn\", \"special\": true}, "
                        "\"1201\": {\"content\": \"first\", \"special\": false}, "
                        "\"1403\": {\"content\": \"last\"}, "
                        "\"1301\": {\"content\": \"\u00a4\", \"special\": true}, "
                        "\"1299\": {\"content\": \"fra_Latn\", \"special\": true}}}"};
    static const char *const names[] = {"<s>", "<pad>", "</s>", "<unk>"};
    char *directory = variant(source, &added, 1);
    const ferry_model_file *file = converted(directory);
    size_t count;
    const int32_t *ids = tokenized(opened(directory), "\u00a4", "deu_Latn", "fra_Latn", &count);
    check_file_keys(file, "languages.target_ids 1299 1300; tokenizer.target.special_ids 1299 1300 0 3 1301 2 1");
    assert_true(has_text(ferry_string_table_at(file->text.target_pieces, 1201), "first"));
    assert_true(has_text(ferry_string_table_at(file->text.target_pieces, 1403), "last"));
    assert_true(has_text(ferry_string_table_at(file->text.target_pieces, 1301), "\u00a4"));
    assert_true(has_text(ferry_string_table_at(file->text.source_pieces, 1300), "deu_Latn"));
    for (size_t i = 0; i < 4; i++) assert_true(has_text(ferry_string_table_at(file->text.source_pieces, i), names[i]));
    assert_true(count == 4 && ids[0] == 1300 && ids[2] == 3 && ids[3] == 2);
    file = converted(small_family("m2m100"));
    assert_true(
        has_text(ferry_string_table_at(file->text.source_pieces, (size_t)file->languages.source_ids[0]), "__af__"));
    check_refused_edits(source, bad, COUNT(bad));
}

/* The first token that is forced names the default target, be it the first, a middle or the last language; another
 * stays forced. */
TEST(test_place_of_nllb_tags)
{
    static const saying rows[] = {
        {{{"tokenizer_config.json", NULL, "{\"legacy_behaviour\": true}"},
          {"generation_config.json", "{", "{\"forced_bos_token_id\": 1243, "}},
         "languages.source_tag suffix; languages.target_tag first; languages.default_target 41; "
         "decoding.forced_first_id -1"},
        {{{"generation_config.json", "{", "{\"forced_bos_token_id\": 1202, "}},
         "languages.source_tag prefix; languages.default_target 0; decoding.forced_first_id -1"},
        {{{"generation_config.json", "{", "{\"forced_bos_token_id\": 1403, "}},
         "languages.default_target 201; decoding.forced_first_id -1"},
        {{{"generation_config.json", "{", "{\"forced_bos_token_id\": 7, "}},
         "languages.default_target -1; decoding.forced_first_id 7"},
    };
    char *source = small_family("nllb");
    check_sayings(source, rows, COUNT(rows));
    const edit ends = {"generation_config.json", "\"eos_token_id\": 2", "\"eos_token_id\": [2, 50]"};
    const ferry_model_file *file = converted(variant(source, &ends, 1));
    assert_true(is_special(&file->text, 2) && is_special(&file->text, 50));
}

TEST(test_mbart)
{
    char *source = small_family("mbart50");
    const ferry_model_file *file = converted(source);
    assert_int_equal(file->languages.count, 52);
    assert_int_equal(file->languages.target_ids[find_language(&file->languages, "de_DE de deu")], 1003);
    assert_int_equal(file->languages.target_ids[find_language(&file->languages, "sl_SI sl slv")], 1052);
    assert_true(is_special(&file->text, 1001) && is_special(&file->text, 1053) && !is_special(&file->text, 1000));
    check_file_keys(file, "decoding.forced_last_id 2; encoder.embedding_norm true");
}

/* mBART-50 by the class in either file; else mBART-25, whose target is the start. Of the table of positions, two rows
 * are not used. */
TEST(test_kinds_of_mbart)
{
    static const saying rows[] = {
        {{{"config.json", "{", "{"}}, "origin.kind huggingface-mbart50; languages.default_target 2; start_id 2"},
        {{{"tokenizer_config.json", NULL, "{}"}, {"config.json", "{", "{\"tokenizer_class\": \"MBart50Tokenizer\", "}},
         "origin.kind huggingface-mbart50; languages.source_tag prefix; encoder.position.max_positions 32"},
        {{{"tokenizer_config.json", NULL, "{\"tokenizer_class\": \"MBartTokenizer\"}"},
          {"generation_config.json", "\"decoder_start_token_id\": 2", "\"decoder_start_token_id\": 65"},
          {"generation_config.json", "\"forced_bos_token_id\": 43,", ""}},
         "origin.kind huggingface-mbart25; languages.source_tag suffix; languages.target_tag none; "
         "languages.default_target 24; start_id 65"},
    };
    char *source = data_file("huggingface/mbart50"), *directory = variant(source, NULL, 0);
    check_sayings(source, rows, COUNT(rows));
    refuse_edit(source, "tokenizer_config.json", NULL, "{}", FERRY_ERROR_UNSUPPORTED,
                "mBART-25: 'decoder_start_token_id': expected the tag of the target language, found 2");
    item_list *list = read_items(source);
    ferry_tensor *table = &find_item(list, "model.decoder.embed_positions.weight")->tensor;
    table->shape[0] = 3;
    write_items(list, directory, "model.safetensors", FERRY_F32, 0, 1);
    check_file_keys(converted(directory), "encoder.position.max_positions 32; decoder.position.max_positions 1");
    table->shape[0] = 2;
    write_items(list, directory, "model.safetensors", FERRY_F32, 0, 1);
    refuse_source(directory, FERRY_ERROR_FORMAT, "expected a table of positions, found another size");
    table->shape[0] = 3;
    table->shape[1] = 15;
    write_items(list, directory, "model.safetensors", FERRY_F32, 0, 1);
    refuse_source(directory, FERRY_ERROR_FORMAT, "expected shape [3, 16], found [3, 15]");
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

/* By the type, or where there is none by the class's name. */
TEST(test_families_refused)
{
    static const char *const kinds[][3] = {
        {"nllb-moe", "NllbMoeForConditionalGeneration", "mixtures of experts"},
        {"switch_transformers", "SwitchTransformersForConditionalGeneration", "mixtures of experts"},
        {"bart", "BartForConditionalGeneration", "its tokenizer, byte-level pairs"},
        {"mvp", "MvpForConditionalGeneration", "its tokenizer, byte-level pairs"},
        {"blenderbot", "BlenderbotForConditionalGeneration", "its tokenizer, byte-level pairs"},
        {"blenderbot-small", "BlenderbotSmallForConditionalGeneration", "its tokenizer, merged pairs with a pattern"},
        {"led", "LEDForConditionalGeneration", "sparse attention"},
        {"longt5", "LongT5ForConditionalGeneration", "sparse attention"},
        {"pegasus_x", "PegasusXForConditionalGeneration", "sparse attention"},
        {"bigbird_pegasus", "BigBirdPegasusForConditionalGeneration", "sparse attention"},
        {"plbart", "PLBartForConditionalGeneration", "its tokenizer, with languages of programs"},
        {"prophetnet", "ProphetNetForConditionalGeneration", "a decoder that predicts several tokens"},
        {"xlm-prophetnet", "XLMProphetNetForConditionalGeneration", "a decoder that predicts several tokens"},
        {"seamless_m4t", "SeamlessM4TForTextToText", "speech"},
        {"seamless_m4t_v2", "SeamlessM4Tv2ForTextToText", "speech"},
        {"encoder-decoder", "EncoderDecoderModel", "stacks of two other families"},
        {"t5gemma", "T5GemmaForConditionalGeneration", "Gemma's blocks"},
        {"IndicTrans", "IndicTransForConditionalGeneration", "its tokenizer, which is a program"},
    };
    static const char *const types[] = {"whisper", "t5gemma2"}, *const found[] = {
                                                                    "'pegasus' or 'fsmt', found 'whisper'",
                                                                    "Ferry lacks Gemma's blocks"};
    char *source = small_family("t5"), text[128], message[160];
    for (size_t i = 0; i < COUNT(kinds); i++) {
        snprintf(message, sizeof message, "model type '%s' is not supported: Ferry lacks %s", kinds[i][0], kinds[i][2]);
        snprintf(text, sizeof text, "{\"model_type\": \"%s\"}", kinds[i][0]);
        refuse_edit(source, "config.json", NULL, text, FERRY_ERROR_UNSUPPORTED, message);
        snprintf(text, sizeof text, "{\"architectures\": [\"%s\"]}", kinds[i][1]);
        refuse_edit(source, "config.json", NULL, text, FERRY_ERROR_UNSUPPORTED, message);
    }
    for (size_t i = 0; i < COUNT(types); i++) {
        snprintf(text, sizeof text, "\"model_type\": \"%s\"", types[i]);
        refuse_edit(source, "config.json", "\"model_type\": \"t5\"", text, FERRY_ERROR_UNSUPPORTED, found[i]);
    }
}

/* Choices that change the network; what says that they are not made is accepted. */
TEST(test_choices_refused)
{
    static const refused_edit rows[] = {
        {"config.json", "{", "{\"auto_map\": {\"AutoModel\": \"a.B\"}, ", FERRY_ERROR_UNSUPPORTED, "…'auto_map'"},
        {"config.json", "{", "{\"tie_encoder_decoder\": true, ", FERRY_ERROR_UNSUPPORTED,
         "…'tie_encoder_decoder' is not supported"},
        {"config.json", "\"is_encoder_decoder\": true", "\"is_encoder_decoder\": false", FERRY_ERROR_UNSUPPORTED,
         "…'is_encoder_decoder' is not supported: expected true, found false"},
        {"config.json", "{", "{\"pruned_heads\": {\"1\": [0]}, ", FERRY_ERROR_UNSUPPORTED, "…'pruned_heads'"},
        {"config.json", "T5ForConditionalGeneration", "T5EncoderModel", FERRY_ERROR_UNSUPPORTED,
         "…architecture 'T5EncoderModel' does not translate"},
        {"config.json", NULL, "{\"architectures\": []}", FERRY_ERROR_UNSUPPORTED, "…found 'nothing'"},
        {"tokenizer_config.json", "T5Tokenizer", "ByT5Tokenizer", FERRY_ERROR_UNSUPPORTED, "…found ByT5Tokenizer"},
    };
    static const saying accepted[] = {
        {{{"config.json", "{", "{\"pruned_heads\": {}, \"tie_encoder_decoder\": false, \"encoder\": null, "}},
         "origin.kind huggingface-t5"},
        {{{"config.json", "\"model_type\": \"t5\",", ""}}, "origin.kind huggingface-t5"},
        {{{"config.json", "\"model_type\": \"t5\",", ""},
          {"config.json", "T5ForConditionalGeneration", "T5WithLMHeadModel"}},
         "origin.kind huggingface-t5"},
        {{{"config.json", "\"model_type\": \"t5\",", ""},
          {"config.json", "T5ForConditionalGeneration", "MT5ForConditionalGeneration"}},
         "origin.kind huggingface-mt5"},
    };
    char *source = small_family("t5");
    check_refused_edits(source, rows, COUNT(rows));
    check_sayings(source, accepted, COUNT(accepted));
}

TEST(test_missing_segmenter)
{
    char *source = small_family("nllb");
    const edit edits[] = {{"sentencepiece.bpe.model", NULL, NULL}, {"tokenizer.json", NULL, NULL}};
    assert_int_equal(converted(variant(source, edits, 1))->text.kind, FERRY_TOKENIZER_BPE);
    refuse_source(variant(source, edits, 2), FERRY_ERROR_UNSUPPORTED,
                  "expected sentencepiece.bpe.model or tokenizer.json, found neither");
}
