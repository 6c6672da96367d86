/* Models that are small enough to lie beside the tests (tests/data/families/make.py), against what transformers
 * computed from them; and what is said of them otherwise. */
#include "tests/support/families.h"
#include "tests/support/huggingface_golden.h"

static void check_family(const char *name, const char *from, const char *to)
{
    huggingface_golden golden = {.from = from, .to = to, .tolerance = 2e-4, .score_tolerance = 2e-4};
    golden_check_model(&golden, data_file("families/%s", name));
}

TEST(test_umt5)
{
    check_family("umt5", NULL, NULL);
}

TEST(test_pegasus)
{
    check_family("pegasus", NULL, NULL);
}

TEST(test_mbart25)
{
    check_family("mbart25", "en", "de_DE");
    check_family("mbart25", "en_XX", NULL);
}

/* The same weights with the tokenizer that transformers 5 saves. */
static void check_tokenizer_json(const char *name, const char *segmenter, const char *from)
{
    const edit edits[] = {{segmenter, NULL, NULL}, {"tokenizer_config.json", NULL, NULL}};
    const char *more = data_file("families/%s-5", name);
    char *directory = variant(data_file("families/%s", name), edits, 2);
    link_file(in_directory(more, "tokenizer.json"), directory, "tokenizer.json");
    link_file(in_directory(more, "tokenizer_config.json"), directory, "tokenizer_config.json");
    huggingface_golden golden = {.from = from, .score_tolerance = 2e-4, .model = convert_and_open(directory, NULL)};
    golden_load_lines(&golden, more);
    golden_check_tokens(&golden);
    golden_check_runs(&golden);
    golden_unload(&golden);
}

TEST(test_pegasus_of_version_5)
{
    check_tokenizer_json("pegasus", "spiece.model", NULL);
}

TEST(test_mbart25_of_version_5)
{
    check_tokenizer_json("mbart25", "sentencepiece.bpe.model", "en_XX");
}

TEST(test_fsmt)
{
    check_family("fsmt", NULL, NULL);
}

/* ---- umT5: which output? ---- */

static void check_output(const char *flag, bool head, bool scaled, bool tied)
{
    const edit change = {"config.json", "\"tie_word_embeddings\": true", flag};
    char *directory = variant(data_file("families/umt5"), &change, 1);
    item_list *list = read_items(directory);
    const ferry_tensor shared = find_item(list, "shared.weight")->tensor;
    float *other = kept_memory(shared.bytes);
    for (size_t i = 0; i < shared.bytes / sizeof *other; i++) other[i] = 0.25f;
    if (head) add_item(list, "lm_head.weight", shared.shape[0], shared.shape[1], other);
    write_items(list, directory, "model.safetensors", FERRY_F32, 0, 1);
    const ferry_transformer *model = &converted(directory)->transformer;
    assert_true(model->output_scale == (scaled ? (float)(1 / sqrt(32)) : 1));
    assert_int_equal(model->output.panels == model->decoder.embedding.panels, tied);
}

TEST(test_output_of_umt5)
{
    check_output("\"tie_word_embeddings\": true", false, true, true);
    check_output("\"tie_word_embeddings\": true", true, true, false);
    check_output("\"unknown\": 0", false, true, true);
    check_output("\"tie_word_embeddings\": false", true, false, false);
    refuse_edit(data_file("families/umt5"), "config.json", "\"tie_word_embeddings\": true",
                "\"tie_word_embeddings\": false", FERRY_ERROR_FORMAT, "tensor 'lm_head.weight' is missing");
}

TEST(test_tables_of_umt5)
{
    char *source = data_file("families/umt5");
    const edit edits[] = {{"config.json", "\"model_type\": \"umt5\",", ""}};
    const ferry_model_file *file = converted(variant(source, edits, 1));
    assert_true(text_key(file, "ferry.origin.kind", "huggingface-umt5"));
    assert_true(text_key(file, "ferry.encoder.position.tables", "layer"));
    assert_non_null(ferry_gguf_tensor(&file->gguf, "enc.blk.2.position.bias"));
    assert_null(ferry_gguf_tensor(&file->gguf, "enc.position.bias"));
    char *directory = variant(source, NULL, 0);
    item_list *list = read_items(source);
    remove_item(list, "decoder.block.1.layer.0.SelfAttention.relative_attention_bias.weight");
    write_items(list, directory, "model.safetensors", FERRY_F32, 0, 1);
    refuse_source(directory, FERRY_ERROR_FORMAT,
                  "tensor 'decoder.block.1.layer.0.SelfAttention.relative_attention_bias.weight' is missing");
}

