/* What is said of models that are small enough to lie beside the tests (tests/data/families/make.py);
 * test_huggingface.c computes with them. */
#include "tests/support/refusals.h"

/* ---- umT5 ---- */

TEST(test_tables_of_umt5)
{
    char *source = data_file("families/umt5"), *directory = variant(source, NULL, 0);
    const edit edits[] = {{"config.json", "\"model_type\": \"umt5\",", ""}};
    const ferry_model_file *file = converted(variant(source, edits, 1));
    check_file_keys(file, "origin.kind huggingface-umt5; encoder.position.tables layer; decoder.position.tables layer");
    assert_non_null(ferry_gguf_tensor(&file->gguf, "enc.blk.2.position.bias"));
    assert_null(ferry_gguf_tensor(&file->gguf, "enc.position.bias"));
    item_list *list = read_items(source);
    remove_item(list, "decoder.block.1.layer.0.SelfAttention.relative_attention_bias.weight");
    write_items(list, directory, "model.safetensors", FERRY_F32, 0, 1);
    refuse_source(directory, FERRY_ERROR_FORMAT,
                  "tensor 'decoder.block.1.layer.0.SelfAttention.relative_attention_bias.weight' is missing");
}

TEST(test_defaults_of_umt5)
{
    static const saying row = {{{"config.json", "\"feed_forward_proj\": \"gated-gelu\",", ""},
                                {"config.json", "\"dense_act_fn\": \"gelu_new\",", ""},
                                {"config.json", "\"is_gated_act\": true,", ""},
                                {"config.json", "\"layer_norm_epsilon\": 1e-06,", ""},
                                {"config.json", "\"relative_attention_max_distance\": 12,", ""}},
                               "encoder.ffn_gated true; encoder.activation gelu_tanh; decoder.norm_eps 1e-06; "
                               "encoder.position.num_buckets 8; encoder.position.max_distance 128"};
    char *source = data_file("families/umt5");
    check_sayings(source, &row, 1);
    refuse_edit(source, "config.json", "\"layer_norm_epsilon\": 1e-06", "\"layer_norm_epsilon\": 0",
                FERRY_ERROR_UNSUPPORTED, "ferry.encoder.norm_eps: a model file has a positive number, found 0");
}

/* ---- Pegasus ---- */

TEST(test_text_of_pegasus)
{
    static const saying rows[] = {
        {{{"config.json", "{", "{"}},
         "tokenizer.source.unk_id 105; tokenizer.source.suffix_ids 1; "
         "decoding.forced_last_id -1"},
        {{{"tokenizer_config.json", "\"offset\": 103", "\"unknown\": 0"}}, "tokenizer.source.unk_id 105"},
        {{{"generation_config.json", NULL, NULL},
          {"config.json", "\"forced_eos_token_id\": 1,", ""},
          {"config.json", "\"scale_embedding\": true,", ""},
          {"config.json", "\"activation_function\": \"relu\",", ""}},
         "decoding.forced_last_id -1; embedding_scale 1; encoder.activation gelu"},
        {{{"generation_config.json", NULL, NULL},
          {"config.json", "\"pad_token_id\": 0,", ""},
          {"config.json", "\"decoder_start_token_id\": 0,", ""},
          {"config.json", "\"eos_token_id\": 1,", ""}},
         "pad_id 0; start_id 0; eos_ids 1"},
    };
    static const refused_edit bad[] = {
        {"tokenizer_config.json", "\"offset\": 103", "\"offset\": 0", FERRY_ERROR_UNSUPPORTED,
         "…tokenizer_config.json: 'offset': expected 103, found 0"},
        {"config.json", "\"vocab_size\": 408", "\"vocab_size\": 407", FERRY_ERROR_FORMAT, "…expected shape [407, 32]"},
        {"config.json", "\"vocab_size\"", "\"unknown\"", FERRY_ERROR_FORMAT, "…expected shape [50265, 32]"},
    };
    char *source = data_file("families/pegasus");
    check_sayings(source, rows, COUNT(rows));
    check_refused_edits(source, bad, COUNT(bad));
    const ferry_tokenizer_config *text = &converted(source)->text;
    assert_true(is_special(text, 2) && is_special(text, 105) && !is_special(text, 106));
    /* 300 pieces and 103 words before them. */
    item_list *list = read_items(source);
    for (int rows_left = 403; rows_left >= 402; rows_left--) {
        const edit size = {"config.json", "\"vocab_size\": 408",
                           rows_left == 403 ? "\"vocab_size\": 403" : "\"vocab_size\": 402"};
        char *smaller = variant(source, &size, 1);
        find_item(list, "model.shared.weight")->tensor.shape[0] = rows_left;
        find_item(list, "final_logits_bias")->tensor.shape[1] = rows_left;
        write_items(list, smaller, "model.safetensors", FERRY_F32, 0, 1);
        if (rows_left == 403) check_file_keys(converted(smaller), "decoder.vocab_size 403");
        if (rows_left == 402) refuse_source(smaller, FERRY_ERROR_FORMAT, "expected unknown 2 and at most 299");
    }
    char *directory = variant(source, &(edit){"spiece.model", NULL, NULL}, 1);
    link_file(data_file("families/mbart25/sentencepiece.bpe.model"), directory, "spiece.model");
    refuse_source(directory, FERRY_ERROR_FORMAT, "300 pieces (unknown: 0); expected unknown 2 and at most 305");
}

