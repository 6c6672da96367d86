/* Configurations and vocabularies: what is read, byte by byte, and what is refused with its line. */
#include "tests/support/files.h"

#include "models/containers/yaml.h"

/* ---- configurations ---- */

static const char configuration[] = "# a comment\n"
                                    "dim-emb: 512\n"
                                    "input-types:\n"
                                    "  []\n"
                                    "transformer-tied-layers: []\n"
                                    "dim-vocabs:\n"
                                    "  - 32000\n"
                                    "  - 32000\n"
                                    "models: [model.npz, \"b c\"]\n"
                                    "transformer-preprocess: \"\"\n"
                                    "enc-depth: ~\n"
                                    "quoted: \"~\"\n"
                                    "empty:\n"
                                    "normalize: 0.6\n"
                                    "small: -1.5e-07\n"
                                    "tied-embeddings-all: true\n"
                                    "off: No\n"
                                    "\"a:b\": ' x '\n"
                                    "version: v1.9.56 4dd30b5 2021-09-20 14:02:13 +0100\n";

TEST(test_configuration)
{
    json_t *root;
    CHECK(ferry_yaml_parse(text_view(configuration), "a.yml", NULL, &root, &error));
    const ferry_json yaml = {.object = root, .file = "a.yml", .texts = true};
    const json_t *types = ferry_json_get(yaml, "input-types");
    assert_true(json_is_array(types) && ferry_json_text_count(types) == 0);
    assert_true(json_is_array(ferry_json_get(yaml, "transformer-tied-layers")));
    assert_int_equal(ferry_json_text_count(ferry_json_get(yaml, "transformer-tied-layers")), 0);
    const json_t *models = ferry_json_get(yaml, "models");
    assert_int_equal(ferry_json_text_count(models), 2);
    assert_string_equal(ferry_json_text_at(models, 0), "model.npz");
    assert_string_equal(ferry_json_text_at(models, 1), "b c");
    assert_string_equal(ferry_json_text_at(ferry_json_get(yaml, "dim-vocabs"), 1), "32000");
    const json_t *preprocess = ferry_json_get(yaml, "transformer-preprocess");
    assert_false(json_is_array(preprocess));
    assert_string_equal(ferry_json_text_at(preprocess, 0), "");
    assert_string_equal(ferry_json_text_at(ferry_json_get(yaml, "quoted"), 0), "~");
    assert_string_equal(ferry_json_text_at(ferry_json_get(yaml, "a:b"), 0), " x ");
    assert_string_equal(ferry_json_text_at(ferry_json_get(yaml, "version"), 0),
                        "v1.9.56 4dd30b5 2021-09-20 14:02:13 +0100");
    assert_null(ferry_json_get(yaml, "enc-depth"));
    assert_null(ferry_json_get(yaml, "empty"));
    assert_null(ferry_json_get(yaml, "missing"));
    json_decref(root);
}

TEST(test_values)
{
    json_t *root;
    int32_t number = 7;
    float real = 9;
    bool yes = false;
    const char *text = "default";
    CHECK(ferry_yaml_parse(text_view(configuration), "a.yml", NULL, &root, &error));
    const ferry_json yaml = {.object = root, .file = "a.yml", .texts = true};
    CHECK(ferry_json_integer(yaml, "enc-depth", 0, 10, &number, &error));
    assert_int_equal(number, 7);
    CHECK(ferry_json_integer(yaml, "dim-emb", 0, 512, &number, &error));
    assert_int_equal(number, 512);
    CHECK(ferry_json_float(yaml, "missing", &real, &error));
    assert_true(real == 9);
    CHECK(ferry_json_float(yaml, "normalize", &real, &error));
    assert_true(real == 0.6f);
    CHECK(ferry_json_float(yaml, "small", &real, &error));
    assert_true(real == -1.5e-07f);
    CHECK(ferry_json_bool(yaml, "tied-embeddings-all", &yes, &error));
    assert_true(yes);
    CHECK(ferry_json_text(yaml, "missing", &text, &error));
    assert_string_equal(text, "default");
    REFUSE_SAYING(ferry_json_integer(yaml, "dim-emb", 0, 511, &number, &error), FERRY_ERROR_FORMAT,
                  "a.yml: 'dim-emb': expected 0 to 511, found 512");
    REFUSE(ferry_json_integer(yaml, "dim-emb", 513, 600, &number, &error), FERRY_ERROR_FORMAT, "");
    REFUSE_SAYING(ferry_json_integer(yaml, "normalize", 0, 9, &number, &error), FERRY_ERROR_FORMAT,
                  "a.yml: 'normalize': expected an integer, found '0.6'");
    REFUSE(ferry_json_float(yaml, "version", &real, &error), FERRY_ERROR_FORMAT, "");
    REFUSE_SAYING(ferry_json_bool(yaml, "off", &yes, &error), FERRY_ERROR_FORMAT,
                  "a.yml: 'off': expected true or false, found 'No'");
    REFUSE_SAYING(ferry_json_text(yaml, "models", &text, &error), FERRY_ERROR_FORMAT,
                  "a.yml: 'models': expected one value, found 'a list'");
    json_decref(root);
}

