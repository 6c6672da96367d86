/* Each row of ferry_choices in each importer that it belongs to: a value that the row does not know is refused by name,
 * and those that it knows change nothing. */
#include "tests/support/ctranslate2_made.h"
#include "tests/support/made_marian.h"
#include "tests/support/refusals.h"

#include <unistd.h>

#include "models/families/choices.h"

static const struct {
    unsigned family;
    const char *source; /* below tests/data */
} sources[] = {
    {FERRY_CHOICES_MARIANMT, "huggingface/marian"},
    {FERRY_CHOICES_M2M, "huggingface/m2m100"},
    {FERRY_CHOICES_MBART, "huggingface/mbart50"},
    {FERRY_CHOICES_MBART, "families/mbart25"},
    {FERRY_CHOICES_PEGASUS, "families/pegasus"},
    {FERRY_CHOICES_FSMT, "families/fsmt"},
    {FERRY_CHOICES_T5, "huggingface/t5"},
    {FERRY_CHOICES_T5, "huggingface/mt5"},
    {FERRY_CHOICES_T5, "families/umt5"},
    {FERRY_CHOICES_EXPORT, "positions/none-post"},
};

/* "rope_*" → "rope_x" */
static ferry_short_text key_of(const ferry_choice *choice)
{
    ferry_short_text key = ferry_format("%s", choice->key);
    for (char *letter = key.text; *letter != '\0'; letter++)
        if (*letter == '*') *letter = 'x';
    return key;
}

/* A copy of `source` with this value in the row's file, where another one becomes "was". */
static char *planted(const char *source, const ferry_choice *choice, const char *value)
{
    static const char *const files[] = {"config.json", "generation_config.json", "tokenizer_config.json"};
    const char *file = files[choice->file], *path = in_directory(source, file);
    const ferry_short_text key = ferry_format("\"%s\":", key_of(choice).text);
    const bool exists = access(path, F_OK) == 0;
    char text[600];
    snprintf(text, sizeof text, exists ? "{%s %s, " : "{%s %s}", key.text, value);
    const edit edits[] = {{file, key.text, "\"was\":"}, {file, exists ? "{" : NULL, text}};
    const made_file old = exists ? file_copy(path) : (made_file){.size = 0};
    const bool twice = find_text((ferry_view){(const char *)old.data, old.size}, key.text) != NULL;
    return variant(source, edits + (twice ? 0 : 1), twice ? 2 : 1);
}

static void check_accepted(const ferry_choice *choice, const char *value)
{
    const ferry_short_text text = ferry_format("{\"%s\": %s}", key_of(choice).text, value);
    json_t *object = json_loads(text.text, 0, NULL);
    assert_non_null(object);
    ferry_error error = {.message = ""};
    const ferry_json json = {.object = object, .file = "in"};
    if (ferry_check_choices(json, choice->file, choice->families, &error) != FERRY_OK)
        fail_msg("%s: %s", text.text, error.message);
    json_decref(object);
}

/* Each value that the row knows, and none. */
static void check_known(const ferry_choice *choice)
{
    static const char *const nothing[] = {"null", "[]", "{}"};
    for (size_t i = 0; i < COUNT(nothing); i++) check_accepted(choice, nothing[i]);
    for (const char *word = choice->known; word != NULL && *word != '\0'; word += strspn(word, " ")) {
        const size_t size = strcspn(word, " ");
        const bool is_json =
            strchr("0123456789", *word) != NULL || strncmp(word, "true", 4) == 0 || strncmp(word, "false", 5) == 0;
        const char *quote = is_json ? "" : "\"";
        if (*word != '=') check_accepted(choice, ferry_format("%s%.*s%s", quote, (int)size, word, quote).text);
        word += size;
    }
}

