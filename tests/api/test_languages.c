/* Languages by name: what the model file says of them, what a pair adds to a line, and what is refused. */
#include "tests/support/files.h"
#include "tests/support/shipped_model.h"
#include "tests/support/small_model.h"

#include "base/language_names.h"
#include "engine/api/translator.h"
#include "engine/lines/languages.h"
#include "engine/file/model_file.h"
#include "tokenizer/sentences.h"

enum { VOCAB = 21, EOS = 0, UNKNOWN = 1 };

/* By id; the others are empty. */
static const char *const pieces[VOCAB] = {"</s>",    "<unk>",   "<pad>", "eng_Latn", "deu_Latn",  "fra_Latn",
                                          ">>deu<<", ">>fra<<", "hello", "world",    "Translate", "into",
                                          "German:", "French:", "Say:",  "<2de>",    "<2fr>"};

/* ---- a small model file ---- */

static const ferry_model_languages *tables; /* of the file that is being written */

static void put_tables(ferry_gguf_writer *writer)
{
    static const char *const places[] = {"none", "prefix", "suffix", "first"};
    const ferry_model_languages *languages = tables;
    const size_t count = (size_t)languages->count, prompts = (size_t)languages->prompt_count;
    if (count == 0) return;
    ferry_gguf_put_list(writer, "ferry.languages.names", languages->names, count);
    ferry_gguf_put_array(writer, "ferry.languages.roles", FERRY_GGUF_I32, languages->roles, count);
    ferry_gguf_put_array(writer, "ferry.languages.source_ids", FERRY_GGUF_I32, languages->source_ids, count);
    ferry_gguf_put_array(writer, "ferry.languages.target_ids", FERRY_GGUF_I32, languages->target_ids, count);
    ferry_gguf_put_string(writer, "ferry.languages.source_tag", places[languages->source_tag]);
    ferry_gguf_put_string(writer, "ferry.languages.target_tag", places[languages->target_tag]);
    ferry_gguf_put_list(writer, "ferry.languages.prompts", languages->prompts, prompts);
    ferry_gguf_put_array(writer, "ferry.languages.prompt_sources", FERRY_GGUF_I32, languages->prompt_sources, prompts);
    ferry_gguf_put_array(writer, "ferry.languages.prompt_targets", FERRY_GGUF_I32, languages->prompt_targets, prompts);
    ferry_gguf_put(writer, "ferry.languages.default_source", FERRY_GGUF_I32, &(int32_t){languages->default_source});
    ferry_gguf_put(writer, "ferry.languages.default_target", FERRY_GGUF_I32, &(int32_t){languages->default_target});
}

/* Closes the model that was open. */
static ferry_status open_with(const ferry_model_languages *languages, ferry_error *error)
{
    const char *path = new_scratch_file("languages.gguf");
    const small_model small = {.vocab = VOCAB,
                               .tokenizer = "pieces",
                               .pieces = pieces,
                               .leading_tag = true,
                               .feature = "languages",
                               .keys = put_tables};
    tables = languages;
    write_small_model(path, &small);
    close_model(NULL);
    return ferry_model_open(path, 0, &model, error);
}

static void open_languages(const ferry_model_languages *languages)
{
    CHECK(open_with(languages, &error));
}

#define LANGUAGES_TEST(name) TEST_WITH(name, NULL, close_model)

/* ---- three languages ---- */

static const ferry_view names[] = {{"eng_Latn en eng", 15}, {"deu_Latn de deu", 15}, {"fra_Latn fr fra", 15}};
static const int32_t both_roles[] = {3, 3, 3}, tags[] = {3, 4, 5}, first_ids[] = {0, 4, 5};

static ferry_model_languages three_languages(ferry_tag_position source_tag, ferry_tag_position target_tag)
{
    return (ferry_model_languages){.names = KEPT_TEXTS(names),
                                   .roles = both_roles,
                                   .source_ids = tags,
                                   .target_ids = tags,
                                   .count = 3,
                                   .source_tag = source_tag,
                                   .target_tag = target_tag,
                                   .default_source = -1,
                                   .default_target = -1};
}

