/* Given prefixes and alternatives against what transformers, CTranslate2 and Marian made of them
 * (tests/data/steering/record.py), and patience and coverage penalties against what CTranslate2 made of these
 * (tests/data/beams/record.py): texts and scores. */
#include "tests/support/import_support.h"

static size_t checked;
static const double tolerance = 2e-4; /* of scores, relative to 1 + |score| */

/* Of the large models, or of the small ones of the same names. */
static json_t *load_cases(bool small)
{
    const char *file = small ? "small" : "steering", *more = small ? "small" : "beams";
    json_t *cases = json_object_get(load_json(data_file("steering/%s.json", file)), "cases");
    assert_int_equal(json_array_extend(cases, json_object_get(load_json(data_file("beams/%s.json", more)), "cases")),
                     0);
    return cases;
}

static const char *text_at(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    assert_non_null(text);
    return text;
}

/* 0 if there is none. */
static int32_t integer_at(const json_t *object, const char *key)
{
    return (int32_t)json_integer_value(json_object_get(object, key));
}

static float real_at(const json_t *object, const char *key)
{
    return (float)json_number_value(json_object_get(object, key));
}

static void check_case(const ferry_model *model, const json_t *recorded, ferry_options options)
{
    const json_t *hypotheses = json_object_get(recorded, "hypotheses");
    const ferry_text line = as_text(text_at(recorded, "source")), prefix = as_text(text_at(recorded, "prefix"));
    ferry_translator *translator;
    ferry_result *result;
    options.beam = integer_at(recorded, "beam");
    options.nbest = (int32_t)json_array_size(hypotheses);
    options.alternatives = integer_at(recorded, "alternatives");
    options.length_penalty = real_at(recorded, "length_penalty");
    ferry_search_options *search = own_search(&options, model);
    search->coverage_penalty = real_at(recorded, "coverage_penalty");
    if (json_object_get(recorded, "patience") != NULL) search->patience = real_at(recorded, "patience");
    options.max_length = integer_at(recorded, "max_length");
    CHECK(ferry_translator_create(model, &options, &translator, &error));
    CHECK(translate_prefixed(translator, &line, &prefix, 1, &result, &error));
    assert_int_equal(ferry_result_hypothesis_count(result, 0), json_array_size(hypotheses));
    for (size_t i = 0; i < json_array_size(hypotheses); i++) {
        const json_t *expected = json_array_get(hypotheses, i);
        const ferry_text text = ferry_result_text(result, 0, i), wanted = as_text(text_at(expected, "text"));
        const double score = json_number_value(json_object_get(expected, "score")),
                     found = (double)ferry_result_score(result, 0, i);
        if (text.size != wanted.size || memcmp(text.data, wanted.data, text.size) != 0 ||
            !(fabs(score - found) <= tolerance * (1 + fabs(score))))
            fail_msg("'%s' after '%s', beam %d, hypothesis %zu: expected '%s' %.6f, found '%.*s' %.6f", line.data,
                     prefix.data, (int)options.beam, i, wanted.data, score, (int)text.size, text.data, found);
        checked++;
    }
    ferry_result_destroy(result);
    ferry_translator_destroy(translator);
}

/* How many hypotheses a system's cases of a model have. With languages, the tag stands before the prefix; the models of
 * Tatoeba have small twins with cases of their own. */
static const struct {
    const char *name, *from, *to;
    ferry_policy policy;
    size_t hypotheses, of_twin;
} models[] = {{"tatoeba-en-de/huggingface", NULL, NULL, FERRY_POLICY_HUGGINGFACE, 96, 96},
              {"huggingface-small/nllb", "eng_Latn", "deu_Latn", FERRY_POLICY_HUGGINGFACE, 96, 0},
              {"tatoeba-en-de/ctranslate2-float16", NULL, NULL, FERRY_POLICY_CTRANSLATE2, 237, 232},
              {"aren-transliteration/v2/aren-transliteration", NULL, NULL, FERRY_POLICY_CTRANSLATE2, 105, 0},
              {"huggingface-small/nllb", "eng_Latn", "deu_Latn", FERRY_POLICY_CTRANSLATE2, 136, 0},
              {"tatoeba-en-de/marian", NULL, NULL, FERRY_POLICY_MARIAN, 84, 84}};

TEST(test_recorded_cases)
{
    static const char *const systems[] = {"huggingface", "marian", "ctranslate2"};
    json_t *const cases[] = {load_cases(false), load_cases(true)};
    for (size_t i = 0; i < COUNT(models); i++) {
        const bool small = models[i].of_twin > 0 && !large_data();
        ferry_options options;
        size_t index;
        const json_t *recorded;
        const ferry_model *model = opened(shared_file("models/%s", models[i].name));
        CHECK(ferry_options_default(model, &options, sizeof options));
        ferry_search_options *search = own_search(&options, model);
        search->policy = models[i].policy;
        options.from = models[i].from;
        options.to = models[i].to;
        search->early_stopping = FERRY_EARLY_STOPPING_FALSE;
        checked = 0;
        json_array_foreach (cases[small], index, recorded) {
            if (strcmp(text_at(recorded, "model"), models[i].name) != 0) continue;
            if (strcmp(text_at(recorded, "system"), systems[search->policy]) == 0) check_case(model, recorded, options);
        }
        assert_int_equal(checked, small ? models[i].of_twin : models[i].hypotheses);
    }
}

/* Words that no shortlist has become words of the sentence that begins with them, and count what they are worth. */
TEST(test_shortlist)
{
    static const ferry_text line = {"Good morning!", 13}, prefixes[] = {{"", 0}, {"Elefanten Bibliothek", 20}};
    ferry_model *model = convert_and_open(shared_file("models/bergamot-en-de/model.ende.npz"), NULL);
    ferry_options options;
    ferry_result *results[2];
    CHECK(ferry_options_default(model, &options, sizeof options));
    assert_int_equal(own_search(&options, model)->policy, FERRY_POLICY_MARIAN);
    assert_int_equal(options.shortlist, 1);
    for (options.beam = 1; options.beam <= 4; options.beam += 3) {
        for (int i = 0; i < 2; i++) {
            ferry_translator *translator;
            CHECK(ferry_translator_create(model, &options, &translator, &error));
            CHECK(translate_prefixed(translator, &line, prefixes + i, 1, &results[i], &error));
            ferry_translator_destroy(translator);
        }
        const ferry_text text = ferry_result_text(results[1], 0, 0);
        assert_true(text.size > prefixes[1].size && memcmp(text.data, prefixes[1].data, prefixes[1].size) == 0);
        assert_true(ferry_result_score(results[1], 0, 0) < 2 * ferry_result_score(results[0], 0, 0));
        for (int i = 0; i < 2; i++) ferry_result_destroy(results[i]);
    }
    ferry_model_close(model);
}
