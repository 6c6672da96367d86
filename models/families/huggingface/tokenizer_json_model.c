/* "model" of tokenizer.json: Unigram and BPE. */
#include "tokenizer_json.h"

#include <math.h>
#include <string.h>

#include "base/utf8.h"
#include "tokenizer/pieces.h"

static ferry_status check_count(const ferry_tokenizer_json *json, const ferry_json_place *place, size_t count,
                                ferry_error *error)
{
    if (count <= (size_t)json->piece_count) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_FORMAT,
                      "%s: '%s': expected at most %d pieces, as the embeddings have, found %zu", place->file,
                      place->path.text, (int)json->piece_count, count);
}

/* All words are known. */
static ferry_status join_words(ferry_tokenizer_json *json, size_t count, ferry_error *error)
{
    json->word_count = (int32_t)count;
    return ferry_texts_join(&json->plan->arena, json->pieces, count, &json->words, error);
}

/* ---- Unigram ---- */

/* ["piece", -3.5] */
static ferry_status read_pair(ferry_tokenizer_json *json, const ferry_json_place *pair, size_t id, double *score,
                              ferry_error *error)
{
    const ferry_json_place text = ferry_json_place_at(pair, 0), number = ferry_json_place_at(pair, 1);
    if (!json_is_array(pair->value) || json_array_size(pair->value) != 2)
        return ferry_json_place_fail(pair, FERRY_ERROR_FORMAT, "a piece and its score", error);
    FERRY_TRY(ferry_json_place_text(&text, &json->pieces[id], error));
    if (json->pieces[id].size > FERRY_UNIGRAM_MAX_PIECE)
        return ferry_json_place_fail(&text, FERRY_ERROR_UNSUPPORTED, "at most 512 bytes", error);
    if (!json_is_number(number.value)) return ferry_json_place_fail(&number, FERRY_ERROR_FORMAT, "a number", error);
    *score = json_number_value(number.value);
    return FERRY_OK;
}

static ferry_status read_unigram(ferry_tokenizer_json *json, const ferry_json_place *model, ferry_error *error)
{
    ferry_model_text *text = &json->plan->text;
    const ferry_json_place vocabulary = ferry_json_place_get(model, "vocab"),
                           unknown = ferry_json_place_get(model, "unk_id");
    const size_t count = json_array_size(vocabulary.value);
    if (!json_is_array(vocabulary.value) || count == 0)
        return ferry_json_place_fail(&vocabulary, FERRY_ERROR_FORMAT, "a list of pieces", error);
    FERRY_TRY(check_count(json, &vocabulary, count, error));
    FERRY_TRY(ferry_json_place_integer(&unknown, 0, (int32_t)count - 1, &text->source_unk_id, error));
    FERRY_TRY(ferry_json_place_flag_of(model, "byte_fallback", &text->byte_fallback, error));
    double *scores = ferry_arena_alloc(&json->plan->arena, (size_t)json->piece_count, sizeof *scores);
    if (scores == NULL) return ferry_fail_memory(error, "scores", (size_t)json->piece_count * sizeof *scores);
    for (size_t id = 0; id < (size_t)json->piece_count; id++) {
        const ferry_json_place pair = ferry_json_place_at(&vocabulary, id);
        scores[id] = NAN;
        if (id < count) FERRY_TRY(read_pair(json, &pair, id, &scores[id], error));
    }
    text->scores = scores;
    return join_words(json, count, error);
}

/* ---- BPE ---- */

static ferry_status read_vocabulary(ferry_tokenizer_json *json, const ferry_json_place *vocabulary, ferry_error *error)
{
    const char *piece;
    json_t *value;
    const size_t count = json_object_size(vocabulary->value);
    FERRY_TRY(check_count(json, vocabulary, count, error));
    json_object_foreach ((json_t *)(uintptr_t)vocabulary->value, piece, value) {
        const size_t size = strlen(piece); /* keys have no NUL */
        ferry_json_place place = {value, vocabulary->file, vocabulary->path};
        place.path = ferry_name_format("%s.%s", place.path.text, ferry_printable_view((ferry_view){piece, size}).text);
        int32_t id;
        FERRY_TRY(ferry_json_place_integer(&place, 0, (int32_t)count - 1, &id, error));
        if (json->pieces[id].data != NULL)
            return ferry_json_place_fail(&place, FERRY_ERROR_FORMAT, "an id that no other piece has", error);
        json->pieces[id] = (ferry_view){piece, size};
    }
    return join_words(json, count, error);
}

