/* What directories of T5, mT5 and MADLAD-400 say, in every way in which they say it. */
#include "tests/support/refusals.h"

#include "base/system.h"

/* ---- which output? ---- */

typedef struct output_case {
    const char *from, *to; /* in config.json */
    const char *head;      /* lm_head.weight: NULL: none, "shared": the embeddings, "other": another matrix */
    const char *keys;      /* of the model file, as check_saying has it */
} output_case;

static void check_outputs(const char *source, const output_case *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char *directory = variant(source, &(edit){"config.json", rows[i].from, rows[i].to}, 1);
        item_list *list = read_items(directory);
        const ferry_tensor shared = find_item(list, "shared.weight")->tensor;
        float *other = kept_memory(shared.bytes);
        for (size_t k = 0; k < shared.bytes / sizeof *other; k++) other[k] = 0.25f;
        const bool same = rows[i].head != NULL && strcmp(rows[i].head, "shared") == 0;
        if (rows[i].head != NULL)
            add_item(list, "lm_head.weight", shared.shape[0], shared.shape[1], same ? shared.data : other);
        write_items(list, directory, "model.safetensors", FERRY_F32, 0, 1);
        check_saying(directory, rows[i].keys);
        if (rows[i].keys[0] != 'o') continue; /* refused */
        const ferry_model_file *file = converted(directory);
        assert_int_equal(file->transformer.output.panels[0] == 0.25f, rows[i].head != NULL && !same);
    }
}

/* What data/huggingface/variants.json does not have; d is 64, and 32 in umT5. */
TEST(test_output_of_t5)
{
    static const output_case t5[] = {
        {"{", "{", NULL, "output_scale 0.125; tied_output true"},
        {"{", "{", "shared", "output_scale 0.125; tied_output true"},
        {"{", "{\"tie_word_embeddings\": false,", "other", "output_scale 1; tied_output false"},
        {"{", "{\"tie_word_embeddings\": false,", "shared", "output_scale 1; tied_output true"},
        {"{", "{", "other", "…, but tie_word_embeddings is absent, which means true, and there is no 'scale_"},
        {"{", "{\"tie_word_embeddings\": true,", "other", "…, but tie_word_embeddings is true and there is no 'scale_"},
    };
    static const output_case umt5[] = {
        {"{", "{", NULL, "output_scale 0.176777; tied_output true"},
        {"{", "{", "other", "output_scale 0.176777; tied_output false"},
        {"\"tie_word_embeddings\": true", "\"unknown\": 0", "other", "output_scale 0.176777; tied_output false"},
        {"\"tie_word_embeddings\": true", "\"tie_word_embeddings\": false", "other",
         "output_scale 1; tied_output false"},
    };
    check_outputs(small_family("t5"), t5, COUNT(t5));
    check_outputs(data_file("families/umt5"), umt5, COUNT(umt5));
    refuse_edit(data_file("families/umt5"), "config.json", "\"tie_word_embeddings\": true",
                "\"tie_word_embeddings\": false", FERRY_ERROR_FORMAT, "tensor 'lm_head.weight' is missing");
}

/* Of mT5, extra ids are among the pieces. Buckets and distances on their bounds; half of 16 buckets hold one distance
 * each. */
TEST(test_keys_of_t5)
{
    static const saying rows[] = {
        {{{"config.json", "\"model_type\": \"t5\"", "\"model_type\": \"mt5\""}, {"tokenizer_config.json", NULL, "{}"}},
         "origin.kind huggingface-mt5; output_scale 1; tokenizer.target.special_ids 1 0 2"},
        {{{"config.json", "\"relative_attention_max_distance\": 40", "\"relative_attention_max_distance\": 9"}},
         "encoder.position.num_buckets 16; encoder.position.max_distance 9; decoder.position.max_distance 9"},
        {{{"config.json", "\"relative_attention_max_distance\": 40", "\"relative_attention_max_distance\": 16384"}},
         "decoder.position.max_distance 16384"},
        {{{"tokenizer_config.json", NULL, "{\"extra_ids\": 0}"}}, "tokenizer.target.special_ids 1 0 2"},
        {{{"tokenizer_config.json", NULL, "{\"extra_ids\": 1}"}}, "tokenizer.target.special_ids 1 0 2 1100"},
        {{{"tokenizer_config.json", NULL, "{}"}},
         "tokenizer.target.special_ids 1 0 2 1100 1101 1102 1103 1104 1105 1106 1107 1108 1109 1110 1111"},
    };
    static const refused_edit bad[] = {
        {"config.json", "\"relative_attention_max_distance\": 40", "\"relative_attention_max_distance\": 8",
         FERRY_ERROR_FORMAT, "…'relative_attention_max_distance': expected 9 to 16384, found 8"},
        {"config.json", "\"relative_attention_max_distance\": 40", "\"relative_attention_max_distance\": 16385",
         FERRY_ERROR_FORMAT, "…'relative_attention_max_distance': expected 9 to 16384, found 16385"},
        {"config.json", "\"relative_attention_num_buckets\": 16", "\"relative_attention_num_buckets\": 3",
         FERRY_ERROR_FORMAT, "…'relative_attention_num_buckets': expected 4 to 65536, found 3"},
        {"config.json", "\"d_kv\": 12", "\"d_kv\": 262145", FERRY_ERROR_FORMAT,
         "…num_heads 4 times d_kv 262145 is above 1048576"},
    };
    char *source = small_family("t5");
    check_sayings(source, rows, COUNT(rows));
    check_refused_edits(source, bad, COUNT(bad));
}

