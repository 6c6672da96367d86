/* What the files that read Markdown share. The parser md4c tells what the text is, but not where: texts that it passes
 * are bytes of the source, the markers between them are found from there. */
#ifndef FERRY_DOCUMENTS_MARKDOWN_PARTS_H
#define FERRY_DOCUMENTS_MARKDOWN_PARTS_H

#include <md4c.h>

#include "document.h"
#include "inline_tags.h"

/* A document as md4c understands it (markdown_lines.c). */
typedef struct ferry_md_text {
    ferry_string text;
    size_t begin; /* front matter is before it */
    /* [count] bytes begin … end - 1 are not in the source; all after them are so many bytes further. */
    struct ferry_md_insert {
        size_t begin, end, moved;
    } * inserts;
    size_t count, capacity;
    size_t last; /* how many of them are before the place that was looked for last */
} ferry_md_text;
typedef struct ferry_md_insert ferry_md_insert;

/* What a part of a block is. The last ones are bytes that UTF-8 does not have: a ferry_md_text has them in place of
 * what is such a part. */
typedef enum ferry_md_kind {
    FERRY_MD_PLAIN,
    FERRY_MD_ESCAPED, /* a backslash and a character */
    FERRY_MD_ENTITY,
    FERRY_MD_OPEN,
    FERRY_MD_CLOSE,
    FERRY_MD_TAG,
    FERRY_MD_BREAK,
    FERRY_MD_DIVIDES = 0xFD, /* the texts before it and behind it: a hard line break */
    FERRY_MD_STANDS,         /* alone */
    FERRY_MD_KEPT
} ferry_md_kind;

/* *text is to be freed after a failure, too. Errors: MEMORY. */
ferry_status ferry_md_prepare(ferry_view source, ferry_md_text *text, ferry_error *error);
/* Where in the source byte `at` of the text is. */
size_t ferry_md_source_place(ferry_md_text *text, size_t at);

/* What md4c says about the inside of a block. */
typedef struct ferry_md_event {
    enum { FERRY_MD_TEXT, FERRY_MD_ENTER, FERRY_MD_LEAVE } kind;
    int type;          /* an MD_TEXTTYPE, or an MD_SPANTYPE */
    size_t begin, end; /* its bytes in the text; begin = end: where they are is not known */
} ferry_md_event;

/* The same, at its place in the text. */
typedef struct ferry_md_part {
    ferry_md_kind kind;
    size_t begin, end;
    size_t shown_begin, shown_end; /* of KEPT: what the model sees; of an image: a text that describes it */
    size_t outer;                  /* the part that opens the element of Markdown around it; SIZE_MAX: there is none */
    size_t tag;                    /* of TAG: which one */
} ferry_md_part;

typedef struct ferry_md_parts {
    ferry_md_part *parts;   /* [count] */
    ferry_inline_tag *tags; /* [tag_count] of these parts */
    size_t count, capacity, tag_count, tag_capacity;
} ferry_md_parts;

/* Finds the places of a block's events in the text, also of those whose bytes are not known. Nothing of the block is
 * before byte `least` of it. Without parts: the block has no text, or its source is not understood. Errors: MEMORY. */
ferry_status ferry_md_place(ferry_view text, size_t least, ferry_md_event *events, size_t count, ferry_md_parts *parts,
                            ferry_error *error);

/* See ferry_document_format. */
ferry_status ferry_md_write_text(ferry_string *out, ferry_view text, bool begins_line, ferry_error *error);
bool ferry_md_may_begin_line(ferry_view text);

#endif
