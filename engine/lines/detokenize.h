/* Ids become text: what a search found becomes a part's result. */
#ifndef FERRY_LINES_DETOKENIZE_H
#define FERRY_LINES_DETOKENIZE_H

#include <stdbool.h>

#include "base/status.h"

typedef struct ferry_line_rules ferry_line_rules;
typedef struct ferry_part ferry_part;
typedef struct ferry_search ferry_search;

/* ferry_options.no_repeat_ngram of a translation that is made again. */
enum { FERRY_AGAIN_NGRAM = 2 };

/* How a part's search ended. */
typedef struct ferry_part_ending {
    const ferry_search *search;
    const float *const *weights; /* of each hypothesis [T, S]; NULL: not wanted */
    const ferry_error *why;      /* an error, if `search` is NULL */
    bool text;                   /* text is wanted, not ids alone */
} ferry_part_ending;

/* Makes the ending the part's result: hypotheses and signs of quality, or LIMIT and FORMAT, which are its own errors.
 * *again: the translation loops, and options.on_loop wants another (with FERRY_AGAIN_NGRAM). The part keeps the second
 * translation if it does not loop and has no other new sign, and the first one if the second failed. Errors: those that
 * are not the part's own. */
ferry_status ferry_part_end(const ferry_model *model, const ferry_line_rules *rules, const ferry_part_ending *ending,
                            ferry_part *part, bool *again, ferry_error *error);

#endif
