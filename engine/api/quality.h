/* Signs that a translation is wrong, although the model computed it so: ferry_quality. docs/decoding.md tells how the
 * measures were chosen. */
#ifndef FERRY_API_QUALITY_H
#define FERRY_API_QUALITY_H

#include "base/repetition.h"
#include "result.h"

typedef struct ferry_quality_signs {
    int flags;             /* a sum of ferry_quality */
    int32_t limit;         /* max_length, where FERRY_QUALITY_CUT is one of them */
    ferry_repetition loop; /* what FERRY_QUALITY_LOOP is about */
    bool blank;            /* why FERRY_QUALITY_SHORT is one of them */
    size_t unknowns;       /* unknown words of the translation: FERRY_QUALITY_UNKNOWN, which its source may be, too */
} ferry_quality_signs;

/* Adds those that a translation has beside its source's ids; of one that was cut it is known why it is short.
 * `has_text`: if false, its text is not known. `unknown_id`: of words that its text lacks; -1: none. */
void ferry_quality_compare(ferry_quality_signs *quality, const ferry_ids *source,
                           const ferry_result_hypothesis *translation, bool has_text, int32_t unknown_id);

#endif