/* ---- mBART-25 ---- */

/* The start names the target: a middle, the first or the last of the languages. */
TEST(test_languages_of_mbart25)
{
    char *source = data_file("families/mbart25");
    const ferry_model_languages *languages = &converted(source)->languages;
    const int32_t de = find_language(languages, "de_DE de deu"), en = find_language(languages, "en_XX en eng");
    check_file_keys(converted(source), "languages.source_tag suffix; languages.target_tag none");
    assert_int_equal(languages->count, 25);
    assert_int_equal(languages->default_target, de);
    assert_int_equal(languages->roles[de], FERRY_LANGUAGE_SOURCE | FERRY_LANGUAGE_TARGET);
    assert_int_equal(languages->roles[en], FERRY_LANGUAGE_SOURCE);
    assert_int_equal(languages->source_ids[en], 304);
    for (int id = 300; id <= 326; id++) {
        if (id > 301 && id < 325) continue;
        char text[64];
        snprintf(text, sizeof text, "\"decoder_start_token_id\": %d", id);
        const edit edits[] = {{"config.json", "\"decoder_start_token_id\": 303", text},
                              {"generation_config.json", "\"decoder_start_token_id\": 303", text}};
        char *directory = variant(source, edits, 2);
        if (id > 300 && id < 326)
            check_file_keys(converted(directory), ferry_format("languages.default_target %d", id - 301).text);
        else
            refuse_source(directory, FERRY_ERROR_UNSUPPORTED, "expected the tag of the target language, found 3");
    }
}

/* ---- SMaLL-100 ---- */

/* Published directories have M2M-100's class, and the program of the tokenizer. */
TEST(test_forms_of_small100)
{
    static const char keys[] =
        "origin.kind huggingface-small100; languages.source_tag none; languages.target_tag prefix; "
        "decoding.forced_first_id -1; languages.default_target -1";
    const edit class = {"tokenizer_config.json", "SMALL100Tokenizer", "M2M100Tokenizer"};
    char *source = data_file("families/small100"), *other = variant(source, &class, 1);
    check_file_keys(converted(source), keys);
    check_file_keys(converted(other), "origin.kind huggingface-m2m100; languages.source_tag prefix; "
                                      "languages.target_tag first");
    write_text(other, "tokenization_small100.py", "class SMALL100Tokenizer:\n");
    check_file_keys(converted(other), keys);
}

