#include "seen.h"

#include "base/utf8.h"
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