static void set_prompts(ferry_model_languages *languages, const ferry_texts *prompts, const int32_t *sources,
                        const int32_t *targets, int32_t count)
{
    languages->prompts = prompts;
    languages->prompt_sources = sources;
    languages->prompt_targets = targets;
    languages->prompt_count = count;
}

static void assert_ids(const char *line, const char *from, const char *to, const int32_t *expected,
                       size_t expected_count)
{
    int32_t *ids;
    size_t count;
    CHECK(ferry_inspect_tokenize(model, (ferry_text){line, strlen(line)}, from, to, &ids, &count, &error));
    assert_int_equal(count, expected_count);
    assert_memory_equal(ids, expected, count * sizeof *ids);
    ferry_inspect_free(ids);
}

#define ASSERT_IDS(line, from, to, ...)                                                                                \
    assert_ids(line, from, to, (const int32_t[]){__VA_ARGS__}, COUNT(((const int32_t[]){__VA_ARGS__})))

static ferry_status create(const char *from, const char *to, ferry_translator **translator, ferry_error *error)
{
    ferry_options options = default_options(model);
    options.from = from;
    options.to = to;
    return ferry_translator_create(model, &options, translator, error);
}

static void refuse(const char *from, const char *to, const char *message)
{
    ferry_translator *translator = (ferry_translator *)model;
    REFUSE(create(from, to, &translator, &error), FERRY_ERROR_ARGUMENT, message);
    assert_null(translator);
}

static void accept(const char *from, const char *to)
{
    ferry_translator *translator;
    CHECK(create(from, to, &translator, &error));
    ferry_translator_destroy(translator);
}

/* ---- tests ---- */

LANGUAGES_TEST(test_listing)
{
    static const ferry_view listed[] = {{"eng en  English", 15}, {"deu", 3}, {"x ", 2}};
    static const int32_t roles[] = {1, 3, 2}, ids[] = {3, -1, -1}, target_ids[] = {-1, 6, 7};
    ferry_model_languages languages = three_languages(FERRY_TAG_NONE, FERRY_TAG_PREFIX);
    languages.names = KEPT_TEXTS(listed);
    languages.roles = roles;
    languages.source_ids = ids;
    languages.target_ids = target_ids;
    languages.default_source = 0;
    languages.default_target = 1;
    open_languages(&languages);
    assert_int_equal(ferry_model_language_count(model), 3);
    assert_string_equal(ferry_model_language(model, 0)->tag, "eng");
    assert_string_equal(ferry_model_language(model, 0)->names, "en  English");
    assert_string_equal(ferry_model_language(model, 1)->names, "");
    assert_string_equal(ferry_model_language(model, 2)->tag, "x");
    assert_string_equal(ferry_model_language(model, 2)->names, "");
    assert_int_equal(ferry_model_language(model, 0)->roles, FERRY_LANGUAGE_SOURCE | FERRY_LANGUAGE_DEFAULT_SOURCE);
    assert_int_equal(ferry_model_language(model, 1)->roles,
                     FERRY_LANGUAGE_SOURCE | FERRY_LANGUAGE_TARGET | FERRY_LANGUAGE_DEFAULT_TARGET);
    assert_int_equal(ferry_model_language(model, 2)->roles, FERRY_LANGUAGE_TARGET);
    assert_string_equal(ferry_model_info(model, "languages"), "eng deu x");
    assert_null(ferry_model_language(model, 3));
    accept("English", "X");
}

