/* Where the tags of a sentence go in its translation.
 *
 * A tag pair stands around words: the words of the translation that are aligned to the words between the tags of the
 * source, as far as they are neighbors. An element within another one stays within it; elements that stand side by side
 * may change their order, as words do. What has no text (an image, a comment) stays at the word that it touches. */
#ifndef FERRY_DOCUMENTS_PLACING_H
#define FERRY_DOCUMENTS_PLACING_H

#include "model_text.h"

typedef struct ferry_place_sentence {
    const ferry_result *result; /* its line `line` is the translation, with alignment */
    size_t line;
    ferry_view source; /* a sentence of the text, which begins at its byte `begin` */
    size_t begin;
    ferry_view target; /* the translation; its end may be another than the result has */
    /* The text's marks, and which are within the sentence or at its ends. Elements may begin before the sentence or end
     * after it: then only one of their marks is among these. */
    const ferry_mark *marks;
    size_t first_mark, after_mark;       /* marks first_mark … after_mark - 1 */
    const ferry_model_placeholder *kept; /* what is kept in the sentence: first_kept … after_kept - 1 */
    size_t first_kept, after_kept;
} ferry_place_sentence;

typedef struct ferry_placed {
    size_t mark; /* of the text */
    size_t at;   /* byte of the target before which it stands */
} ferry_placed;

/* Fills placed [after_mark - first_mark] with each mark once, in the order of the target. Errors: MEMORY. */
ferry_status ferry_place(const ferry_place_sentence *sentence, ferry_placed *placed, ferry_error *error);

#endif
