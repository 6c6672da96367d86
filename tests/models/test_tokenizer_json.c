/* Every form of tokenizer.json that is read, against what the package `tokenizers` made of hostile lines and of ids
 * (compare_tokenizers.py records it), and every one that is refused. */
#include "engine/api/model.h"
#include "tests/support/families.h"

/* ---- what was recorded ---- */

/* The table of the model itself stands for an empty one. */
static void fill_charsmap(json_t *value, json_t *charsmap)
{
    const char *key;
    json_t *member;
    size_t i;
    json_object_foreach (value, key, member)
        if (strcmp(key, "precompiled_charsmap") == 0)
            assert_int_equal(json_object_set(value, key, charsmap), 0);
        else
            fill_charsmap(member, charsmap);
    json_array_foreach (value, i, member) fill_charsmap(member, charsmap);
}

static char *changed(const char *source, const json_t *changes)
{
    char *directory = variant(source, NULL, 0);
    json_t *root = load_json(in_directory(source, "tokenizer.json")), *value;
    json_t *charsmap = json_incref(json_object_get(json_object_get(root, "normalizer"), "precompiled_charsmap"));
    const char *key;
    json_object_foreach ((json_t *)(uintptr_t)changes, key, value)
        assert_int_equal(json_object_set(root, key, json_deep_copy(value)), 0);
    fill_charsmap(json_object_get(root, "normalizer"), charsmap);
    char *text = json_dumps(root, 0);
    write_bytes(in_directory(directory, "tokenizer.json"), text, strlen(text));
    free(text);
    json_decref(charsmap);
    return directory;
}

static void check_ids(const ferry_model *model, const json_t *entry, size_t line)
{
    const json_t *text = json_array_get(json_object_get(entry, "lines"), line);
    const ferry_text view = {json_string_value(text), json_string_length(text)};
    int32_t *ids, count;
    size_t found;
    const int32_t *expected = json_ids(json_array_get(json_object_get(entry, "ids"), line), &count);
    CHECK(ferry_inspect_tokenize(model, view, NULL, NULL, &ids, &found, &error));
    if (found != (size_t)count || memcmp(ids, expected, found * sizeof *ids) != 0)
        fail_msg("%s, line %zu: other ids", json_string_value(json_object_get(entry, "name")), line);
    ferry_inspect_free(ids);
}

static void check_text(const ferry_model *model, const json_t *entry, size_t line)
{
    const json_t *text = json_array_get(json_object_get(entry, "texts"), line);
    const ferry_view expected = {json_string_value(text), json_string_length(text)};
    int32_t count;
    const int32_t *ids = json_ids(json_array_get(json_object_get(entry, "targets"), line), &count);
    ferry_string found = {0};
    ferry_range ranges[64];
    assert_true(count <= 64);
    CHECK(ferry_tokenizer_decode_ranges(model->tokenizer, ids, (size_t)count, NULL, &found, ranges, &error));
    if (!ferry_view_equal(expected, (ferry_view){found.data, found.size}))
        fail_msg("%s, line %zu: expected '%s', found '%.*s'", json_string_value(json_object_get(entry, "name")), line,
                 expected.data, (int)found.size, found.data);
    for (int32_t i = 0; i < count; i++) assert_true(ranges[i].begin <= ranges[i].end && ranges[i].end <= found.size);
    free(found.data);
}

TEST(test_recorded)
{
    const char *source = data_file("models/huggingface-5/t5gated");
    const json_t *entry, *list = load_json(data_file("tokenizer/tokenizer_json.json"));
    size_t i, lines = 0;
    assert_true(json_array_size(list) > 20);
    json_array_foreach (list, i, entry) {
        const ferry_model *model = opened(changed(source, json_object_get(entry, "changes")));
        const size_t count = json_array_size(json_object_get(entry, "lines"));
        for (size_t line = 0; line < count; line++) {
            check_ids(model, entry, line);
            check_text(model, entry, line);
        }
        lines += count;
    }
    print_message("%zu forms, %zu lines: ids and texts as recorded\n", i, lines);
}

/* ---- ranges ---- */

