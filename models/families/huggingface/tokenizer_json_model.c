/* "model" of tokenizer.json: Unigram and BPE. */
#include "tokenizer_json.h"

#include <math.h>

static ferry_status check_id(const ferry_tokenizer_json *json, const ferry_json_place *place, size_t count,
                             ferry_error *error)
{
    if (count <= (size_t)json->piece_count) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: '%s': expected at most %d pieces, as the embeddings have, found %zu",
                      place->file, place->path.text, (int)json->piece_count, count);
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
    FERRY_TRY(check_id(json, &vocabulary, count, error));
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
    json->word_count = (int32_t)count;
    return FERRY_OK;
}

ferry_status ferry_tokenizer_json_model(ferry_tokenizer_json *json, ferry_error *error)
{
    const ferry_json_place model = ferry_json_place_get(&json->root, "model"),
                           old = ferry_json_place_get(&model, "vocab");
    /* The type is younger than the two forms of "vocab". */
    const bool untyped = ferry_json_place_get(&model, "type").value == NULL;
    if (ferry_json_place_is(&model, "Unigram") || (untyped && json_is_array(old.value)))
        return read_unigram(json, &model, error);
    return ferry_json_place_fail(&model, FERRY_ERROR_UNSUPPORTED, "a model Unigram or BPE", error);
}
