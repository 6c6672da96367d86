/* Texts of models that fairseq trained: M2M-100, NLLB-200, mBART-50. Ids 0 to 3 are <s>, <pad>, </s> and <unk>, then
 * come SentencePiece's pieces without its own first three, then languages and <mask>, then rows that nothing names. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tokenizer/sentencepiece_c.h"
#include "huggingface.h"
#include "base/printable.h"

enum { UNKNOWN_ID = 3, FIRST_PIECE = 3, SHIFT = 1, MAX_ADDED = 1 << 13 };

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

static ferry_status add_token(const ferry_import_plan *plan, const char *file, const json_t *content, json_int_t id,
                              bool special, added_tokens *added, ferry_error *error)
{
    const ferry_view text = {json_string_value(content), json_string_length(content)};
    const int32_t V = plan->model.encoder.vocab_size;
    if (text.data == NULL || id < 0 || id >= V) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: added token '%s': expected a text and an id from 0 to %d",
                          file, ferry_printable_view(text).text, (int)V - 1);
    }
    added->tokens[added->count++] = (added_token){text, (int32_t)id, special};
    return FERRY_OK;
}

static ferry_status reserve_tokens(ferry_import_plan *plan, const char *file, size_t count, added_tokens *added,
                                   ferry_error *error)
{
    if (count > MAX_ADDED) {
        return ferry_fail(error, FERRY_ERROR_LIMIT, "%s: %zu added tokens; Ferry reads up to %d", file, count,
                          (int)MAX_ADDED);
    }
    *added = (added_tokens){.tokens = ferry_arena_alloc(&plan->arena, count, sizeof *added->tokens)};
    return added->tokens != NULL ? FERRY_OK : ferry_fail_memory(error, "added tokens", count * sizeof *added->tokens);
}

/* tokenizer_config.json: "added_tokens_decoder": {"1201": {"content": "<mask>", "special": true}} */
static ferry_status read_decoder(ferry_import_plan *plan, added_tokens *added, ferry_error *error)
{
    const char *key;
    json_t *token;
    ferry_json json;
    FERRY_TRY(ferry_import_optional_json(plan, "tokenizer_config.json", &json, error));
    json_t *list = (json_t *)(uintptr_t)ferry_json_get(json, "added_tokens_decoder");
    FERRY_TRY(reserve_tokens(plan, json.file, json_object_size(list), added, error));
    json_object_foreach (list, key, token) {
        char *end;
        const long long id = strtoll(key, &end, 10);
        FERRY_TRY(add_token(plan, json.file, json_object_get(token, "content"), *end == 0 ? id : -1,
                            json_is_true(json_object_get(token, "special")), added, error));
    }
    return FERRY_OK;
}

/* tokenizer.json: "added_tokens": [{"id": 1201, "content": "<mask>", "special": true}] */
static ferry_status read_list(ferry_import_plan *plan, added_tokens *added, ferry_error *error)
{
    ferry_json json;
    FERRY_TRY(ferry_import_optional_json(plan, "tokenizer.json", &json, error));
    const json_t *list = ferry_json_get(json, "added_tokens");
    FERRY_TRY(reserve_tokens(plan, json.file, json_array_size(list), added, error));
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *token = json_array_get(list, i), *id = json_object_get(token, "id");
        FERRY_TRY(add_token(plan, json.file, json_object_get(token, "content"),
                            json_is_integer(id) ? json_integer_value(id) : -1,
                            json_is_true(json_object_get(token, "special")), added, error));
    }
    return FERRY_OK;
}

static bool names_language(const added_tokens *added, const char *form)
{
    for (size_t i = 0; i < added->count; i++) {
        if (ferry_import_has_form(added->tokens[i].content, form)) return true;
    }
    return false;
}

/* None, when neither file names a language. */
static ferry_status read_added(ferry_import_plan *plan, const char *form, added_tokens *added, ferry_error *error)
{
    FERRY_TRY(read_decoder(plan, added, error));
    if (!names_language(added, form)) FERRY_TRY(read_list(plan, added, error));
    if (!names_language(added, form)) added->count = 0;
    if (added->count > 0) qsort(added->tokens, added->count, sizeof *added->tokens, compare_tokens);
    return FERRY_OK;
}

/* ---- languages ---- */