/* Ids of one text stand for all of it, from left to right, whatever normalization did. */
TEST(test_ranges)
{
    static const char text[] = " e\u0301\001 \uFB01ne\u00A0\u00BD<extra_id_3>  \u2026x";
    const ferry_model *model = opened(data_file("models/huggingface-5/t5gated"));
    const ferry_view view = {text, sizeof text - 1};
    ferry_ids ids = {0};
    ferry_ranges ranges = {0};
    size_t end = 0;
    CHECK(ferry_tokenizer_encode_ranges(model->tokenizer, (ferry_view){NULL, 0}, view, &ids, &ranges, &error));
    assert_int_equal(ids.count, ranges.count);
    for (size_t i = 0; i < ranges.count; i++) {
        const ferry_range range = ranges.ranges[i];
        const ferry_range before = i > 0 ? ranges.ranges[i - 1] : (ferry_range){0, 0};
        assert_true(range.begin <= range.end && range.end <= view.size);
        assert_true(range.begin >= before.end || (range.begin == before.begin && range.end == before.end));
        if (range.end > range.begin) end = range.end;
    }
    assert_int_equal(end, view.size);
    free(ids.ids);
    free(ranges.ranges);
}

/* ---- what is refused ---- */

#define REFUSED(from, to, what)                                                                                        \
    {                                                                                                                  \
        "tokenizer.json", from, to, FERRY_ERROR_UNSUPPORTED, what                                                      \
    }
#define BROKEN(from, to, what)                                                                                         \
    {                                                                                                                  \
        "tokenizer.json", from, to, FERRY_ERROR_FORMAT, what                                                           \
    }

