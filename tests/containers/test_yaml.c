/* Configurations and vocabularies: what is read, byte by byte, and what is refused with its line. */
#include "tests/support/refusals.h"

#include "models/containers/reader.h"
#include "models/containers/json.h"
#include "models/containers/vocabulary_files.h"

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

/* What was read, as JSON. */
static void check_json(json_t *root, const char *expected)
{
    char *found = json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(17));
    json_decref(root);
    assert_string_equal(found, expected);
    free(found);
}

TEST(test_configuration)
{
    int32_t number = 7;
    float real = 9;
    const char *text = "default";
    json_t *root;
    CHECK(ferry_yaml_parse(text_view(configuration), "a.yml", NULL, &root, &error));
    const ferry_json yaml = {.object = root, .file = "a.yml", .texts = true};
    CHECK(ferry_json_integer(yaml, "enc-depth", 0, 10, &number, &error));
    assert_int_equal(number, 7);
    CHECK(ferry_json_integer(yaml, "dim-emb", 512, 512, &number, &error));
    assert_int_equal(number, 512);
    CHECK(ferry_json_float(yaml, "missing", &real, &error));
    assert_true(real == 9);
    CHECK(ferry_json_float(yaml, "normalize", &real, &error));
    assert_true(real == 0.6f);
    CHECK(ferry_json_float(yaml, "small", &real, &error));
    assert_true(real == -1.5e-07f);
    CHECK(ferry_json_text(yaml, "missing", &text, &error));
    assert_string_equal(text, "default");
    assert_int_equal(ferry_json_text_count(ferry_json_get(yaml, "input-types")), 0);
    assert_int_equal(ferry_json_text_count(ferry_json_get(yaml, "dim-emb")), 1);
    assert_int_equal(ferry_json_text_count(ferry_json_get(yaml, "models")), 2);
    assert_string_equal(ferry_json_text_at(ferry_json_get(yaml, "dim-emb"), 0), "512");
    assert_string_equal(ferry_json_text_at(ferry_json_get(yaml, "models"), 1), "b c");
    assert_null(ferry_json_get(yaml, "empty"));
    assert_null(ferry_json_get(yaml, "missing"));
    check_json(root, "{\"dim-emb\":\"512\",\"input-types\":[],\"transformer-tied-layers\":[],"
                     "\"dim-vocabs\":[\"32000\",\"32000\"],\"models\":[\"model.npz\",\"b c\"],"
                     "\"transformer-preprocess\":\"\",\"enc-depth\":null,\"quoted\":\"~\",\"empty\":null,"
                     "\"normalize\":\"0.6\",\"small\":\"-1.5e-07\",\"tied-embeddings-all\":\"true\",\"off\":\"No\","
                     "\"a:b\":\" x \",\"version\":\"v1.9.56 4dd30b5 2021-09-20 14:02:13 +0100\"}");
}

static ferry_status read_configuration(ferry_view text, ferry_error *error)
{
    json_t *root;
    const ferry_status status = ferry_yaml_parse(text, "in", NULL, &root, error);
    assert_int_equal(root == NULL, status != FERRY_OK);
    json_decref(root);
    return status;
}

