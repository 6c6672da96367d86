/* tokenizer.json but for its model and its steps (tokenizer_json_parts.c): values and their positions in the file,
 * added tokens, the template, whether all of it fits, and the directories of which it is the tokenizer. */
#include "tokenizer_json.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/printable.h"
#include "tokenizer/tokenizer.h"
#include "huggingface.h"

enum { MAX_ADDED = 1 << 13, MAX_TEMPLATE_IDS = 64 };

ferry_status ferry_tokenizer_json_begin(ferry_import_plan *plan, ferry_json file, ferry_tokenizer_json *json,
                                        ferry_error *error)
{
    *json = (ferry_tokenizer_json){.plan = plan,
                                   .root = {.value = file.object, .file = file.file},
                                   .piece_count = plan->model.encoder.vocab_size};
    const ferry_json_place version = ferry_json_place_get(&json->root, "version");
    ferry_view text;
    if (version.value != NULL) {
        FERRY_TRY(ferry_json_place_text(&version, &text, error));
        if (!ferry_view_is(text, "1.0"))
            return ferry_json_place_fail(&version, FERRY_ERROR_UNSUPPORTED, "'1.0'", error);
    }
    return ferry_import_pieces(plan, json->piece_count, &json->pieces, error);
}

/* ---- added tokens ---- */

typedef struct added_tokens {
    int32_t *ids, *flags; /* [count] */
    int32_t count;
    ferry_vocabulary words; /* pieces of the model */
    int32_t next;           /* the id of the next token that is none of them */
} added_tokens;

static ferry_status read_flags(const ferry_json_place *token, int32_t *flags, bool *special, ferry_error *error)
{
    const struct {
        const char *key;
        int32_t flag;
    } rows[] = {{"lstrip", FERRY_ADDED_LSTRIP}, {"rstrip", FERRY_ADDED_RSTRIP}, {"normalized", FERRY_ADDED_NORMALIZED}};
    bool word = false;
    *flags = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const ferry_json_place key = ferry_json_place_get(token, rows[i].key);
        bool flag = false;
        FERRY_TRY(ferry_json_place_flag(&key, &flag, error));
        if (flag) *flags |= rows[i].flag;
    }
    const ferry_json_place single = ferry_json_place_get(token, "single_word"),
                           kind = ferry_json_place_get(token, "special");
    FERRY_TRY(ferry_json_place_flag(&kind, special, error));
    FERRY_TRY(ferry_json_place_flag(&single, &word, error));
    return word ? ferry_json_place_fail(&single, FERRY_ERROR_UNSUPPORTED, "false", error) : FERRY_OK;
}

/* The package does not use the id that the file says. */
static ferry_status read_added(ferry_tokenizer_json *json, const ferry_json_place *token, added_tokens *added,
                               ferry_error *error)
{
    const ferry_json_place content = ferry_json_place_get(token, "content"), place = ferry_json_place_get(token, "id");
    ferry_view text;
    int32_t id, flags;
    bool special = false;
    FERRY_TRY(ferry_json_place_text(&content, &text, error));
    if (text.size == 0) return FERRY_OK;
    FERRY_TRY(ferry_json_place_integer(&place, 0, json->piece_count - 1, &id, error));
    FERRY_TRY(read_flags(token, &flags, &special, error));
    const int32_t word = ferry_vocabulary_find(&added->words, text), expected = word >= 0 ? word : added->next;
    if (id != expected)
        return ferry_json_place_fail(&place, FERRY_ERROR_FORMAT, ferry_name_format("%d", (int)expected).text, error);
    for (int32_t i = 0; i < added->count; i++)
        if (added->ids[i] == id) return ferry_json_place_fail(&place, FERRY_ERROR_FORMAT, "an id that is new", error);
    if (word < 0) json->pieces[added->next++] = text;
    added->ids[added->count] = id;
    added->flags[added->count++] = flags;
    return special ? ferry_import_special(json->plan, &id, 1, error) : FERRY_OK;
}

