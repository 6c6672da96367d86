/* Every form of tokenizer.json that is read, against what the package `tokenizers` made of hostile lines and of ids
 * (compare_tokenizers.py records it), and every one that is refused. */
#include "engine/lines/model.h"
#include "tests/support/check_ranges.h"
#include "tests/support/refusals.h"

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
    assert_true(described(model, "text: words, a Unigram model, one vocabulary"));
    ferry_ids ids = {0};
    ferry_ranges ranges = {0};
    CHECK(ferry_tokenizer_encode_ranges(model->tokenizer, (ferry_view){NULL, 0}, view, &ids, &ranges, &error));
    assert_int_equal(ids.count, ranges.count);
    assert_null(fault_of_ranges(view, ranges.ranges, ranges.count));
    assert_int_equal(ranges.ranges[ranges.count - 2].end, view.size); /* the end of sentence follows */
    free(ids.ids);
    free(ranges.ranges);
}

/* ---- what is refused ---- */

#define REFUSED(from, to, what)                                                                                        \
    {                                                                                                                  \
        "tokenizer.json", from, to, FERRY_ERROR_UNSUPPORTED, "…" what                                                  \
    }
#define BROKEN(from, to, what)                                                                                         \
    {                                                                                                                  \
        "tokenizer.json", from, to, FERRY_ERROR_FORMAT, "…" what                                                       \
    }

TEST(test_refused)
{
    static const refused_edit rows[] = {
        REFUSED(
            "\"added_tokens\": [",
            "\"added_tokens\": [{\"id\": 1110, \"content\": \"<\uFB01>\", \"single_word\": false, \"lstrip\": false, "
            "\"rstrip\": false, \"normalized\": true, \"special\": false},",
            "tokenizer.json: added token '<\uFB01>': expected one that normalization leaves as it is, found one that "
            "it changes"),
        REFUSED("\"version\": \"1.0\"", "\"version\": \"2.0\"",
                "tokenizer.json: 'version': expected '1.0', found '2.0'"),
        BROKEN("\"version\": \"1.0\"", "\"version\": 1", "'version': expected a text, found 1"),
        REFUSED("\"type\": \"Unigram\"", "\"type\": \"WordPiece\"",
                "'model': expected a model Unigram or BPE, found type 'WordPiece'"),
        BROKEN("\"unk_id\": 2", "\"unk_id\": null",
               "'model.unk_id': expected an integer from 0 to 1109, found nothing"),
        BROKEN("\"unk_id\": 2,\n    \"vocab\": [", "\"unk_id\": 2,\n    \"vocab\": [[1, 2],",
               "'model.vocab[0][0]': expected a text, found 1"),
        BROKEN("\"unk_id\": 2,\n    \"vocab\": [", "\"unk_id\": 2,\n    \"vocab\": [[\"a\"],",
               "'model.vocab[0]': expected a piece and its score, found a list"),
        BROKEN("\"unk_id\": 2,\n    \"vocab\": [", "\"unk_id\": 2,\n    \"vocab\": [[\"a\", \"b\"],",
               "'model.vocab[0][1]': expected a number, found 'b'"),
        BROKEN("\"unk_id\": 2,\n    \"vocab\": [", "\"unk_id\": 2,\n    \"vocab\": [],\n    \"old\": [",
               "'model.vocab': expected a list of pieces, found a list"),
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
        REFUSED("\"decoder\": {",
                "\"decoder\": {\"type\": \"Sequence\", \"decoders\": [{\"type\": \"Metaspace\", \"replacement\": "
                "\"\u2581\"}, {\"type\": \"Fuse\"}, {\"type\": \"Strip\", \"content\": \" \", \"start\": 1, \"stop\": "
                "0}]}, \"other\": {",
                "'decoder.decoders[2]': expected no Strip behind Metaspace, found type 'Strip'"),
        REFUSED("\"single_word\": false", "\"single_word\": true",
                "'added_tokens[0].single_word': expected false, found true"),
        BROKEN("\"lstrip\": false", "\"lstrip\": 0", "'added_tokens[0].lstrip': expected true or false, found 0"),
        {"tokenizer_config.json", "\"clean_up_tokenization_spaces\": false", "\"clean_up_tokenization_spaces\": true",
         FERRY_ERROR_UNSUPPORTED, "…tokenizer_config.json: 'clean_up_tokenization_spaces': expected false, found true"},
        {"tokenizer.json", NULL, NULL, FERRY_ERROR_UNSUPPORTED,
         "…expected spiece.model or tokenizer.json, found neither"},
    };
    check_refused_edits(data_file("models/huggingface-5/t5gated"), rows, COUNT(rows));
}

