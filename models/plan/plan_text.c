#include <inttypes.h>
#include <string.h>

#include "tokenizer/sentencepiece_c.h"
#include "plan.h"
#include "base/printable.h"

/* Loading the model here tells a broken file from a good one before anything is written. */
static ferry_status add_segmenter(ferry_import_plan *plan, const char *name, ferry_view *model, ferry_error *error)
{
    FERRY_TRY(ferry_import_map(plan, name, model, error));
    const char *file = ferry_import_source_label(plan->source, name);
    FERRY_TRY(ferry_spm_create(*model, file, &plan->segmenters[plan->segmenter_count], error));
    plan->segmenter_count++;
    return FERRY_OK;
}

ferry_status ferry_import_segmenters(ferry_import_plan *plan, const char *source, const char *target,
                                     ferry_error *error)
{
    ferry_model_text *text = &plan->text;
    FERRY_TRY(add_segmenter(plan, source, &text->source_model, error));
    text->target_model = text->source_model;
    return target != NULL ? add_segmenter(plan, target, &text->target_model, error) : FERRY_OK;
}

static ferry_status allocate_pieces(ferry_import_plan *plan, int32_t count, ferry_view **pieces, ferry_error *error)
{
    const size_t bytes = (size_t)count * sizeof **pieces;
    *pieces = ferry_arena_alloc(&plan->arena, (size_t)count, sizeof **pieces);
    if (*pieces == NULL) return ferry_fail_memory(error, "a table of pieces", bytes);
    memset(*pieces, 0, bytes);
    return FERRY_OK;
}

ferry_status ferry_import_vocabulary(ferry_import_plan *plan, ferry_json json, int32_t count, const ferry_view **pieces,
                                     ferry_error *error)
{
    const char *piece;
    json_t *value;
    ferry_view *table;
    FERRY_TRY(allocate_pieces(plan, count, &table, error));
    json_object_foreach ((json_t *)(uintptr_t)json.object, piece, value) {
        const ferry_view view = {piece, strlen(piece)};
        const json_int_t id = json_integer_value(value);
        if (!json_is_integer(value) || id < 0 || id >= count) {
            return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: piece '%s': expected an id from 0 to %" PRId32, json.file,
                              ferry_printable_view(view).text, count - 1);
        }
        if (table[id].data != NULL) {
            return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: pieces '%s' and '%s' both have id %d", json.file,
                              ferry_printable_view(table[id]).text, ferry_printable_view(view).text, (int)id);
        }
        table[id] = view;
    }
    *pieces = table;
    return FERRY_OK;
}

ferry_status ferry_import_own_vocabulary(ferry_import_plan *plan, size_t segmenter, int32_t count,
                                         const ferry_view **pieces, int32_t *unknown_id, ferry_error *error)
{
    const ferry_spm *spm = plan->segmenters[segmenter < plan->segmenter_count ? segmenter : 0];
    ferry_view *table;
    if (ferry_spm_count(spm) > count) {
        return ferry_fail(error, FERRY_ERROR_FORMAT,
                          "%s: the SentencePiece model has %" PRId32 " pieces, the model %" PRId32 " words",
                          ferry_import_source_path(plan->source), ferry_spm_count(spm), count);
    }
    FERRY_TRY(allocate_pieces(plan, count, &table, error));
    for (int32_t i = 0; i < ferry_spm_count(spm); i++) table[i] = ferry_spm_piece(spm, i);
    *pieces = table;
    *unknown_id = ferry_spm_unknown(spm);
    return FERRY_OK;
}

int32_t ferry_import_piece_id(ferry_json json, const char *piece)
{
    const json_t *id = ferry_json_get(json, piece);
    return id != NULL ? (int32_t)json_integer_value(id) : -1;
}

ferry_status ferry_import_language_pair(ferry_import_plan *plan, const char *source, const char *target,
                                        ferry_error *error)
{
    static const int32_t roles[] = {FERRY_LANGUAGE_SOURCE, FERRY_LANGUAGE_TARGET};
    const ferry_view tags[] = {{source, strlen(source)}, {target, strlen(target)}};
    FERRY_TRY(ferry_import_languages(plan, tags, NULL, 2, FERRY_TAG_NONE, FERRY_TAG_NONE, error));
    plan->text.languages.roles = roles;
    plan->text.languages.default_source = 0;
    plan->text.languages.default_target = 1;
    return FERRY_OK;
}

ferry_status ferry_import_ids(ferry_import_plan *plan, const int32_t *ids, int32_t count, const int32_t **list,
                              int32_t *list_count, ferry_error *error)
{
    int32_t *result = ferry_arena_alloc(&plan->arena, (size_t)count, sizeof *result);
    if (result == NULL) return ferry_fail_memory(error, "a list of ids", (size_t)count * sizeof *result);
    int32_t kept = 0;
    for (int32_t i = 0; i < count; i++) {
        bool known = ids[i] < 0;
        for (int32_t j = 0; j < kept; j++) known = known || result[j] == ids[i];
        if (!known) result[kept++] = ids[i];
    }
    *list = result;
    *list_count = kept;
    return FERRY_OK;
}

ferry_status ferry_import_suppress(ferry_import_plan *plan, const int32_t *ids, int32_t count, ferry_error *error)
{
    ferry_options *decoding = &plan->generation.decoding;
    int32_t suppressed = 0;
    FERRY_TRY(ferry_import_ids(plan, ids, count, &decoding->suppressed_ids, &suppressed, error));
    decoding->suppressed_count = (size_t)suppressed;
    return FERRY_OK;
}
