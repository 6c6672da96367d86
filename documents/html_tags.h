/* One tag of HTML-like text. */
#ifndef FERRY_DOCUMENTS_HTML_TAGS_H
#define FERRY_DOCUMENTS_HTML_TAGS_H

#include "elements.h"

typedef enum ferry_html_tag_kind {
    FERRY_HTML_NONE,   /* no tag: text */
    FERRY_HTML_START,  /* <name …>, of an element with RAW: with its content and end tag */
    FERRY_HTML_SINGLE, /* <name …/>, and start tags of void elements */
    FERRY_HTML_END,    /* </name …> */
    FERRY_HTML_COMMENT /* <!-- … -->, <![CDATA[ … ]]>, <! … >, <? … > */
} ferry_html_tag_kind;

typedef struct ferry_html_tag {
    ferry_html_tag_kind kind;
    size_t end;      /* the byte after it; NONE: after what has been found to be no tag */
    size_t content;  /* of a start tag with RAW: where its content begins; otherwise `end` */
    ferry_view name; /* empty: a comment, or NONE */
    int element;     /* sum of ferry_element_kind */
} ferry_html_tag;

typedef struct ferry_html_attribute {
    ferry_view name, value; /* bytes of the text; the value without quotes */
} ferry_html_attribute;

/* What is known of the rest of a text, so that no end is looked for twice; zeroed at its beginning. */
typedef struct ferry_html_tag_scanner {
    bool without_quote[2];               /* no ' follows; no " */
    ferry_html_attribute attributes[24]; /* [attribute_count] the first ones of the last tag that have a value */
    size_t attribute_count;
} ferry_html_tag_scanner;

/* Reads what begins at byte `at`, a "<". A tag is text from "<" to the next "<" if that comes before its ">", and to
 * the end if neither comes; in quoted values both are characters like any other. A comment or an element with RAW that
 * is not closed goes to the end. */
ferry_html_tag ferry_html_tag_read(ferry_html_tag_scanner *scanner, ferry_view text, size_t at);

/* White space of HTML; what follows it at byte `at`. */
bool ferry_is_html_space(char c);
size_t ferry_html_skip_space(ferry_view text, size_t at);
/* The same name, in any case of ASCII letters. */
bool ferry_html_tag_is_name(ferry_view a, ferry_view b);
/* The value of an attribute of the last tag; data NULL: it has none. */
ferry_view ferry_html_attribute_find(const ferry_html_tag_scanner *scanner, const char *name);

#endif
