/* Signs that a translation is wrong, although the model computed it so: ferry_doubt. docs/decoding.md tells how the
 * measures were chosen. */
#ifndef FERRY_API_DOUBTS_H
#define FERRY_API_DOUBTS_H

#include "base/repetition.h"
#include "result.h"

typedef struct ferry_doubts {
    int kinds;             /* a sum of ferry_doubt */
    int32_t limit;         /* max_length, where FERRY_DOUBT_CUT is one of them */
    ferry_repetition loop; /* what FERRY_DOUBT_LOOP is about */
    bool blank;            /* why FERRY_DOUBT_SHORT is one of them */
    size_t unknowns;       /* unknown words of the translation: FERRY_QUALITY_UNKNOWN, which its source may be, too */
} ferry_doubts;

/* Adds those that a translation has beside its source's ids; of one that was cut it is known why it is short.
 * `has_text`: if false, its text is not known. `unknown_id`: of words that its text lacks; -1: none. */
void ferry_doubts_compare(ferry_doubts *doubts, const ferry_ids *source, const ferry_result_hypothesis *translation,
                          bool has_text, int32_t unknown_id);

#endif
