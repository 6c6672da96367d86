/* Where the tags of a sentence go in its translation.
 *
 * A tag pair stands around words: the words of the translation that are aligned to the words between the tags of the
 * source, as far as they are neighbors. An element within another one stays within it; elements that stand side by side
 * may change their order, as words do. What has no text (an image, a comment) stays at the word that it touches. */
#ifndef FERRY_DOCUMENTS_PLACE_H
#define FERRY_DOCUMENTS_PLACE_H

#include "marks.h"

/* What aligns a token of the translation: its weights of source tokens first … first + count - 1; those of all others
 * are 0. */
typedef struct ferry_place_weights {
    const float *values; /* [count] */
    size_t first, count;
} ferry_place_weights;

typedef struct ferry_place_sentence {
    ferry_view source, target;
    /* The items within the sentence or at its ends, `at` counted from the text's beginning, as `begin`, the byte of the
     * text where the sentence begins. Elements may begin before the sentence or end after it: then only one of their
     * items is among these. */
    const ferry_mark *items;       /* [item_count] */
    size_t first_item, item_count; /* the number of items[0] among the text's */
    size_t begin;
    const ferry_token *source_tokens, *target_tokens; /* [source_count], [target_count]; empty: no text */
    const ferry_place_weights *weights;               /* [target_count] */
    size_t source_count, target_count;
} ferry_place_sentence;

typedef struct ferry_placed {
    size_t item; /* of items[] */
    size_t at;   /* byte of the target before which it stands */
} ferry_placed;

/* Fills placed [item_count] with each item once, in the order of the target. *lost: how many of the words that stand
 * for what is kept are not in the target, or more than once. Errors: MEMORY. */
ferry_status ferry_place(const ferry_place_sentence *sentence, ferry_placed *placed, size_t *lost, ferry_error *error);

#endif
