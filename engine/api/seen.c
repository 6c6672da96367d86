#include "seen.h"

#include <stdlib.h>

#include "base/utf8.h"
#include "model.h"
#include "tokenizer/unicode.h"

ferry_sight ferry_text_sight(ferry_view text)
{
    enum { BLANK = 0x2581 };
    ferry_sight sight = FERRY_SIGHT_NOTHING;
    for (size_t at = 0; at < text.size;) {
        uint32_t c;
        if (!ferry_utf8_next(text, &at, &c)) c = 0xFFFD;
        const ferry_character kind = ferry_unicode_character(c);
        if (kind <= FERRY_CHARACTER_LETTER) return FERRY_SIGHT_LETTER;
        if (c != BLANK && !ferry_utf8_is_space(c) && !ferry_unicode_is_control(c) && kind != FERRY_CHARACTER_MARK)
            sight = FERRY_SIGHT_OTHER;
    }
    return sight;
}

ferry_seen ferry_seen_count(const ferry_model_text *text, const ferry_ids *ids)
{
    ferry_seen seen = {0};
    for (size_t i = 0; i < ids->count; i++) {
        const ferry_view piece = ferry_texts_at(text->source_pieces, (size_t)ids->ids[i]);
        if (ids->ids[i] == text->source_unk_id)
            seen.unknown++;
        else
            seen.known += ferry_text_sight(piece) != FERRY_SIGHT_NOTHING;
    }
    return seen;
}

/* ---- characters ---- */

static bool is_alphanumeric(char c)
{
    return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') || c == ' ';
}

/* Whether there is a piece for a character; without memory, there is one. */
static bool reads(const ferry_model *model, ferry_view character, ferry_ids *ids)
{
    ids->count = 0;
    if (ferry_tokenizer_encode(model->tokenizer, character, ids, NULL) != FERRY_OK) return true;
    for (size_t i = 0; i < ids->count; i++)
        if (ids->ids[i] == model->file.text.source_unk_id) return false;
    return true;
}

size_t ferry_model_reads(const ferry_model *model, ferry_text text)
{
    const ferry_view view = {text.data, text.size};
    ferry_ids ids = {0};
    size_t at = 0, next = 0;
    if (model == NULL || model->tokenizer == NULL || text.data == NULL) return text.size;
    while (at < view.size) {
        uint32_t c;
        ferry_utf8_next(view, &next, &c);
        if (!is_alphanumeric(view.data[at]) && !reads(model, (ferry_view){view.data + at, next - at}, &ids)) break;
        at = next;
    }
    free(ids.ids);
    return at;
}