/* Copies a piece of a pair to *end. */
static ferry_status copy_piece(const ferry_json_place *place, char **end, ferry_error *error)
{
    ferry_view text;
    FERRY_TRY(ferry_json_place_text(place, &text, error));
    if (ferry_view_contains(text, " "))
        return ferry_json_place_fail(place, FERRY_ERROR_UNSUPPORTED, "a text without a blank", error);
    if (text.size > 0) memcpy(*end, text.data, text.size);
    *end += text.size;
    return FERRY_OK;
}

/* "left right", or ["left", "right"] at *end. */
static ferry_status read_merge(const ferry_json_place *merge, char **end, ferry_view *text, ferry_error *error)
{
    const ferry_json_place left = ferry_json_place_at(merge, 0), right = ferry_json_place_at(merge, 1);
    if (json_is_string(merge->value)) return ferry_json_place_text(merge, text, error);
    if (json_array_size(merge->value) != 2)
        return ferry_json_place_fail(merge, FERRY_ERROR_FORMAT, "two pieces", error);
    char *begin = *end;
    FERRY_TRY(copy_piece(&left, end, error));
    *(*end)++ = ' ';
    FERRY_TRY(copy_piece(&right, end, error));
    *text = (ferry_view){begin, (size_t)(*end - begin)};
    return FERRY_OK;
}

static size_t pair_bytes(const json_t *list)
{
    const json_t *merge;
    size_t bytes = 1, i;
    json_array_foreach (list, i, merge)
        bytes += json_string_length(json_array_get(merge, 0)) + json_string_length(json_array_get(merge, 1)) + 1;
    return bytes;
}

/* A text that says which version the merges are is none of them. */
static bool is_version(const json_t *merge)
{
    return json_is_string(merge) && ferry_text_begins(json_string_value(merge), "#version");
}

static ferry_status read_merges(ferry_tokenizer_json *json, const ferry_json_place *list, ferry_error *error)
{
    ferry_arena *arena = &json->plan->arena;
    const size_t count = json_array_size(list->value), bytes = pair_bytes(list->value);
    if (!json_is_array(list->value)) return ferry_json_place_fail(list, FERRY_ERROR_FORMAT, "a list", error);
    if (count > FERRY_BPE_MAX_MERGES)
        return ferry_fail(error, FERRY_ERROR_LIMIT, "%s: '%s': expected at most %d merges, found %zu", list->file,
                          list->path.text, (int)FERRY_BPE_MAX_MERGES, count);
    ferry_view *merges = ferry_arena_alloc(arena, count + 1, sizeof *merges);
    char *end = ferry_arena_alloc(arena, bytes, 1);
    int32_t kept = 0;
    if (merges == NULL || end == NULL) return ferry_fail_memory(error, "merges", bytes + count * sizeof *merges);
    for (size_t i = 0; i < count; i++) {
        const ferry_json_place merge = ferry_json_place_at(list, i);
        if (!is_version(merge.value)) FERRY_TRY(read_merge(&merge, &end, &merges[kept++], error));
    }
    ferry_model_text *text = &json->plan->text;
    FERRY_TRY(ferry_texts_join(arena, merges, (size_t)kept, &text->source_merges, error));
    text->target_merges = text->source_merges;
    text->source_merge_count = text->target_merge_count = kept;
    return FERRY_OK;
}

