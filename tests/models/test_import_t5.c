/* What directories of T5, mT5 and MADLAD-400 say, in every way in which they say it. */
#include "tests/support/families.h"

#include "base/system.h"

/* ---- T5: which activation, which output? ---- */

TEST(test_activations_of_t5)
{
    static const struct {
        const char *projection;
        ferry_activation activation;
    } cases[] = {{"\"gated-gelu\"", FERRY_GELU_TANH}, {"\"gated-silu\"", FERRY_SWISH}, {"null", FERRY_GELU_TANH}};
    char *source = small_family("t5gated");
    for (size_t i = 0; i < COUNT(cases); i++) {
        const edit edits[] = {{"config.json", "\"dense_act_fn\": \"gelu_new\",", ""},
                              {"config.json", "\"is_gated_act\": true,", ""},
                              {"config.json", "\"gated-gelu\"", cases[i].projection},
                              {"config.json", "\"model_type\": \"t5\"", "\"model_type\": \"mt5\""}};
        const ferry_model_file *file = converted(variant(source, edits, i == 2 ? 4 : 3));
        assert_int_equal(file->transformer.encoder.activation, cases[i].activation);
        assert_true(file->transformer.decoder.gated);
    }
    refuse_edit(source, "config.json", "\"is_gated_act\": true", "\"is_gated_act\": false", FERRY_ERROR_FORMAT,
                "tensor 'encoder.block.0.layer.1.DenseReluDense.wi.weight' is missing");
}

typedef struct output_case {
    const char *key;   /* joins config.json */
    const char *head;  /* lm_head.weight: NULL: none, "shared": the embeddings, "other": another matrix */
    const char *error; /* NULL: accepted */
    bool scaled, tied;
} output_case;

static void check_output(const char *source, const output_case *test)
{
    char key[128];
    snprintf(key, sizeof key, "{%s", test->key);
    const edit change = {"config.json", "{", key};
    char *directory = variant(source, &change, 1);
    item_list *list = read_items(source);
    const ferry_tensor shared = find_item(list, "shared.weight")->tensor;
    float *other = kept_memory(shared.bytes);
    for (size_t i = 0; i < shared.bytes / 4; i++) other[i] = 0.25f;
    if (test->head != NULL)
        add_item(list, "lm_head.weight", shared.shape[0], shared.shape[1],
                 strcmp(test->head, "shared") == 0 ? shared.data : other);
    write_items(list, directory, "model.safetensors", FERRY_F32, 0, 1);
    if (test->error != NULL) {
        refuse_source(directory, FERRY_ERROR_UNSUPPORTED, test->error);
    } else {
        const ferry_model_file *file = converted(directory);
        const ferry_transformer *model = &file->transformer;
        assert_true(model->output_scale == (test->scaled ? 0.125f : 1));
        assert_int_equal(model->output.panels == model->decoder.embedding.panels, test->tied);
        assert_ptr_equal(model->encoder.embedding.panels, model->decoder.embedding.panels);
        if (!test->tied) assert_true(model->output.panels[0] == 0.25f);
    }
}

TEST(test_output_of_t5)
{
    static const output_case cases[] = {
        {"", NULL, NULL, true, true},
        {"", "shared", NULL, true, true},
        {"", "other", "versions of transformers disagree", false, false},
        {"\"tie_word_embeddings\": false,", "other", NULL, false, false},
        {"\"tie_word_embeddings\": false,", "shared", NULL, false, true},
        {"\"tie_word_embeddings\": true, \"scale_decoder_outputs\": false,", "other", NULL, false, false},
        {"\"tie_word_embeddings\": true, \"scale_decoder_outputs\": true,", "other", NULL, true, false},
        {"\"tie_word_embeddings\": true, \"scale_decoder_outputs\": false,", NULL, NULL, false, true},
        {"\"tie_word_embeddings\": false, \"scale_decoder_outputs\": true,", NULL, NULL, true, true},
    };
    char *source = small_family("t5");
    for (size_t i = 0; i < COUNT(cases); i++) check_output(source, &cases[i]);
    refuse_edit(source, "config.json", "{", "{\"tie_word_embeddings\": false,", FERRY_ERROR_FORMAT,
                "tensor 'lm_head.weight' is missing (tie_word_embeddings is false)");
}

TEST(test_mt5_never_scales)
{
    char *source = small_family("t5");
    const edit edits[] = {{"config.json", "\"model_type\": \"t5\"",
                           "\"model_type\": \"mt5\", \"tie_word_embeddings\": true"},
                          {"tokenizer_config.json", NULL, "{}"}};
    const ferry_model_file *file = converted(variant(source, edits, 2));
    assert_true(file->transformer.output_scale == 1);
    assert_true(text_key(file, "ferry.origin.kind", "huggingface-mt5"));
    assert_false(is_special(&file->text, 1100)); /* extra ids are among the pieces of mT5 */
}

/* ---- T5: names of tensors, texts ---- */

