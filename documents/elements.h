/* Elements of HTML, and what they do: for pages, for HTML in Markdown, for tags in catalogs and subtitles. */
#ifndef FERRY_DOCUMENTS_ELEMENTS_H
#define FERRY_DOCUMENTS_ELEMENTS_H

#include "base/bytes.h"

typedef enum ferry_element_kind {
    FERRY_ELEMENT_BLOCK = 1,   /* its tags end texts */
    FERRY_ELEMENT_LABEL = 2,   /* stands in a line, but what is within it is a text of its own */
    FERRY_ELEMENT_VOID = 4,    /* has no end tag */
    FERRY_ELEMENT_RAW = 8,     /* what is within it, up to its end tag, has no tags */
    FERRY_ELEMENT_KEPT = 16,   /* what is within it is not translated */
    FERRY_ELEMENT_IN_WORD = 32 /* goes inside words */
} ferry_element_kind;

/* The sum of what the element of this name does, in letters of either case. 0: it is inline, with an end tag, or not
 * known. */
int ferry_element_find(ferry_view name);
/* Whether a name of ASCII letters of either case and digits is one of `names`, " a b ", in small letters. */
bool ferry_name_is_listed(ferry_view name, const char *names);

#endif