/* Where the package leaves out what no piece covers, or chooses by chance, Ferry has no equal. */
static ferry_status read_choices(ferry_tokenizer_json *json, const ferry_json_place *model, ferry_error *error)
{
    ferry_model_text *text = &json->plan->text;
    const ferry_json_place dropout = ferry_json_place_get(model, "dropout"),
                           prefix = ferry_json_place_get(model, "continuing_subword_prefix"),
                           end = ferry_json_place_get(model, "end_of_word_suffix"),
                           unknown = ferry_json_place_get(model, "unk_token");
    ferry_view piece;
    if (dropout.value != NULL && (!json_is_number(dropout.value) || json_number_value(dropout.value) != 0))
        return ferry_json_place_fail(&dropout, FERRY_ERROR_UNSUPPORTED, "null or 0", error);
    if (prefix.value != NULL && (!json_is_string(prefix.value) || json_string_length(prefix.value) > 0))
        return ferry_json_place_fail(&prefix, FERRY_ERROR_UNSUPPORTED, "null or ''", error);
    if (end.value != NULL) FERRY_TRY(ferry_json_place_text(&end, &text->word_end, error));
    FERRY_TRY(ferry_json_place_flag_of(model, "fuse_unk", &text->fuse_unknown, error));
    FERRY_TRY(ferry_json_place_flag_of(model, "byte_fallback", &text->byte_fallback, error));
    FERRY_TRY(ferry_json_place_flag_of(model, "ignore_merges", &text->whole_words, error));
    if (unknown.value == NULL) return ferry_json_place_fail(&unknown, FERRY_ERROR_UNSUPPORTED, "a piece", error);
    FERRY_TRY(ferry_json_place_text(&unknown, &piece, error));
    for (int32_t id = 0; id < json->word_count; id++) {
        if (!ferry_view_equal(json->pieces[id], piece)) continue;
        text->source_unk_id = id;
        return FERRY_OK;
    }
    return ferry_json_place_fail(&unknown, FERRY_ERROR_FORMAT, "a piece of the vocabulary", error);
}

/* Finds merges of pieces that there are not. */
static ferry_status check_merges(const ferry_tokenizer_json *json, ferry_error *error)
{
    const ferry_model_text *text = &json->plan->text;
    ferry_vocabulary vocabulary;
    ferry_bpe *bpe;
    FERRY_TRY(ferry_vocabulary_create(json->words, json->word_count, &vocabulary, error));
    const ferry_bpe_config config = {.kind = FERRY_BPE_TOKENIZERS,
                                     .merges = text->source_merges,
                                     .merge_count = (size_t)text->source_merge_count,
                                     .vocabulary = &vocabulary,
                                     .unknown = text->source_unk_id,
                                     .word_end = text->word_end,
                                     .fuse_unknown = text->fuse_unknown,
                                     .byte_fallback = text->byte_fallback,
                                     .whole_words = text->whole_words};
    const ferry_status status = ferry_bpe_create(&config, json->root.file, &bpe, error);
    ferry_bpe_destroy(bpe);
    ferry_vocabulary_destroy(&vocabulary);
    return status;
}

static ferry_status read_bpe(ferry_tokenizer_json *json, const ferry_json_place *model, ferry_error *error)
{
    const ferry_json_place vocabulary = ferry_json_place_get(model, "vocab"),
                           merges = ferry_json_place_get(model, "merges");
    if (json_object_size(vocabulary.value) == 0)
        return ferry_json_place_fail(&vocabulary, FERRY_ERROR_FORMAT, "pieces and their ids", error);
    FERRY_TRY(read_vocabulary(json, &vocabulary, error));
    FERRY_TRY(read_merges(json, &merges, error));
    FERRY_TRY(read_choices(json, model, error));
    json->plan->text.kind = FERRY_TOKENIZER_BPE;
    return check_merges(json, error);
}

/* ---- which ---- */

ferry_status ferry_tokenizer_json_model(ferry_tokenizer_json *json, ferry_error *error)
{
    const ferry_json_place model = ferry_json_place_get(&json->root, "model"),
                           words = ferry_json_place_get(&model, "vocab"),
                           merges = ferry_json_place_get(&model, "merges");
    /* Old files lack the type. */
    const bool untyped = ferry_json_place_get(&model, "type").value == NULL;
    if (ferry_json_place_is(&model, "Unigram") || (untyped && json_is_array(words.value)))
        return read_unigram(json, &model, error);
    if (ferry_json_place_is(&model, "BPE") || (untyped && merges.value != NULL)) return read_bpe(json, &model, error);
    return ferry_json_place_fail(&model, FERRY_ERROR_UNSUPPORTED, "a model Unigram or BPE", error);
}