/* ---- parts ---- */

typedef enum part { NORMALIZER, WORDS, TEMPLATE, DECODER, MODEL, ADDED } part;

/* Of a tokenizer.json for 40 words, one part as written here: keys of the model file, or what is refused. */
typedef struct form {
    part part;
    const char *text, *says;
} form;

#define PIECES "\"vocab\": {\"<pad>\": 0, \"</s>\": 1, \"<unk>\": 2, \"a\": 3, \"ab\": 4, \"b\": 5}"
#define BPE(members) "{\"type\": \"BPE\", " PIECES ", " members "}"
#define FUSED(strip) "{\"type\": \"Sequence\", \"decoders\": [" REPLACE ", {\"type\": \"Fuse\"}, " strip "]}"
#define REPLACE "{\"type\": \"Replace\", \"pattern\": {\"String\": \"\u2581\"}, \"content\": \" \"}"
#define STRIP(start, stop) "{\"type\": \"Strip\", \"content\": \" \", \"start\": " start ", \"stop\": " stop "}"
#define TEMPLATED(single, x)                                                                                           \
    "{\"type\": \"TemplateProcessing\", \"single\": [" single "], \"special_tokens\": {\"x\": {\"ids\": [" x           \
    "]}, \"y\": {\"ids\": [7]}}}"
#define X "{\"SpecialToken\": {\"id\": \"x\"}}"
#define Y "{\"SpecialToken\": {\"id\": \"y\"}}"
#define TEXT "{\"Sequence\": {\"id\": \"A\"}}"
#define TOKEN(id, content, special)                                                                                    \
    "{\"id\": " id ", \"content\": \"" content "\", \"special\": " special                                             \
    ", \"single_word\": false, \"lstrip\": false, \"rstrip\": true, \"normalized\": false}"

static char *with_part(part which, const char *text)
{
    static const char *const names[] = {"normalizer", "pre_tokenizer", "post_processor",
                                        "decoder",    "model",         "added_tokens"};
    static const char *const parts[] = {"null",
                                        "null",
                                        "null",
                                        "{\"type\": \"Metaspace\", \"replacement\": \"\u2581\"}",
                                        BPE("\"merges\": [\"a b\"], \"unk_token\": \"<unk>\""),
                                        "[]"};
    made_file file = {.size = 0};
    put_text(&file, "{\"version\": \"1.0\"");
    for (size_t i = 0; i < COUNT(parts); i++) {
        put_text(&file, ferry_name_format(", \"%s\": ", names[i]).text);
        put_text(&file, i == (size_t)which ? text : parts[i]);
    }
    put_text(&file, "}");
    put(&file, 0, 1);
    const edit edits[] = {{"spiece.model", NULL, NULL}, {"tokenizer.json", NULL, (const char *)file.data}};
    return variant(data_file("huggingface/t5"), edits, 2);
}

static void check_forms(const form *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) check_saying(with_part(rows[i].part, rows[i].text), rows[i].says);
}