/* Languages by name: those whose codes the model knows; of two that have one code, the one that the code means. */
LANGUAGES_TEST(test_english_names)
{
    static const ferry_view listed[] = {{"zho_Hans zh zho", 15}, {"zho_Hant", 8},  {"nob_Latn nob nb no nor", 22},
                                        {"__de__ de deu", 13},   {"x-klingon", 9}, {"gd", 2}};
    static const char *const english[] = {"Chinese", "Traditional Chinese", "Norwegian Bokmål", "German",
                                          "",        "Scottish Gaelic"};
    static const struct {
        const char *name;
        int32_t id;
    } wanted[] = {
        {"Chinese", 3},   {"chinese", 3},        {"Simplified Chinese", 3},  {"Mandarin", 3}, {"zh", 3},
        {"NORWEGIAN", 5}, {"German", 6},         {"traditional chinese", 4}, {"gd", 8},       {"Norwegian Bokmål", 5},
        {"__de__", 6},    {"Scottish Gaelic", 8}};
    static const int32_t roles[] = {3, 3, 3, 3, 3, 3}, ids[] = {3, 4, 5, 6, 7, 8};
    ferry_model_languages languages = three_languages(FERRY_TAG_PREFIX, FERRY_TAG_NONE);
    languages.names = KEPT_TEXTS(listed);
    languages.roles = roles;
    languages.source_ids = languages.target_ids = ids;
    languages.count = COUNT(listed);
    open_languages(&languages);
    for (size_t i = 0; i < COUNT(english); i++)
        assert_string_equal(ferry_model_language(model, i)->english, english[i]);
    for (size_t i = 0; i < COUNT(wanted); i++) ASSERT_IDS("hello", wanted[i].name, NULL, wanted[i].id, 8, EOS);
    refuse("French", NULL, "option from: the model has no language 'French' to translate from; ");
    refuse("Chin", NULL,
           "lists its languages: zho_Hans (Chinese), zho_Hant (Traditional Chinese), nob_Latn (Norwegian Bokmål), "
           "__de__ (German), x-klingon, gd (Scottish Gaelic)");
    refuse(NULL, "Chinese (Simplified)", "to translate into; ");
}

/* A language of two letters, of three, and of three of which another system has two. */
LANGUAGES_TEST(test_english_names_of_any_code)
{
    static const ferry_view listed[] = {{"xx de", 5}, {"fra", 3}, {"yy zz ces", 9}};
    ferry_model_languages languages = three_languages(FERRY_TAG_PREFIX, FERRY_TAG_NONE);
    languages.names = KEPT_TEXTS(listed);
    open_languages(&languages);
    static const char *const english[] = {"German", "French", "Czech"};
    for (size_t i = 0; i < COUNT(english); i++) {
        assert_string_equal(ferry_model_language(model, i)->english, english[i]);
        ASSERT_IDS("hello", english[i], NULL, tags[i], 8, EOS);
    }
    ferry_translator *translator;
    CHECK(create("xx", NULL, &translator, &error));
    assert_ptr_equal(translator->rules.sentences, ferry_sentence_language_find("de"));
    ferry_translator_destroy(translator);
}

/* Of up to twelve languages a message lists all; of more those that begin alike, as far as it has room. */
LANGUAGES_TEST(test_many_languages)
{
    enum { MANY = 60, FEW = 12 };
    static ferry_view listed[MANY];
    static int32_t roles[MANY], ids[MANY];
    for (int32_t i = 0; i < MANY; i++) {
        const ferry_name tag = ferry_name_format("deu-%d", i);
        char *kept = kept_memory(sizeof tag.text);
        strcpy(kept, tag.text);
        listed[i] = ferry_text_view(i == 7 ? "fra fr gallic" : kept);
        roles[i] = 3;
        ids[i] = 3;
    }
    ferry_model_languages languages = three_languages(FERRY_TAG_PREFIX, FERRY_TAG_NONE);
    languages.names = KEPT_TEXTS(listed);
    languages.roles = roles;
    languages.source_ids = languages.target_ids = ids;
    ferry_translator *translator;
    static const struct {
        const char *name, *list;
        int32_t count;
    } rows[] = {
        {"frensh", ": fra (French)", MANY},
        {"frax", ": fra (French)", MANY},
        {"GALLIA", ": fra (French)", MANY}, /* begins as another name of it */
        {"f", ": fra (French)", MANY},
        {"rench", "", MANY},
        {"xyz", "", MANY},
        {"xyz", "", FEW + 1},
        {"xyz", ": deu-0, deu-1, deu-2, deu-3, deu-4, deu-5, deu-6, fra (French), deu-8, deu-9, deu-10, deu-11", FEW},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        languages.count = rows[i].count;
        open_languages(&languages);
        REFUSE_SAYING(create(rows[i].name, NULL, &translator, &error), FERRY_ERROR_ARGUMENT,
                      ferry_name_format("option from: the model has no language '%s' to translate from; "
                                        "ferry_model_language lists its languages%s",
                                        rows[i].name, rows[i].list)
                          .text);
    }
    languages.count = MANY;
    open_languages(&languages);
    ferry_error found;
    assert_int_equal(create("deu", NULL, &translator, &found), FERRY_ERROR_ARGUMENT);
    const size_t size = strlen(found.message);
    assert_true(size > 350 && strcmp(found.message + size - strlen(", …"), ", …") == 0);
}

