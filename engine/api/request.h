/* What a translation must have (ferry_request): its checks. */
#ifndef FERRY_API_REQUEST_H
#define FERRY_API_REQUEST_H

#include "translator.h"
#include "engine/lines/terms.h"

/* A request of any version's size. */
typedef struct ferry_wanted {
    const ferry_text *prefixes; /* [count] or NULL */
    ferry_terms terms;
    ferry_on_number on_number;
    int (*progress)(void *user, size_t lines_done, size_t lines_total); /* or NULL */
    void *user;
} ferry_wanted;

/* Checks `request` (NULL: nothing is wanted) for `count` lines, and sets *wanted to what it points to. Errors:
 * ARGUMENT.
 */
ferry_status ferry_request_check(const ferry_translator *translator, const ferry_request *request,
                                 const ferry_text *lines, size_t count, ferry_wanted *wanted, ferry_error *error);
/* The same for a text, which is line 0. It has no prefix. */
ferry_status ferry_request_check_text(const ferry_translator *translator, const ferry_request *request,
                                      const ferry_text *text, ferry_wanted *wanted, ferry_error *error);

#endif