static void refuse(const char *text, ferry_status status, const char *what)
{
    ferry_error error = {0};
    json_t *root;
    check_refusal(ferry_yaml_parse(text_view(text), "liar.yml", NULL, &root, &error), &error, status, what);
    assert_non_null(strstr(error.message, "liar.yml: line "));
    assert_null(root);
}

TEST(test_configuration_refused)
{
    static const struct {
        const char *text;
        ferry_status status;
        const char *what;
    } rows[] = {
        {"", FERRY_ERROR_FORMAT, "line 1: expected `key: value` lines"},
        {"word", FERRY_ERROR_FORMAT, "line 1: expected `key: value` lines"},
        {"- a\n", FERRY_ERROR_FORMAT, "expected `key: value` lines"},
        {"a: 1\nb: 2\na: 3\n", FERRY_ERROR_FORMAT, "line 3: 'a' occurs twice"},
        {"a: ~\na: 3\n", FERRY_ERROR_FORMAT, "line 2: 'a' occurs twice"},
        {"a: 1\n---\nb: 2\n", FERRY_ERROR_FORMAT, "line 2: expected one document"},
        {"a:\n  b: 1\n", FERRY_ERROR_UNSUPPORTED, "line 2: expected a plain value"},
        {"a: [[1]]\n", FERRY_ERROR_UNSUPPORTED, "line 1: expected a plain value"},
        {"a: [b: 1]\n", FERRY_ERROR_UNSUPPORTED, "line 1: expected a plain value"},
        {"? [1]\n: 2\n", FERRY_ERROR_UNSUPPORTED, "expected a plain value"},
        {"a: &x 1\n", FERRY_ERROR_UNSUPPORTED, "anchors and tags"},
        {"a: &x [1]\n", FERRY_ERROR_UNSUPPORTED, "anchors and tags"},
        {"a: *x\n", FERRY_ERROR_UNSUPPORTED, "aliases"},
        {"a: !!str 1\n", FERRY_ERROR_UNSUPPORTED, "anchors and tags"},
        {"&x a: 1\n", FERRY_ERROR_UNSUPPORTED, "anchors and tags"},
        {"a: \"\\0\"\n", FERRY_ERROR_FORMAT, "NUL"},
        {"a: [1\n", FERRY_ERROR_FORMAT, "line "},
        {"a: \"\xff\"\n", FERRY_ERROR_FORMAT, "line "},
        {"a: 1\n  b: 2\n", FERRY_ERROR_FORMAT, "line 2: "},
    };
    for (size_t i = 0; i < COUNT(rows); i++) refuse(rows[i].text, rows[i].status, rows[i].what);
}

/* ---- vocabularies ---- */

static void check_piece(const ferry_view *pieces, int32_t id, const char *piece)
{
    if (!ferry_view_equal(pieces[id], text_view(piece)))
        fail_msg("id %d: expected '%s', found '%.*s'", id, piece, (int)pieces[id].size, pieces[id].data);
}

/* Words that a YAML reader takes for something else, every kind of quotes, the colon as a word, both line forms. */
TEST(test_vocabulary_forms)
{
    static const char text[] = "---\n"
                               "</s>: 0\n"
                               "\"<unk>\": 1\n"
                               "yes: 2\n"
                               "0x10: 3\n"
                               "null: 4\n"
                               "-: 5\n"
                               "=: 6\n"
                               "<<: 7\n"
                               "::: 8\n"
                               "\":\": 9\r\n"
                               "'it''s': 10\n"
                               "\"tok\\\"en\": 11\n"
                               "\"\\x85\\u2028\\U0001F600\\\\\\t\": 12\n"
                               "? a long key\n"
                               ": 13\n"
                               "?   \"? quoted\"\n"
                               ":   14\n"
                               "a\xe2\x80\xa8z: 15\n"
                               "\xc2\xa0: 16\n"
                               "\n"
                               "\"#\": 20\n"
                               "?: 18\n"
                               "a: b: 19";
    static const char *const pieces[] = {"</s>",
                                         "<unk>",
                                         "yes",
                                         "0x10",
                                         "null",
                                         "-",
                                         "=",
                                         "<<",
                                         "::",
                                         ":",
                                         "it's",
                                         "tok\"en",
                                         "\xc2\x85\xe2\x80\xa8\xf0\x9f\x98\x80\\\t",
                                         "a long key",
                                         "? quoted",
                                         "a\xe2\x80\xa8z",
                                         "\xc2\xa0",
                                         "",
                                         "?",
                                         "a: b",
                                         "#"};
    ferry_arena arena = {0};
    const ferry_view *found;
    int32_t count;
    CHECK(ferry_yaml_vocabulary(text_view(text), "v.yml", &arena, &found, &count, &error));
    assert_int_equal(count, 21);
    for (int32_t id = 0; id < count; id++) check_piece(found, id, pieces[id]);
    ferry_arena_destroy(&arena);
}