LANGUAGES_TEST(test_malformed_names)
{
    static const ferry_view bad[] = {{"", 0}, {" deu", 4}, {"de\nu", 4}, {"de\0u", 4}, {"de\x7f", 3}, {"d\xff", 2}};
    for (size_t i = 0; i < COUNT(bad); i++) {
        const ferry_view with_bad[] = {names[0], bad[i], names[2]};
        ferry_model_languages languages = three_languages(FERRY_TAG_PREFIX, FERRY_TAG_FIRST);
        languages.names = KEPT_TEXTS(with_bad);
        REFUSE(open_with(&languages, &error), FERRY_ERROR_FORMAT, "");
        assert_null(model);
    }
}

LANGUAGES_TEST(test_names)
{
    static const ferry_view similar[] = {{"zh ZH", 5}, {"ZH other", 8}, {"fra_Latn fr fra", 15}},
                            named[] = {{"deu_Latn de deu", 15}, {"German", 6}, {"fra_Latn fr fra", 15}};
    ferry_model_languages languages = three_languages(FERRY_TAG_PREFIX, FERRY_TAG_SUFFIX);
    open_languages(&languages);
    ASSERT_IDS("hello", "eng_Latn", "deu_Latn", 3, 8, EOS, 4);
    ASSERT_IDS("hello", "deu", "fr", 4, 8, EOS, 5);
    ASSERT_IDS("hello", "EN", "Deu_latn", 3, 8, EOS, 4);
    refuse("e", "de", "option from: the model has no language 'e' to translate from; ferry_model_language lists");
    refuse("en", "Klingon", "option to: the model has no language 'Klingon' to translate into");
    refuse("en eng", "de", "'en eng'");
    /* What is written as the tag is goes before another language's other name, and that before another case. */
    languages.names = KEPT_TEXTS(similar);
    open_languages(&languages);
    ASSERT_IDS("hello", "ZH", "zh", 4, 8, EOS, 3);
    ASSERT_IDS("hello", "OTHER", "Zh", 4, 8, EOS, 3);
    /* A model's own tag goes before the name of another language. */
    languages.names = KEPT_TEXTS(named);
    open_languages(&languages);
    ASSERT_IDS("hello", "German", "French", 4, 8, EOS, 5);
}

LANGUAGES_TEST(test_tags_in_every_place)
{
    static const struct {
        ferry_tag_position source, target;
        int32_t ids[6]; /* up to -1 */
    } forms[] = {{FERRY_TAG_NONE, FERRY_TAG_NONE, {8, 9, EOS, -1}},
                 {FERRY_TAG_PREFIX, FERRY_TAG_FIRST, {3, 8, 9, EOS, -1}},
                 {FERRY_TAG_SUFFIX, FERRY_TAG_FIRST, {8, 9, EOS, 3, -1}},
                 {FERRY_TAG_NONE, FERRY_TAG_PREFIX, {4, 8, 9, EOS, -1}},
                 {FERRY_TAG_NONE, FERRY_TAG_SUFFIX, {8, 9, EOS, 4, -1}},
                 {FERRY_TAG_PREFIX, FERRY_TAG_PREFIX, {3, 4, 8, 9, EOS, -1}}};
    for (size_t i = 0; i < COUNT(forms); i++) {
        const ferry_model_languages languages = three_languages(forms[i].source, forms[i].target);
        size_t count = 0;
        while (forms[i].ids[count] >= 0) count++;
        open_languages(&languages);
        assert_ids("hello world", "en", "de", forms[i].ids, count);
    }
}

static void check_source_tokens(const char *line, const char *from, const char *to, const ferry_token *expected,
                                size_t count)
{
    const ferry_text text = as_text(line);
    ferry_translator *translator;
    ferry_result *result;
    CHECK(create(from, to, &translator, &error));
    CHECK(ferry_score(translator, &text, &text, 1, &result, &error));
    assert_int_equal(ferry_result_source_token_count(result, 0), count);
    for (size_t i = 0; i < count; i++) assert_same_token(source_token(result, 0, i), expected[i]);
    ferry_result_destroy(result);
    ferry_translator_destroy(translator);
}

