/* tokenizer.json but for its model and its steps (tokenizer_json_parts.c): values and their positions in the file,
 * added tokens, the template, whether all of it fits, and the directories that use it. */
#include "tokenizer_json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "tokenizer/pieces.h"
#include "tokenizer/text_rules.h"
#include "tokenizer/tokenizer.h"
#include "vocabularies.h"

enum { MAX_TEMPLATE_IDS = 64 };

/* ---- values and their positions in the file, which messages name ---- */

ferry_json_node ferry_node_get(const ferry_json_node *node, const char *key)
{
    const json_t *value = json_object_get(node->value, key);
    const char *path = node->path.text;
    return (ferry_json_node){.value = json_is_null(value) ? NULL : value,
                             .file = node->file,
                             .error = node->error,
                             .path = ferry_format("%s%s%s", path, *path != '\0' ? "." : "", key)};
}

ferry_json_node ferry_node_at(const ferry_json_node *list, size_t index)
{
    return (ferry_json_node){.value = json_array_get(list->value, index),
                             .file = list->file,
                             .error = list->error,
                             .path = ferry_format("%s[%zu]", list->path.text, index)};
}

static ferry_short_text describe(const json_t *value)
{
    if (json_is_object(value)) {
        const char *type = json_string_value(json_object_get(value, "type"));
        if (type == NULL) return ferry_format("an object");
        return ferry_format("type '%s'", ferry_printable_text(type).text);
    }
    if (json_is_string(value)) {
        const ferry_view text = {json_string_value(value), json_string_length(value)};
        return ferry_format("'%s'", ferry_printable_view(text).text);
    }
    if (json_is_integer(value)) return ferry_format("%" JSON_INTEGER_FORMAT, json_integer_value(value));
    if (json_is_real(value)) return ferry_format("%g", json_real_value(value));
    if (json_is_boolean(value)) return ferry_format("%s", json_is_true(value) ? "true" : "false");
    return ferry_format("%s", json_is_array(value) ? "a list" : "nothing");
}

ferry_status ferry_node_fail(const ferry_json_node *node, ferry_status code, const char *expected)
{
    return ferry_fail(node->error, code, "%s: '%s': expected %s, found %s", node->file, node->path.text, expected,
                      describe(node->value).text);
}

ferry_status ferry_node_text(const ferry_json_node *node, ferry_view *text)
{
    if (!json_is_string(node->value)) return ferry_node_fail(node, FERRY_ERROR_FORMAT, "a text");
    *text = (ferry_view){json_string_value(node->value), json_string_length(node->value)};
    return FERRY_OK;
}

ferry_status ferry_node_flag(const ferry_json_node *node, bool *flag)
{
    if (!json_is_boolean(node->value)) return ferry_node_fail(node, FERRY_ERROR_FORMAT, "true or false");
    *flag = json_is_true(node->value);
    return FERRY_OK;
}

ferry_status ferry_node_flag_of(const ferry_json_node *node, const char *key, bool *flag)
{
    const ferry_json_node found = ferry_node_get(node, key);
    return found.value != NULL ? ferry_node_flag(&found, flag) : FERRY_OK;
}

ferry_status ferry_node_integer(const ferry_json_node *node, int32_t min, int32_t max, int32_t *value)
{
    const json_int_t number = json_integer_value(node->value);
    if (!json_is_integer(node->value) || number < min || number > max)
        return ferry_node_fail(node, FERRY_ERROR_FORMAT,
                               ferry_format("an integer from %" PRId32 " to %" PRId32, min, max).text);
    *value = (int32_t)number;
    return FERRY_OK;
}

ferry_status ferry_node_text_of(const ferry_json_node *node, const char *key, ferry_view *text)
{
    const ferry_json_node found = ferry_node_get(node, key);
    return ferry_node_text(&found, text);
}

bool ferry_node_is(const ferry_json_node *node, const char *name)
{
    const json_t *type = json_object_get(node->value, "type");
    return ferry_view_is((ferry_view){json_string_value(type), json_string_length(type)}, name);
}

