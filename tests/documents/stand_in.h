/* The functions of ferry.h that documents/ needs, in the place of the library: sentences are lines, words are tokens,
 * and a function of the test translates them. */
#ifndef FERRY_TESTS_STAND_IN_H
#define FERRY_TESTS_STAND_IN_H

#include "base/bytes.h"
#include "engine/ferry.h"

typedef enum stand_in_way {
    STAND_IN_SAME,
    STAND_IN_UPPER,  /* in capitals */
    STAND_IN_LONGER, /* each letter twice */
    STAND_IN_GIVEN,  /* `given`, or of lines "WORD\\2GIVEN" that of a sentence's first word: word i is aligned to word i
                        of the source, or to word n by  "word\\fn"; "\\fn" is that word itself; "\\1" stands between
                        words  without a blank */
    STAND_IN_HOSTILE /* `given` in place of each word that is no term */
} stand_in_way;

struct ferry_translator {
    stand_in_way way;
    const char *given;
    int quality;  /* flags of each sentence */
    bool aligned; /* as ferry_translator_align has set it */
    size_t aligned_calls, calls;
    ferry_translator *next; /* of a row */
};

#define STAND_IN_UNREAD 0x2190 /* from here on to U+2E80, ferry_model_reads has no pieces */

#endif