/* A tag has no text, and is where it stands; one that the line begins with replaces only a tag that would stand there.
 */
LANGUAGES_TEST(test_places_of_tags)
{
    static const ferry_token expected[] = {{3, 0, 0, 0}, {8, 0, 0, 5}, {9, 0, 6, 11}, {EOS, 0, 11, 11}, {4, 0, 11, 11}};
    ferry_model_languages languages = three_languages(FERRY_TAG_PREFIX, FERRY_TAG_SUFFIX);
    open_languages(&languages);
    check_source_tokens("hello world", "en", "de", expected, COUNT(expected));
    ASSERT_IDS(">>fra<< hello", "en", "de", 3, 7, 8, EOS, 4);
    languages.source_ids = languages.target_ids = first_ids;
    open_languages(&languages);
    ASSERT_IDS("hello", "en", "en", 0, 8, EOS, 0);
}

/* Search begins with the tag, whatever else it would begin with. */
static void check_first_id(const char *to, int32_t forced_first_id, int32_t expected)
{
    const ferry_text line = {"hello world", 11};
    ferry_options options = default_options(model);
    options.from = "en";
    options.to = to;
    own_search(&options, model)->forced_first_id = forced_first_id;
    ferry_result *result = translated(model, &options, &line, 1);
    assert_int_equal(ferry_inspect_result_ids(result, 0, 0)[0], expected);
    assert_true(ferry_inspect_result_token_scores(result, 0, 0)[0] == 0.0f);
    ferry_result_destroy(result);
}

LANGUAGES_TEST(test_first_token)
{
    ferry_model_languages languages = three_languages(FERRY_TAG_PREFIX, FERRY_TAG_FIRST);
    open_languages(&languages);
    check_first_id("de", -1, 4);
    check_first_id("fra", -1, 5);
    check_first_id("fra", 9, 5);
    check_first_id(NULL, 9, 9);
    check_first_id(NULL, 0, 0);
    refuse("en", NULL, "option to: the model needs the language to translate into");
    languages.target_ids = first_ids;
    open_languages(&languages);
    check_first_id("en", -1, 0);
    languages.target_ids = tags;
    languages.default_target = 1;
    open_languages(&languages);
    check_first_id(NULL, -1, 4);
    check_first_id(NULL, 9, 9);
    check_first_id("fra", -1, 5);
}

/* Given translations begin with the tag, too. */
LANGUAGES_TEST(test_targets)
{
    static const ferry_text texts[] = {{"hello", 5}, {"", 0}, {">>fra<< world zzz", 17}};
    static const int32_t tagged[] = {4, 8, 4, 4, 7, 9, UNKNOWN}; /* without the start tokens */
    ferry_model_languages languages = three_languages(FERRY_TAG_PREFIX, FERRY_TAG_FIRST);
    int32_t *ids, *offsets, lead;
    open_languages(&languages);
    REFUSE(ferry_inspect_targets(model, texts, 3, &ids, &offsets, &lead, &error), FERRY_ERROR_ARGUMENT, "option ");
    assert_null(ids);
    assert_null(offsets);
    languages.default_source = 0;
    languages.default_target = 1;
    open_languages(&languages);
    CHECK(ferry_inspect_targets(model, texts, 3, &ids, &offsets, &lead, &error));
    assert_int_equal(lead, 2);
    assert_int_equal(offsets[3], COUNT(tagged) + 3);
    for (int32_t s = 0, tag = 0; s < 3; s++) {
        assert_int_equal(ids[offsets[s]], ferry_inspect_get_sizes(model).start_id);
        for (int32_t i = offsets[s] + 1; i < offsets[s + 1]; i++) assert_int_equal(ids[i], tagged[tag++]);
    }
    ferry_inspect_free(ids);
    ferry_inspect_free(offsets);
}