TEST(test_vocabulary_json_and_lines)
{
    ferry_arena arena = {0};
    const ferry_view *found;
    int32_t count;
    CHECK(ferry_yaml_vocabulary(text_view(" {\"</s>\": 0, \"a: \\u00e4\": 2}"), "v.json", &arena, &found, &count,
                                &error));
    assert_int_equal(count, 3);
    check_piece(found, 0, "</s>");
    check_piece(found, 1, "");
    check_piece(found, 2, "a: \xc3\xa4");
    CHECK(ferry_lines_vocabulary(text_view("</s>\n<unk>\r\na: b\n"), "v.txt", &arena, &found, &count, &error));
    assert_int_equal(count, 3);
    check_piece(found, 1, "<unk>");
    check_piece(found, 2, "a: b");
    REFUSE_SAYING(ferry_lines_vocabulary(text_view("a\n\nb\n"), "v.txt", &arena, &found, &count, &error),
                  FERRY_ERROR_FORMAT, "v.txt: line 2: an empty line");
    REFUSE(ferry_lines_vocabulary(text_view(""), "v.txt", &arena, &found, &count, &error), FERRY_ERROR_FORMAT, "");
    ferry_arena_destroy(&arena);
}

static void refuse_vocabulary(const char *text, const char *what)
{
    ferry_error error = {0};
    ferry_arena arena = {0};
    const ferry_view *pieces;
    int32_t count;
    check_refusal(ferry_yaml_vocabulary(text_view(text), "liar.yml", &arena, &pieces, &count, &error), &error,
                  FERRY_ERROR_FORMAT, what);
    assert_non_null(strstr(error.message, "liar.yml: "));
    ferry_arena_destroy(&arena);
}

TEST(test_vocabulary_refused)
{
    static const char *const rows[][2] = {
        {"", "without pieces"},
        {"a: 0\nb\n", "line 2: expected 'piece: id'"},
        {"a: 0\n: 1\n", "line 2: a key is missing"},
        {"a: x\n", "line 1: expected an id of 0 to"},
        {"a: -1\n", "line 1: expected an id of 0 to"},
        {"a: 2000000000\n", "line 1: expected an id of 0 to"},
        {"a: 99999999999999999999\n", "line 1: expected an id of 0 to"},
        {"a: 0\nb: 0\n", "id 0 belongs to 'a' and to 'b'"},
        {"\"a: 0\n", "line 1: a quoted key"},
        {"\": 0\n", "line 1: a quoted key"},
        {"\"a\\\": 0\n", "line 1: a quoted key"},
        {"\"a\"b\": 0\n", "line 1: a quoted key"},
        {"'a'b': 0\n", "line 1: a quoted key"},
        {"\"\\q\": 0\n", "line 1: a quoted key"},
        {"\"\\ud800\": 0\n", "line 1: a quoted key"},
        {"\"\\U00110000\": 0\n", "line 1: a quoted key"},
        {"\"\\x4\": 0\n", "line 1: a quoted key"},
        {"? a\nb: 0\n", "line 2: expected ': id'"},
        {"? a\n", "line 1: expected ': id'"},
        {"{\"a\": \"0\"}", "'a': expected an id"},
        {"{\"a\": 0, \"b\": 0}", "belongs to 'a' and to 'b'"},
        {"{\"a\": 0", "line 1, column"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) refuse_vocabulary(rows[i][0], rows[i][1]);
}

/* The archive's vocabulary holds the pieces of the Hugging Face form of the same model. */
TEST(test_real_vocabulary)
{
    ferry_arena arena = {0};
    const ferry_view *pieces;
    int32_t count;
    const char *piece;
    json_t *id;
    char *yaml = shared_file("models/tatoeba-en-de/marian/vocab.yml");
    char *json = shared_file("models/tatoeba-en-de/huggingface/vocab.json");
    CHECK(ferry_yaml_vocabulary(mapped_bytes(yaml), yaml, &arena, &pieces, &count, &error));
    json_t *root = load_json(json);
    assert_int_equal(count, large_data() ? 8000 : 1000);
    json_object_foreach (root, piece, id)
        if (json_integer_value(id) < count) check_piece(pieces, (int32_t)json_integer_value(id), piece);
    for (int32_t i = 0; i < count; i++) assert_true(pieces[i].size > 0);
    ferry_arena_destroy(&arena);
}
