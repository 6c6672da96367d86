/* From a plan to a model file: every key, and the words of ferry.features, which say what a build must know. */
#include "tests/support/import_support.h"

#include "engine/file/gguf.h"
#include "models/plan/plan.h"

static ferry_import_source *source;
static ferry_import_plan plan;
static ferry_gguf file;

static int set_up(void **state)
{
    (void)state;
    static const int32_t eos[] = {0, 3};
    char *path = data_file("positions/none-post");
    CHECK(ferry_import_source_open(path, 0, &source, &error));
    ferry_import_plan_init(&plan, source);
    plan.kind = "test";
    for (int i = 0; i < 2; i++) ferry_import_set_position(&plan, i == 1, "none", 0, 0, 0);
    plan.model.encoder.norm_eps = plan.model.decoder.norm_eps = 1e-5f;
    plan.generation.eos_ids = eos;
    plan.generation.eos_count = 2;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    ferry_gguf_close(&file);
    ferry_import_plan_destroy(&plan);
    ferry_import_source_close(source);
    return 0;
}

static void add(const char *name, ferry_import_form form)
{
    static const int32_t integers[4];
    const ferry_import_tensor tensor = {.form = form, .N = 4, .K = 1, .integers = integers};
    CHECK(ferry_import_add_tensor(&plan, &tensor, &error, "%s", name));
}

static void write_plan(void)
{
    const ferry_import_options options = {.type = FERRY_F32, .name = "named"};
    char *path = scratch_file("keys.gguf");
    CHECK(ferry_import_write(&plan, path, &options, &error));
    CHECK(ferry_gguf_open(mapped_bytes(path), path, &file, &error));
}

/* The texts with ", " between them. */
static void check_texts(const char *key, const char *expected)
{
    const ferry_texts *texts;
    size_t count;
    made_file found = {.size = 0};
    CHECK(ferry_gguf_get_texts(&file, key, &texts, &count, &error));
    for (size_t i = 0; i < count; i++) {
        put_bytes(&found, ferry_texts_at(texts, i).data, ferry_texts_at(texts, i).size);
        if (i + 1 < count) put_text(&found, ", ");
    }
    put(&found, 0, 1);
    assert_string_equal((const char *)found.data, expected);
}

static void check_integers(const char *key, const int32_t *expected, int32_t count)
{
    ferry_arena arena = {0};
    const void *numbers;
    size_t found;
    CHECK(
        ferry_gguf_get_integers(&file, key, INT32_MIN, INT32_MAX, sizeof *expected, &arena, &numbers, &found, &error));
    assert_int_equal(found, count);
    if (count > 0) assert_memory_equal(numbers, expected, (size_t)count * sizeof *expected);
    ferry_arena_destroy(&arena);
}

static void check_one(const char *key, const char *type, double expected)
{
    int32_t integer;
    float real;
    bool flag;
    if (strcmp(type, "integer") == 0) {
        CHECK(ferry_gguf_get_i32(&file, key, INT32_MIN, INT32_MAX, &integer, &error));
        real = (float)integer;
    } else if (strcmp(type, "bool") == 0) {
        CHECK(ferry_gguf_get_bool(&file, key, &flag, &error));
        real = flag;
    } else {
        CHECK(ferry_gguf_get_f32(&file, key, &real, &error));
    }
    if ((double)real != expected) fail_msg("%s: expected %g, found %g", key, expected, (double)real);
}

typedef struct one_key {
    const char *key, *type;
    double value;
} one_key;

static void check_keys(const one_key *keys, size_t count)
{
    for (size_t i = 0; i < count; i++) check_one(keys[i].key, keys[i].type, keys[i].value);
}

static void check_word(const char *key, const char *expected)
{
    ferry_view text;
    CHECK(ferry_gguf_get_text(&file, key, &text, &error));
    if (!has_text(text, expected))
        fail_msg("%s: expected '%s', found '%.*s'", key, expected, (int)text.size, text.data);
}