TEST(test_defaults_of_umt5)
{
    const edit edits[] = {{"config.json", "\"feed_forward_proj\": \"gated-gelu\",", ""},
                          {"config.json", "\"dense_act_fn\": \"gelu_new\",", ""},
                          {"config.json", "\"is_gated_act\": true,", ""},
                          {"config.json", "\"layer_norm_epsilon\": 1e-06,", ""},
                          {"config.json", "\"relative_attention_max_distance\": 12,", ""}};
    const ferry_model_file *file = converted(variant(data_file("families/umt5"), edits, COUNT(edits)));
    const ferry_stack *stack = &file->transformer.encoder;
    refuse_edit(data_file("families/umt5"), "config.json", "\"layer_norm_epsilon\": 1e-06", "\"layer_norm_epsilon\": 0",
                FERRY_ERROR_UNSUPPORTED, "ferry.encoder.norm_eps: a model file has a positive number, found 0");
    assert_true(stack->gated && stack->activation == FERRY_GELU_TANH && stack->norm_eps == 1e-6f);
    assert_true(stack->position.values[0] == 8 && stack->position.values[1] == 128);
}

/* ---- Pegasus ---- */

TEST(test_text_of_pegasus)
{
    static const refusal rows[] = {
        {"tokenizer_config.json", "\"offset\": 103", "\"offset\": 0", FERRY_ERROR_UNSUPPORTED,
         "tokenizer_config.json: 'offset': expected 103, found 0"},
        {"config.json", "\"vocab_size\": 408", "\"vocab_size\": 407", FERRY_ERROR_FORMAT, "expected shape [407, 32]"},
    };
    char *source = data_file("families/pegasus");
    const ferry_model_file *file = converted(source);
    assert_int_equal(file->text.source_unk_id, 105);
    assert_true(is_special(&file->text, 2) && is_special(&file->text, 105) && !is_special(&file->text, 106));
    assert_int_equal(file->text.suffix_count, 1);
    assert_int_equal(file->text.suffix_ids[0], 1);
    assert_int_equal(file->generation.decoding.forced_last_id, -1);
    const edit edits[] = {{"generation_config.json", NULL, NULL},
                          {"config.json", "\"forced_eos_token_id\": 1,", ""},
                          {"config.json", "\"scale_embedding\": true,", ""},
                          {"config.json", "\"activation_function\": \"relu\",", ""}};
    file = converted(variant(source, edits, COUNT(edits)));
    assert_int_equal(file->generation.decoding.forced_last_id, -1);
    assert_true(file->transformer.embedding_scale == 1);
    assert_int_equal(file->transformer.encoder.activation, FERRY_GELU);
    refuse_edits(source, rows, COUNT(rows));
    const edit umt5 = {"spiece.model", NULL, NULL};
    char *directory = variant(source, &umt5, 1);
    link_file(data_file("families/mbart25/sentencepiece.bpe.model"), directory, "spiece.model");
    refuse_source(directory, FERRY_ERROR_FORMAT, "300 pieces (unknown: 0); expected unknown 2 and at most 305");
}

/* ---- mBART-25 ---- */

