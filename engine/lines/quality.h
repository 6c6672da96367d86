/* What ids and characters say about a text: what a model sees of it, and signs that a translation is wrong. */
#ifndef FERRY_LINES_QUALITY_H
#define FERRY_LINES_QUALITY_H

#include "base/bytes.h"
#include "base/status.h"

typedef struct ferry_ids ferry_ids;
typedef struct ferry_result_hypothesis ferry_result_hypothesis;
typedef struct ferry_tokenizer_config ferry_tokenizer_config;

/* What a reader sees of a text: nothing, as it has only white space, "▁" for it, and Unicode's categories C (control,
 * format) and M (marks); symbols, but no letter; a letter. */
typedef enum ferry_visibility {
    FERRY_VISIBILITY_NONE,
    FERRY_VISIBILITY_SYMBOL,
    FERRY_VISIBILITY_LETTER
} ferry_visibility;
ferry_visibility ferry_text_visibility(ferry_view text);

/* Ids that are pieces with visible text, and ids of text that the model does not know. A text is invisible to the model
 * if it has no more visible pieces than an empty text. */
typedef struct ferry_piece_counts {
    size_t visible, unknown;
} ferry_piece_counts;
ferry_piece_counts ferry_count_pieces(const ferry_tokenizer_config *text, const ferry_ids *ids);
/* The index of the first of ids [count] that is `id`; `count` if there is none. */
size_t ferry_ids_find(const int32_t *ids, size_t count, int32_t id);

typedef struct ferry_repetition {
    size_t length; /* ids; 0 if nothing is repeated */
    size_t times;  /* in a row, at least 1 */
} ferry_repetition;

/* The sequence of at most `max` ids that stands in a row most often; of several, the shortest. */
ferry_repetition ferry_repetition_find(const int32_t *ids, size_t count, size_t max);

/* Signs that a translation is wrong, although the model computed it so. docs/decoding.md says how the measures were
 * chosen. */
typedef struct ferry_quality_signs {
    int flags;             /* a sum of ferry_quality */
    int32_t limit;         /* of FERRY_QUALITY_CUT: max_length */
    ferry_repetition loop; /* of FERRY_QUALITY_LOOP */
    bool blank;            /* of FERRY_QUALITY_SHORT: the text is blank */
    size_t unknowns;       /* of FERRY_QUALITY_UNKNOWN: unknown words of the translation; 0: its source has some */
} ferry_quality_signs;

/* Adds the signs that a comparison of a translation with its source's ids gives. A translation that was cut is called
 * short only if it is blank.
 * `has_text`: whether the translation's text is known. `unknown_id`: of words that the text lacks; -1: none. */
void ferry_quality_compare(ferry_quality_signs *quality, const ferry_ids *source,
                           const ferry_result_hypothesis *translation, bool has_text, int32_t unknown_id);

#endif
