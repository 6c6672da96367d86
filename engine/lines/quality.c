#include "quality.h"

#include <stdlib.h>

#include "base/utf8.h"
#include "model.h"
#include "tokenizer/pieces.h"
#include "tokenizer/unicode.h"
#include "result.h"

enum {
    LOOP_IDS = 16,  /* maximum length of a repeated sequence in a translation; in a source, twice that */
    LOOP_TIMES = 2, /* a repeat count above LOOP_TIMES times the source's own is a loop */
    /* A translation is short if its source has at least SHORT_SOURCE tokens, special tokens included, and the
     * translation fewer than 1/SHORT_PARTS of that number. */
    SHORT_PARTS = 3,
    SHORT_SOURCE = 16
};

/* ---- a source ---- */

ferry_visibility ferry_text_visibility(ferry_view text)
{
    enum { BLANK = 0x2581 };
    ferry_visibility visibility = FERRY_VISIBILITY_NONE;
    for (size_t at = 0; at < text.size;) {
        uint32_t c;
        if (!ferry_utf8_next(text, &at, &c)) c = 0xFFFD;
        const ferry_character kind = ferry_unicode_character(c);
        if (kind <= FERRY_CHARACTER_LETTER) return FERRY_VISIBILITY_LETTER;
        if (c != BLANK && !ferry_utf8_is_space(c) && !ferry_unicode_is_control(c) && kind != FERRY_CHARACTER_MARK)
            visibility = FERRY_VISIBILITY_SYMBOL;
    }
    return visibility;
}

ferry_piece_counts ferry_count_pieces(const ferry_tokenizer_config *text, const ferry_ids *ids)
{
    ferry_piece_counts counts = {0};
    for (size_t i = 0; i < ids->count; i++) {
        const ferry_view piece = ferry_string_table_at(text->source_pieces, (size_t)ids->ids[i]);
        if (ids->ids[i] == text->source_unk_id)
            counts.unknown++;
        else
            counts.visible += ferry_text_visibility(piece) != FERRY_VISIBILITY_NONE;
    }
    return counts;
}

size_t ferry_ids_find(const int32_t *ids, size_t count, int32_t id)
{
    size_t i = 0;
    while (i < count && ids[i] != id) i++;
    return i;
}

/* Whether a piece contains the character. "▁" in a piece stands for a blank. */
static bool has_character(const ferry_string_table *pieces, const ferry_ids *ids, ferry_view character)
{
    bool found = false;
    for (size_t i = 0; i < ids->count && !ferry_view_is(character, FERRY_PIECE_BLANK); i++)
        found = found || ferry_view_contains_view(ferry_string_table_at(pieces, (size_t)ids->ids[i]), character);
    return found;
}

size_t ferry_model_reads(const ferry_model *model, ferry_text text)
{
    const ferry_view view = {text.data, text.size};
    ferry_ids ids = {0};
    size_t at = 0, next = 0;
    if (model == NULL || model->tokenizer == NULL || text.data == NULL) return text.size;
    for (; at < view.size; at = next) {
        const char c = view.data[at];
        uint32_t code_point;
        ferry_utf8_next(view, &next, &code_point);
        /* Every model has a piece for each of these characters. */
        if ((c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') || c == ' ') continue;
        const ferry_view character = {view.data + at, next - at};
        if (ferry_tokenizer_encode(model->tokenizer, character, &ids, NULL) != FERRY_OK) continue; /* out of memory */
        if (ferry_ids_find(ids.ids, ids.count, model->file.text.source_unk_id) < ids.count) break;
        if (code_point >= 0x80 && (ferry_unicode_is_sign(code_point) || ferry_unicode_is_control(code_point)) &&
            !has_character(model->file.text.source_pieces, &ids, character))
            break;
    }
    free(ids.ids);
    return at;
}

/* ---- a translation ---- */

ferry_repetition ferry_repetition_find(const int32_t *ids, size_t count, size_t max)
{
    ferry_repetition found = {.length = 0, .times = 1};
    for (size_t n = 1; n <= max; n++)
        for (size_t i = 0, equal = 0; i + n < count; i++) {
            equal = ids[i] == ids[i + n] ? equal + 1 : 0;
            if (1 + equal / n > found.times) found = (ferry_repetition){.length = n, .times = 1 + equal / n};
        }
    return found;
}

void ferry_quality_compare(ferry_quality_signs *quality, const ferry_ids *source,
                           const ferry_result_hypothesis *translation, bool has_text, int32_t unknown_id)
{
    const size_t length = (size_t)translation->length;
    const ferry_repetition loop = ferry_repetition_find(translation->ids, length, LOOP_IDS),
                           given = ferry_repetition_find(source->ids, source->count, 2 * (size_t)LOOP_IDS);
    quality->blank = has_text && ferry_utf8_is_blank((ferry_view){translation->text, translation->size});
    const bool is_short = quality->flags == 0 && source->count >= SHORT_SOURCE && SHORT_PARTS * length < source->count;
    if (quality->blank || is_short) quality->flags |= FERRY_QUALITY_SHORT;
    for (size_t i = 0; i < length; i++) quality->unknowns += unknown_id >= 0 && translation->ids[i] == unknown_id;
    if (quality->unknowns > 0) quality->flags |= FERRY_QUALITY_UNKNOWN;
    if (loop.times <= LOOP_TIMES * given.times) return;
    quality->flags |= FERRY_QUALITY_LOOP;
    quality->loop = loop;
}
