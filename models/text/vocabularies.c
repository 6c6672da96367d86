/* Loads SentencePiece models and tables of pieces into a plan, and lists ids. */
#include "vocabularies.h"

#include <inttypes.h>
#include <string.h>

#include "models/containers/vocabulary_files.h"
#include "tokenizer/sentencepiece_c.h"

enum { SPM_COST = 48 }; /* bytes of memory for one byte of the file: a piece of 7 bytes takes 300 */

ferry_status ferry_import_open_spm(ferry_import_plan *plan, ferry_view model, const char *file, ferry_spm **spm,
                                   ferry_error *error)
{
    if (!ferry_account_take(plan->account, SPM_COST * model.size))
        return ferry_fail_memory(error, "a SentencePiece model", model.size, SPM_COST);
    return ferry_spm_create(model, file, spm, error);
}

/* Loading the model here finds a broken file before anything is written. */
static ferry_status add_segmenter(ferry_import_plan *plan, const char *name, ferry_view *model, ferry_error *error)
{
    FERRY_TRY(ferry_source_map(plan->source, name, model, error));
    const char *file = plan->segmenter_files[plan->segmenter_count] = ferry_source_label(plan->source, name);
    FERRY_TRY(ferry_import_open_spm(plan, *model, file, &plan->segmenters[plan->segmenter_count], error));
    plan->segmenter_count++;
    return FERRY_OK;
}

ferry_status ferry_import_segmenters(ferry_import_plan *plan, const char *source, const char *target,
                                     ferry_error *error)
{
    ferry_tokenizer_config *text = &plan->text;
    FERRY_TRY(add_segmenter(plan, source, &text->source_model, error));
    text->target_model = target == NULL ? text->source_model : (ferry_view){"", 0};
    return target != NULL && *target != '\0' ? add_segmenter(plan, target, &text->target_model, error) : FERRY_OK;
}

ferry_status ferry_import_pieces(ferry_import_plan *plan, int32_t count, ferry_view **pieces, ferry_error *error)
{
    const size_t bytes = (size_t)count * sizeof **pieces;
    *pieces = ferry_arena_alloc(&plan->arena, (size_t)count, sizeof **pieces);
    if (*pieces == NULL) return ferry_fail_memory(error, "a table of pieces", bytes, 1);
    memset(*pieces, 0, bytes);
    return FERRY_OK;
}

ferry_status ferry_import_vocabulary(ferry_import_plan *plan, ferry_json json, int32_t count,
                                     const ferry_texts **pieces, ferry_error *error)
{
    const char *piece;
    json_t *value;
    ferry_view *table;
    FERRY_TRY(ferry_import_pieces(plan, count, &table, error));
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
    return ferry_texts_join(&plan->arena, table, (size_t)count, pieces, error);
}

/* Rows without a word that every family has: language tags (NLLB's 202), 100 extra ids, sizes rounded up. */
enum { SPARE_ROWS = 256, SPARE_SHARE = 16 };

ferry_status ferry_import_check_rows(const ferry_import_plan *plan, const char *file, int32_t words, int32_t rows,
                                     ferry_error *error)
{
    const char *weights =
        plan->shard_count == 0 && plan->weights.count > 0 ? plan->weights.entries[0].file : plan->source->path;
    if (words <= rows && rows - words <= SPARE_ROWS + rows / SPARE_SHARE) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_FORMAT,
                      "%s: %" PRId32 " words for the %" PRId32 " rows of embeddings in %s: it is another model's", file,
                      words, rows, weights);
}

ferry_status ferry_import_own_vocabulary(ferry_import_plan *plan, size_t segmenter, int32_t count,
                                         const ferry_texts **pieces, int32_t *unknown_id, ferry_error *error)
{
    const size_t used = segmenter < plan->segmenter_count ? segmenter : 0;
    const ferry_spm *spm = plan->segmenters[used];
    const char *file = plan->segmenter_files[used];
    ferry_view *table;
    FERRY_TRY(ferry_import_check_rows(plan, file, ferry_spm_count(spm), count, error));
    FERRY_TRY(ferry_import_pieces(plan, count, &table, error));
    for (int32_t i = 0; i < ferry_spm_count(spm); i++) table[i] = ferry_spm_piece(spm, i);
    *unknown_id = ferry_spm_unknown(spm);
    return ferry_texts_join(&plan->arena, table, (size_t)count, pieces, error);
}

