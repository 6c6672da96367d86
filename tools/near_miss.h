/* What a mistyped word was probably meant to be: of the words that are tried, those that differ least from it, by few
 * enough letters. Cases do not differ; the beginning of a word, of 3 letters or more, counts as one mistake. */
#ifndef FERRY_TOOLS_NEAR_MISS_H
#define FERRY_TOOLS_NEAR_MISS_H

#include "base/bytes.h"

typedef struct ferry_near_miss {
    ferry_view typed;
    size_t distance;  /* of those found; at first, what is too much */
    ferry_name meant; /* 'one' or 'other'; "": nothing is near */
} ferry_near_miss;

ferry_near_miss ferry_near_miss_of(ferry_view typed);
/* `before`: what a message writes before the word, such as "--". */
void ferry_near_miss_try(ferry_near_miss *miss, const char *before, ferry_view word);
/* "did you mean 'translate'?", or `otherwise`. */
ferry_name ferry_near_miss_question(const ferry_near_miss *miss, const char *otherwise);

#endif