/* Any target, and no source is asked for. A given beginning is text alone. */
TEST(test_texts_of_small100)
{
    char *source = data_file("families/small100");
    const ferry_model *model = opened(source);
    static const char *const targets[] = {"de", "fra", "zul"}, *const tags[] = {"__de__", "__fr__", "__zu__"};
    size_t count, first_count;
    const int32_t *first = tokenized(model, "Tom is here.", NULL, "de", &first_count);
    for (size_t i = 0; i < COUNT(targets); i++) {
        const int32_t *ids = tokenized(model, "Tom is here.", i == 1 ? "en" : NULL, targets[i], &count);
        assert_int_equal(count, first_count);
        assert_int_equal(ids[0], find_piece(model, FERRY_INSPECT_ENCODER, tags[i]));
        assert_memory_equal(ids + 1, first + 1, (count - 1) * sizeof *ids);
        assert_int_equal(ids[count - 1], 2);
    }
}

/* ---- FSMT ---- */

/* Version 4 has no output matrix of its own and stores no positions; the other forms are those of version 5. */
TEST(test_forms_of_fsmt)
{
    char *source = data_file("families/fsmt"), *directory = variant(source, NULL, 0);
    const ferry_transformer *model = &converted(source)->transformer;
    assert_true(model->output.panels != model->decoder.embedding.panels);
    item_list *list = read_items(source);
    item *output = find_item(list, "model.decoder.output_projection.weight");
    output->tensor.data = find_item(list, "model.decoder.embed_tokens.weight")->tensor.data;
    write_items(list, directory, "model.safetensors", FERRY_F32, 0, 1);
    assert_true(converted(directory)->transformer.tied_output);
    remove_item(list, "model.decoder.output_projection.weight");
    remove_item(list, "model.decoder.embed_positions.weight");
    remove_item(list, "model.encoder.embed_positions.weight");
    write_items(list, directory, "model.safetensors", FERRY_F32, 0, 1);
    const ferry_model_file *file = converted(directory);
    assert_ptr_equal(file->transformer.output.panels, file->transformer.decoder.embedding.panels);
    assert_true(file->transformer.encoder.embedding.panels != file->transformer.decoder.embedding.panels);
    static const char keys[] = "encoder.position.exponent_divisor half_minus_one; decoder.position.type sinusoidal; "
                               "decoder.position.first 2";
    check_file_keys(file, keys);
    check_file_keys(converted(source), keys);
    /* As fairseq's conversion wrote it. */
    const edit nested = {"config.json", "{", "{\"decoder\": {\"vocab_size\": 300, \"bos_token_id\": 2}, "};
    check_same_tensors(converted(variant(source, &nested, 1)), converted(source));
    refuse_edit(source, "config.json", "{", "{\"encoder\": {\"d_model\": 8}, ", FERRY_ERROR_UNSUPPORTED,
                "'encoder' is not supported: sizes in a nested object");
    refuse_edit(source, "config.json", "{", "{\"vocab_size\": 282, ", FERRY_ERROR_UNSUPPORTED, "vocab_size");
    refuse_edit(source, "config.json", "\"tie_word_embeddings\": false", "\"tie_word_embeddings\": true",
                FERRY_ERROR_FORMAT, "'tie_word_embeddings' with src_vocab_size 282 but tgt_vocab_size 300");
}

/* All three matrices in one. */
TEST(test_tied_fsmt)
{
    const edit edits[] = {{"config.json", "\"tie_word_embeddings\": false", "\"tie_word_embeddings\": true"},
                          {"config.json", "\"src_vocab_size\": 282", "\"src_vocab_size\": 300"}};
    char *source = data_file("families/fsmt"), *directory = variant(source, edits, 2);
    item_list *list = read_items(source);
    const float *numbers = find_item(list, "model.decoder.embed_tokens.weight")->tensor.data;
    find_item(list, "model.decoder.output_projection.weight")->tensor.data = numbers;
    remove_item(list, "model.encoder.embed_tokens.weight");
    write_items(list, directory, "model.safetensors", FERRY_F32, 0, 1);
    const ferry_transformer *model = &converted(directory)->transformer;
    assert_ptr_equal(model->output.panels, model->decoder.embedding.panels);
    assert_ptr_equal(model->encoder.embedding.panels, model->decoder.embedding.panels);
}