ferry_status ferry_tokenizer_json_added(ferry_tokenizer_json *json, ferry_error *error)
{
    ferry_model_text *text = &json->plan->text;
    const ferry_json_place list = ferry_json_place_get(&json->root, "added_tokens");
    const size_t count = json_array_size(list.value);
    if (list.value != NULL && !json_is_array(list.value))
        return ferry_json_place_fail(&list, FERRY_ERROR_FORMAT, "a list", error);
    if (count > MAX_ADDED)
        return ferry_fail(error, FERRY_ERROR_LIMIT, "%s: '%s': expected at most %d tokens, found %zu", list.file,
                          list.path.text, (int)MAX_ADDED, count);
    added_tokens added = {.ids = ferry_arena_alloc(&json->plan->arena, count + 1, sizeof *added.ids),
                          .flags = ferry_arena_alloc(&json->plan->arena, count + 1, sizeof *added.flags),
                          .next = json->word_count};
    if (added.ids == NULL || added.flags == NULL)
        return ferry_fail_memory(error, "added tokens", count * sizeof(int32_t));
    FERRY_TRY(ferry_vocabulary_create(json->words, json->word_count, &added.words, error));
    ferry_status status = FERRY_OK;
    for (size_t i = 0; i < count && status == FERRY_OK; i++) {
        const ferry_json_place token = ferry_json_place_at(&list, i);
        status = read_added(json, &token, &added, error);
    }
    ferry_vocabulary_destroy(&added.words);
    text->added_ids = added.ids;
    text->added_flags = added.flags;
    text->added_count = added.count;
    return status;
}

/* ---- prefix and suffix ---- */

/* {"SpecialToken": {"id": "</s>"}}, whose ids are in the template's "special_tokens". */
static ferry_status read_template_ids(ferry_tokenizer_json *json, const ferry_json_place *template,
                                      const ferry_json_place *token, bool suffix, ferry_error *error)
{
    ferry_model_text *text = &json->plan->text;
    const ferry_json_place key = ferry_json_place_get(token, "id"),
                           tokens = ferry_json_place_get(template, "special_tokens");
    ferry_view id = {"", 0};
    FERRY_TRY(ferry_json_place_text(&key, &id, error));
    const ferry_json_place known = ferry_json_place_get(&tokens, id.data), list = ferry_json_place_get(&known, "ids");
    if (!json_is_array(list.value)) return ferry_json_place_fail(&list, FERRY_ERROR_FORMAT, "a list of ids", error);
    if (json_array_size(list.value) > MAX_TEMPLATE_IDS)
        return ferry_json_place_fail(&list, FERRY_ERROR_LIMIT, "fewer ids", error);
    for (size_t i = 0; i < json_array_size(list.value); i++) {
        const ferry_json_place place = ferry_json_place_at(&list, i);
        int32_t value;
        FERRY_TRY(ferry_json_place_integer(&place, 0, json->piece_count - 1, &value, error));
        const int32_t before = suffix ? text->suffix_count : text->prefix_count;
        FERRY_TRY(suffix ? ferry_import_ids(json->plan, &value, 1, &text->suffix_ids, &text->suffix_count, error)
                         : ferry_import_ids(json->plan, &value, 1, &text->prefix_ids, &text->prefix_count, error));
        if (before == (suffix ? text->suffix_count : text->prefix_count))
            return ferry_json_place_fail(&place, FERRY_ERROR_UNSUPPORTED, "an id that the template has once", error);
    }
    return FERRY_OK;
}

static ferry_status read_template(ferry_tokenizer_json *json, ferry_error *error)
{
    const ferry_json_place template = ferry_json_place_get(&json->root, "post_processor"),
                           single = ferry_json_place_get(&template, "single");
    bool text = false;
    if (template.value == NULL) return FERRY_OK;
    if (!ferry_json_place_is(&template, "TemplateProcessing"))
        return ferry_json_place_fail(&template, FERRY_ERROR_UNSUPPORTED, "TemplateProcessing", error);
    if (json_array_size(single.value) > MAX_TEMPLATE_IDS)
        return ferry_json_place_fail(&single, FERRY_ERROR_LIMIT, "fewer pieces", error);
    for (size_t i = 0; i < json_array_size(single.value); i++) {
        const ferry_json_place piece = ferry_json_place_at(&single, i),
                               sequence = ferry_json_place_get(&piece, "Sequence"),
                               token = ferry_json_place_get(&piece, "SpecialToken");
        if (sequence.value != NULL && text)
            return ferry_json_place_fail(&single, FERRY_ERROR_UNSUPPORTED, "one Sequence", error);
        text = text || sequence.value != NULL;
        if (sequence.value == NULL) FERRY_TRY(read_template_ids(json, &template, &token, text, error));
    }
    return text ? FERRY_OK : ferry_json_place_fail(&single, FERRY_ERROR_FORMAT, "a list with a Sequence", error);
}

/* ---- all of it ---- */

/* A non-special token that is looked for in the normalized text is joined in its normalized form by some versions of
 * the package. */
