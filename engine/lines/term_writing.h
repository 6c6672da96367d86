/* Writing terms. A part is searched as without terms. While its best hypothesis lacks one, it is searched again with a
 * prefix that ends with the term: the hypothesis up to the place where the weights of cross-attention put the term's
 * span. */
#ifndef FERRY_LINES_TERM_WRITING_H
#define FERRY_LINES_TERM_WRITING_H

#include "terms.h"

/* The best hypothesis of a part's search. */
typedef struct ferry_terms_hypothesis {
    const int32_t *ids; /* [length] */
    size_t length;
    const float *weights; /* [length, part->ids.count] */
} ferry_terms_hypothesis;

/* Whether the translation that was looked at lacks a term with a digit, other than the part's numbers. */
bool ferry_terms_lack_digits(const ferry_part *part);
/* Sets the part's choices: prefixes that end with the leftmost missing term, one for each of its targets that fits, and
 * with the end of a word; none if no term is missing or can be written, and if `digits`, and it lacks digits:
 * beside a wrong number, the right one would not help. Errors: MEMORY, and those of the tokenizer. */
ferry_status ferry_terms_write(const ferry_model *model, const ferry_line_rules *rules,
                               const ferry_term_vocabulary *vocabulary, const ferry_terms_hypothesis *hypothesis,
                               bool digits, ferry_part *part, ferry_error *error);
/* Makes one of the choices the part's prefix: the likeliest if its log-probability is larger than the first one's by
 * more than 1.5, else the first one. The choices, at least one, are scored if there are several. Errors: MEMORY. */
ferry_status ferry_terms_choose(const ferry_line_rules *rules, ferry_part *part, ferry_error *error);

#endif