LANGUAGES_TEST(test_own_tags)
{
    static const int32_t marian[] = {-1, 6, 7}, roles[] = {3, 2, 2}; /* the first one has no tag */
    static const ferry_token own[] = {{7, 0, 7, 7}, {8, 0, 8, 13}, {EOS, 0, 13, 13}};
    ferry_model_languages languages = three_languages(FERRY_TAG_NONE, FERRY_TAG_PREFIX);
    languages.target_ids = marian;
    languages.roles = roles;
    open_languages(&languages);
    ASSERT_IDS("hello", NULL, "de", 6, 8, EOS);
    ASSERT_IDS(">>fra<< hello", NULL, "de", 7, 8, EOS);
    ASSERT_IDS(">>xyz<<hello", NULL, "de", UNKNOWN, 8, EOS);
    ASSERT_IDS("hello >>fra<<", NULL, "de", 6, 8, 7, EOS);
    ASSERT_IDS(">>fra<< hello", NULL, NULL, 7, 8, EOS);
    ASSERT_IDS("hello", NULL, "", 8, EOS);
    assert_int_equal(ferry_model_language(model, 0)->roles, FERRY_LANGUAGE_SOURCE);
    refuse(NULL, "en", "option to: the model has no language 'en' to translate into");
    refuse("de", "fr", "option from: the model has no language 'de' to translate from");
    accept(NULL, "");
    accept("en", "de");
    check_source_tokens(">>fra<< hello", "en", "de", own, COUNT(own));
}

/* A line alone, translated and scored: `error` NULL for FERRY_OK. */
static void check_line(const char *to, const char *line, const char *message)
{
    const ferry_text text = as_text(line);
    for (int score = 0; score <= 1; score++) {
        ferry_translator *translator;
        ferry_result *result;
        CHECK(create(NULL, to, &translator, &error));
        CHECK(score ? ferry_score(translator, &text, &text, 1, &result, &error)
                    : ferry_translate(translator, &text, 1, &result, &error));
        const char *found = ferry_result_outcome(result, 0)->error;
        assert_int_equal(ferry_result_outcome(result, 0)->status, message != NULL ? FERRY_ERROR_ARGUMENT : FERRY_OK);
        if (message == NULL)
            assert_null(found);
        else
            assert_string_equal(found, message);
        ferry_result_destroy(result);
        ferry_translator_destroy(translator);
    }
}

/* A model that chooses its target by a tag in the text needs one that it has. */
LANGUAGES_TEST(test_lines_without_a_target)
{
    static const int32_t marian[] = {-1, 6, 7}, roles[] = {3, 2, 2};
    static const char nothing[] =
        "the model needs the language to translate into: option to, or a tag that it has at the "
        "line's beginning; ferry_model_language lists its languages",
                      other[] = "the model has no tag '>>xyz<<', with which the line begins";
    ferry_model_languages languages = three_languages(FERRY_TAG_NONE, FERRY_TAG_PREFIX);
    languages.target_ids = marian;
    languages.roles = roles;
    open_languages(&languages);
    check_line(NULL, "hello", nothing);
    check_line(NULL, ">>fra<< hello", NULL);
    check_line(NULL, ">>xyz<< hello", other);
    check_line("fr", ">>xyz<< hello", other);
    check_line("fr", ">>deu<< hello", NULL);
    check_line("fr", "hello", NULL);
    check_line("", "hello", NULL);
    check_line(NULL, "hello >>fra<<", nothing);
    check_line(NULL, ">> hello", nothing);
}

/* What a prompt or a tag adds to a line says nothing about it. */
LANGUAGES_TEST(test_lines_of_which_nothing_is_seen)
{
    static const ferry_view prompts[] = {{"Translate it into German: ", 26}};
    static const int32_t source[] = {0}, target[] = {1};
    ferry_model_languages languages = three_languages(FERRY_TAG_NONE, FERRY_TAG_PREFIX);
    set_prompts(&languages, KEPT_TEXTS(prompts), source, target, 1);
    open_languages(&languages);
    static const char *const lines[][2] = {{"?!", "?!"}, {">>fra<<  ?! ", "?!"}, {"hello", NULL}};
    for (size_t i = 0; i < COUNT(lines); i++) {
        const ferry_text text = as_text(lines[i][0]);
        ferry_options options = default_options(model);
        options.from = "en";
        options.to = i == 1 ? "" : "de";
        ferry_result *result = translated(model, &options, &text, 1);
        if (lines[i][1] != NULL) assert_text_is(ferry_result_text(result, 0, 0), lines[i][1]);
        assert_true((ferry_result_token_count(result, 0, 0) == 0) == (lines[i][1] != NULL));
        assert_int_equal(ferry_result_outcome(result, 0)->quality & FERRY_QUALITY_UNKNOWN, 0);
        ferry_result_destroy(result);
    }
}