static ferry_status check_normal_forms(const ferry_tokenizer_json *json, const ferry_text_rules *rules,
                                       ferry_error *error)
{
    const ferry_model_text *text = &json->plan->text;
    for (int32_t i = 0; i < text->added_count; i++) {
        const ferry_view piece = json->pieces[text->added_ids[i]];
        bool special = (text->added_flags[i] & FERRY_ADDED_NORMALIZED) == 0;
        for (int32_t k = 0; k < text->special_count; k++) special |= text->special_ids[k] == text->added_ids[i];
        if (special) continue;
        ferry_string normal = {0};
        ferry_status status = ferry_text_rules_normalize(rules, piece, &normal, error);
        if (status == FERRY_OK && !ferry_view_equal(piece, (ferry_view){normal.data, normal.size}))
            status = ferry_fail(error, FERRY_ERROR_UNSUPPORTED,
                                "%s: added token '%s': expected one that normalization leaves as it is, found one that "
                                "it changes",
                                json->root.file, ferry_printable_view(piece).text);
        free(normal.data);
        FERRY_TRY(status);
    }
    return FERRY_OK;
}

/* Finds what is broken before anything is written. */
static ferry_status check_rules(const ferry_tokenizer_json *json, const ferry_texts *pieces, ferry_error *error)
{
    const ferry_model_text *text = &json->plan->text;
    const ferry_text_rules_config config = {.steps = text->steps,
                                            .step_count = (size_t)text->step_count,
                                            .charsmap = text->charsmap,
                                            .added_ids = text->added_ids,
                                            .added_flags = text->added_flags,
                                            .added_count = (size_t)text->added_count,
                                            .pieces = pieces,
                                            .piece_count = json->piece_count};
    ferry_text_rules *rules;
    ferry_error found;
    ferry_status status = ferry_text_rules_create(&config, &rules, &found);
    if (status != FERRY_OK) return ferry_fail(error, status, "%s: %s", json->root.file, found.message);
    status = check_normal_forms(json, rules, error);
    ferry_text_rules_destroy(rules);
    return status;
}

ferry_status ferry_tokenizer_json_read(ferry_import_plan *plan, ferry_json file, ferry_tokenizer_json *json,
                                       ferry_error *error)
{
    const ferry_texts *pieces;
    FERRY_TRY(ferry_tokenizer_json_begin(plan, file, json, error));
    FERRY_TRY(ferry_tokenizer_json_model(json, error));
    FERRY_TRY(ferry_tokenizer_json_steps(json, error));
    FERRY_TRY(ferry_tokenizer_json_decoder(json, error));
    FERRY_TRY(ferry_tokenizer_json_added(json, error));
    FERRY_TRY(read_template(json, error));
    FERRY_TRY(ferry_texts_join(&plan->arena, json->pieces, (size_t)json->piece_count, &pieces, error));
    FERRY_TRY(check_rules(json, pieces, error));
    ferry_import_one_vocabulary(plan, pieces, plan->text.source_unk_id);
    return FERRY_OK;
}

/* ---- values and their positions in the file, which messages name ---- */

enum { MAX_DEPTH = 8 };

ferry_json_place ferry_json_place_get(const ferry_json_place *place, const char *key)
{
    const json_t *value = json_object_get(place->value, key);
    const char *path = place->path.text;
    return (ferry_json_place){.value = json_is_null(value) ? NULL : value,
                              .file = place->file,
                              .path = ferry_name_format("%s%s%s", path, *path != '\0' ? "." : "", key)};
}

ferry_json_place ferry_json_place_at(const ferry_json_place *list, size_t index)
{
    return (ferry_json_place){.value = json_array_get(list->value, index),
                              .file = list->file,
                              .path = ferry_name_format("%s[%zu]", list->path.text, index)};
}

static ferry_name describe(const json_t *value)
{
    if (json_is_object(value)) {
        const char *type = json_string_value(json_object_get(value, "type"));
        if (type == NULL) return ferry_name_format("an object");
        return ferry_name_format("type '%s'", ferry_printable_view(ferry_text_view(type)).text);
    }
    if (json_is_string(value)) {
        const ferry_view text = {json_string_value(value), json_string_length(value)};
        return ferry_name_format("'%s'", ferry_printable_view(text).text);
    }
    if (json_is_integer(value)) return ferry_name_format("%" JSON_INTEGER_FORMAT, json_integer_value(value));
    if (json_is_real(value)) return ferry_name_format("%g", json_real_value(value));
    if (json_is_boolean(value)) return ferry_name_format("%s", json_is_true(value) ? "true" : "false");
    return ferry_name_format("%s", json_is_array(value) ? "a list" : "nothing");
}

