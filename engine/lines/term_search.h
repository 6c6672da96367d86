/* Which terms a translation has, and where. */
#ifndef FERRY_LINES_TERM_SEARCH_H
#define FERRY_LINES_TERM_SEARCH_H

#include "terms.h"

/* Looks for the part's terms in its translation of ids [count]: each at a place of its own, between the beginning and
 * the end of words; opaque ones once. `text`: of the ids; `unshown`: with the pieces of opaque terms.
 * Returns the number of terms that it lacks. */
size_t ferry_terms_look(ferry_part *part, const int32_t *ids, size_t count, ferry_view text, bool unshown);

/* Sets words [count], which are zeroed, to the pieces of the opaque terms that ids [count] stand for. */
void ferry_terms_unshow(const ferry_part *part, const int32_t *ids, size_t count, ferry_word *words);

/* Sets where the pieces of opaque terms are in the part's translation, ids [count] with these ranges. */
void ferry_terms_locate(const ferry_part *part, const int32_t *ids, size_t count, const ferry_range *ranges);
/* Gives terms [count] that are carried and not missing to the result, where they were found. Errors: MEMORY. */
ferry_status ferry_terms_carry(const ferry_part_term *terms, size_t count, ferry_result_line *result,
                               ferry_error *error);

#endif