/* Everything below another name, as training writes it, and what only umT5 may have. */
TEST(test_names_of_t5)
{
    static const char *const prefixes[] = {"transformer.", "module."};
    static const float zero = 0;
    char *source = small_family("t5"), *directory = variant(source, NULL, 0), name[128];
    for (size_t i = 0; i < COUNT(prefixes); i++) {
        item_list *list = read_items(source);
        for (size_t j = 0; j < list->count; j++) {
            snprintf(name, sizeof name, "%s%s", prefixes[i], list->items[j].name);
            memcpy(list->items[j].name, name, sizeof list->items[j].name);
        }
        write_items(list, directory, "model.safetensors", FERRY_F32, 0, 1);
        check_same_tensors(converted(source), converted(directory));
    }
    item_list *list = read_items(source);
    add_item(list, "encoder.block.1.layer.0.SelfAttention.relative_attention_bias.weight", 1, 1, &zero);
    write_items(list, directory, "model.safetensors", FERRY_F32, 0, 1);
    refuse_source(directory, FERRY_ERROR_UNSUPPORTED,
                  "tensor 'encoder.block.1.layer.0.SelfAttention.relative_attention_bias.weight' is unknown");
}

/* ---- languages ---- */

#define TASK(pair, prefix) "\"" pair "\": {\"prefix\": \"" prefix "\"}, "
#define TASKS(tasks)                                                                                                   \
    {                                                                                                                  \
        {                                                                                                              \
            "config.json", "\"task_specific_params\": {", "\"task_specific_params\": {" tasks                          \
        }                                                                                                              \
    }

/* Each task is a pair of languages, en-de the last one here; 1: only a source, 2: only a target, 3: both. Where all
 * agree, a language need not be named. */
TEST(test_prompts_of_t5)
{
    static const saying rows[] = {
        {TASKS(""), "languages.names en eng|de deu; languages.roles 1 2; "
                    "languages.prompts translate English to German: ; languages.prompt_sources 0; "
                    "languages.prompt_targets 1; languages.default_source 0; languages.default_target 1"},
        {TASKS(TASK("summarization", "summarize: ") TASK("translation_en_to_fr", "to French: ")),
         "languages.names en eng|fr fra|de deu; languages.prompts to French: |translate English to German: ; "
         "languages.default_source 0; languages.default_target -1"},
        {TASKS(TASK("translation_fr_to_de", "a: ") TASK("translation_de_to_fr", "b: ")),
         "languages.names fr fra|de deu|en eng; languages.roles 3 3 1; languages.prompt_targets 1 0 1; "
         "languages.default_source -1; languages.default_target -1"},
        {TASKS(TASK("translation_en_to_fr", "a: ") TASK("translation_fr_to_en", "b: ")),
         "languages.names en eng|fr fra|de deu; languages.prompt_sources 0 1 0; languages.default_source -1"},
        {TASKS(TASK("translation_fr_to_de", "b: ")), "languages.names fr fra|de deu|en eng; languages.roles 1 2 1; "
                                                     "languages.default_source -1; languages.default_target 1"},
        {TASKS(TASK("paraphrases_en_to_fr", "a: ")), "languages.names en eng|de deu; languages.default_target 1"},
        {TASKS(TASK("translation_en_to_", "a: ") TASK("translation__to_de", "b: ") TASK("translation_en", "c: ")
                   TASK("translation_en_to_fr", "")),
         "languages.names en eng|de deu; languages.prompts translate English to German: "},
    };
    check_sayings(small_family("t5"), rows, COUNT(rows));
}

/* t5gated's SentencePiece model with more pieces, as MADLAD-400's has them: a message may be continued by another. */
static char *madlad(const char *const *pieces, size_t count)
{
    char *directory = variant(small_family("t5gated"), NULL, 0), *path = in_directory(directory, "spiece.model");
    const ferry_view old = mapped_bytes(path);
    made_file file = {.size = 0};
    put_bytes(&file, old.data, old.size);
    for (size_t i = 0; i < count; i++) {
        const size_t size = strlen(pieces[i]);
        put(&file, 0x0a | (size + 4) << 8 | 0x0a << 16 | size << 24, 4);
        put_text(&file, pieces[i]);
        put(&file, 0x0418, 2); /* defined by the user */
    }
    write_bytes(path, file.data, file.size);
    return directory;
}

/* Two or three letters, then nothing, '_' or '-' and more, up to 16 bytes with what is around them. */
TEST(test_tags_of_madlad)
{
    static const char *const pieces[] = {"<2de>", "<2ceb>", "<2zh_Hant>", "<2bg-Latn>", "<2ace_Arab_wxyz>"};
    static const char *const others[] = {"<2d>", "<2abcd>",           "<2DE>",    "<1de>", "<2d_Latn>", "<2de+a>",
                                         "<2de", "<2ace_Arab_vwxyz>", "<2de_Latn"};
    const ferry_model_file *file = converted(madlad(pieces, COUNT(pieces)));
    check_file_keys(file, "origin.kind huggingface-madlad; languages.roles 3 3 3 3 3; "
                          "languages.prompts <2de> |<2ceb> |<2zh_Hant> |<2bg-Latn> |<2ace_Arab_wxyz> ; "
                          "languages.prompt_sources -1 -1 -1 -1 -1; languages.prompt_targets 0 1 2 3 4; "
                          "languages.default_source -1; languages.default_target -1");
    find_language(&file->languages, "de deu");
    find_language(&file->languages, "ceb");
    find_language(&file->languages, "zh_Hant zh zho cmn");
    assert_true(is_special(&file->text, 1100) && is_special(&file->text, 1104) && !is_special(&file->text, 1099));
    check_file_keys(converted(madlad(pieces + 1, 1)), "languages.names ceb; languages.default_target 0");
    check_file_keys(converted(madlad(others, COUNT(others))), "origin.kind huggingface-t5; languages.names absent");
}