ferry_status ferry_json_place_fail(const ferry_json_place *place, ferry_status code, const char *expected,
                                   ferry_error *error)
{
    return ferry_fail(error, code, "%s: '%s': expected %s, found %s", place->file, place->path.text, expected,
                      describe(place->value).text);
}

ferry_status ferry_json_place_text(const ferry_json_place *place, ferry_view *text, ferry_error *error)
{
    if (!json_is_string(place->value)) return ferry_json_place_fail(place, FERRY_ERROR_FORMAT, "a text", error);
    *text = (ferry_view){json_string_value(place->value), json_string_length(place->value)};
    return FERRY_OK;
}

ferry_status ferry_json_place_flag(const ferry_json_place *place, bool *flag, ferry_error *error)
{
    if (!json_is_boolean(place->value)) return ferry_json_place_fail(place, FERRY_ERROR_FORMAT, "true or false", error);
    *flag = json_is_true(place->value);
    return FERRY_OK;
}

ferry_status ferry_json_place_flag_of(const ferry_json_place *place, const char *key, bool *flag, ferry_error *error)
{
    const ferry_json_place found = ferry_json_place_get(place, key);
    return found.value != NULL ? ferry_json_place_flag(&found, flag, error) : FERRY_OK;
}

ferry_status ferry_json_place_integer(const ferry_json_place *place, int32_t least, int32_t most, int32_t *value,
                                      ferry_error *error)
{
    const json_int_t number = json_integer_value(place->value);
    if (!json_is_integer(place->value) || number < least || number > most)
        return ferry_json_place_fail(place, FERRY_ERROR_FORMAT,
                                     ferry_name_format("an integer from %" PRId32 " to %" PRId32, least, most).text,
                                     error);
    *value = (int32_t)number;
    return FERRY_OK;
}

bool ferry_json_place_is(const ferry_json_place *place, const char *name)
{
    const ferry_json_place type = ferry_json_place_get(place, "type");
    ferry_view text;
    return ferry_json_place_text(&type, &text, NULL) == FERRY_OK && ferry_view_is(text, name);
}

static ferry_status each_at(ferry_tokenizer_json *json, const ferry_json_place *place, const char *key, int depth,
                            ferry_json_part *each, ferry_error *error)
{
    if (!ferry_json_place_is(place, "Sequence")) return each(json, place, error);
    const ferry_json_place list = ferry_json_place_get(place, key);
    if (!json_is_array(list.value)) return ferry_json_place_fail(&list, FERRY_ERROR_FORMAT, "a list", error);
    if (depth == MAX_DEPTH)
        return ferry_json_place_fail(place, FERRY_ERROR_UNSUPPORTED, "fewer sequences in sequences", error);
    for (size_t i = 0; i < json_array_size(list.value); i++) {
        const ferry_json_place part = ferry_json_place_at(&list, i);
        FERRY_TRY(each_at(json, &part, key, depth + 1, each, error));
    }
    return FERRY_OK;
}

ferry_status ferry_json_place_each(ferry_tokenizer_json *json, const ferry_json_place *place, const char *key,
                                   ferry_json_part *each, ferry_error *error)
{
    return place->value != NULL ? each_at(json, place, key, 0, each, error) : FERRY_OK;
}

/* ---- directories of which it is the tokenizer, or lies beside it ---- */

static const char tokenizer_json_name[] = "tokenizer.json";

bool ferry_import_uses_tokenizer_json(const ferry_import_plan *plan, const char *model)
{
    return ferry_import_has_file(plan, tokenizer_json_name) && !ferry_import_has_file(plan, model);
}

/* Of transformers 5: it takes blanks before punctuation out of the texts of a Unigram model. */
static ferry_status check_clean_up(ferry_import_plan *plan, ferry_error *error)
{
    ferry_json config;
    bool cleans = false;
    FERRY_TRY(ferry_import_optional_json(plan, "tokenizer_config.json", &config, error));
    FERRY_TRY(ferry_json_bool(config, "clean_up_tokenization_spaces", &cleans, error));
    if (!cleans || plan->text.scores == NULL) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: 'clean_up_tokenization_spaces': expected false, found true",
                      config.file);
}

