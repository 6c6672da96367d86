/* Tags of HTML: in pages, and within text that is not HTML, as raw HTML in Markdown, markup in strings of programs. */
#ifndef FERRY_DOCUMENTS_INLINE_TAGS_H
#define FERRY_DOCUMENTS_INLINE_TAGS_H

#include "base/bytes.h"

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

/* Reads the tag or comment that the text begins with. Returns its bytes, or 0 if there is none. */
size_t ferry_inline_tag_read(ferry_view text, ferry_inline_tag *tag);
/* Finds partners among the tags [count] of one text, such that no two pairs cross; an end tag looks for its start tag
 * among the innermost 64 that are open. Tags without a partner become ALONE or WORD. */
void ferry_inline_tags_pair(ferry_inline_tag *tags, size_t count);

#endif