/* The embeddings under the names of MADLAD and others, everything below another name, left-overs of old files. */
TEST(test_names_of_t5)
{
    static const char *const names[] = {"decoder.embed_tokens.weight", "encoder.embed_tokens.weight", "lm_head.weight"};
    static const float zero = 0;
    char *source = small_family("t5");
    const ferry_model_file *expected = converted(source);
    for (size_t i = 0; i < 4; i++) {
        char *directory = variant(source, NULL, 0), name[128];
        item_list *list = read_items(source);
        if (i < 3) snprintf(find_item(list, "shared.weight")->name, sizeof name - 32, "%s", names[i]);
        for (size_t j = 0; i == 3 && j < list->count; j++) {
            snprintf(name, sizeof name, "transformer.%s", list->items[j].name);
            memcpy(list->items[j].name, name, sizeof list->items[j].name);
        }
        if (i == 0)
            add_item(list, "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight", 1, 1, &zero);
        write_items(list, directory, "model.safetensors", FERRY_F32, 0, 1);
        const ferry_model_file *found = converted(directory);
        check_same_tensors(expected, found);
    }
    char *directory = variant(source, NULL, 0);
    item_list *list = read_items(source);
    add_item(list, "encoder.block.1.layer.0.SelfAttention.relative_attention_bias.weight", 1, 1, &(float){0});
    write_items(list, directory, "model.safetensors", FERRY_F32, 0, 1);
    refuse_source(directory, FERRY_ERROR_UNSUPPORTED,
                  "tensor 'encoder.block.1.layer.0.SelfAttention.relative_attention_bias.weight' is unknown");
}

TEST(test_prompts_of_t5)
{
    char *source = small_family("t5");
    const ferry_model_file *file = converted(source);
    const ferry_model_languages *languages = &file->text.languages;
    assert_int_equal(languages->count, 2);
    assert_int_equal(languages->roles[find_language(languages, "en eng")], FERRY_LANGUAGE_SOURCE);
    assert_int_equal(languages->roles[find_language(languages, "de deu")], FERRY_LANGUAGE_TARGET);
    assert_int_equal(languages->prompt_count, 1);
    assert_true(has_text(ferry_texts_at(languages->prompts, 0), "translate English to German: "));
    assert_true(languages->default_source == 0 && languages->default_target == 1);
    for (int32_t id = 1100; id < 1110; id++) assert_true(is_special(&file->text, id));
    assert_false(is_special(&file->text, 1099) || is_special(&file->text, 1110));
    const edit more = {"config.json", "\"task_specific_params\": {",
                       "\"task_specific_params\": {\"summarization\": {\"prefix\": \"summarize: \"}, "
                       "\"translation_en_to_fr\": {\"prefix\": \"translate English to French: \"}, "};
    file = converted(variant(source, &more, 1));
    assert_int_equal(file->text.languages.count, 3);
    assert_int_equal(file->text.languages.prompt_count, 2);
    assert_int_equal(file->text.languages.default_source, find_language(&file->text.languages, "en eng"));
    assert_int_equal(file->text.languages.default_target, -1);
}

/* t5gated's SentencePiece model with two pieces more, as MADLAD-400's has them: a message may be continued by another.
 */
static char *madlad(const char *source)
{
    static const unsigned char pieces[] = "\x0a\x09\x0a\x05<2de>\x18\x04\x0a\x0e\x0a\x0a<2zh_Hant>\x18\x04";
    char *directory = variant(source, NULL, 0), *path = in_directory(directory, "spiece.model");
    const ferry_view old = mapped_bytes(path);
    made_file file = {.size = 0};
    put_bytes(&file, old.data, old.size);
    put_bytes(&file, pieces, sizeof pieces - 1);
    write_bytes(path, file.data, file.size);
    return directory;
}

TEST(test_tags_of_madlad)
{
    char *source = small_family("t5gated"), *directory = madlad(source);
    const ferry_model_file *file = converted(directory);
    const ferry_model_languages *languages = &file->text.languages;
    assert_true(text_key(file, "ferry.origin.kind", "huggingface-madlad"));
    assert_int_equal(languages->count, 2);
    const int32_t german = find_language(languages, "de deu");
    find_language(languages, "zh_Hant zh zho cmn");
    assert_true(languages->roles[german] == (FERRY_LANGUAGE_SOURCE | FERRY_LANGUAGE_TARGET));
    assert_true(has_text(ferry_texts_at(languages->prompts, (size_t)german), "<2de> ") &&
                languages->prompt_sources[german] == -1);
    assert_true(languages->default_source == -1 && languages->default_target == -1);
    assert_true(is_special(&file->text, 1100) && is_special(&file->text, 1101));

    const ferry_model *model = opened(directory);
    size_t plain_count, tagged_count;
    const int32_t *plain = tokenized(model, "Tom", NULL, NULL, &plain_count);
    const int32_t *tagged = tokenized(model, "Tom", NULL, "de", &tagged_count);
    assert_true(tagged_count > plain_count);
    const size_t before = tagged_count - plain_count;
    assert_int_equal(tagged[before - 1], 1100);
    assert_memory_equal(tagged + before, plain, plain_count * sizeof *plain);
}