static ferry_status reserve_languages(ferry_import_plan *plan, size_t count, ferry_fairseq_languages *languages,
                                      ferry_error *error)
{
    *languages = (ferry_fairseq_languages){ferry_arena_alloc(&plan->arena, count, sizeof *languages->tags),
                                           ferry_arena_alloc(&plan->arena, count, sizeof *languages->ids), 0};
    if (languages->tags != NULL && languages->ids != NULL) return FERRY_OK;
    return ferry_fail_memory(error, "a list of languages", count * (sizeof(ferry_view) + sizeof(int32_t)));
}

static void add_language(ferry_fairseq_languages *languages, ferry_view tag, int32_t id)
{
    languages->tags[languages->count] = tag;
    languages->ids[languages->count++] = id;
}

ferry_status ferry_fairseq_list(ferry_import_plan *plan, const char *codes, int32_t first,
                                ferry_fairseq_languages *languages, ferry_error *error)
{
    FERRY_TRY(reserve_languages(plan, strlen(codes), languages, error));
    while (*codes != 0) {
        const size_t size = strcspn(codes, " ");
        add_language(languages, (ferry_view){codes, size}, first + languages->count);
        codes += size + (codes[size] == ' ');
    }
    return FERRY_OK;
}

/* The first list of special tokens that names languages, in its order: the ids follow the pieces. */
static ferry_status list_from_files(ferry_import_plan *plan, const char *form, int32_t first,
                                    ferry_fairseq_languages *languages, ferry_error *error)
{
    static const char *const files[] = {"tokenizer_config.json", "special_tokens_map.json"};
    static const char *const keys[] = {"additional_special_tokens", "extra_special_tokens"};
    languages->count = 0;
    for (int i = 0; i < 4 && languages->count == 0; i++) {
        ferry_json json;
        FERRY_TRY(ferry_import_optional_json(plan, files[i / 2], &json, error));
        const json_t *list = ferry_json_get(json, keys[i % 2]);
        if (!json_is_array(list)) continue;
        FERRY_TRY(reserve_languages(plan, json_array_size(list) + 1, languages, error));
        for (size_t j = 0; j < json_array_size(list); j++) {
            const json_t *item = json_array_get(list, j);
            if (json_is_object(item)) item = json_object_get(item, "content");
            const ferry_view tag = {json_string_value(item), json_string_length(item)};
            if (tag.data != NULL && ferry_import_has_form(tag, form))
                add_language(languages, tag, first + languages->count);
        }
    }
    return FERRY_OK;
}

static ferry_status find_languages(ferry_import_plan *plan, const added_tokens *added, const char *form,
                                   const char *built_in, int32_t first, ferry_fairseq_languages *languages,
                                   ferry_error *error)
{
    if (added->count > 0) {
        FERRY_TRY(reserve_languages(plan, added->count, languages, error));
        for (size_t i = 0; i < added->count; i++) {
            const added_token *token = &added->tokens[i];
            if (ferry_import_has_form(token->content, form)) add_language(languages, token->content, token->id);
        }
    } else {
        FERRY_TRY(list_from_files(plan, form, first, languages, error));
        if (languages->count == 0) FERRY_TRY(ferry_fairseq_list(plan, built_in, first, languages, error));
    }
    const int32_t last = languages->ids[languages->count - 1], V = plan->model.encoder.vocab_size;
    if (languages->ids[0] >= first && last < V) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_FORMAT,
                      "%s: %d languages with ids from %d to %d, but the pieces end before %d and the vocabulary "
                      "before %d",
                      ferry_import_source_path(plan->source), (int)languages->count, (int)languages->ids[0], (int)last,
                      (int)first, (int)V);
}

static void find_default_target(ferry_import_plan *plan)
{
    ferry_model_languages *languages = &plan->text.languages;
    int32_t *forced = &plan->generation.decoding.forced_first_id;
    for (int32_t i = 0; *forced >= 0 && i < languages->count; i++) {
        if (languages->target_ids[i] != *forced) continue;
        languages->default_target = i;
        *forced = -1;
    }
}