TEST(test_rows_of_json)
{
    static const char *const unknown[] = {"\"unknown\"", "7", "[\"unknown\"]", "{\"a\": 0}"};
    char message[400];
    size_t checked = 0;
    for (size_t i = 0; i < ferry_choice_count; i++) {
        const ferry_choice *choice = &ferry_choices[i];
        size_t fitting = 0;
        if (choice->absent == NULL && choice->file <= FERRY_CHOICE_TOKENIZER) check_known(choice);
        for (size_t k = 0; k < COUNT(sources); k++) {
            if (choice->file > FERRY_CHOICE_TOKENIZER || (choice->families & sources[k].family) == 0) continue;
            const char *source = data_file("%s", sources[k].source);
            snprintf(message, sizeof message, ".json: '%s' is not supported", key_of(choice).text);
            for (size_t u = 0; u < (fitting == 0 ? COUNT(unknown) : 1); u++)
                refuse_source(planted(source, choice, unknown[u]), FERRY_ERROR_UNSUPPORTED, message);
            fitting++;
            checked++;
        }
    }
    assert_true(checked > 350);
}

/* Bytes of a file that become as many others. */
static void apply_bytes(const char *path, const char *from, const char *to)
{
    made_file file = file_copy(path);
    const char *found = find_text((ferry_view){(const char *)file.data, file.size}, from);
    assert_non_null(found);
    memcpy(file.data + (found - (const char *)file.data), to, strlen(to));
    write_bytes(path, file.data, file.size);
}

TEST(test_rows_of_marian)
{
    char lines[120], message[160];
    size_t checked = 0;
    for (size_t i = 0; i < ferry_choice_count; i++) {
        const ferry_choice *choice = &ferry_choices[i];
        if (choice->file < FERRY_CHOICE_NETWORK) continue;
        const bool network = choice->file == FERRY_CHOICE_NETWORK, type = strcmp(choice->key, "type") == 0;
        const bool inputs = strcmp(choice->key, "input-types") == 0; /* which every network has */
        snprintf(lines, sizeof lines, "%s: unknown\n", choice->key);
        snprintf(message, sizeof message, "%s: '%s: %s' is not supported",
                 network ? "special:model.yml" : "decoder.yml", choice->key, inputs ? "u" : "unknown");
        char *folder = marian_folder(
            &(marian_kind){.type = type ? "unknown" : NULL, .keys = network && !type && !inputs ? lines : NULL});
        if (inputs) apply_bytes(in_directory(folder, "model.bin"), "types:\n  []", "types: [u] ");
        if (!network) write_text(folder, "decoder.yml", lines);
        refuse_source(folder, FERRY_ERROR_UNSUPPORTED, message);
        checked++;
    }
    assert_true(checked > 20);
}

/* Its own keys, and those of the export layout, unless its configuration is that of transformers, too. */
TEST(test_rows_of_ctranslate2)
{
    char config[400], message[400];
    for (size_t i = 0; i < ferry_choice_count; i++) {
        const ferry_choice *choice = &ferry_choices[i];
        if ((choice->families & (FERRY_CHOICES_CTRANSLATE2 | FERRY_CHOICES_EXPORT)) == 0) continue;
        made m = made_base();
        m.config = config;
        snprintf(config, sizeof config, "{\"%s\": \"unknown\"}", key_of(choice).text);
        snprintf(message, sizeof message, "config.json: '%s' is not supported", key_of(choice).text);
        refuse_source(made_write(&m), FERRY_ERROR_UNSUPPORTED, message);
        snprintf(config, sizeof config, "{\"%s\": 7, \"model_type\": \"other\", \"decoder_start_token\": \"<s>\"}",
                 key_of(choice).text);
        if ((choice->families & FERRY_CHOICES_CTRANSLATE2) == 0) (void)converted(made_write(&m));
    }
}

/* ---- values ---- */

