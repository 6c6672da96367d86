/* Tokens of lines and translations, the weights between them, and unknown words: as the model's layers compute them,
 * and as CTranslate2 uses them. */
#include "engine/api/translator.h"
#include "tests/support/import_support.h"
#include "tests/support/shipped_model.h"
#include "tests/support/small_model.h"

static const ferry_text texts[] = {
    {"Hello, world!", 13},
    {"I don't know what to do.", 24},
    {"", 0},
    {"Tom is reading a book in the garden. The early bird gets the worm! Where were you yesterday at 10:30? No.", 105},
    {"Ünïcödé — “quotes” … 漢字 🙂 ﬁne ½", 53},
    {"I \xFF know \xE2\x82 it.", 15},
    {"She wears the same kinds of clothes as her sister.", 50},
};
enum { LINES = sizeof texts / sizeof *texts, SEVERAL = 3, MAX_SOURCE = 24 };

static ferry_options make_options(int32_t beam, int32_t alignment)
{
    ferry_options options = default_options(model);
    options.beam = options.nbest = beam;
    options.max_length = 40;
    options.max_source = MAX_SOURCE;
    options.alignment = alignment;
    return options;
}

/* ---- tokens ---- */

/* A wish for weights changes no translation, and can be changed between calls. */
SHIPPED_TEST(test_the_same_without_weights)
{
    for (int32_t beam = 1; beam <= 4; beam += 3) {
        const ferry_options options = make_options(beam, 1), without = make_options(beam, 0);
        ferry_result *result = translated(model, &options, texts, LINES);
        ferry_translator *translator = new_translator(model, &without);
        for (int round = 0; round < 4; round++) {
            ferry_result *found;
            if (round > 0) assert_int_equal(ferry_translator_align(translator, round % 2), FERRY_OK);
            CHECK(ferry_translate(translator, texts, LINES, &found, &error));
            for (size_t i = 0; i < LINES; i++) {
                const size_t count = ferry_result_source_token_count(result, i);
                assert_same_line(result, i, found, i);
                assert_int_equal(ferry_result_source_token_count(found, i), round % 2 == 1 ? count : 0);
            }
            ferry_result_destroy(found);
        }
        ferry_translator_destroy(translator);
        ferry_result_destroy(result);
    }
}

/* Ids, log-probabilities and ranges are those of the tokenizer and of the search. */
SHIPPED_TEST(test_tokens_of_a_line)
{
    const ferry_text text = texts[1];
    ferry_options options = make_options(4, 1);
    ferry_result *result = translated(model, &options, &text, 1);
    int32_t *ids;
    size_t count;
    CHECK(ferry_inspect_tokenize(model, text, NULL, NULL, &ids, &count, &error));
    assert_int_equal(ferry_result_source_token_count(result, 0), count);
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        const ferry_token token = source_token(result, 0, i);
        assert_int_equal(token.id, ids[i]);
        assert_true(token.log_probability == 0 && token.begin >= at);
        at = token.end;
    }
    const ferry_token end = source_token(result, 0, count - 1);
    assert_true(end.begin == end.end && end.end == text.size);
    for (size_t h = 0; h < 4; h++) {
        const ferry_text target = ferry_result_text(result, 0, h);
        const size_t T = ferry_result_token_count(result, 0, h);
        char joined[200];
        size_t size = 0;
        for (size_t t = 0; t < T; t++) {
            const ferry_token token = target_token(result, 0, h, t);
            assert_int_equal(token.id, ferry_inspect_result_ids(result, 0, h)[t]);
            assert_true(token.log_probability == ferry_inspect_result_token_scores(result, 0, h)[t]);
            assert_true(token.begin <= token.end && token.end <= target.size);
            memcpy(joined + size, target.data + token.begin, token.end - token.begin);
            size += token.end - token.begin;
        }
        for (size_t i = 0, j = 0; i < target.size; i++)
            if (target.data[i] != ' ') assert_true(j < size && joined[j++] == target.data[i]);
        assert_true(target_token(result, 0, h, T - 1).begin == target.size);
    }
    ferry_inspect_free(ids);
    ferry_result_destroy(result);
}

