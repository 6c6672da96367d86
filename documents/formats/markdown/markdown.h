/* What the files that read Markdown share. The parser md4c tells what the text is, but not where: texts that it passes
 * are bytes of the source, the markers between them are found from there. */
#ifndef FERRY_DOCUMENTS_FORMATS_MARKDOWN_MARKDOWN_H
#define FERRY_DOCUMENTS_FORMATS_MARKDOWN_MARKDOWN_H

#include <md4c.h>

#include "documents/document.h"
#include "documents/html_tags.h"

/* What a part of a block is. The last ones are bytes that UTF-8 does not have: what md4c reads has them in place of
 * what is such a part. */
typedef enum ferry_md_kind {
    FERRY_MD_PLAIN,
    FERRY_MD_ESCAPED, /* a backslash and a character */
    FERRY_MD_ENTITY,
    FERRY_MD_BREAK,
    FERRY_MD_OPEN,
    FERRY_MD_CLOSE,
    FERRY_MD_TAG,
    FERRY_MD_DIVIDES = 0xFD, /* the texts before it and behind it: a hard line break */
    FERRY_MD_STANDS,         /* alone */
    FERRY_MD_KEPT
} ferry_md_kind;

/* The first and the last byte of what stands within text for such a part: punctuation for md4c, as what is there. */
enum { FERRY_MD_EDGE = ',' };

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
    size_t shown_begin, shown_end; /* of KEPT: what the model sees; of an image: a text that describes it; of CLOSE: the
                                    * "[label]" that its text is, unless they are all of it */
    size_t outer;                  /* the part that opens the element of Markdown around it; SIZE_MAX: there is none */
} ferry_md_part;

/* Bytes begin … end - 1 of the text are not in the source; all after them are so many bytes further. */
typedef struct ferry_md_insert {
    size_t begin, end, moved;
} ferry_md_insert;

typedef struct ferry_md_reader {
    ferry_document *document; /* NULL: only the structure is looked at */
    ferry_view source;
    ferry_error *error;
    ferry_buffer text;        /* the source as md4c reads it */
    ferry_md_insert *inserts; /* [insert_count]; last_insert: how many are before the place that was looked for last */
    size_t insert_count, insert_capacity, last_insert;
    ferry_md_event *events; /* [event_count] of the block that is open, an MD_BLOCKTYPE */
    size_t event_count, event_capacity;
    int block;
    ferry_md_part *parts; /* [part_count] of it */
    size_t part_count, part_capacity;
    ferry_view seen;    /* the text up to the next event whose bytes are known */
    size_t next;        /* the event that is to be placed */
    size_t at;          /* the text up to here is placed */
    size_t open;        /* the part that opens the innermost element; SIZE_MAX: there is none */
    size_t least;       /* what was read ends here */
    size_t targets;     /* bytes of the targets of all links: a definition may be used often */
    uint64_t structure; /* what the text consists of, whatever the order: the sum of a hash of each part */
    ferry_status status;
} ferry_md_reader;

/* Makes the text of the source. Errors: MEMORY. */
ferry_status ferry_md_prepare(ferry_md_reader *reader);
/* Where in the source byte `at` of the text is. */
size_t ferry_md_origin(ferry_md_reader *reader, size_t at);
/* Makes parts of the events, also of those whose bytes are not known. Without parts: the block has no text, or its
 * source is not understood. Errors: MEMORY. */
ferry_status ferry_md_place(ferry_md_reader *reader);

/* See ferry_document_format. */
ferry_status ferry_md_write_text(ferry_buffer *out, ferry_view text, bool begins_line, ferry_error *error);
bool ferry_md_may_begin_line(ferry_view text);

#endif
