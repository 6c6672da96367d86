/* Texts of Hugging Face's families: what several share, and those of M2M-100, NLLB-200 and mBART-50, which fairseq
 * trained. Their ids 0 to 3 are <s>, <pad>, </s> and <unk>, then come SentencePiece's pieces without its own first
 * three, then languages and <mask>, then rows without a name. */
#include <stdlib.h>
#include <string.h>

#include "tokenizer/sentencepiece_c.h"
#include "huggingface.h"
#include "models/text/tokenizer_json.h"
#include "models/text/vocabularies.h"
#include "models/families/families.h"
#include "models/text/language_tags.h"

/* ---- parts that families share ---- */

ferry_status ferry_huggingface_segmenter(ferry_import_plan *plan, const char *name, ferry_error *error)
{
    if (ferry_source_has(plan->source, name)) return ferry_import_segmenters(plan, name, NULL, error);
    return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: expected %s or tokenizer.json, found neither",
                      plan->source->path, name);
}

ferry_status ferry_huggingface_check_eos(const ferry_import_plan *plan, ferry_json vocabulary, ferry_error *error)
{
    FERRY_TRY(ferry_json_require(vocabulary, "</s>", error));
    const int32_t id = ferry_import_piece_id(vocabulary, "</s>");
    for (int32_t i = 0; i < plan->generation.eos_count; i++)
        if (plan->generation.eos_ids[i] == id) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: '</s>' has id %d, but the configuration's eos_token_id is %d",
                      vocabulary.file, (int)id, (int)plan->generation.eos_ids[0]);
}

ferry_status ferry_huggingface_shifted_pieces(ferry_import_plan *plan, int32_t unknown, int32_t first, int32_t shift,
                                              ferry_view **pieces, ferry_error *error)
{
    const ferry_spm *spm = plan->segmenters[0];
    const char *file = plan->segmenter_files[0];
    const int32_t count = ferry_spm_count(spm), found = ferry_spm_unknown(spm), V = plan->model.encoder.vocab_size;
    if (count < first || found != unknown || count > V - shift) {
        return ferry_fail(error, FERRY_ERROR_FORMAT,
                          "%s: the SentencePiece model has %d pieces (unknown: %d); expected unknown %d and at most %d "
                          "for a vocabulary of %d",
                          file, (int)count, (int)found, (int)unknown, (int)(V - shift), (int)V);
    }
    FERRY_TRY(ferry_import_check_rows(plan, file, count + shift, V, error));
    FERRY_TRY(ferry_import_pieces(plan, V, pieces, error));
    for (int32_t i = first; i < count; i++) (*pieces)[i + shift] = ferry_spm_piece(spm, i);
    return FERRY_OK;
}

enum { UNKNOWN_ID = 3, FIRST_PIECE = 3, SHIFT = 1 };

/* ---- added tokens ---- */

typedef struct added_token {
    ferry_view content;
    int32_t id;
    bool special;
} added_token;

typedef struct added_tokens {
    added_token *tokens; /* [count], by id */
    size_t count;
} added_tokens;

static int compare_tokens(const void *a, const void *b)
{
    const int32_t x = ((const added_token *)a)->id, y = ((const added_token *)b)->id;
    return (x > y) - (x < y);
}

static ferry_status add_token(const ferry_import_plan *plan, const char *file, const json_t *token, json_int_t id,
                              added_tokens *added, ferry_error *error)
{
    const json_t *content = json_object_get(token, "content");
    const ferry_view text = {json_string_value(content), json_string_length(content)};
    const int32_t V = plan->model.encoder.vocab_size;
    if (text.data == NULL || id < 0 || id >= V) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: added token '%s': expected a text and an id from 0 to %d",
                          file, ferry_printable_view(text).text, (int)V - 1);
    }
    const bool special = json_is_true(json_object_get(token, "special"));
    added->tokens[added->count++] = (added_token){text, (int32_t)id, special};
    return FERRY_OK;
}