TEST(test_configuration_refused)
{
    static const char lines[] = "in: line 1: expected `key: value` lines";
    static const char plain[] = "in: line 1: expected a plain value: nested values and aliases are not supported";
    static const char plain_2[] = "in: line 2: expected a plain value: nested values and aliases are not supported";
    static const char tags[] = "in: line 1: anchors and tags are not supported";
    const refused rows[] = {
        {BYTES(""), FERRY_ERROR_FORMAT, lines},
        {BYTES("word"), FERRY_ERROR_FORMAT, lines},
        {BYTES("- a\n"), FERRY_ERROR_FORMAT, lines},
        MALFORMED(BYTES("a: 1\nb: 2\na: 3\n"), "line 3: 'a' occurs twice"),
        MALFORMED(BYTES("a: ~\na: 3\n"), "line 2: 'a' occurs twice"),
        MALFORMED(BYTES("a: 1\n---\nb: 2\n"), "line 2: expected one document"),
        {BYTES("a:\n  b: 1\n"), FERRY_ERROR_UNSUPPORTED, plain_2},
        {BYTES("a: [[1]]\n"), FERRY_ERROR_UNSUPPORTED, plain},
        {BYTES("a: [1, b: 1]\n"), FERRY_ERROR_UNSUPPORTED, plain},
        {BYTES("? [1]\n: 2\n"), FERRY_ERROR_UNSUPPORTED, plain},
        {BYTES("a: *x\n"), FERRY_ERROR_UNSUPPORTED, plain},
        {BYTES("a: &x 1\n"), FERRY_ERROR_UNSUPPORTED, tags},
        {BYTES("a: &x [1]\n"), FERRY_ERROR_UNSUPPORTED, tags},
        {BYTES("a: !!seq [1]\n"), FERRY_ERROR_UNSUPPORTED, tags},
        {BYTES("a: [1, !!str 1]\n"), FERRY_ERROR_UNSUPPORTED, tags},
        {BYTES("a: !!str 1\n"), FERRY_ERROR_UNSUPPORTED, tags},
        {BYTES("&x a: 1\n"), FERRY_ERROR_UNSUPPORTED, tags},
        {BYTES("&x {a: 1}\n"), FERRY_ERROR_UNSUPPORTED, tags},
        MALFORMED(BYTES("a: \"\\0\"\n"), "line 1: a text with a NUL byte"),
        MALFORMED(BYTES("a: [1\n"), "line 2: did not find expected ',' or ']'"),
        MALFORMED(BYTES("a: \"\xff\"\n"), "line 1: invalid leading UTF-8 octet"),
        MALFORMED(BYTES("a: 1\n  b: 2\n"), "line 2: mapping values are not allowed in this context"),
        MALFORMED(repeated_text("a: [", "#,", 4097, "]\n"), "line 1: a list of too many values"),
        MALFORMED(repeated_text("", "#: 0\n", 4097, ""), "line 4097: too many keys"),
    };
    check_refused(read_configuration, rows, COUNT(rows));
    CHECK(read_configuration(repeated_text("a: [", "#,", 4096, "]\n"), &error));
    CHECK(read_configuration(repeated_text("", "#: 0\n", 4096, ""), &error));
}

/* ---- numbers and words ---- */

/* As an integer, and as a real number; "-": it is none. */
TEST(test_numbers)
{
    static const char *const rows[][3] = {{"9223372036854775807", "9223372036854775807", "9.2233720368547758e+18"},
                                          {"-9223372036854775807", "-9223372036854775807", "-9.2233720368547758e+18"},
                                          {"9223372036854775808", "-", "9.2233720368547758e+18"},
                                          {"+7", "7", "7"},
                                          {"-0", "0", "-0"},
                                          {"1.0", "-", "1"},
                                          {"-1.5e-3", "-", "-0.0015"},
                                          {"+2", "2", "2"},
                                          {".5E1", "-", "5"}};
    static const char *const neither[] = {"", "-", "--1", "1 ", "1,5", " 1", "1e", "inf", "nan", "0x1", "1e400"};
    int64_t integer;
    double real;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const ferry_view text = text_view(rows[i][0]);
        const bool is = ferry_parse_integer(text, &integer);
        assert_string_equal(is ? ferry_name_format("%lld", (long long)integer).text : "-", rows[i][1]);
        assert_true(ferry_parse_decimal(text, &real));
        assert_string_equal(ferry_name_format("%.17g", real).text, rows[i][2]);
    }
    for (size_t i = 0; i < COUNT(neither); i++)
        if (ferry_parse_integer(text_view(neither[i]), &integer) || ferry_parse_decimal(text_view(neither[i]), &real))
            fail_msg("'%s'", neither[i]);
    char longest[512];
    memset(longest, '0', sizeof longest);
    longest[510] = '3';
    assert_true(ferry_parse_decimal((ferry_view){longest, 511}, &real) && real == 3);
    assert_false(ferry_parse_decimal((ferry_view){longest, 512}, &real));
}

/* The words of YAML 1.1 that yaml-cpp knows, and what JSON has. */
TEST(test_bool_words)
{
    static const char *const words[][2] = {{"true", "false"}, {"True", "False"}, {"TRUE", "FALSE"},
                                           {"yes", "no"},     {"on", "off"},     {"1", "0"}};
    for (size_t i = 0; i < COUNT(words); i++) {
        for (int k = 0; k < 2; k++) {
            json_t *root = json_pack("{s:s}", "x", words[i][k]);
            bool value = k == 1;
            CHECK(ferry_json_bool((ferry_json){.object = root, .file = "in", .texts = true}, "x", &value, &error));
            assert_int_equal(value, k == 0);
            REFUSE_SAYING(ferry_json_bool((ferry_json){.object = root, .file = "in"}, "x", &value, &error),
                          FERRY_ERROR_FORMAT, "in: 'x': expected true or false");
            json_decref(root);
        }
    }
}