/* ---- added tokens ---- */

typedef struct added_tokens {
    int32_t *ids, *flags; /* [count] */
    int32_t count;
    ferry_vocabulary words; /* pieces of the model */
    int32_t next;           /* the id of the next token that is none of them */
} added_tokens;

/* The package ignores the id in the file, so it must be the one that the package would give. */
static ferry_status read_added(ferry_tokenizer_json *json, const ferry_json_node *token, added_tokens *added)
{
    static const char *const keys[] = {"lstrip", "rstrip", "normalized", "special", "single_word"};
    const ferry_json_node number = ferry_node_get(token, "id"), single = ferry_node_get(token, "single_word");
    bool lstrip, rstrip, normalized, special, whole_word;
    bool *const flags[] = {&lstrip, &rstrip, &normalized, &special, &whole_word};
    ferry_view text;
    int32_t id;
    FERRY_TRY(ferry_node_text_of(token, "content", &text));
    if (text.size == 0) return FERRY_OK;
    FERRY_TRY(ferry_node_integer(&number, 0, json->piece_count - 1, &id));
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const ferry_json_node key = ferry_node_get(token, keys[i]);
        FERRY_TRY(ferry_node_flag(&key, flags[i]));
    }
    if (whole_word) return ferry_node_fail(&single, FERRY_ERROR_UNSUPPORTED, "false");
    const int32_t word = ferry_vocabulary_find(&added->words, text), expected = word >= 0 ? word : added->next;
    if (id != expected) return ferry_node_fail(&number, FERRY_ERROR_FORMAT, ferry_format("%d", (int)expected).text);
    for (int32_t i = 0; i < added->count; i++)
        if (added->ids[i] == id) return ferry_node_fail(&number, FERRY_ERROR_FORMAT, "an id that is new");
    if (word < 0) json->pieces[added->next++] = text;
    added->ids[added->count] = id;
    added->flags[added->count++] = (lstrip ? FERRY_ADDED_LSTRIP : 0) | (rstrip ? FERRY_ADDED_RSTRIP : 0) |
                                   (normalized ? FERRY_ADDED_NORMALIZED : 0);
    return special ? ferry_import_special(json->plan, &id, 1, json->error) : FERRY_OK;
}

/* An empty table of pieces, the file's version, its model and its added tokens. */
static ferry_status read_pieces(ferry_import_plan *plan, ferry_json file, ferry_tokenizer_json *json,
                                ferry_error *error)
{
    *json = (ferry_tokenizer_json){.plan = plan,
                                   .error = error,
                                   .root = {.value = file.object, .file = file.file, .error = error},
                                   .piece_count = plan->model.encoder.vocab_size};
    const ferry_json_node version = ferry_node_get(&json->root, "version");
    ferry_view text;
    if (version.value != NULL) {
        FERRY_TRY(ferry_node_text(&version, &text));
        if (!ferry_view_is(text, "1.0")) return ferry_node_fail(&version, FERRY_ERROR_UNSUPPORTED, "'1.0'");
    }
    FERRY_TRY(ferry_import_pieces(plan, json->piece_count, &json->pieces, error));
    return ferry_tokenizer_json_model(json);
}

static ferry_status read_added_tokens(ferry_tokenizer_json *json)
{
    ferry_tokenizer_config *text = &json->plan->text;
    const ferry_json_node list = ferry_node_get(&json->root, "added_tokens");
    const size_t count = json_array_size(list.value);
    if (list.value != NULL && !json_is_array(list.value)) return ferry_node_fail(&list, FERRY_ERROR_FORMAT, "a list");
    if (count > FERRY_TOKENIZER_JSON_ADDED)
        return ferry_fail(json->error, FERRY_ERROR_LIMIT, "%s: '%s': expected at most %d tokens, found %zu", list.file,
                          list.path.text, (int)FERRY_TOKENIZER_JSON_ADDED, count);
    added_tokens added = {.ids = ferry_arena_alloc(&json->plan->arena, count + 1, sizeof *added.ids),
                          .flags = ferry_arena_alloc(&json->plan->arena, count + 1, sizeof *added.flags),
                          .next = json->word_count};
    if (added.ids == NULL || added.flags == NULL)
        return ferry_fail_memory(json->error, "added tokens", count, sizeof(int32_t));
    FERRY_TRY(ferry_vocabulary_create(json->words, json->word_count, &added.words, json->error));
    ferry_status status = FERRY_OK;
    for (size_t i = 0; i < count && status == FERRY_OK; i++) {
        const ferry_json_node token = ferry_node_at(&list, i);
        status = read_added(json, &token, &added);
    }
    ferry_vocabulary_destroy(&added.words);
    text->rules.added_ids = added.ids;
    text->rules.added_flags = added.flags;
    text->rules.added_count = (size_t)added.count;
    return status;
}