/* Spellings of a value, the values of other keys, and keys that only begin as one that has a row. */
TEST(test_values)
{
    static const saying rows[] = {
        {{{"config.json", "{", "{\"position_embedding_type\": \"Absolute\", "}}, "encoder.heads 4"},
        {{{"config.json", "{", "{\"norm_type\": \"LayerNorm\", \"layer_norm_type\": \"layer_norm\", "}},
         "encoder.heads 4"},
        {{{"config.json", "{", "{\"num_key_value_heads\": 4, "},
          {"config.json", "\"decoder_attention_heads\": 2", "\"decoder_attention_heads\": 4"}},
         "decoder.heads 4"},
        {{{"config.json", "{", "{\"num_key_value_heads\": 4, "}}, "…'num_key_value_heads' is not supported"},
        {{{"config.json", "{", "{\"num_key_value_heads\": 2, "}},
         "…config.json: 'num_key_value_heads' is not supported: heads that share keys and values, found 2"},
        {{{"config.json", "{", "{\"sliding_window\": false, \"logits_scaling\": 1.0, \"qk_norm\": false, "}},
         "encoder.heads 4"},
        {{{"config.json", "{", "{\"layer_types\": [\"full_attention\", \"full_attention\"], "}}, "encoder.heads 4"},
        {{{"config.json", "{", "{\"layer_types\": [\"full_attention\", \"sliding_attention\"], "}},
         "…'layer_types' is not supported: expected full_attention, found sliding_attention"},
        {{{"config.json", "{", "{\"attn_logit_softcapping\": 50.0, "}}, "…'attn_logit_softcapping' is not supported"},
        {{{"config.json", "{", "{\"rope_theta\": 10000, "}},
         "…'rope_theta' is not supported: expected false, found 10000"},
        {{{"config.json", "{", "{\"position_embedding_type\": \"rot\\u0007ary\", "}},
         "…'position_embedding_type' is not supported: expected absolute sinusoidal, found rot\\x07ary"},
        {{{"config.json", "{", "{\"ropes\": 1, \"experts\": 9, \"num_experts_used\": 9, \"layer_typesetting\": 1, "}},
         "encoder.heads 4"},
    };
    check_sayings(data_file("huggingface/m2m100"), rows, COUNT(rows));
}

/* ---- classes of tokenizers ---- */

#define CLASS "\"tokenizer_class\": "

TEST(test_tokenizer_classes)
{
    static const char file[] = "tokenizer_config.json", class[] = CLASS "\"M2M100Tokenizer\",";
    static const saying rows[] = {
        {{{file, class, CLASS "\"M2M100TokenizerFast\","}}, "origin.kind huggingface-m2m100"},
        {{{file, class, ""}}, "origin.kind huggingface-m2m100"},
        {{{file, class, CLASS "\"FancyTokenizer\","}},
         "…tokenizer_config.json: 'tokenizer_class' is not supported: expected M2M100Tokenizer NllbTokenizer "
         "SMALL100Tokenizer "
         "PreTrainedTokenizerFast TokenizersBackend, found FancyTokenizer"},
        {{{file, class, CLASS "\"T5TokenizerFast\","}}, "…found T5Tokenizer"},
        {{{file, class, CLASS "\"M2M100TokenizerFastFast\","}}, "…'tokenizer_class' is not"},
        {{{file, class, ""}, {"config.json", "{", "{" CLASS "\"FancyTokenizer\", "}},
         "…/config.json: 'tokenizer_class' is not supported"},
        {{{"config.json", "{", "{" CLASS "\"FancyTokenizer\", "}}, "origin.kind huggingface-m2m100"},
        {{{file, class, CLASS "\"PreTrainedTokenizerFast\","}},
         "…'PreTrainedTokenizerFast' means tokenizer.json alone, but sentencepiece.bpe.model is beside it"},
    };
    check_sayings(data_file("huggingface/m2m100"), rows, COUNT(rows));
}

TEST(test_tokenizer_json_classes)
{
    static const char *const classes[] = {"T5Tokenizer", "T5TokenizerFast", "PreTrainedTokenizerFast",
                                          "TokenizersBackend"};
    char *source = data_file("models/huggingface-5/t5");
    for (size_t i = 0; i < COUNT(classes); i++) {
        const ferry_short_text text = ferry_format("\"%s\"", classes[i]);
        const edit change = {"tokenizer_config.json", "\"T5Tokenizer\"", text.text};
        check_file_keys(converted(variant(source, &change, 1)), "origin.kind huggingface-t5");
    }
    refuse_edit(source, "tokenizer_config.json", "\"T5Tokenizer\"", "\"ByT5Tokenizer\"", FERRY_ERROR_UNSUPPORTED,
                "'tokenizer_class' is not supported: expected T5Tokenizer MT5Tokenizer PreTrainedTokenizerFast "
                "TokenizersBackend, found ByT5Tokenizer");
}