TEST(test_decoders)
{
    static const form rows[] = {
        {DECODER, "{\"type\": \"Metaspace\", \"replacement\": \"\u2581\"}",
         "tokenizer.target.blanks first-piece; tokenizer.target.bytes none"},
        {DECODER, "{\"type\": \"Metaspace\", \"replacement\": \"\u2581\", \"prepend_scheme\": \"never\"}",
         "tokenizer.target.blanks keep"},
        {DECODER, "{\"type\": \"Metaspace\", \"replacement\": \"\u2581\", \"add_prefix_space\": false}",
         "tokenizer.target.blanks keep"},
        {DECODER, "{\"type\": \"Metaspace\", \"replacement\": \"\u2581\", \"prepend_scheme\": \"first\"}",
         "tokenizer.target.blanks first-piece"},
        {DECODER, REPLACE, "tokenizer.target.blanks keep; tokenizer.target.bytes none"},
        {DECODER, "{\"type\": \"Sequence\", \"decoders\": [" REPLACE ", {\"type\": \"ByteFallback\"}]}",
         "tokenizer.target.blanks keep; tokenizer.target.bytes run"},
        {DECODER, FUSED(STRIP("1", "0")), "tokenizer.target.blanks first-blank"},
        {DECODER, FUSED(STRIP("0", "0")), "tokenizer.target.blanks keep"},
        {DECODER, FUSED(STRIP("2", "0")), "…[2].start': expected an integer from 0 to 1"},
        {DECODER, FUSED(STRIP("1", "1")), "…[2].stop': expected an integer from 0 to 0"},
        {DECODER, FUSED("{\"type\": \"Strip\", \"content\": \"_\", \"start\": 1, \"stop\": 0}"),
         "…'decoder.decoders[2].content': expected ' ', found '_'"},
        {DECODER, FUSED("{\"type\": \"ByteFallback\"}"), "…'decoder.decoders[2]': expected"},
        {DECODER, "{\"type\": \"Sequence\", \"decoders\": [" REPLACE ", " STRIP("1", "0") "]}",
         "…'decoder.decoders[1]': expected"},
        {DECODER, "{\"type\": \"Replace\", \"pattern\": {\"String\": \"_\"}, \"content\": \" \"}",
         "…'decoder.pattern.String': expected '\u2581', found '_'"},
        {DECODER, "{\"type\": \"Replace\", \"pattern\": {\"String\": \"\u2581\"}, \"content\": \"\"}",
         "…'decoder.content': expected ' ', found ''"},
        {DECODER, "null", "…'decoder': expected Metaspace, or Replace of"},
    };
    check_forms(rows, COUNT(rows));
}

TEST(test_templates)
{
    static const form rows[] = {
        {TEMPLATE, "null", "tokenizer.source.prefix_ids ; tokenizer.source.suffix_ids "},
        {TEMPLATE, TEMPLATED(TEXT, "5"), "tokenizer.source.prefix_ids ; tokenizer.source.suffix_ids "},
        {TEMPLATE, TEMPLATED(X ", " TEXT ", " Y, "5, 39"),
         "tokenizer.source.prefix_ids 5 39; tokenizer.source.suffix_ids 7"},
        {TEMPLATE, TEMPLATED(TEXT ", " X ", " Y, "0"), "tokenizer.source.suffix_ids 0 7"},
        {TEMPLATE, TEMPLATED(Y ", " X ", " TEXT, ""), "tokenizer.source.prefix_ids 7"},
        {TEMPLATE, TEMPLATED(TEXT ", " X, "40"), "…expected an integer from 0 to 39, found 40"},
        {TEMPLATE, TEMPLATED(X, "5"), "…'post_processor.single': expected a list with a Sequence"},
        {TEMPLATE, TEMPLATED(TEXT ", " X ", " TEXT, "5"), "…expected one Sequence"},
        {TEMPLATE, TEMPLATED(TEXT ", " X ", " Y, "5, 7"), "…that the template has once"},
        {TEMPLATE, TEMPLATED(TEXT ", {\"SpecialToken\": {\"id\": \"z\"}}", "5"),
         "…'post_processor.special_tokens.z.ids': expected a list of ids, found nothing"},
    };
    check_forms(rows, COUNT(rows));
}

/* NLLB-200's, as it was: the language of the source after the end of sentence. */
TEST(test_language_at_the_end)
{
    static const char text[] =
        ("{\"version\": \"1.0\", \"decoder\": {\"type\": \"Metaspace\", \"replacement\": \"\u2581\"}, "
         "\"model\": " BPE("\"merges\": [\"a b\"], \"unk_token\": \"<unk>\"") ", \"post_processor\": " TEMPLATED(
             TEXT ", " X ", " Y, "2") ", \"added_tokens\": [" TOKEN("6", "deu_Latn", "true") ", " TOKEN("7", "eng_Latn",
                                                                                                        "true") "]}");
    const edit edits[] = {{"sentencepiece.bpe.model", NULL, NULL},
                          {"vocab.json", NULL, NULL},
                          {"tokenizer_config.json", NULL, "{\"tokenizer_class\": \"NllbTokenizerFast\"}"},
                          {"tokenizer.json", NULL, text}};
    check_file_keys(converted(variant(data_file("huggingface/m2m100"), edits, 4)),
                    "languages.source_tag suffix; tokenizer.source.suffix_ids 2; "
                    "languages.names deu_Latn de deu|eng_Latn en eng; languages.target_ids 6 7");
}