/* ---- prefix and suffix ---- */

/* {"SpecialToken": {"id": "</s>"}}, whose ids are in the template's "special_tokens". */
static ferry_status read_template_ids(ferry_tokenizer_json *json, const ferry_json_node *template,
                                      const ferry_json_node *token, bool suffix)
{
    ferry_tokenizer_config *text = &json->plan->text;
    const int32_t **ids = suffix ? &text->suffix_ids : &text->prefix_ids;
    int32_t *count = suffix ? &text->suffix_count : &text->prefix_count;
    const ferry_json_node tokens = ferry_node_get(template, "special_tokens");
    ferry_view id = {"", 0};
    FERRY_TRY(ferry_node_text_of(token, "id", &id));
    const ferry_json_node known = ferry_node_get(&tokens, id.data), list = ferry_node_get(&known, "ids");
    if (!json_is_array(list.value)) return ferry_node_fail(&list, FERRY_ERROR_FORMAT, "a list of ids");
    if (json_array_size(list.value) > MAX_TEMPLATE_IDS) return ferry_node_fail(&list, FERRY_ERROR_LIMIT, "fewer ids");
    for (size_t i = 0; i < json_array_size(list.value); i++) {
        const ferry_json_node node = ferry_node_at(&list, i);
        const int32_t before = *count;
        int32_t value;
        FERRY_TRY(ferry_node_integer(&node, 0, json->piece_count - 1, &value));
        FERRY_TRY(ferry_import_ids(json->plan, &value, 1, ids, count, json->error));
        if (before == *count)
            return ferry_node_fail(&node, FERRY_ERROR_UNSUPPORTED, "an id that the template has once");
    }
    return FERRY_OK;
}

static ferry_status read_template(ferry_tokenizer_json *json)
{
    const ferry_json_node template = ferry_node_get(&json->root, "post_processor"),
                          single = ferry_node_get(&template, "single");
    bool text = false;
    if (template.value == NULL) return FERRY_OK;
    if (!ferry_node_is(&template, "TemplateProcessing"))
        return ferry_node_fail(&template, FERRY_ERROR_UNSUPPORTED, "TemplateProcessing");
    if (json_array_size(single.value) > MAX_TEMPLATE_IDS)
        return ferry_node_fail(&single, FERRY_ERROR_LIMIT, "fewer pieces");
    for (size_t i = 0; i < json_array_size(single.value); i++) {
        const ferry_json_node piece = ferry_node_at(&single, i), sequence = ferry_node_get(&piece, "Sequence"),
                              token = ferry_node_get(&piece, "SpecialToken");
        if (sequence.value != NULL && text) return ferry_node_fail(&single, FERRY_ERROR_UNSUPPORTED, "one Sequence");
        text = text || sequence.value != NULL;
        if (sequence.value == NULL) FERRY_TRY(read_template_ids(json, &template, &token, text));
    }
    return text ? FERRY_OK : ferry_node_fail(&single, FERRY_ERROR_FORMAT, "a list with a Sequence");
}

/* ---- all of it ---- */

/* Some versions of the package look for a non-special token in the normalized text, and join it in its normalized form.
 */