/* The same text; in greedy search a token's log-probability is 0, as the score. */
SHIPPED_TEST(test_without_scores)
{
    const ferry_text text = texts[SEVERAL];
    for (int32_t beam = 1; beam <= 3; beam += 2) {
        ferry_options options = make_options(beam, 1);
        ferry_result *scored = translated(model, &options, &text, 1);
        options.scores = 0;
        ferry_result *result = translated(model, &options, &text, 1);
        assert_same_text(ferry_result_text(scored, 0, 0), ferry_result_text(result, 0, 0));
        assert_true(ferry_result_score(scored, 0, 0) < 0 && ferry_result_score(result, 0, 0) == 0);
        for (size_t t = 0; t < ferry_result_token_count(result, 0, 0); t++) {
            size_t count;
            const float *weights = ferry_result_weights(result, 0, 0, t, NULL, &count);
            if (beam == 1) assert_true(target_token(result, 0, 0, t).log_probability == 0);
            assert_true(target_token(scored, 0, 0, t).log_probability < 0);
            assert_memory_equal(weights, ferry_result_weights(scored, 0, 0, t, NULL, NULL), count * sizeof *weights);
        }
        ferry_result_destroy(result);
        ferry_result_destroy(scored);
    }
}

/* Ranges are those of the caller's bytes, of which each ill-formed run is one character. */
SHIPPED_TEST(test_ill_formed_bytes)
{
    const ferry_text text = texts[5];
    ferry_options options = make_options(1, 1);
    ferry_result *result = translated(model, &options, &text, 1);
    bool covered[64] = {false};
    for (size_t i = 0; i < ferry_result_source_token_count(result, 0); i++) {
        const ferry_token token = source_token(result, 0, i);
        assert_true(token.begin <= token.end && token.end <= text.size);
        memset(covered + token.begin, true, token.end - token.begin);
        assert_false(token.end > token.begin && (text.data[token.begin] == ' ' || text.data[token.end - 1] == ' '));
    }
    for (size_t i = 0; i < text.size; i++) assert_true(covered[i] || text.data[i] == ' ');
    ferry_result_destroy(result);
}

/* ---- weights ---- */

/* [T, S] of all heads of a layer, from the research interface. */
static const float *layer_weights(const ferry_model *of, const ferry_result *result, size_t h, int32_t layer,
                                  int32_t heads)
{
    const int32_t S = (int32_t)ferry_result_source_token_count(result, 0),
                  T = (int32_t)ferry_result_token_count(result, 0, h);
    int32_t *source = kept_memory((size_t)S * sizeof *source), *inputs = kept_memory((size_t)T * sizeof *inputs);
    float *weights = kept_memory((size_t)(heads * T * S) * sizeof *weights);
    for (int32_t i = 0; i < S; i++) source[i] = source_token(result, 0, (size_t)i).id;
    inputs[0] = ferry_inspect_get_sizes(of).start_id;
    for (int32_t t = 1; t < T; t++) inputs[t] = ferry_inspect_result_ids(result, 0, h)[t - 1];
    CHECK(ferry_inspect_attention(of, FERRY_INSPECT_CROSS, layer, FERRY_INSPECT_ALL, source, S, inputs, T, weights,
                                  &error));
    return weights;
}

/* The weights are the mean of these heads. */
static void check_heads(const ferry_model *of, const ferry_text *text, const ferry_options *options, int32_t layer,
                        int32_t head, int32_t heads)
{
    const int32_t all = ferry_inspect_get_sizes(of).decoder_heads;
    ferry_result *result = translated(of, options, text, 1);
    const size_t S = ferry_result_source_token_count(result, 0);
    assert_true(S > 1);
    for (size_t h = 0; h < ferry_result_hypothesis_count(result, 0); h++) {
        const size_t T = ferry_result_token_count(result, 0, h);
        const float *weights = layer_weights(of, result, h, layer, all);
        for (size_t t = 0; t < T; t++) {
            const float *found = ferry_result_weights(result, 0, h, t, NULL, NULL);
            for (size_t s = 0; s < S; s++) {
                float sum = 0;
                for (int32_t i = head; i < head + heads; i++) sum += weights[((size_t)i * T + t) * S + s];
                assert_true(found[s] == (heads > 1 ? sum / (float)heads : sum));
            }
        }
    }
    ferry_result_destroy(result);
}

SHIPPED_TEST(test_the_last_layer_by_rule)
{
    const ferry_text text = texts[1];
    const ferry_options options = make_options(SEVERAL, 1);
    check_heads(model, &text, &options, 2, 0, 8);
}

static uint32_t named_heads; /* 0: only the first one is named */

static void put_heads(ferry_gguf_writer *writer)
{
    ferry_gguf_put(writer, "ferry.alignment_layer", FERRY_GGUF_I32, &(int32_t){0});
    ferry_gguf_put(writer, "ferry.alignment_head", FERRY_GGUF_I32, &(int32_t){1});
    if (named_heads > 0) ferry_gguf_put_u32(writer, "ferry.alignment_heads", named_heads);
}