/* A new token has the id after the last piece's; one of the pieces keeps its own. Flags: 2 is rstrip. */
TEST(test_added)
{
    static const form rows[] = {
        {ADDED, "[" TOKEN("1", "</s>", "true") ", " TOKEN("6", "<x>", "true") ", " TOKEN("7", "y", "false") "]",
         "tokenizer.source.added_ids 1 6 7; tokenizer.source.added_flags 2 2 2; tokenizer.target.special_ids 1 6 0"},
        {ADDED, "[" TOKEN("9", "", "true") ", " TOKEN("6", "<x>", "false") "]", "tokenizer.source.added_ids 6"},
        {ADDED, "[" TOKEN("6", "<x>", "true") ", " TOKEN("6", "<y>", "true") "]",
         "…'added_tokens[1].id': expected 7, found 6"},
        {ADDED, "[" TOKEN("1", "</s>", "true") ", " TOKEN("1", "</s>", "true") "]",
         "…'added_tokens[1].id': expected an id that is new, found 1"},
        {ADDED, "[" TOKEN("40", "<x>", "true") "]", "…expected an integer from 0 to 39, found 40"},
        {ADDED, "{}", "…'added_tokens': expected a list, found an object"},
    };
    check_forms(rows, COUNT(rows));
}

TEST(test_refused_steps)
{
    static const form rows[] = {
        {NORMALIZER, "{\"type\": \"Replace\", \"pattern\": {\"Regex\": \"a+\"}, \"content\": \"\"}",
         "…'normalizer.pattern.Regex': expected ' {2,}', ' +', '\\s{2,}' or '\\s+', found 'a+'"},
        {NORMALIZER, "{\"type\": \"Replace\", \"pattern\": {\"String\": \"\"}, \"content\": \"\"}",
         "…'normalizer.pattern.String': expected a text that is not empty, found ''"},
        {NORMALIZER, "{\"type\": \"Replace\", \"pattern\": {}, \"content\": \"\"}",
         "…'normalizer.pattern.Regex': expected a text, found nothing"},
        {NORMALIZER, "{\"type\": \"Prepend\"}", "…'normalizer.prepend': expected a text, found nothing"},
        {NORMALIZER, "{\"type\": \"Strip\", \"strip_left\": true}",
         "…'normalizer.strip_right': expected true or false, found nothing"},
        {NORMALIZER, "{\"type\": \"Sequence\", \"normalizers\": 1}",
         "…'normalizer.normalizers': expected a list, found 1"},
        {NORMALIZER, "{\"type\": \"Lowercase\"}", "…found type 'Lowercase'"},
        {NORMALIZER, "{\"type\": \"Precompiled\", \"precompiled_charsmap\": \"\"}",
         "…expected bytes in base 64, found ''"},
        {NORMALIZER, "{\"type\": \"Precompiled\", \"precompiled_charsmap\": \"AAA\"}",
         "…expected bytes in base 64, found 'AAA'"},
        {NORMALIZER, "{\"type\": \"Precompiled\", \"precompiled_charsmap\": \"AA*A\"}",
         "…expected bytes in base 64, found 'AA*A'"},
        {NORMALIZER, "{\"type\": \"Precompiled\", \"precompiled_charsmap\": \"A===\"}",
         "…expected bytes in base 64, found 'A==='"},
        {WORDS, "{\"type\": \"Split\"}", "…'pre_tokenizer': expected a pre-tokenizer"},
    };
    check_forms(rows, COUNT(rows));
}