TEST(test_refused)
{
    static const refusal rows[] = {
        REFUSED("\"version\": \"1.0\"", "\"version\": \"2.0\"",
                "tokenizer.json: 'version': expected '1.0', found '2.0'"),
        BROKEN("\"version\": \"1.0\"", "\"version\": 1", "'version': expected a text, found 1"),
        REFUSED("\"type\": \"Unigram\"", "\"type\": \"WordPiece\"",
                "'model': expected a model Unigram or BPE, found type 'WordPiece'"),
        BROKEN("\"unk_id\": 2", "\"unk_id\": null",
               "'model.unk_id': expected an integer from 0 to 1109, found nothing"),
        BROKEN("\"unk_id\": 2", "\"unk_id\": 1110", "'model.unk_id': expected an integer from 0 to 1109, found 1110"),
        BROKEN("\"unk_id\": 2,\n    \"vocab\": [", "\"unk_id\": 2,\n    \"vocab\": [[1, 2],",
               "'model.vocab[0][0]': expected a text, found 1"),
        BROKEN("\"unk_id\": 2,\n    \"vocab\": [", "\"unk_id\": 2,\n    \"vocab\": [[\"a\"],",
               "'model.vocab[0]': expected a piece and its score, found a list"),
        BROKEN("\"unk_id\": 2,\n    \"vocab\": [", "\"unk_id\": 2,\n    \"vocab\": [[\"a\", \"b\"],",
               "'model.vocab[0][1]': expected a number, found 'b'"),
        BROKEN("\"unk_id\": 2,\n    \"vocab\": [", "\"unk_id\": 2,\n    \"vocab\": [],\n    \"old\": [",
               "'model.vocab': expected a list of pieces, found a list"),
        REFUSED(
            "\"type\": \"Precompiled\"", "\"type\": \"NFKC\"",
            "'normalizer': expected a normalizer Precompiled, Replace, Prepend, Strip or Sequence, found type 'NFKC'"),
        BROKEN("\"precompiled_charsmap\": \"", "\"precompiled_charsmap\": \"*",
               "'normalizer.precompiled_charsmap': expected bytes in base 64"),
        BROKEN("\"precompiled_charsmap\": \"ALwC", "\"precompiled_charsmap\": \"ALwD",
               "tokenizer.json: tokenizer: normalization table"),
        REFUSED(
            "\"type\": \"WhitespaceSplit\"", "\"type\": \"ByteLevel\"",
            "'pre_tokenizer.pretokenizers[0]': expected a pre-tokenizer Metaspace, WhitespaceSplit or Sequence, found "
            "type 'ByteLevel'"),
        REFUSED("\"replacement\": \"\u2581\"", "\"replacement\": \"_\"",
                "'pre_tokenizer.pretokenizers[1].replacement': expected '\u2581', found '_'"),
        BROKEN("\"prepend_scheme\": \"always\"", "\"prepend_scheme\": \"often\"",
               "prepend_scheme': expected 'always', 'first' or 'never', found 'often'"),
        BROKEN("\"prepend_scheme\": \"always\"", "\"prepend_scheme\": \"first\", \"add_prefix_space\": false",
               "expected 'never', as add_prefix_space is false, found 'first'"),
        REFUSED("\"type\": \"TemplateProcessing\"", "\"type\": \"BertProcessing\"",
                "'post_processor': expected TemplateProcessing, found type 'BertProcessing'"),
        REFUSED("\"decoder\": {", "\"decoder\": {\"type\": \"WordPiece\"}, \"other\": {",
                "'decoder': expected Metaspace, or Replace of"),
        REFUSED("\"decoder\": {",
                "\"decoder\": {\"type\": \"Sequence\", \"decoders\": [{\"type\": \"Metaspace\", \"replacement\": "
                "\"\u2581\"}, {\"type\": \"Fuse\"}, {\"type\": \"Strip\", \"content\": \" \", \"start\": 1, \"stop\": "
                "0}]}, \"other\": {",
                "'decoder.decoders[2]': expected no Strip behind Metaspace, found type 'Strip'"),
        REFUSED("\"single_word\": false", "\"single_word\": true",
                "'added_tokens[0].single_word': expected false, found true"),
        BROKEN("\"id\": 1,", "\"id\": 7,", "'added_tokens[1].id': expected 1, found 7"),
        BROKEN("\"lstrip\": false", "\"lstrip\": 0", "'added_tokens[0].lstrip': expected true or false, found 0"),
        BROKEN("\"ids\": [", "\"ids\": [9999, ", "expected an integer from 0 to 1111, found 9999"),
        {"tokenizer_config.json", "\"clean_up_tokenization_spaces\": false", "\"clean_up_tokenization_spaces\": true",
         FERRY_ERROR_UNSUPPORTED, "tokenizer_config.json: 'clean_up_tokenization_spaces': expected false, found true"},
        {"tokenizer.json", NULL, NULL, FERRY_ERROR_UNSUPPORTED,
         "expected spiece.model or tokenizer.json, found neither"},
    };
    refuse_edits(data_file("models/huggingface-5/t5gated"), rows, COUNT(rows));
}

#define STEP(step, code, what)                                                                                         \
    {                                                                                                                  \
        "tokenizer.json", "\"normalizer\": {", "\"normalizer\": " step ", \"other\": {", code, what                    \
    }

TEST(test_refused_steps)
{
    static const refusal rows[] = {
        STEP("{\"type\": \"Replace\", \"pattern\": {\"Regex\": \"a+\"}, \"content\": \"\"}", FERRY_ERROR_UNSUPPORTED,
             "'normalizer.pattern.Regex': expected ' {2,}', ' +', '\\s{2,}' or '\\s+', found 'a+'"),
        STEP("{\"type\": \"Replace\", \"pattern\": {\"String\": \"\"}, \"content\": \"\"}", FERRY_ERROR_UNSUPPORTED,
             "'normalizer.pattern.String': expected a text that is not empty, found ''"),
        STEP("{\"type\": \"Replace\", \"pattern\": {}, \"content\": \"\"}", FERRY_ERROR_FORMAT,
             "'normalizer.pattern.Regex': expected a text, found nothing"),
        STEP("{\"type\": \"Prepend\"}", FERRY_ERROR_FORMAT, "'normalizer.prepend': expected a text, found nothing"),
        STEP("{\"type\": \"Strip\", \"strip_left\": true}", FERRY_ERROR_FORMAT,
             "'normalizer.strip_right': expected true or false, found nothing"),
        STEP("{\"type\": \"Sequence\", \"normalizers\": 1}", FERRY_ERROR_FORMAT,
             "'normalizer.normalizers': expected a list, found 1"),
        STEP("{\"type\": \"Lowercase\"}", FERRY_ERROR_UNSUPPORTED, "found type 'Lowercase'"),
    };
    refuse_edits(data_file("models/huggingface-5/t5gated"), rows, COUNT(rows));
}