/* The same where the tags are prompts. */
LANGUAGES_TEST(test_prompts_without_a_target)
{
    static const ferry_view prompts[] = {{"Say: ", 5}, {"<2de> ", 6}, {"<2fr> ", 6}};
    static const int32_t sources[] = {0, -1, -1}, targets[] = {1, 1, 2}, any[] = {-1, -1, -1};
    static const char nothing[] =
        "the model needs the language to translate into: option to, or a tag that it has at the "
        "line's beginning; ferry_model_language lists its languages";
    ferry_model_languages languages = three_languages(FERRY_TAG_NONE, FERRY_TAG_NONE);
    set_prompts(&languages, KEPT_TEXTS(prompts), sources, targets, COUNT(prompts));
    open_languages(&languages);
    check_line(NULL, "hello", nothing);
    check_line(NULL, "<2de> hello", NULL);
    check_line(NULL, "<2fr>hello", NULL);
    check_line(NULL, "<2xx> hello", "the model has no tag '<2xx>', with which the line begins");
    check_line("de", "<2xx> hello", "the model has no tag '<2xx>', with which the line begins");
    check_line("de", "hello", NULL);
    check_line("", "hello", NULL);
    check_line(NULL, "<2 hello >", nothing);
    check_line(NULL, "hello <2de>", nothing);
    /* Prompts for a pair, or for any target, are no tags; nor is one that is no piece. */
    languages.prompt_targets = any;
    open_languages(&languages);
    check_line(NULL, "<2xx> hello", NULL);
    languages.prompt_targets = targets;
    languages.prompt_count = 1;
    open_languages(&languages);
    check_line(NULL, "hello", NULL);
    static const ferry_view no_piece[] = {{"Translate: ", 11}};
    languages.prompts = KEPT_TEXTS(no_piece);
    languages.prompt_sources = any;
    open_languages(&languages);
    check_line(NULL, "hello", NULL);
}

LANGUAGES_TEST(test_defaults)
{
    ferry_model_languages languages = three_languages(FERRY_TAG_PREFIX, FERRY_TAG_SUFFIX);
    open_languages(&languages);
    ASSERT_IDS("hello", NULL, NULL, 8, EOS);
    refuse(NULL, "de", "option from: the model needs the language to translate from");
    refuse("en", NULL, "option to: the model needs the language");
    accept("", "");
    languages.default_source = 2;
    languages.default_target = 0;
    open_languages(&languages);
    ASSERT_IDS("hello", NULL, NULL, 5, 8, EOS, 3);
    ASSERT_IDS("hello", "de", NULL, 4, 8, EOS, 3);
    ASSERT_IDS("hello", "", "", 8, EOS);
    accept(NULL, NULL);
}

LANGUAGES_TEST(test_fixed_pair)
{
    static const int32_t roles[] = {1, 2}, none[] = {-1, -1};
    ferry_model_languages languages = three_languages(FERRY_TAG_NONE, FERRY_TAG_NONE);
    languages.count = 2;
    languages.roles = roles;
    languages.source_ids = languages.target_ids = none;
    languages.default_source = 0;
    languages.default_target = 1;
    open_languages(&languages);
    accept(NULL, NULL);
    accept("en", "deu");
    refuse("de", NULL, "option from: the model has no language 'de' to translate from");
    refuse(NULL, "en", "option to: the model has no language 'en' to translate into");
    refuse(NULL, "fr", "option to: the model has no language 'fr' to translate into");
    languages.count = 0;
    open_languages(&languages);
    assert_int_equal(ferry_model_language_count(model), 0);
    accept(NULL, NULL);
    refuse(NULL, "de", "option to: the model does not say which languages it translates; found 'de'");
}

