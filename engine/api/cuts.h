/* Where a sentence that is too long for the model may be cut. */
#ifndef FERRY_API_CUTS_H
#define FERRY_API_CUTS_H

#include "base/bytes.h"

/* Best first. */
typedef enum ferry_cut {
    FERRY_CUT_BLANK,     /* before white space */
    FERRY_CUT_CLUSTER,   /* before a character that nothing joins to the one before it */
    FERRY_CUT_CHARACTER, /* anywhere but inside a character */
    FERRY_CUTS
} ferry_cut;

/* Whether `text`, which is valid UTF-8, may be cut before byte `at`, 0 < at ≤ size. Its end is a cut of every kind. */
bool ferry_cut_is_at(ferry_view text, size_t at, ferry_cut cut);
/* Of these places between `low` and `high`, both excluded, one that is near `guess`, which is between them, too; `low`
 * if there is none. */
size_t ferry_cut_near(ferry_view text, size_t low, size_t high, size_t guess, ferry_cut cut);

#endif
