/* The visibility of a text to readers and models, and signs that a translation is wrong. */
#ifndef FERRY_LINES_QUALITY_H
#define FERRY_LINES_QUALITY_H

#include "base/bytes.h"
#include "base/status.h"
#include "numbers.h"

typedef struct ferry_ids ferry_ids;
typedef struct ferry_result_hypothesis ferry_result_hypothesis;
typedef struct ferry_tokenizer_config ferry_tokenizer_config;

/* What a reader sees of a text. White space, its symbol "▁", and Unicode's categories C (control, format) and M
 * (marks) are invisible. */
typedef enum ferry_visibility {
    FERRY_VISIBILITY_NONE,   /* nothing */
    FERRY_VISIBILITY_SYMBOL, /* symbols, but no letter */
    FERRY_VISIBILITY_LETTER  /* at least one letter */
} ferry_visibility;
ferry_visibility ferry_text_visibility(ferry_view text);

/* Numbers of ids: pieces with visible text, and unknown ids. A text is invisible to the model if it has no more
 * visible pieces than an empty text. */
typedef struct ferry_piece_counts {
    size_t visible, unknown;
} ferry_piece_counts;
ferry_piece_counts ferry_count_pieces(const ferry_tokenizer_config *text, const ferry_ids *ids);
/* The index of the first of ids [count] that is `id`; `count` if there is none. */
size_t ferry_ids_find(const int32_t *ids, size_t count, int32_t id);

typedef struct ferry_repetition {
    size_t length; /* number of ids; 0 if nothing is repeated */
    size_t times;  /* consecutive occurrences, at least 1 */
} ferry_repetition;

/* The sequence of at most `max` ids with the most consecutive occurrences; the shortest one among equals. */
ferry_repetition ferry_repetition_find(const int32_t *ids, size_t count, size_t max);

/* Signs that a translation is wrong. docs/decoding.md says how the measures were chosen. */
typedef struct ferry_quality_signs {
    int flags;             /* a sum of ferry_quality */
    int32_t limit;         /* of FERRY_QUALITY_CUT: max_length */
    ferry_repetition loop; /* of FERRY_QUALITY_LOOP */
    bool blank;            /* of FERRY_QUALITY_SHORT: the text is blank */
    size_t unknowns;       /* of FERRY_QUALITY_UNKNOWN: unknown words of the translation; 0: only the source has some */
    ferry_number_sign numbers; /* of FERRY_QUALITY_NUMBER */
    size_t term;               /* of FERRY_QUALITY_TERM: the index of the first term that is missing */
} ferry_quality_signs;

/* Compares a translation with the ids of its source, and adds the signs found. A translation with FERRY_QUALITY_CUT
 * is short only if it is blank. `has_text`: whether the translation has text. `unknown_id`: the id of unknown words
 * of the translation; -1: they are not counted. */
void ferry_quality_compare(ferry_quality_signs *quality, const ferry_ids *source,
                           const ferry_result_hypothesis *translation, bool has_text, int32_t unknown_id);

#endif
