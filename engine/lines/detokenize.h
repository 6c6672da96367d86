/* Converts the ids of a finished search to text, and makes them the result of a part. */
#ifndef FERRY_LINES_DETOKENIZE_H
#define FERRY_LINES_DETOKENIZE_H

#include <stdbool.h>

#include "base/status.h"

typedef struct ferry_buffer ferry_buffer;
typedef struct ferry_line_rules ferry_line_rules;
typedef struct ferry_part ferry_part;
typedef struct ferry_search ferry_search;

/* ferry_options.no_repeat_ngram of a second translation, made because the first one loops. */
enum { FERRY_AGAIN_NGRAM = 2 };

/* How a part's search ended. */
typedef struct ferry_part_ending {
    const ferry_search *search;
    const float *const *weights; /* cross-attention's, of each hypothesis [T, S]; NULL: not wanted */
    const ferry_error *why;      /* the error, if `search` is NULL */
    bool text;                   /* false: only ids are wanted */
    bool numbers;                /* a translation with other numbers is made again */
} ferry_part_ending;

/* Sets *text to the text of ids [count], with the pieces of opaque terms. Errors: MEMORY, ARGUMENT. */
ferry_status ferry_part_decode(const ferry_model *model, const ferry_part *part, const int32_t *ids, size_t count,
                               ferry_buffer *text, ferry_error *error);
/* Whether the result of a part, or a search for what it lacks, needs the weights of its search, which has ended. */
bool ferry_part_wants_weights(const ferry_model *model, const ferry_line_rules *rules, ferry_part *part,
                              const ferry_search *search);
/* Sets the part's result: hypotheses and signs of quality, or one of the part's own errors, LIMIT and FORMAT.
 * *again: another search follows. Either the translation lacks a term, and part->prefix ends with it; or it loops, and
 * options.on_loop requests a second translation (part->retried: with FERRY_AGAIN_NGRAM). The second translation
 * replaces the first one unless it failed, loops or has a new sign. Errors: all others. */
ferry_status ferry_part_end(const ferry_model *model, const ferry_line_rules *rules, const ferry_part_ending *ending,
                            ferry_part *part, bool *again, ferry_error *error);

#endif