void ferry_import_one_vocabulary(ferry_import_plan *plan, const ferry_texts *pieces, int32_t unknown_id)
{
    ferry_tokenizer_config *text = &plan->text;
    text->present = true;
    text->source_pieces = text->target_pieces = pieces;
    text->source_count = text->target_count = plan->model.decoder.vocab_size;
    text->source_unk_id = unknown_id;
}

ferry_status ferry_import_merges(ferry_import_plan *plan, const char *name, const char *file, bool fsmt,
                                 ferry_error *error)
{
    ferry_tokenizer_config *text = &plan->text;
    ferry_view bytes;
    ferry_bpe_codes codes;
    FERRY_TRY(ferry_source_map(plan->source, name, &bytes, error));
    FERRY_TRY(ferry_bpe_codes_read(bytes, file, fsmt, &plan->arena, &codes, error));
    text->kind = fsmt                 ? FERRY_TOKENIZER_FSMT
                 : codes.version == 1 ? FERRY_TOKENIZER_SUBWORD_NMT_1
                                      : FERRY_TOKENIZER_SUBWORD_NMT_2;
    text->source_merges = text->target_merges = codes.merges;
    text->source_merge_count = text->target_merge_count = codes.count;
    return FERRY_OK;
}

int32_t ferry_import_piece_id(ferry_json json, const char *piece)
{
    const json_t *id = ferry_json_get(json, piece);
    return id != NULL ? (int32_t)json_integer_value(id) : -1;
}

void *ferry_import_grow(ferry_import_plan *plan, const void *old, int32_t count, int32_t more, size_t size)
{
    size_t capacity = 1, needed = (size_t)count + (size_t)more;
    while (capacity < (size_t)count) capacity *= 2;
    if (old != NULL && needed <= capacity) return (void *)(uintptr_t)old;
    while (capacity < needed) capacity *= 2;
    void *grown = ferry_arena_alloc(&plan->arena, capacity, size);
    if (grown != NULL && count > 0) memcpy(grown, old, (size_t)count * size);
    return grown;
}

ferry_status ferry_import_ids(ferry_import_plan *plan, const int32_t *ids, int32_t count, const int32_t **list,
                              int32_t *list_count, ferry_error *error)
{
    int32_t *result = ferry_import_grow(plan, *list, *list_count, count, sizeof *result), kept = *list_count;
    if (result == NULL) return ferry_fail_memory(error, "a list of ids", (size_t)count, sizeof *result);
    for (int32_t i = 0; i < count; i++) {
        bool known = ids[i] < 0;
        for (int32_t j = 0; j < kept; j++) known = known || result[j] == ids[i];
        if (known) continue;
        if (kept == FERRY_IMPORT_MAX_IDS) {
            return ferry_fail(error, FERRY_ERROR_LIMIT, "%s: a list of more than %d ids", plan->source->path,
                              (int)FERRY_IMPORT_MAX_IDS);
        }
        result[kept++] = ids[i];
    }
    *list = result;
    *list_count = kept;
    return FERRY_OK;
}

ferry_status ferry_import_suppress(ferry_import_plan *plan, const int32_t *ids, int32_t count, ferry_error *error)
{
    ferry_search_options *search = &plan->generation.decoding.search;
    int32_t suppressed = (int32_t)search->suppressed_count;
    FERRY_TRY(ferry_import_ids(plan, ids, count, &search->suppressed_ids, &suppressed, error));
    search->suppressed_count = (size_t)suppressed;
    return FERRY_OK;
}

ferry_status ferry_import_special(ferry_import_plan *plan, const int32_t *ids, int32_t count, ferry_error *error)
{
    return ferry_import_ids(plan, ids, count, &plan->text.special_ids, &plan->text.special_count, error);
}

ferry_status ferry_import_special_ids(ferry_import_plan *plan, ferry_error *error)
{
    const ferry_generation *ids = &plan->generation;
    ferry_tokenizer_config *text = &plan->text;
    const int32_t more[] = {ids->pad_id, ids->start_id};
    FERRY_TRY(ferry_import_ids(plan, ids->eos_ids, 1, &text->suffix_ids, &text->suffix_count, error));
    FERRY_TRY(ferry_import_special(plan, ids->eos_ids, ids->eos_count, error));
    return ferry_import_special(plan, more, 2, error);
}