static ferry_status read_fields(json_t *root, bool texts, ferry_error *error)
{
    const ferry_json json = {root, "in", texts, "top."};
    int32_t integer = 0;
    float real = 0;
    bool flag = false;
    const char *word = "";
    ferry_status status = ferry_json_integer(json, "integer", -2, 2, &integer, error);
    if (status == FERRY_OK) status = ferry_json_float(json, "real", &real, error);
    if (status == FERRY_OK) status = ferry_json_bool(json, "flag", &flag, error);
    if (status == FERRY_OK) status = ferry_json_text(json, "text", &word, error);
    if (status == FERRY_OK) status = ferry_json_require(json, "needed", error);
    json_decref(root);
    return status;
}

static ferry_status read_object(ferry_view text, ferry_error *error)
{
    json_t *root;
    FERRY_TRY(ferry_json_parse(text, "in", JSON_OBJECT, NULL, &root, error));
    return read_fields(root, false, error);
}

static ferry_status read_texts(ferry_view text, ferry_error *error)
{
    json_t *root;
    FERRY_TRY(ferry_yaml_parse(text, "in", NULL, &root, error));
    return read_fields(root, true, error);
}

TEST(test_fields_refused)
{
    const refused rows[] = {
        MALFORMED(BYTES("[]"), "expected a JSON object"),
        MALFORMED(BYTES("{\"integer\": 3}"), "'top.integer': expected -2 to 2, found 3"),
        MALFORMED(BYTES("{\"integer\": -3}"), "'top.integer': expected -2 to 2, found -3"),
        MALFORMED(BYTES("{\"integer\": 1.0}"), "'top.integer': expected an integer"),
        MALFORMED(BYTES("{\"integer\": \"1\"}"), "'top.integer': expected an integer"),
        MALFORMED(BYTES("{\"integer\": 2, \"real\": 1.001e38}"), "'top.real': expected a number"),
        MALFORMED(BYTES("{\"integer\": -2, \"real\": \"1\"}"), "'top.real': expected a number"),
        MALFORMED(BYTES("{\"real\": 1e38, \"flag\": 1}"), "'top.flag': expected true or false"),
        MALFORMED(BYTES("{\"real\": -1e38, \"flag\": true, \"text\": 1}"), "'top.text': expected a text"),
        MALFORMED(BYTES("{\"text\": []}"), "'top.text': expected a text"),
        MALFORMED(BYTES("{\"needed\": null}"), "'top.needed' is missing"),
    };
    const refused texts[] = {
        MALFORMED(BYTES("integer: 3"), "'top.integer': expected -2 to 2, found 3"),
        MALFORMED(BYTES("integer: 0.6"), "'top.integer': expected an integer, found '0.6'"),
        MALFORMED(BYTES("integer: [1]"), "'top.integer': expected one value, found 'a list'"),
        MALFORMED(BYTES("integer: -2\nreal: No"), "'top.real': expected a number, found 'No'"),
        MALFORMED(BYTES("real: 1e39"), "'top.real': expected a number, found '1e39'"),
        MALFORMED(BYTES("real: 1e38\nflag: No"), "'top.flag': expected true or false, found 'No'"),
        MALFORMED(BYTES("text: []"), "'top.text': expected one value, found 'a list'"),
        MALFORMED(BYTES("needed: ~"), "'top.needed' is missing"),
    };
    json_t *root;
    check_refused(read_object, rows, COUNT(rows));
    check_refused(read_texts, texts, COUNT(texts));
    CHECK(read_object(text_view("{\"integer\": null, \"real\": 7, \"needed\": 1}"), &error));
    CHECK(read_texts(text_view("integer: 2\nreal: 7\nneeded: []"), &error));
    REFUSE_SAYING(ferry_json_parse(text_view("{}"), "in", JSON_ARRAY, NULL, &root, &error), FERRY_ERROR_FORMAT,
                  "in: expected a JSON array");
}