/* {"1201": {"content": "<mask>", "special": true}}, or [{"id": 1201, "content": "<mask>", "special": true}] */
static ferry_status read_tokens(ferry_import_plan *plan, const char *file, const char *key, added_tokens *added,
                                ferry_error *error)
{
    const char *name;
    json_t *token;
    size_t i;
    ferry_json json;
    FERRY_TRY(ferry_import_optional_json(plan, file, &json, error));
    json_t *list = (json_t *)(uintptr_t)ferry_json_get(json, key);
    const size_t count = json_object_size(list) + json_array_size(list);
    if (count > FERRY_TOKENIZER_JSON_ADDED) {
        return ferry_fail(error, FERRY_ERROR_LIMIT, "%s: %zu added tokens; Ferry reads up to %d", json.file, count,
                          (int)FERRY_TOKENIZER_JSON_ADDED);
    }
    *added = (added_tokens){.tokens = ferry_arena_alloc(&plan->arena, count, sizeof *added->tokens)};
    if (added->tokens == NULL) return ferry_fail_memory(error, "added tokens", count, sizeof *added->tokens);
    json_object_foreach (list, name, token) {
        char *end;
        const long long id = strtoll(name, &end, 10);
        FERRY_TRY(add_token(plan, json.file, token, *end == 0 ? id : -1, added, error));
    }
    json_array_foreach (list, i, token) {
        const json_t *id = json_object_get(token, "id");
        FERRY_TRY(add_token(plan, json.file, token, json_is_integer(id) ? json_integer_value(id) : -1, added, error));
    }
    return FERRY_OK;
}

static bool names_language(const added_tokens *added, const char *form)
{
    for (size_t i = 0; i < added->count; i++)
        if (ferry_import_has_form(added->tokens[i].content, form)) return true;
    return false;
}

/* ---- languages ---- */

ferry_status ferry_multilingual_list(ferry_import_plan *plan, const char *codes, int32_t first,
                                     ferry_import_tags *languages, ferry_error *error)
{
    while (*codes != 0) {
        const ferry_view tag = {codes, strcspn(codes, " ")};
        FERRY_TRY(ferry_import_add_tag(plan, languages, tag, first + languages->count, error));
        codes += tag.size + (codes[tag.size] == ' ');
    }
    return FERRY_OK;
}

static ferry_status find_languages(ferry_import_plan *plan, const added_tokens *added, const char *form,
                                   const char *built_in, int32_t first, ferry_import_tags *languages,
                                   ferry_error *error)
{
    static const char *const files[] = {"tokenizer_config.json", "special_tokens_map.json"};
    static const char *const keys[] = {"additional_special_tokens", "extra_special_tokens"};
    for (size_t i = 0; i < added->count; i++) {
        const added_token *token = &added->tokens[i];
        if (!ferry_import_has_form(token->content, form)) continue;
        FERRY_TRY(ferry_import_add_tag(plan, languages, token->content, token->id, error));
    }
    /* The first list of special tokens that names languages, in its order: the ids follow the pieces. */
    for (int i = 0; i < 4 && languages->count == 0; i++) {
        ferry_json json;
        FERRY_TRY(ferry_import_optional_json(plan, files[i / 2], &json, error));
        const json_t *list = ferry_json_get(json, keys[i % 2]);
        for (size_t j = 0; j < json_array_size(list); j++) {
            const json_t *item = json_array_get(list, j);
            if (json_is_object(item)) item = json_object_get(item, "content");
            const ferry_view tag = {json_string_value(item), json_string_length(item)};
            if (tag.data == NULL || !ferry_import_has_form(tag, form)) continue;
            FERRY_TRY(ferry_import_add_tag(plan, languages, tag, first + languages->count, error));
        }
    }
    if (languages->count == 0) FERRY_TRY(ferry_multilingual_list(plan, built_in, first, languages, error));
    const int32_t last = languages->ids[languages->count - 1], V = plan->model.encoder.vocab_size;
    if (languages->ids[0] >= first && last < V) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_FORMAT,
                      "%s: %d languages with ids from %d to %d, but the pieces end before %d and the vocabulary "
                      "before %d",
                      plan->segmenter_files[0], (int)languages->count, (int)languages->ids[0], (int)last, (int)first,
                      (int)V);
}

ferry_status ferry_multilingual_tags(ferry_import_plan *plan, const ferry_import_tags *list, const char *around,
                                     ferry_tag_position source_tag, ferry_error *error)
{
    int32_t *forced = &plan->generation.decoding.search.forced_first_id;
    ferry_tokenizer_config *text = &plan->text;
    ferry_view *pieces;
    FERRY_TRY(ferry_import_pieces(plan, text->source_count, &pieces, error));
    for (size_t i = 0; i < (size_t)text->source_count; i++) pieces[i] = ferry_string_table_at(text->source_pieces, i);
    for (int32_t i = 0; i < list->count; i++) {
        const ferry_short_text name =
            ferry_format("%s%.*s%s", around, (int)list->tags[i].size, list->tags[i].data, around);
        const char *kept = ferry_arena_text(&plan->arena, ferry_text_view(name.text));
        if (kept == NULL) return ferry_fail_memory(error, "the tag of a language", 1, sizeof name);
        pieces[list->ids[i]] = ferry_text_view(kept);
    }
    FERRY_TRY(ferry_string_table_join(&plan->arena, pieces, (size_t)text->source_count, &text->source_pieces, error));
    text->target_pieces = text->source_pieces;
    const bool only_target = source_tag == FERRY_TAG_NONE;
    FERRY_TRY(ferry_import_languages(plan, list, source_tag, only_target ? FERRY_TAG_PREFIX : FERRY_TAG_FIRST, error));
    if (only_target) return FERRY_OK;
    for (int32_t i = 0; *forced >= 0 && i < list->count; i++) {
        if (list->ids[i] != *forced) continue;
        plan->languages.default_target = i;
        *forced = -1;
    }
    return FERRY_OK;
}