/* A model without any of the newer choices is one that older builds can read. */
TEST_WITH(test_plain_model, set_up, tear_down)
{
    static const char features[] =
        "encoder-decoder, panels16, type:f32, decoder:attention, norm:layernorm, norm-position:post, "
        "activation:relu, position:none, policy:huggingface, tokenizer:none";
    static const one_key keys[] = {
        {"ferry.output_scale", "real", 1},
        {"ferry.inputs_by_sentence", "bool", 0},
        {"ferry.alignment_layer", "integer", -1},
        {"ferry.alignment_head", "integer", -1},
        {"ferry.start_id", "integer", 0},
        {"ferry.encoder.final_norm", "bool", 0},
        {"ferry.encoder.embedding_norm", "bool", 0},
        {"ferry.encoder.ffn_gated", "bool", 0},
        {"ferry.decoder.linear_bias", "bool", 0},
        {"ferry.decoding.word_penalty", "real", 0},
        {"ferry.decoding.length_factor", "real", 3},
        {"ferry.decoding.length_extra", "integer", 50},
        {"ferry.decoding.shortlist", "bool", 1},
    };
    add("token_embd.weight", FERRY_IMPORT_MATRIX);
    write_plan();
    check_texts("ferry.features", features);
    check_keys(keys, COUNT(keys));
    check_word("general.name", "named");
    check_word("ferry.decoder.block", "attention");
    assert_null(ferry_gguf_find(&file, "ferry.shortlist.first"));
    assert_null(ferry_gguf_find(&file, "ferry.languages.names"));
    assert_null(ferry_gguf_find(&file, "ferry.tokenizer.source.pieces"));
}

TEST_WITH(test_every_choice_of_the_graph, set_up, tear_down)
{
    static const char features[] =
        "encoder-decoder, panels16, type:f32, decoder:ssru, norm:rms, norm-position:pre, "
        "activation:gelu_tanh, position:none, ffn:gated, final-norm:none, norm:layernorm, "
        "norm-position:post, activation:gelu_sigmoid, embedding-norm, final-norm:post, output-scale, "
        "start:zero, inputs:sentence, shortlist, policy:marian, tokenizer:none";
    static const one_key keys[] = {
        {"ferry.output_scale", "real", 0.125},
        {"ferry.inputs_by_sentence", "bool", 1},
        {"ferry.alignment_layer", "integer", 5},
        {"ferry.alignment_head", "integer", 2},
        {"ferry.start_id", "integer", -1},
        {"ferry.encoder.final_norm", "bool", 0},
        {"ferry.decoder.final_norm", "bool", 1},
        {"ferry.encoder.embedding_norm", "bool", 0},
        {"ferry.decoder.embedding_norm", "bool", 1},
        {"ferry.encoder.ffn_gated", "bool", 1},
        {"ferry.decoder.ffn_gated", "bool", 0},
        {"ferry.encoder.linear_bias", "bool", 0},
        {"ferry.decoder.linear_bias", "bool", 1},
        {"ferry.shortlist.first", "integer", 100},
        {"ferry.shortlist.shared", "bool", 1},
        {"ferry.decoding.word_penalty", "real", 0.5},
        {"ferry.decoding.length_factor", "real", 1.5},
        {"ferry.decoding.length_extra", "integer", 7},
        {"ferry.decoding.shortlist", "bool", 0},
    };
    ferry_transformer *model = &plan.model;
    model->ssru = model->sentence_inputs = true;
    model->output_scale = 0.125f;
    plan.generation.start_id = -1;
    plan.generation.alignment_layer = 5;
    plan.generation.alignment_head = 2;
    model->encoder.norm = FERRY_RMS_NORM;
    model->encoder.pre_norm = model->encoder.gated = true;
    model->encoder.activation = FERRY_GELU_TANH;
    model->decoder.activation = FERRY_GELU_SIGMOID;
    plan.generation.shortlist = (ferry_shortlist){.first = 100, .shared = true};
    plan.generation.decoding.policy = FERRY_POLICY_MARIAN;
    plan.generation.decoding.word_penalty = 0.5f;
    plan.generation.decoding.length_factor = 1.5f;
    plan.generation.decoding.length_extra = 7;
    plan.generation.decoding.shortlist = false;
    add("token_embd.weight", FERRY_IMPORT_MATRIX);
    add("dec.output_norm.weight", FERRY_IMPORT_VECTOR);
    add("dec.embd_norm.weight", FERRY_IMPORT_VECTOR);
    add("dec.blk.0.ffn_up.bias", FERRY_IMPORT_VECTOR);
    add("shortlist.offsets", FERRY_IMPORT_INTEGERS);
    write_plan();
    check_texts("ferry.features", features);
    check_keys(keys, COUNT(keys));
    check_word("ferry.decoder.block", "ssru");
    check_word("ferry.encoder.norm", "rms");
    check_word("ferry.decoder.activation", "gelu_sigmoid");
    check_word("ferry.decoding.policy", "marian");
}