TEST(test_languages_of_mbart25)
{
    char *source = data_file("families/mbart25");
    const ferry_model_languages *languages = &converted(source)->text.languages;
    const int32_t de = find_language(languages, "de_DE de deu"), en = find_language(languages, "en_XX en eng");
    assert_int_equal(languages->count, 25);
    assert_true(languages->source_tag == FERRY_TAG_SUFFIX && languages->target_tag == FERRY_TAG_NONE);
    assert_int_equal(languages->default_target, de);
    assert_int_equal(languages->roles[de], FERRY_LANGUAGE_SOURCE | FERRY_LANGUAGE_TARGET);
    assert_int_equal(languages->roles[en], FERRY_LANGUAGE_SOURCE);
    assert_int_equal(languages->source_ids[en], 304);
    const edit edits[] = {{"config.json", "\"decoder_start_token_id\": 303", "\"decoder_start_token_id\": 326"},
                          {"generation_config.json", "\"decoder_start_token_id\": 303",
                           "\"decoder_start_token_id\": 326"}};
    refuse_source(
        variant(source, edits, 2), FERRY_ERROR_UNSUPPORTED,
        "config.json: mBART-25: 'decoder_start_token_id': expected the tag of the target language, found 326; "
        "mBART-50 has the tokenizer class MBart50Tokenizer or 250054 words");
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
    for (int i = 0; i < 2; i++) {
        const ferry_model_file *either = i == 0 ? file : converted(source);
        assert_true(text_key(either, "ferry.encoder.position.exponent_divisor", "half_minus_one"));
        assert_string_equal(either->transformer.decoder.position.scheme->name, "sinusoidal");
        assert_true(either->transformer.decoder.position.values[2] == 2);
    }
    /* As fairseq's conversion wrote it. */
    const edit nested = {"config.json", "{", "{\"decoder\": {\"vocab_size\": 300, \"bos_token_id\": 2}, "};
    check_same_tensors(converted(variant(source, &nested, 1)), converted(source));
    refuse_edit(source, "config.json", "{", "{\"encoder\": {}, ", FERRY_ERROR_UNSUPPORTED, "a nested 'encoder'");
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

TEST(test_defaults_of_fsmt)
{
    const edit edits[] = {{"config.json", "\"scale_embedding\": true,", ""},
                          {"config.json", "\"activation_function\": \"relu\",", ""},
                          {"config.json", "\"tie_word_embeddings\": false,", ""},
                          {"config.json", "\"pad_token_id\": 1,", ""},
                          {"config.json", "\"eos_token_id\": 2,", ""},
                          {"config.json", "\"bos_token_id\": 0,", ""},
                          {"config.json", "\"decoder_start_token_id\": 2,", ""},
                          {"generation_config.json", NULL, "{}"}};
    const ferry_model_file *file = converted(variant(data_file("families/fsmt"), edits, COUNT(edits)));
    assert_true(file->transformer.embedding_scale == (float)sqrt(32));
    assert_int_equal(file->transformer.encoder.activation, FERRY_RELU);
    assert_false(file->transformer.tied_output || file->transformer.tied_embeddings);
    assert_int_equal(file->generation.pad_id, 1);
    assert_int_equal(file->generation.start_id, 2);
    assert_int_equal(file->generation.eos_ids[0], 2);
}

TEST(test_decoding_of_fsmt)
{
    const edit edits[] = {{"generation_config.json", NULL, NULL}};
    char *source = data_file("families/fsmt");
    const ferry_options *decoding = &converted(variant(source, edits, COUNT(edits)))->generation.decoding;
    assert_int_equal(decoding->beam, 5);
    assert_int_equal(decoding->max_length, 199);
    assert_int_equal(decoding->forced_last_id, 2);
    const edit own = {"generation_config.json", NULL, "{}"};
    decoding = &converted(variant(source, &own, 1))->generation.decoding;
    assert_int_equal(decoding->beam, 1);
    assert_int_equal(decoding->max_length, 0);
    assert_int_equal(decoding->forced_last_id, -1);
}

TEST(test_text_of_fsmt)
{
    static const refusal rows[] = {
        {"tokenizer_config.json", "\"do_lower_case\": false", "\"do_lower_case\": true", FERRY_ERROR_UNSUPPORTED,
         "tokenizer_config.json: 'do_lower_case' true is not supported"},
        {"tokenizer_config.json", "\"en\",", "", FERRY_ERROR_FORMAT,
         "tokenizer_config.json: 'langs': expected two languages"},
        {"merges.txt", NULL, NULL, ANY_ERROR, "merges.txt"},
        {"vocab-tgt.json", NULL, NULL, ANY_ERROR, "vocab-tgt.json"},
        {"vocab-src.json", "\"<unk>\": 3,", "", FERRY_ERROR_FORMAT, "vocab-src.json: '<unk>' is missing"},
        {"vocab-src.json", "\"</s>\": 2,", "", FERRY_ERROR_FORMAT, "vocab-src.json: '</s>' is missing"},
        {"vocab-tgt.json", "\"</s>\": 2,", "", FERRY_ERROR_FORMAT, "vocab-tgt.json: '</s>' is missing"},
    };
    char *source = data_file("families/fsmt");
    const ferry_model_file *file = converted(source);
    assert_true(has_text(file->text.source_moses, "en") && has_text(file->text.target_moses, "de"));
    assert_int_equal(file->text.kind, FERRY_TOKENIZER_FSMT);
    assert_int_equal(file->text.source_unk_id, 3);
    assert_int_equal(file->text.special_count, 4);
    assert_int_equal(file->text.languages.default_source, find_language(&file->text.languages, "en eng"));
    /* The model's own languages, where the tokenizer names none. */
    const edit edits[] = {{"tokenizer_config.json", "\"langs\"", "\"unknown\""}, {"config.json", "\"en\",", "\"ru\","}};
    file = converted(variant(source, edits, 2));
    assert_true(has_text(file->text.source_moses, "ru") && has_text(file->text.target_moses, "de"));
    refuse_edits(source, rows, COUNT(rows));
}

/* ---- int8 ---- */

TEST(test_int8)
{
    static const char *const names[] = {"umt5", "pegasus", "mbart25", "fsmt"};
    for (size_t i = 0; i < COUNT(names); i++) {
        const ferry_model_file *file = converted_as(data_file("families/%s", names[i]), FERRY_I8);
        assert_non_null(file->transformer.decoder.layers[1].ffn_up.codes);
    }
}
