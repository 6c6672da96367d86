/* One tag of HTML-like text, and what elements are. */
#ifndef FERRY_API_MARKUP_TAGS_H
#define FERRY_API_MARKUP_TAGS_H

#include "base/bytes.h"

/* What an element is: a sum of these. All others are inline elements with an end tag. */
typedef enum ferry_element_kind {
    FERRY_ELEMENT_BLOCK = 1,        /* its tags end sentences */
    FERRY_ELEMENT_VOID = 2,         /* has no end tag */
    FERRY_ELEMENT_RAW = 4,          /* not translated, and without tags inside */
    FERRY_ELEMENT_UNTRANSLATED = 8, /* not translated; tags inside */
    FERRY_ELEMENT_PRE = 16,         /* white space inside stays, and line ends end sentences */
    FERRY_ELEMENT_IN_WORD = 32,     /* goes inside words */
} ferry_element_kind;

typedef enum ferry_markup_tag_kind {
    FERRY_MARKUP_TAG_NONE,   /* no tag: text */
    FERRY_MARKUP_TAG_START,  /* <name …>, of an element with RAW: with its content and end tag */
    FERRY_MARKUP_TAG_SINGLE, /* <name …/>, and start tags of void elements */
    FERRY_MARKUP_TAG_END,    /* </name …> */
    FERRY_MARKUP_TAG_COMMENT /* <!-- … -->, <![CDATA[ … ]]>, <! … >, <? … > */
} ferry_markup_tag_kind;

typedef struct ferry_markup_tag {
    ferry_markup_tag_kind kind;
    size_t end;      /* the byte after it; NONE: after what has been found to be no tag */
    ferry_view name; /* empty: a comment, or NONE */
    int element;     /* sum of ferry_element_kind; UNTRANSLATED also for translate="no" */
} ferry_markup_tag;

/* What is known of the rest of a text, so that no end is looked for twice; zeroed at its beginning. */
typedef struct ferry_markup_tag_scanner {
    bool without_quote[2]; /* no ' follows; no " */
} ferry_markup_tag_scanner;

/* Reads what begins at byte `at`, a "<". A tag is text from "<" to the next "<" if that comes before its ">", and to
 * the end if neither comes; in quoted values both are characters like any other. A comment or an element with RAW that
 * is not closed goes to the end. */
ferry_markup_tag ferry_markup_tag_read(ferry_markup_tag_scanner *scanner, ferry_view text, size_t at);

/* White space of HTML. */
bool ferry_markup_is_space(char c);
/* The same name, in any case of ASCII letters. */
bool ferry_markup_tag_is_name(ferry_view a, ferry_view b);

#endif