/* Pieces without a SentencePiece model, languages with tags, a prompt. */
TEST_WITH(test_texts, set_up, tear_down)
{
    static const ferry_view pieces[] = {{"</s>", 4}, {"a", 1}}, names[] = {{"deu_Latn de deu", 15}, {"eng_Latn", 8}};
    static const ferry_view prompts[] = {{"translate: ", 11}};
    static const int32_t roles[] = {3, 1}, ids[] = {7, 8}, others[] = {9, -1}, any[] = {-1}, one[] = {1};
    static const one_key keys[] = {{"ferry.tokenizer.source.opus_punctuation", "bool", 1},
                                   {"ferry.languages.default_source", "integer", 1},
                                   {"ferry.languages.default_target", "integer", -1}};
    const ferry_texts *listed = KEPT_TEXTS(pieces);
    plan.text = (ferry_model_text){.present = true,
                                   .source_pieces = listed,
                                   .source_count = 2,
                                   .target_pieces = listed,
                                   .target_count = 2,
                                   .opus_punctuation = true,
                                   .languages = {.names = KEPT_TEXTS(names),
                                                 .roles = roles,
                                                 .source_ids = ids,
                                                 .target_ids = others,
                                                 .count = 2,
                                                 .source_tag = FERRY_TAG_SUFFIX,
                                                 .target_tag = FERRY_TAG_FIRST,
                                                 .prompts = KEPT_TEXTS(prompts),
                                                 .prompt_sources = any,
                                                 .prompt_targets = one,
                                                 .prompt_count = 1,
                                                 .default_source = 1,
                                                 .default_target = -1}};
    write_plan();
    check_keys(keys, COUNT(keys));
    check_word("ferry.tokenizer.kind", "pieces");
    check_word("ferry.languages.source_tag", "suffix");
    check_word("ferry.languages.target_tag", "first");
    check_texts("ferry.languages.names", "deu_Latn de deu, eng_Latn");
    check_texts("ferry.languages.prompts", "translate: ");
    check_integers("ferry.languages.roles", roles, 2);
    check_integers("ferry.languages.source_ids", ids, 2);
    check_integers("ferry.languages.target_ids", others, 2);
    check_integers("ferry.languages.prompt_sources", any, 1);
    check_integers("ferry.languages.prompt_targets", one, 1);
    assert_null(ferry_gguf_find(&file, "ferry.tokenizer.source.model"));
    const ferry_gguf_value *features = ferry_gguf_find(&file, "ferry.features");
    const char *const last[] = {"tokenizer:pieces", "opus-punctuation", "languages"};
    for (size_t i = 0; i < 3; i++)
        assert_true(has_text(ferry_texts_at(features->texts, features->count - 3 + i), last[i]));
}

/* A prompt alone needs the word, too. */
TEST_WITH(test_prompts_without_tags, set_up, tear_down)
{
    static const ferry_view names[] = {{"de", 2}}, prompts[] = {{"to German: ", 11}};
    static const int32_t role[] = {FERRY_LANGUAGE_TARGET}, none[] = {-1}, first[] = {0};
    plan.text.languages = (ferry_model_languages){.names = KEPT_TEXTS(names),
                                                  .roles = role,
                                                  .source_ids = none,
                                                  .target_ids = none,
                                                  .count = 1,
                                                  .prompts = KEPT_TEXTS(prompts),
                                                  .prompt_sources = none,
                                                  .prompt_targets = first,
                                                  .prompt_count = 1,
                                                  .default_source = -1,
                                                  .default_target = 0};
    write_plan();
    const ferry_gguf_value *features = ferry_gguf_find(&file, "ferry.features");
    assert_true(has_text(ferry_texts_at(features->texts, features->count - 1), "languages"));
    check_texts("ferry.languages.prompts", "to German: ");
}

/* A pair without tags needs no word: a build that knows no languages translates it all the same. */
TEST_WITH(test_language_pair, set_up, tear_down)
{
    static const int32_t roles[] = {1, 2}, none[] = {-1, -1};
    CHECK(ferry_import_language_pair(&plan, "en", "de", &error));
    write_plan();
    check_texts("ferry.languages.names", "en eng, de deu");
    check_integers("ferry.languages.roles", roles, 2);
    check_integers("ferry.languages.target_ids", none, 2);
    check_integers("ferry.languages.prompt_sources", NULL, 0);
    check_one("ferry.languages.default_source", "integer", 0);
    check_one("ferry.languages.default_target", "integer", 1);
    check_word("ferry.languages.source_tag", "none");
    const ferry_gguf_value *features = ferry_gguf_find(&file, "ferry.features");
    for (size_t i = 0; i < features->count; i++)
        assert_false(has_text(ferry_texts_at(features->texts, i), "languages"));
}
