#include "quality.h"

#include "base/utf8.h"

enum {
    LOOP_IDS = 16,     /* of a translation that may be repeated; of a source, twice as many */
    LOOP_TIMES = 2,    /* more than so often as in the source is a loop */
    SHORT_PARTS = 3,   /* a translation is short if it has less than 1/SHORT_PARTS of the source's tokens, … */
    SHORT_SOURCE = 16, /* … and these are so many, those that the model adds included */
};

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