/* An integer beyond 64 bits becomes a real number; what is in texts, and others of up to 18 digits, stay. */
TEST(test_json_large_integers)
{
    static const char text[] = "{\"large\": 10000000000000000000000, \"exact\": 123456789012345678,"
                               "\"least\": 9999999999999999999,"
                               "\"list\": [-10000000000000000000000], \"real\": 1234567890123456789.5e2,"
                               "\"text\": \"\\\\\\\"10000000000000000000000\\\"\"}";
    json_t *root;
    CHECK(ferry_json_parse(text_view(text), "in", JSON_OBJECT, NULL, &root, &error));
    check_json(root, "{\"large\":1e22,\"exact\":123456789012345678,\"least\":1e19,\"list\":[-1e22],"
                     "\"real\":1.2345678901234568e20,\"text\":\"\\\\\\\"10000000000000000000000\\\"\"}");
}

/* ---- vocabularies ---- */

typedef ferry_status vocabulary_reader(ferry_view text, const char *file, ferry_arena *arena, const ferry_view **pieces,
                                       int32_t *count, ferry_error *error);

/* Read, `text` has these pieces; NULL: any. */
static ferry_status try_vocabulary(vocabulary_reader *read, ferry_view text, const ferry_view *pieces, int32_t expected,
                                   ferry_error *error)
{
    ferry_arena arena = {0};
    const ferry_view *found;
    int32_t count = 0;
    const ferry_status status = read(text, "in", &arena, &found, &count, error);
    if (status == FERRY_OK && pieces != NULL) assert_int_equal(count, expected);
    for (int32_t id = 0; status == FERRY_OK && pieces != NULL && id < count; id++)
        if (!ferry_view_equal(found[id], pieces[id]))
            fail_msg("id %d: expected '%s', found '%.*s'", id, pieces[id].data, (int)found[id].size, found[id].data);
    ferry_arena_destroy(&arena);
    return status;
}

static void check_pieces(vocabulary_reader *read, ferry_view text, const ferry_view *pieces, int32_t count)
{
    CHECK(try_vocabulary(read, text, pieces, count, &error));
}

static ferry_status read_vocabulary(ferry_view text, ferry_error *error)
{
    return try_vocabulary(ferry_yaml_vocabulary, text, NULL, 0, error);
}

static ferry_status read_lines(ferry_view text, ferry_error *error)
{
    return try_vocabulary(ferry_lines_vocabulary, text, NULL, 0, error);
}

/* Words that a YAML reader takes for something else, every kind of quotes, the colon as a word, both line forms; ids
 * are those of the pieces, but for the empty one, which no line has. */
TEST(test_vocabulary_forms)
{
    static const char text[] =
        "---\n</s>: 0\n\"<unk>\": 1\nyes: 2\n0x10: 3\nnull: 4\n-: 5\n=: 6\n<<: 7\n::: 8\n\":\": 9\r\n"
        "'it''s': 10\n\"tok\\\"en\": 11\n? a long key\n: 12\n?   \"? quoted\"\n:   13\n"
        "a\xe2\x80\xa8z: 14\n\xc2\xa0: 15\n\n\t\"#\" : 17 \n?: 18\na: b: 19";
    static const ferry_view pieces[] = {
        BYTES("</s>"),     BYTES("<unk>"),   BYTES("yes"),        BYTES("0x10"),     BYTES("null"),
        BYTES("-"),        BYTES("="),       BYTES("<<"),         BYTES("::"),       BYTES(":"),
        BYTES("it's"),     BYTES("tok\"en"), BYTES("a long key"), BYTES("? quoted"), BYTES("a\xe2\x80\xa8z"),
        BYTES("\xc2\xa0"), BYTES(""),        BYTES("#"),          BYTES("?"),        BYTES("a: b")};
    check_pieces(ferry_yaml_vocabulary, text_view(text), pieces, COUNT(pieces));
}

TEST(test_vocabulary_json_and_lines)
{
    static const ferry_view json[] = {BYTES("</s>"), BYTES(""), BYTES("a: \xc3\xa4")};
    static const ferry_view lines[] = {BYTES("</s>"), BYTES("<unk>"), BYTES("a: b")};
    const refused rows[] = {
        MALFORMED(BYTES("a\nb\n\n"), "line 3: an empty line"),
        MALFORMED(BYTES(""), "a vocabulary without pieces"),
    };
    check_pieces(ferry_yaml_vocabulary, BYTES(" {\"</s>\": 0, \"a: \\u00e4\": 2}"), json, 3);
    check_pieces(ferry_lines_vocabulary, BYTES("</s>\n<unk>\r\na: b\r"), lines, 3);
    check_refused(read_lines, rows, COUNT(rows));
}