#define MODEL(members, code, what)                                                                                     \
    {                                                                                                                  \
        "tokenizer.json", "\"model\": {", "\"model\": {\"type\": \"BPE\", " members "}, \"other\": {", code, what      \
    }
#define PIECES "\"vocab\": {\"<pad>\": 0, \"</s>\": 1, \"<unk>\": 2, \"a\": 3, \"ab\": 4, \"b\": 5}"

TEST(test_refused_merges)
{
    static const refusal rows[] = {
        MODEL("\"vocab\": []", FERRY_ERROR_FORMAT, "'model.vocab': expected pieces and their ids, found a list"),
        MODEL("\"vocab\": {\"a\": 0, \"b\": 0}", FERRY_ERROR_FORMAT, "expected an id that no other piece has, found 0"),
        MODEL("\"vocab\": {\"a\": 1}", FERRY_ERROR_FORMAT, "'model.vocab.a': expected an integer from 0 to 0, found 1"),
        MODEL(PIECES, FERRY_ERROR_FORMAT, "'model.merges': expected a list, found nothing"),
        MODEL(PIECES ", \"merges\": [1]", FERRY_ERROR_FORMAT, "'model.merges[0]': expected two pieces, found 1"),
        MODEL(PIECES ", \"merges\": [[\"a\", \"b c\"]]", FERRY_ERROR_UNSUPPORTED,
              "'model.merges[0][1]': expected a text without a blank, found 'b c'"),
        MODEL(PIECES ", \"merges\": []", FERRY_ERROR_UNSUPPORTED, "'model.unk_token': expected a piece, found nothing"),
        MODEL(PIECES ", \"merges\": [], \"unk_token\": \"x\"", FERRY_ERROR_FORMAT,
              "'model.unk_token': expected a piece of the vocabulary, found 'x'"),
        MODEL(PIECES ", \"merges\": [], \"dropout\": 0.1", FERRY_ERROR_UNSUPPORTED,
              "'model.dropout': expected null or 0, found 0.1"),
        MODEL(PIECES ", \"merges\": [], \"continuing_subword_prefix\": \"##\"", FERRY_ERROR_UNSUPPORTED,
              "'model.continuing_subword_prefix': expected null or '', found '##'"),
        MODEL(PIECES ", \"merges\": [[\"b\", \"a\"]], \"unk_token\": \"<unk>\"", FERRY_ERROR_FORMAT, "tokenizer.json"),
    };
    refuse_edits(data_file("models/huggingface-5/t5gated"), rows, COUNT(rows));
}

/* ---- both files ---- */

static char *noted; /* the last note; NULL: none */

static void note(void *user, const char *message)
{
    (void)user;
    noted = kept_memory(600);
    snprintf(noted, 600, "%s", message);
}

static const char *note_of(const char *directory)
{
    noted = NULL;
    converted_with(directory, &(ferry_import_options){.type = FERRY_F32, .noted = note});
    return noted;
}

TEST(test_both_files)
{
    static const edit other = {"tokenizer.json", "\"<0x07>\",", "\"<0x7>\","}, broken = {"tokenizer.json", NULL, "{"};
    const char *source = data_file("models/huggingface-5/t5gated"), *model = data_file("tokenizer/byte_fallback.model");
    char *same = variant(source, NULL, 0), *differs = variant(source, &other, 1), *cut = variant(source, &broken, 1);
    link_file(model, same, "spiece.model");
    link_file(model, differs, "spiece.model");
    link_file(model, cut, "spiece.model");
    assert_null(note_of(same));
    assert_non_null(strstr(note_of(differs), "has other pieces at 1 ids: id 10 is '<0x7>' there, and '<0x07>' in"));
    assert_non_null(strstr(note_of(cut), "spiece.model is used; "));
    assert_int_equal(converted(same)->text.kind, FERRY_TOKENIZER_SENTENCEPIECE);
}