/* Without generation_config.json, config.json decides. */
TEST(test_defaults_of_fsmt)
{
    static const saying rows[] = {
        {{{"config.json", "\"scale_embedding\": true,", ""},
          {"config.json", "\"activation_function\": \"relu\",", ""},
          {"config.json", "\"tie_word_embeddings\": false,", ""},
          {"generation_config.json", NULL, "{}"}},
         "embedding_scale 5.65685; encoder.activation relu; tied_output false; tied_embeddings false; "
         "decoding.beam 1; decoding.max_length 0; decoding.forced_last_id -1"},
        {{{"config.json", "\"pad_token_id\": 1,", ""},
          {"config.json", "\"eos_token_id\": 2,", ""},
          {"config.json", "\"bos_token_id\": 0,", ""},
          {"config.json", "\"decoder_start_token_id\": 2,", ""},
          {"generation_config.json", NULL, "{}"}},
         "pad_id 1; start_id 2; eos_ids 2"},
        {{{"generation_config.json", NULL, NULL}},
         "decoding.beam 5; decoding.max_length 199; decoding.forced_last_id 2"},
    };
    check_sayings(data_file("families/fsmt"), rows, COUNT(rows));
}

/* `langs` of the model count where the tokenizer has none. */
TEST(test_text_of_fsmt)
{
    static const saying rows[] = {
        {{{"config.json", "{", "{"}},
         "tokenizer.kind fsmt; tokenizer.source.moses en; tokenizer.target.moses de; "
         "tokenizer.source.unk_id 3; tokenizer.source.suffix_ids 2; "
         "tokenizer.target.special_ids 0 1 2 3; languages.names en eng|de deu; "
         "languages.default_source 0; languages.default_target 1"},
        {{{"tokenizer_config.json", "\"langs\"", "\"unknown\""}, {"config.json", "\"en\",", "\"ru\","}},
         "tokenizer.source.moses ru; tokenizer.target.moses de"},
    };
    static const refused_edit bad[] = {
        {"tokenizer_config.json", "\"do_lower_case\": false", "\"do_lower_case\": true", FERRY_ERROR_UNSUPPORTED,
         "…tokenizer_config.json: 'do_lower_case' is not supported: expected false, found true"},
        {"tokenizer_config.json", "\"en\",", "", FERRY_ERROR_FORMAT,
         "…tokenizer_config.json: 'langs': expected two languages"},
        {"tokenizer_config.json", "\"en\",", "\"en\", \"ru\",", FERRY_ERROR_FORMAT,
         "…tokenizer_config.json: 'langs': expected two languages"},
        {"tokenizer_config.json", "\"en\",", "\"\",", FERRY_ERROR_FORMAT,
         "…tokenizer_config.json: 'langs': expected two languages"},
        {"tokenizer_config.json", "\"en\",", "1,", FERRY_ERROR_FORMAT,
         "…tokenizer_config.json: 'langs': expected two languages"},
        {"tokenizer_config.json", "\"de\"", "1", FERRY_ERROR_FORMAT,
         "…tokenizer_config.json: 'langs': expected two languages"},
        {"tokenizer_config.json", "\"de\"", "\"\"", FERRY_ERROR_FORMAT,
         "…tokenizer_config.json: 'langs': expected two languages"},
        {"config.json", "\"src_vocab_size\"", "\"unknown\"", FERRY_ERROR_FORMAT, "…expected shape [42024, 32]"},
        {"merges.txt", NULL, NULL, FERRY_ERROR_IO, "…merges.txt"},
        {"vocab-tgt.json", NULL, NULL, FERRY_ERROR_IO, "…vocab-tgt.json"},
        {"vocab-src.json", "\"<unk>\": 3,", "", FERRY_ERROR_FORMAT, "…vocab-src.json: '<unk>' is missing"},
        {"vocab-src.json", "\"</s>\": 2,", "", FERRY_ERROR_FORMAT, "…vocab-src.json: '</s>' is missing"},
        {"vocab-tgt.json", "\"</s>\": 2,", "", FERRY_ERROR_FORMAT, "…vocab-tgt.json: '</s>' is missing"},
    };
    char *source = data_file("families/fsmt");
    check_sayings(source, rows, COUNT(rows));
    check_refused_edits(source, bad, COUNT(bad));
}