/* ---- tokenizer.json ---- */

/* Ids are the model's own. The template has the tag of one source language, which says where tags go. */
static ferry_status read_tokenizer_json(ferry_import_plan *plan, const char *form, ferry_tag_position source_tag,
                                        ferry_error *error)
{
    ferry_import_tags languages = {NULL, NULL, 0};
    ferry_tokenizer_config *text = &plan->text;
    FERRY_TRY(ferry_import_tokenizer_json(plan, error));
    for (size_t i = 0; i < text->rules.added_count; i++) {
        const int32_t id = text->rules.added_ids[i];
        const ferry_view piece = ferry_string_table_at(text->source_pieces, (size_t)id);
        if (!ferry_import_has_form(piece, form)) continue;
        FERRY_TRY(ferry_import_add_tag(plan, &languages, piece, id, error));
        FERRY_TRY(ferry_import_special(plan, &id, 1, error));
    }
    if (languages.count == 0) return FERRY_OK;
    ferry_tokenizer_json_take_tag(text, languages.ids, languages.count, &source_tag);
    return ferry_multilingual_tags(plan, &languages, "", source_tag, error);
}

ferry_status ferry_multilingual_text(ferry_import_plan *plan, const char *form, const char *built_in,
                                     ferry_tag_position source_tag, ferry_error *error)
{
    static const char model[] = "sentencepiece.bpe.model";
    static const ferry_view fixed[] = {{"<s>", 3}, {"<pad>", 5}, {"</s>", 4}, {"<unk>", 5}};
    const int32_t V = plan->model.encoder.vocab_size;
    ferry_import_tags languages = {NULL, NULL, 0};
    added_tokens added;
    const ferry_string_table *joined;
    ferry_view *pieces;
    if (ferry_import_uses_tokenizer_json(plan, model)) return read_tokenizer_json(plan, form, source_tag, error);
    FERRY_TRY(ferry_huggingface_segmenter(plan, model, error));
    /* Added tokens count where they are in a file that names a language. */
    FERRY_TRY(read_tokens(plan, "tokenizer_config.json", "added_tokens_decoder", &added, error));
    if (!names_language(&added, form)) FERRY_TRY(read_tokens(plan, "tokenizer.json", "added_tokens", &added, error));
    if (!names_language(&added, form)) added.count = 0;
    if (added.count > 0) qsort(added.tokens, added.count, sizeof *added.tokens, compare_tokens);
    const int32_t first = ferry_spm_count(plan->segmenters[0]) + SHIFT;
    FERRY_TRY(ferry_huggingface_shifted_pieces(plan, 0, FIRST_PIECE, SHIFT, &pieces, error));
    memcpy(pieces, fixed, sizeof fixed);
    for (size_t i = 0; i < added.count; i++)
        if (added.tokens[i].id >= first) pieces[added.tokens[i].id] = added.tokens[i].content;
    FERRY_TRY(ferry_string_table_join(&plan->arena, pieces, (size_t)V, &joined, error));
    ferry_import_one_vocabulary(plan, joined, UNKNOWN_ID);
    FERRY_TRY(find_languages(plan, &added, form, built_in, first, &languages, error));
    /* Ids without text: languages, <s>, <unk>, <mask>, and what files add. */
    const int32_t mask = first + languages.count;
    const int32_t own[] = {0, UNKNOWN_ID, added.count == 0 && mask < V ? mask : -1};
    FERRY_TRY(ferry_import_special(plan, languages.ids, languages.count, error));
    FERRY_TRY(ferry_import_special(plan, own, 3, error));
    for (size_t i = 0; i < added.count; i++)
        if (added.tokens[i].special) FERRY_TRY(ferry_import_special(plan, &added.tokens[i].id, 1, error));
    FERRY_TRY(ferry_import_special_ids(plan, error));
    FERRY_TRY(ferry_import_compare_tokenizer_json(plan, error));
    return ferry_multilingual_tags(plan, &languages, "", source_tag, error);
}