/* YAML 1.2, section 5.7, and the ends of what \x, \u and \U can name. */
TEST(test_vocabulary_escapes)
{
    static const char text[] = "\"\\0\\a\\b\\t\\n\\v\\f\\r\\e\\ \\\"\\/\\\\\": 0\n\"\\N\\_\\L\\P\\\t\": 1\n"
                               "\"\\x7f\\xFf\\ud7FF\\ue000\\U0010ffff\": 2\n'\\n': 3\n\"\": 4\n";
    static const ferry_view pieces[] = {BYTES("\0\a\b\t\n\v\f\r\x1b \"/\\"),
                                        BYTES("\xc2\x85\xc2\xa0\xe2\x80\xa8\xe2\x80\xa9\t"),
                                        BYTES("\x7f\xc3\xbf\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf"), BYTES("\\n"),
                                        BYTES("")};
    check_pieces(ferry_yaml_vocabulary, text_view(text), pieces, COUNT(pieces));
}

#define QUOTED "line 1: a quoted key that does not end with its quote, or an unknown escape"

TEST(test_vocabulary_refused)
{
    const refused rows[] = {
        MALFORMED(BYTES(""), "a vocabulary without pieces"),
        MALFORMED(BYTES("a: 0\nb\n"), "line 2: expected 'piece: id'"),
        MALFORMED(BYTES("a: 0\n---\n"), "line 2: expected 'piece: id'"),
        MALFORMED(BYTES("a: 0\n: 1\n"), "line 2: a key is missing"),
        MALFORMED(BYTES("a: x\n"), "line 1: expected an id of 0 to 65541, found 'x'"),
        MALFORMED(BYTES("a: -1\n"), "line 1: expected an id of 0 to 65542, found '-1'"),
        MALFORMED(BYTES("a: 65546\n"), "line 1: expected an id of 0 to 65545, found '65546'"),
        MALFORMED(BYTES("{\"a\": 65549}"), "'a': expected an id of 0 to 65548"),
        MALFORMED(BYTES("a: 99999999999999999999\n"),
                  "line 1: expected an id of 0 to 65560, found '99999999999999999999'"),
        MALFORMED(BYTES("a: 0\nc: 1\nb: 0\n"), "id 0 belongs to 'a' and to 'b'"),
        MALFORMED(BYTES("\"a: 0\n"), QUOTED),
        MALFORMED(BYTES("\": 0\n"), QUOTED),
        MALFORMED(BYTES("\"a\\\": 0\n"), QUOTED),
        MALFORMED(BYTES("\"a\"b\": 0\n"), QUOTED),
        MALFORMED(BYTES("'a'b': 0\n"), QUOTED),
        MALFORMED(BYTES("\"\\q\": 0\n"), QUOTED),
        MALFORMED(BYTES("\"\\ud800\": 0\n"), QUOTED),
        MALFORMED(BYTES("\"\\udfff\": 0\n"), QUOTED),
        MALFORMED(BYTES("\"\\U00110000\": 0\n"), QUOTED),
        MALFORMED(BYTES("\"\\U100000000\": 0\n"), QUOTED),
        MALFORMED(BYTES("\"\\x4\": 0\n"), QUOTED),
        MALFORMED(BYTES("? a\nb: 0\n"), "line 2: expected ': id' after '? piece'"),
        MALFORMED(BYTES("? a\n"), "line 1: expected ': id' after '? piece'"),
        MALFORMED(BYTES("{\"a\": \"0\"}"), "'a': expected an id of 0 to 65546"),
        MALFORMED(BYTES("{\"a\": -1}"), "'a': expected an id of 0 to 65545"),
        MALFORMED(BYTES("{\"a\": 0, \"b\": 0}"), "id 0 belongs to 'a' and to 'b'"),
        MALFORMED(BYTES("\t\r\n{\"a\": 0"), "line 2, column 7: '}' expected near end of file"),
    };
    check_refused(read_vocabulary, rows, COUNT(rows));
    CHECK(read_vocabulary(text_view("a: 65545\n"), &error)); /* its size, and 65536 more */
    CHECK(read_vocabulary(text_view("{\"a\": 65548}"), &error));
}
