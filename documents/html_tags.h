/* One tag of HTML-like text. */
#ifndef FERRY_DOCUMENTS_HTML_TAGS_H
#define FERRY_DOCUMENTS_HTML_TAGS_H

#include "elements.h"
#include "inline_tags.h"

typedef struct ferry_html_attribute {
    ferry_view name, value; /* bytes of the text; the value without quotes */
} ferry_html_attribute;

/* What is known of the rest of a text, so that no end is looked for twice; zeroed at its beginning. */
typedef struct ferry_html_tag_scanner {
    bool without_quote[2];               /* no ' follows; no " */
    ferry_html_attribute attributes[24]; /* [attribute_count] the first ones of the last tag that have a value */
    size_t attribute_count;
} ferry_html_tag_scanner;

/* Reads what begins at byte `at`, a "<": START, END, ALONE, or TEXT up to what may be another tag. A tag is text from
 * "<" to the next "<" if that comes before its ">", and to the end if neither comes; in quoted values both are
 * characters like any other. A comment or an element with RAW that is not closed goes to the end. */
ferry_inline_tag ferry_html_tag_read(ferry_html_tag_scanner *scanner, ferry_view text, size_t at);

#define FERRY_HTML_SPACE " \t\n\f\r" /* white space of HTML */

/* The same name, in any case of ASCII letters. */
bool ferry_html_tag_is_name(ferry_view a, ferry_view b);
/* The value of an attribute of the last tag; data NULL: it has none. */
ferry_view ferry_html_attribute_find(const ferry_html_tag_scanner *scanner, const char *name);

#endif