/* Eight sequences in one another. */
TEST(test_sequences)
{
    made_file text = {.size = 0};
    static const char step[] = "{\"type\": \"Strip\", \"strip_left\": true, \"strip_right\": true}";
    put_text(&text, step);
    for (int depth = 1; depth <= 9; depth++) {
        made_file next = {.size = 0};
        put_text(&next, "{\"type\": \"Sequence\", \"normalizers\": [");
        put_bytes(&next, text.data, text.size);
        put_text(&next, "]}");
        text = next;
        put(&next, 0, 1);
        const form row = {NORMALIZER, (const char *)next.data,
                          depth <= 8 ? "tokenizer.source.steps strip-left|strip-right" : "…fewer sequences in"};
        check_forms(&row, 1);
    }
}

TEST(test_models)
{
    static const form rows[] = {
        {MODEL, "{" PIECES ", \"merges\": [\"#version: 0.2\", [\"a\", \"b\"]], \"unk_token\": \"<unk>\"}",
         "tokenizer.kind bpe; tokenizer.source.merges a b; tokenizer.source.unk_id 2; "
         "tokenizer.source.byte_fallback false; tokenizer.source.fuse_unknown false; "
         "tokenizer.source.whole_words false"},
        {MODEL,
         BPE("\"merges\": [], \"unk_token\": \"b\", \"dropout\": 0.0, \"continuing_subword_prefix\": \"\", "
             "\"fuse_unk\": true, \"ignore_merges\": true, \"end_of_word_suffix\": \"w\""),
         "tokenizer.source.unk_id 5; tokenizer.source.fuse_unknown true; tokenizer.source.whole_words true; "
         "tokenizer.source.word_end w"},
        {MODEL, "{\"unk_id\": 1, \"vocab\": [[\"</s>\", 0], [\"<unk>\", -1.5]]}",
         "tokenizer.kind unigram; tokenizer.source.unk_id 1"},
        {MODEL, "{\"unk_id\": 2, \"vocab\": [[\"</s>\", 0], [\"<unk>\", -1.5]]}",
         "…'model.unk_id': expected an integer from 0 to 1, found 2"},
        {MODEL, "{\"type\": \"BPE\", \"vocab\": []}", "…'model.vocab': expected pieces and their ids, found a list"},
        {MODEL, "{\"type\": \"BPE\", \"vocab\": {\"a\": 0, \"b\": 0}}",
         "…expected an id that no other piece has, found 0"},
        {MODEL, "{\"type\": \"BPE\", \"vocab\": {\"a\": 1}}",
         "…'model.vocab.a': expected an integer from 0 to 0, found 1"},
        {MODEL, "{\"type\": \"BPE\", " PIECES "}", "…'model.merges': expected a list, found nothing"},
        {MODEL, BPE("\"merges\": [1]"), "…'model.merges[0]': expected two pieces, found 1"},
        {MODEL, BPE("\"merges\": [[\"a\", \"b c\"]]"),
         "…'model.merges[0][1]': expected a text without a blank, found 'b c'"},
        {MODEL, BPE("\"merges\": []"), "…'model.unk_token': expected a piece, found nothing"},
        {MODEL, BPE("\"merges\": [], \"unk_token\": \"x\""),
         "…'model.unk_token': expected a piece of the vocabulary, found 'x'"},
        {MODEL, BPE("\"merges\": [], \"dropout\": 0.1"), "…'model.dropout': expected null or 0, found 0.1"},
        {MODEL, BPE("\"merges\": [], \"continuing_subword_prefix\": \"##\""),
         "…'model.continuing_subword_prefix': expected null or '', found '##'"},
        {MODEL, BPE("\"merges\": [[\"b\", \"a\"]], \"unk_token\": \"<unk>\""), "…tokenizer.json"},
    };
    check_forms(rows, COUNT(rows));
}

/* What other files say: the start has no text, and merged pairs leave blanks before punctuation. */
TEST(test_files_beside)
{
    char *directory = with_part(DECODER, REPLACE);
    write_text(directory, "generation_config.json", "{\"decoder_start_token_id\": 3}");
    write_text(directory, "tokenizer_config.json", "{\"clean_up_tokenization_spaces\": true}");
    check_file_keys(converted(directory), "tokenizer.kind bpe; start_id 3; tokenizer.target.special_ids 1 0 3");
}

/* ---- both files ---- */

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