ferry_status ferry_fairseq_tags(ferry_import_plan *plan, const ferry_fairseq_languages *languages,
                                ferry_tag_place source_tag, const int32_t *more, int32_t more_count, ferry_error *error)
{
    const int32_t count = languages->count + more_count + plan->generation.eos_count + 2;
    int32_t *special = ferry_arena_alloc(&plan->arena, (size_t)count, sizeof *special);
    if (special == NULL) return ferry_fail_memory(error, "special ids", (size_t)count * sizeof *special);
    memcpy(special, languages->ids, (size_t)languages->count * sizeof *special);
    if (more_count > 0) memcpy(special + languages->count, more, (size_t)more_count * sizeof *special);
    memcpy(special + languages->count + more_count, plan->generation.eos_ids,
           (size_t)plan->generation.eos_count * sizeof *special);
    special[count - 2] = plan->generation.pad_id;
    special[count - 1] = plan->generation.start_id;
    FERRY_TRY(ferry_import_ids(plan, special, count, &plan->text.special_ids, &plan->text.special_count, error));
    FERRY_TRY(ferry_import_languages(plan, languages->tags, languages->ids, languages->count, source_tag,
                                     FERRY_TAG_FIRST, error));
    find_default_target(plan);
    return FERRY_OK;
}

/* ---- pieces ---- */

static ferry_status shifted_pieces(ferry_import_plan *plan, const added_tokens *added, ferry_error *error)
{
    const ferry_spm *spm = plan->segmenters[0];
    const int32_t count = ferry_spm_count(spm), V = plan->model.encoder.vocab_size;
    if (count < FIRST_PIECE || ferry_spm_unknown(spm) != 0 || count > V - SHIFT) {
        return ferry_fail(error, FERRY_ERROR_FORMAT,
                          "%s: the SentencePiece model has %" PRId32 " pieces (unknown: %" PRId32
                          "); expected unknown 0 and at most %" PRId32 " for a vocabulary of %" PRId32,
                          ferry_import_source_path(plan->source), count, ferry_spm_unknown(spm), V - SHIFT, V);
    }
    ferry_view *pieces = ferry_arena_alloc(&plan->arena, (size_t)V, sizeof *pieces);
    if (pieces == NULL) return ferry_fail_memory(error, "a table of pieces", (size_t)V * sizeof *pieces);
    memset(pieces, 0, (size_t)V * sizeof *pieces);
    for (int32_t i = FIRST_PIECE; i < count; i++) pieces[i + SHIFT] = ferry_spm_piece(spm, i);
    for (size_t i = 0; i < added->count; i++) {
        const added_token *token = &added->tokens[i];
        if (!token->special && token->id >= count + SHIFT) pieces[token->id] = token->content;
    }
    plan->text.source_pieces = plan->text.target_pieces = pieces;
    plan->text.source_count = plan->text.target_count = V;
    plan->text.source_unk_id = UNKNOWN_ID;
    return FERRY_OK;
}

/* <s>, <unk>, <mask>, and what files add. */
static ferry_status other_special(ferry_import_plan *plan, const added_tokens *added, int32_t mask, int32_t **ids,
                                  int32_t *count, ferry_error *error)
{
    *ids = ferry_arena_alloc(&plan->arena, added->count + 3, sizeof **ids);
    if (*ids == NULL) return ferry_fail_memory(error, "special ids", (added->count + 3) * sizeof **ids);
    *count = 0;
    (*ids)[(*count)++] = 0;
    (*ids)[(*count)++] = UNKNOWN_ID;
    if (added->count == 0 && mask < plan->model.encoder.vocab_size) (*ids)[(*count)++] = mask;
    for (size_t i = 0; i < added->count; i++) {
        if (added->tokens[i].special) (*ids)[(*count)++] = added->tokens[i].id;
    }
    return FERRY_OK;
}

ferry_status ferry_fairseq_text(ferry_import_plan *plan, const char *form, const char *built_in,
                                ferry_tag_place source_tag, ferry_error *error)
{
    ferry_model_text *text = &plan->text;
    ferry_fairseq_languages languages;
    added_tokens added;
    int32_t *special, special_count = 0;
    text->present = true;
    FERRY_TRY(ferry_huggingface_segmenter(plan, "sentencepiece.bpe.model", error));
    FERRY_TRY(read_added(plan, form, &added, error));
    FERRY_TRY(shifted_pieces(plan, &added, error));
    const int32_t first = ferry_spm_count(plan->segmenters[0]) + SHIFT;
    FERRY_TRY(find_languages(plan, &added, form, built_in, first, &languages, error));
    FERRY_TRY(other_special(plan, &added, first + languages.count, &special, &special_count, error));
    FERRY_TRY(ferry_import_ids(plan, plan->generation.eos_ids, 1, &text->suffix_ids, &text->suffix_count, error));
    return ferry_fairseq_tags(plan, &languages, source_tag, special, special_count, error);
}