ferry_status ferry_import_tokenizer_json(ferry_import_plan *plan, ferry_error *error)
{
    ferry_tokenizer_json json;
    ferry_json file;
    const int32_t source = plan->model.encoder.vocab_size, target = plan->model.decoder.vocab_size;
    FERRY_TRY(ferry_import_json(plan, tokenizer_json_name, &file, error));
    if (source != target)
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED,
                          "%s: expected one vocabulary for both sides, found embeddings of %d and %d words", file.file,
                          (int)source, (int)target);
    FERRY_TRY(ferry_tokenizer_json_read(plan, file, &json, error));
    FERRY_TRY(check_clean_up(plan, error));
    FERRY_TRY(ferry_import_check_rows(plan, file.file, json.word_count, json.piece_count, error));
    const int32_t more[] = {plan->generation.pad_id, plan->generation.start_id};
    FERRY_TRY(ferry_import_special(plan, plan->generation.eos_ids, plan->generation.eos_count, error));
    return ferry_import_special(plan, more, 2, error);
}

/* ---- for another system's vocabulary ---- */

ferry_status ferry_import_fitting_tokenizer_json(ferry_import_plan *plan, ferry_error *error)
{
    const ferry_model_text own = plan->text;
    ferry_model_text *text = &plan->text;
    text->suffix_ids = NULL;
    text->suffix_count = 0;
    FERRY_TRY(ferry_import_tokenizer_json(plan, error));
    /* Rows that the file does not know may have any name. */
    for (size_t id = 0; id < (size_t)text->source_count; id++) {
        const ferry_view piece = ferry_texts_at(text->source_pieces, id), word = ferry_texts_at(own.source_pieces, id);
        if (piece.size > 0 && !ferry_view_equal(piece, word))
            return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: id %zu is '%s', and '%s' in the vocabulary",
                              tokenizer_json_name, id, ferry_printable_view(piece).text,
                              ferry_printable_view(word).text);
    }
    if (own.languages.target_tag == FERRY_TAG_FIRST)
        ferry_multilingual_template(text, own.languages.target_ids, own.languages.count, &text->languages.source_tag);
    return ferry_import_ids(plan, own.suffix_ids, own.suffix_count, &text->suffix_ids, &text->suffix_count, error);
}

/* ---- beside a SentencePiece model ---- */

/* Reads the pieces of the file, and nothing else of it. */
static ferry_status read_pieces(ferry_import_plan *plan, ferry_tokenizer_json *json, ferry_error *error)
{
    const ferry_model_text kept = plan->text;
    ferry_json file;
    FERRY_TRY(ferry_import_json(plan, tokenizer_json_name, &file, error));
    FERRY_TRY(ferry_tokenizer_json_begin(plan, file, json, error));
    ferry_status status = ferry_tokenizer_json_model(json, error);
    if (status == FERRY_OK) status = ferry_tokenizer_json_added(json, error);
    plan->text = kept;
    return status;
}

/* Ids whose text is written in another way, like languages, are no pieces of the SentencePiece model. */
static int32_t count_differences(const ferry_import_plan *plan, const ferry_view *pieces, int32_t *first)
{
    int32_t count = 0;
    for (int32_t id = plan->text.source_count - 1; id >= 0; id--) {
        const ferry_view piece = ferry_texts_at(plan->text.source_pieces, (size_t)id);
        if (piece.size == 0 || ferry_view_equal(piece, pieces[id])) continue;
        *first = id;
        count++;
    }
    return count;
}

ferry_status ferry_import_compare_tokenizer_json(ferry_import_plan *plan, ferry_error *error)
{
    ferry_tokenizer_json json;
    ferry_error found;
    int32_t first = 0;
    if (!ferry_import_has_file(plan, tokenizer_json_name)) return FERRY_OK;
    const char *model = plan->segmenter_files[0];
    const ferry_status status = read_pieces(plan, &json, &found);
    if (status == FERRY_ERROR_MEMORY) return ferry_fail(error, status, "%s", found.message);
    const int32_t count = status == FERRY_OK ? count_differences(plan, json.pieces, &first) : 0;
    if (status == FERRY_OK && count == 0) return FERRY_OK;
    const ferry_name note =
        status != FERRY_OK
            ? ferry_name_format("%s is used; %s", model, found.message)
            : ferry_name_format("%s is used; %s has other pieces at %d ids: id %d is '%s' there, and '%s' in %s", model,
                                json.root.file, (int)count, (int)first, ferry_printable_view(json.pieces[first]).text,
                                ferry_printable_view(ferry_texts_at(plan->text.source_pieces, (size_t)first)).text,
                                model);
    return ferry_import_note(plan, note, error);
}