TEST(test_heads_that_the_file_names)
{
    static const ferry_text text = {"b c d k a", 9};
    for (named_heads = 0; named_heads <= 2; named_heads++) {
        ferry_model *small = open_small_model(&(small_model){.tokenizer = "pieces", .keys = put_heads}, NULL);
        ferry_options options = default_options(small);
        options.max_length = 9;
        options.alignment = 1;
        check_heads(small, &text, &options, 0, 1, named_heads == 2 ? 2 : 1);
        assert_true(
            described(small, named_heads == 2 ? "alignment: layer 0, heads 1 to 2\n" : "alignment: layer 0, head 1\n"));
        ferry_model_close(small);
    }
    ferry_model *refused;
    const char *path = scratch_file("heads.gguf");
    write_small_model(path, &(small_model){.keys = put_heads});
    REFUSE(ferry_model_open(path, 0, &refused, &error), FERRY_ERROR_FORMAT,
           "ferry.alignment_heads: expected at most 2 from head 1, found 3");
}

/* ---- unknown words ---- */

/* The CTranslate2 model with another word called unknown. */
static ferry_model *open_with_unknown(const char *unknown)
{
    static const char *const names[] = {"model.bin", "shared_vocabulary.json", "source.spm", "target.spm"};
    const char *from = shared_file("models/tatoeba-en-de/ctranslate2-float16"), *to = scratch_directory(unknown);
    json_t *config = load_json(in_directory(from, "config.json"));
    assert_int_equal(json_object_set_new(config, "unk_token", json_string(unknown)), 0);
    assert_int_equal(json_dump_file(config, in_directory(to, "config.json"), 0), 0);
    for (size_t i = 0; i < COUNT(names); i++) link_file(in_directory(from, names[i]), to, names[i]);
    return convert_and_open(to, NULL);
}

static size_t check_unknowns(const json_t *golden, const char *unknown)
{
    ferry_model *named = open_with_unknown(unknown);
    size_t index, checked = 0;
    const json_t *row;
    ferry_options options = default_options(named);
    options.beam = 1;
    options.max_length = 60;
    own_search(&options, named)->suppressed_count = 0;
    options.replace_unknowns = 1;
    ferry_translator *translator = new_translator(named, &options);
    json_array_foreach (golden, index, row) {
        const char *target = json_string_value(json_object_get(row, "target"));
        const ferry_text line = as_text(json_string_value(json_object_get(row, "source")));
        ferry_result *result;
        if (strcmp(json_string_value(json_object_get(row, "unknown")), unknown) != 0) continue;
        if (strstr(target, "</s>") != NULL) continue; /* there, an end of sentence; here, a word */
        CHECK(ferry_translate(translator, &line, 1, &result, &error));
        const ferry_text found = ferry_result_text(result, 0, 0);
        assert_text_is(found, target);
        assert_null(ferry_result_weights(result, 0, 0, 0, NULL, NULL));
        ferry_result_destroy(result);
        checked++;
    }
    ferry_translator_destroy(translator);
    ferry_model_close(named);
    return checked;
}

TEST(test_unknown_words)
{
    const char *const unknown[] = {"\xE2\x96\x81Tom", large_data() ? "\xE2\x96\x81Ich" : "\xE2\x96\x81ich",
                                   "\xE2\x96\x81nicht"};
    const char *recorded = large_data() ? "alignment/golden.json" : "alignment/small.json";
    const json_t *golden = json_object_get(load_json(data_file("%s", recorded)), "unknowns");
    size_t checked = 0;
    for (size_t i = 0; i < COUNT(unknown); i++) checked += check_unknowns(golden, unknown[i]);
    assert_int_equal(checked, json_array_size(golden) - (large_data() ? 2 : 0));
}

/* Those of a hypothesis that is not the best are replaced, too, by the same words with and without alignment. */
SHIPPED_TEST(test_unknown_words_of_any_hypothesis)
{
    ferry_options options = make_options(4, 1);
    ferry_result *known = translated(model, &options, &texts[1], 1), *results[2];
    options.replace_unknowns = 1;
    for (size_t t = 0; t + 1 < ferry_result_token_count(known, 0, 3); t++) {
        for (options.alignment = 0; options.alignment < 2; options.alignment++) {
            ferry_translator *translator = new_translator(model, &options);
            translator->rules.unknown_id = target_token(known, 0, 3, t).id;
            CHECK(ferry_translate(translator, &texts[1], 1, &results[options.alignment], &error));
            ferry_translator_destroy(translator);
        }
        assert_same_line(results[0], 0, results[1], 0);
        for (int i = 0; i < 2; i++) ferry_result_destroy(results[i]);
    }
    ferry_result_destroy(known);
}