static ferry_status check_normal_forms(const ferry_tokenizer_json *json, const ferry_text_rules *rules)
{
    const ferry_tokenizer_config *text = &json->plan->text;
    for (size_t i = 0; i < text->rules.added_count; i++) {
        const ferry_view piece = json->pieces[text->rules.added_ids[i]];
        bool special = (text->rules.added_flags[i] & FERRY_ADDED_NORMALIZED) == 0;
        for (int32_t k = 0; k < text->special_count; k++) special |= text->special_ids[k] == text->rules.added_ids[i];
        if (special) continue;
        ferry_buffer normal = {0};
        ferry_status status = ferry_text_rules_normalize(rules, piece, &normal, json->error);
        if (status == FERRY_OK && !ferry_view_equal(piece, (ferry_view){normal.data, normal.size}))
            status = ferry_fail(json->error, FERRY_ERROR_UNSUPPORTED,
                                "%s: added token '%s': expected one that normalization leaves as it is, found one that "
                                "it changes",
                                json->root.file, ferry_printable_view(piece).text);
        free(normal.data);
        FERRY_TRY(status);
    }
    return FERRY_OK;
}

ferry_status ferry_tokenizer_json_read(ferry_import_plan *plan, ferry_json file, ferry_tokenizer_json *json,
                                       ferry_error *error)
{
    const ferry_tokenizer_config *text = &plan->text;
    const ferry_string_table *pieces;
    FERRY_TRY(read_pieces(plan, file, json, error));
    FERRY_TRY(ferry_tokenizer_json_steps(json));
    FERRY_TRY(ferry_tokenizer_json_decoder(json));
    FERRY_TRY(read_added_tokens(json));
    FERRY_TRY(read_template(json));
    FERRY_TRY(ferry_string_table_join(&plan->arena, json->pieces, (size_t)json->piece_count, &pieces, error));
    /* Creating the rules finds errors before anything is written. */
    ferry_text_rules_config config = text->rules;
    config.pieces = pieces;
    config.piece_count = json->piece_count;
    ferry_text_rules *rules;
    ferry_error found;
    ferry_status status = ferry_text_rules_create(&config, &rules, &found);
    if (status != FERRY_OK) return ferry_fail(error, status, "%s: %s", file.file, found.message);
    status = check_normal_forms(json, rules);
    ferry_text_rules_destroy(rules);
    if (status == FERRY_OK) ferry_import_one_vocabulary(plan, pieces, text->source_unk_id);
    return status;
}

/* ---- directories that have it as their tokenizer, or beside a SentencePiece model ---- */

static const char file_name[] = "tokenizer.json";

bool ferry_import_uses_tokenizer_json(const ferry_import_plan *plan, const char *model)
{
    return ferry_source_has(plan->source, file_name) && !ferry_source_has(plan->source, model);
}

ferry_status ferry_import_tokenizer_json(ferry_import_plan *plan, ferry_error *error)
{
    ferry_tokenizer_json json;
    ferry_json file, config;
    bool cleans = false;
    const int32_t source = plan->model.encoder.vocab_size, target = plan->model.decoder.vocab_size;
    FERRY_TRY(ferry_import_json(plan, file_name, &file, error));
    if (source != target)
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED,
                          "%s: expected one vocabulary for both sides, found embeddings of %d and %d words", file.file,
                          (int)source, (int)target);
    FERRY_TRY(ferry_tokenizer_json_read(plan, file, &json, error));
    /* Of transformers 5: it takes blanks before punctuation out of the texts of a Unigram model. */
    FERRY_TRY(ferry_import_optional_json(plan, "tokenizer_config.json", &config, error));
    FERRY_TRY(ferry_json_bool(config, "clean_up_tokenization_spaces", &cleans, error));
    if (cleans && plan->text.scores != NULL)
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED,
                          "%s: 'clean_up_tokenization_spaces': expected false, found true", config.file);
    FERRY_TRY(ferry_import_check_rows(plan, file.file, json.word_count, json.piece_count, error));
    const int32_t more[] = {plan->generation.pad_id, plan->generation.start_id};
    FERRY_TRY(ferry_import_special(plan, plan->generation.eos_ids, plan->generation.eos_count, error));
    return ferry_import_special(plan, more, 2, error);
}

