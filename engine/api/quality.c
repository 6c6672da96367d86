/* What ids and characters say about a text: what a model sees of it, and signs that a translation is wrong. */
#include <stdlib.h>

#include "base/utf8.h"
#include "job.h"
#include "tokenizer/unicode.h"

enum {
    LOOP_IDS = 16,     /* of a translation that may be repeated; of a source, twice as many */
    LOOP_TIMES = 2,    /* more than so often as in the source is a loop */
    SHORT_PARTS = 3,   /* a translation is short if it has less than 1/SHORT_PARTS of the source's tokens, … */
    SHORT_SOURCE = 16, /* … and these are so many, those that the model adds included */
};

/* ---- a source ---- */

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

ferry_seen ferry_seen_count(const ferry_tokenizer_config *text, const ferry_ids *ids)
{
    ferry_seen seen = {0};
    for (size_t i = 0; i < ids->count; i++)
        if (ids->ids[i] == text->source_unk_id)
            seen.unknown++;
        else
            seen.known +=
                ferry_text_sight(ferry_texts_at(text->source_pieces, (size_t)ids->ids[i])) != FERRY_SIGHT_NOTHING;
    return seen;
}

size_t ferry_ids_find(const int32_t *ids, size_t count, int32_t id)
{
    size_t i = 0;
    while (i < count && ids[i] != id) i++;
    return i;
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
        /* Every model has a piece for these. */
        if ((c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') || c == ' ') continue;
        const ferry_view character = {view.data + at, next - at};
        if (ferry_tokenizer_encode(model->tokenizer, character, &ids, NULL) != FERRY_OK) continue; /* without memory */
        if (ferry_ids_find(ids.ids, ids.count, model->file.text.source_unk_id) < ids.count) break;
    }
    free(ids.ids);
    return at;
}

/* ---- a translation ---- */

ferry_repetition ferry_repetition_find(const int32_t *ids, size_t count, size_t most)
{
    ferry_repetition found = {.length = 0, .times = 1};
    for (size_t n = 1; n <= most; n++)
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

/* ---- warnings ---- */

/* What a warning says about a part's translation; `kind` 0: that it replaces another one. */
static ferry_name words_of(const ferry_part *part, int kind)
{
    const ferry_quality_signs *quality = &part->quality;
    ferry_name source = {""};
    switch (kind) {
    case FERRY_QUALITY_CUT: return ferry_name_format("ended at max_length %d", (int)quality->limit);
    case FERRY_QUALITY_LOOP:
        if (quality->loop.length == 1)
            return ferry_name_format("repeats itself: the same token %zu times in a row", quality->loop.times);
        return ferry_name_format("repeats itself: the same %zu tokens %zu times in a row", quality->loop.length,
                                 quality->loop.times);
    case FERRY_QUALITY_UNKNOWN:
        if (part->ids.count == 0)
            return ferry_name_format("is the text itself: the model knows none of its characters");
        if (part->unknowns > 0)
            source = ferry_name_format("is of a text with unknown tokens: %zu, the first '%s'", part->unknowns,
                                       ferry_printable_view(part->first_unknown).text);
        if (quality->unknowns == 0) return source;
        return ferry_name_format("%s%shas unknown words: %zu; --replace-unknowns puts the source's in their place",
                                 source.text, part->unknowns > 0 ? "; it " : "", quality->unknowns);
    case FERRY_QUALITY_SHORT:
        if (quality->blank) return ferry_name_format("is blank");
        return ferry_name_format("has %d tokens, the source %zu", (int)part->result.hypotheses[0].length,
                                 part->ids.count);
    default: return ferry_name_format("replaces one that repeated itself");
    }
}

ferry_status ferry_parts_warn(const ferry_parts *parts, const ferry_translator *translator, ferry_result_line *line,
                              ferry_error *error)
{
    static const int kinds[] = {FERRY_QUALITY_CUT, FERRY_QUALITY_LOOP, FERRY_QUALITY_SHORT, FERRY_QUALITY_UNKNOWN, 0};
    bool cut = translator->options.split == FERRY_SPLIT_NONE;
    size_t tokens = 0;
    for (size_t i = 0; i < parts->count; i++) {
        tokens += parts->parts[i].ids.count;
        cut = cut || parts->parts[i].cut;
    }
    if (parts->count > 1 && cut)
        FERRY_TRY(ferry_result_line_warn(line, error, "split into %zu parts: %zu source tokens, max_source is %d",
                                         parts->count, tokens, (int)ferry_translator_source_limit(translator)));
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        size_t count = 0, first = 0;
        for (size_t i = 0; i < parts->count; i++) {
            const ferry_part *part = &parts->parts[i];
            const bool has = kinds[k] != 0 ? (part->quality.flags & kinds[k]) != 0 : part->again;
            if (has && count++ == 0) first = i;
        }
        if (count == 0) continue;
        const ferry_name words = words_of(&parts->parts[first], kinds[k]);
        line->outcome.quality |= kinds[k];
        FERRY_TRY(parts->count == 1
                      ? ferry_result_line_warn(line, error, "the translation %s", words.text)
                      : ferry_result_line_warn(line, error, "the translation of part %zu %s (of all parts: %zu)",
                                               first + 1, words.text, count));
    }
    return FERRY_OK;
}