LANGUAGES_TEST(test_long_prompts)
{
    static char text[1025];
    const ferry_view prompts[] = {{text, sizeof text}};
    const int32_t any[] = {-1, -1};
    ferry_model_languages languages = three_languages(FERRY_TAG_NONE, FERRY_TAG_NONE);
    memset(text, 'x', sizeof text);
    languages.prompt_sources = languages.prompt_targets = any;
    languages.prompt_count = 1;
    languages.prompts = KEPT_TEXTS(prompts);
    REFUSE(open_with(&languages, &error), FERRY_ERROR_FORMAT,
           "key 'ferry.languages.prompts': expected texts of at most 1024 bytes, found one of 1025");
    const ferry_view longest = {text, 1024};
    languages.prompts = kept_texts(&longest, 1);
    open_languages(&languages);
    const ferry_view second[] = {longest, {text, 1025}};
    languages.prompt_count = 2;
    languages.prompts = KEPT_TEXTS(second);
    REFUSE(open_with(&languages, &error), FERRY_ERROR_FORMAT, "at most 1024 bytes, found one of 1025");
}

LANGUAGES_TEST(test_prompts)
{
    static const ferry_view prompts[] = {{"Translate into German: ", 23}, {"Say: ", 5}};
    static const int32_t sources[] = {0, -1}, targets[] = {1, 2};
    static const ferry_token expected[] = {
        {14, 0, 0, 0}, {8, 0, 0, 5}, {UNKNOWN, 0, 7, 10}, {9, 0, 11, 16}, {EOS, 0, 16, 16}};
    ferry_model_languages languages = three_languages(FERRY_TAG_NONE, FERRY_TAG_NONE);
    set_prompts(&languages, KEPT_TEXTS(prompts), sources, targets, 2);
    open_languages(&languages);
    ASSERT_IDS("hello", "en", "de", 10, 11, 12, 8, EOS);
    ASSERT_IDS("hello", "en", "fr", 14, 8, EOS);
    ASSERT_IDS("hello", NULL, "fr", 14, 8, EOS);
    ASSERT_IDS("Say: hello", NULL, NULL, 14, 8, EOS);
    accept(NULL, NULL);
    refuse("de", "en", "no prompt to translate from 'deu_Latn' into 'eng_Latn'");
    refuse(NULL, "de", "no prompt to translate from 'any' into 'deu_Latn'");
    languages.default_source = 0;
    languages.default_target = 1;
    open_languages(&languages);
    ASSERT_IDS("hello", NULL, NULL, 10, 11, 12, 8, EOS);
    /* Places of tokens are those of the line, in which its prompt is not. */
    check_source_tokens("hello  xyz world", "en", "fr", expected, COUNT(expected));
    /* One for any target. */
    static const int32_t to_any[] = {1, -1};
    languages.prompt_targets = to_any;
    open_languages(&languages);
    ASSERT_IDS("hello", "fr", "en", 14, 8, EOS);
    ASSERT_IDS("hello", "en", "de", 10, 11, 12, 8, EOS);
}

/* ISO 639: the first, the last, a code with its script, and languages with several names. */
TEST(test_language_names)
{
    static const struct {
        const char *code, *name;
    } rows[] = {{"aa", "Afar"},     {"AAR", "Afar"},   {"ace", "Acehnese"}, {"zho_Hant", "Traditional Chinese"},
                {"spa", "Spanish"}, {"zh", "Chinese"}, {"de", "German"},    {"Zho", "Chinese"},
                {"nya", "Nyanja"},  {"d", NULL},       {"", NULL},          {"deut", NULL},
                {"zho_Hans", NULL}, {"zho_", NULL},    {"qqq", NULL}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        const ferry_language_name *found = ferry_language_name_find(ferry_text_view(rows[i].code));
        if (rows[i].name == NULL) assert_null(found);
        if (rows[i].name != NULL) assert_string_equal(found->name, rows[i].name);
    }
    size_t count = 0, chinese = 0;
    for (const ferry_language_name *row; (row = ferry_language_name_at(count)) != NULL; count++)
        chinese += strcmp(row->code, "zho") == 0;
    assert_int_equal(chinese, 3); /* the last of which is the table's last row */
    assert_null(ferry_language_name_at(count + 1));
}
