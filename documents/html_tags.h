/* HTML: elements, and what they do; tags, in pages and within text that is not HTML, as raw HTML in Markdown, markup in
 * strings of programs. */
#ifndef FERRY_DOCUMENTS_HTML_TAGS_H
#define FERRY_DOCUMENTS_HTML_TAGS_H

#include "base/bytes.h"

/* ---- elements ---- */

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

/* ---- tags ---- */

typedef enum ferry_inline_tag_kind {
    FERRY_TAG_START,
    FERRY_TAG_END,
    FERRY_TAG_ALONE, /* a void element, <name/>, a comment, a tag without a partner */
    FERRY_TAG_WORD,  /* <name> that no end tag follows, and no element of HTML: "the <file> to read"; <a|b> */
    FERRY_TAG_TEXT,  /* no tag */
    FERRY_TAG_KEPT   /* a whole element that is not translated, for who lists such */
} ferry_inline_tag_kind;

typedef struct ferry_inline_tag {
    ferry_inline_tag_kind kind;
    size_t begin, end; /* its bytes, of an element with RAW with its content and end tag */
    size_t content;    /* where the content of such an element begins; otherwise `end` */
    ferry_view name;   /* its bytes are the tag's; empty: a comment, or text */
    int element;       /* sum of ferry_element_kind */
    size_t partner;    /* START, END: the other one */
    size_t part;       /* the caller's: which part of a text it is */
} ferry_inline_tag;

/* ---- one tag of a page ---- */

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

/* ---- tags within other text ---- */

/* Reads the tag or comment that the text begins with. Returns its bytes, or 0 if there is none. */
size_t ferry_inline_tag_read(ferry_view text, ferry_inline_tag *tag);
/* Finds partners among the tags [count] of one text, such that no two pairs cross; an end tag looks for its start tag
 * among the innermost 64 that are open. Tags without a partner become ALONE or WORD. */
void ferry_inline_tags_pair(ferry_inline_tag *tags, size_t count);

#endif