/* ---- for another system's vocabulary ---- */

/* Takes the outermost id out of the list, if it is a language's. */
static bool take_language(const int32_t *languages, int32_t n, bool last, const int32_t **ids, int32_t *count)
{
    const int32_t id = *count > 0 ? (*ids)[last ? *count - 1 : 0] : -1;
    for (int32_t i = 0; i < n; i++) {
        if (languages[i] != id) continue;
        *ids += !last;
        --*count;
        return true;
    }
    return false;
}

void ferry_tokenizer_json_take_tag(ferry_tokenizer_config *text, const int32_t *languages, int32_t count,
                                   ferry_tag_position *position)
{
    if (take_language(languages, count, false, &text->prefix_ids, &text->prefix_count))
        *position = FERRY_TAG_PREFIX;
    else if (take_language(languages, count, true, &text->suffix_ids, &text->suffix_count))
        *position = FERRY_TAG_SUFFIX;
}

ferry_status ferry_import_fitting_tokenizer_json(ferry_import_plan *plan, ferry_error *error)
{
    const ferry_tokenizer_config own = plan->text;
    ferry_tokenizer_config *text = &plan->text;
    text->suffix_ids = NULL;
    text->suffix_count = 0;
    FERRY_TRY(ferry_import_tokenizer_json(plan, error));
    /* Rows that the file does not know may have any name. */
    for (size_t id = 0; id < (size_t)text->source_count; id++) {
        const ferry_view piece = ferry_string_table_at(text->source_pieces, id),
                         word = ferry_string_table_at(own.source_pieces, id);
        if (piece.size > 0 && !ferry_view_equal(piece, word))
            return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: id %zu is '%s', and '%s' in the vocabulary", file_name,
                              id, ferry_printable_view(piece).text, ferry_printable_view(word).text);
    }
    ferry_model_languages *languages = &plan->languages;
    if (languages->target_tag == FERRY_TAG_FIRST)
        ferry_tokenizer_json_take_tag(text, languages->target_ids, languages->count, &languages->source_tag);
    return ferry_import_ids(plan, own.suffix_ids, own.suffix_count, &text->suffix_ids, &text->suffix_count, error);
}

/* ---- beside a SentencePiece model ---- */

ferry_status ferry_import_compare_tokenizer_json(ferry_import_plan *plan, ferry_error *error)
{
    const ferry_tokenizer_config kept = plan->text;
    const char *model = plan->segmenter_files[0];
    ferry_tokenizer_json json;
    ferry_json file;
    ferry_error found;
    int32_t first = 0, count = 0;
    if (!ferry_source_has(plan->source, file_name)) return FERRY_OK;
    ferry_status status = ferry_import_json(plan, file_name, &file, &found);
    if (status == FERRY_OK) status = read_pieces(plan, file, &json, &found);
    if (status == FERRY_OK) status = read_added_tokens(&json);
    plan->text = kept;
    if (status == FERRY_ERROR_MEMORY) return ferry_fail(error, status, "%s", found.message);
    if (status != FERRY_OK) return ferry_import_note(plan, ferry_format("%s is used; %s", model, found.message), error);
    for (int32_t id = kept.source_count - 1; id >= 0; id--) {
        const ferry_view piece = ferry_string_table_at(kept.source_pieces, (size_t)id);
        /* Empty pieces are ids without a piece of the SentencePiece model, such as languages. */
        if (piece.size == 0 || ferry_view_equal(piece, json.pieces[id])) continue;
        first = id;
        count++;
    }
    if (count == 0) return FERRY_OK;
    return ferry_import_note(
        plan,
        ferry_format("%s is used; %s has other pieces at %d ids: id %d is '%s' there, and '%s' in %s", model,
                     json.root.file, (int)count, (int)first, ferry_printable_view(json.pieces[first]).text,
                     ferry_printable_view(ferry_string_table_at(kept.source_pieces, (size_t)first)).text, model),
        error);
}
