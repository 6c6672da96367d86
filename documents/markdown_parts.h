/* What the files that read and write Markdown share. The parser md4c tells what the text is, but not where: texts that
 * it passes are bytes of the source, the markers between them are found from there. */
#ifndef FERRY_DOCUMENTS_MARKDOWN_PARTS_H
#define FERRY_DOCUMENTS_MARKDOWN_PARTS_H

#include <md4c.h>

#include "document.h"

enum { FERRY_MD_FLAGS = MD_FLAG_TABLES | MD_FLAG_STRIKETHROUGH | MD_FLAG_TASKLISTS };

/* What md4c says about the inside of a block. */
typedef struct ferry_md_event {
    enum { FERRY_MD_TEXT, FERRY_MD_ENTER, FERRY_MD_LEAVE } kind;
    MD_TEXTTYPE text; /* of TEXT */
    MD_SPANTYPE span; /* of ENTER, LEAVE */
    bool placed;      /* of TEXT: it is bytes of the source */
    size_t begin, end;
} ferry_md_event;

typedef enum ferry_md_kind {
    FERRY_MD_PLAIN,
    FERRY_MD_ESCAPED, /* a backslash and a character */
    FERRY_MD_ENTITY,
    FERRY_MD_OPEN,
    FERRY_MD_CLOSE,
    FERRY_MD_TAG,
    FERRY_MD_POINT,
    FERRY_MD_KEPT,
    FERRY_MD_BREAK,
    FERRY_MD_HARD_BREAK
} ferry_md_kind;

/* The same, at its place in the source. */
typedef struct ferry_md_part {
    ferry_md_kind kind;
    size_t begin, end;
    size_t shown_begin, shown_end; /* of KEPT: what the model sees */
} ferry_md_part;

typedef struct ferry_md_parts {
    ferry_md_part *parts; /* [count] */
    size_t count, capacity;
} ferry_md_parts;

/* Finds the places of a block's events. Nothing of the block is before byte `least` of the source. Without parts: the
 * block has no text, or its source is not understood. Errors: MEMORY. */
ferry_status ferry_md_place(ferry_view source, size_t least, const ferry_md_event *events, size_t count,
                            ferry_md_parts *parts, ferry_error *error);

/* The character that an entity stands for; {NULL, 0}: another one, or one that is better kept. `buffer` [4] may hold
 * it. */
ferry_view ferry_md_entity(ferry_view entity, char *buffer);
/* See ferry_document_format. */
ferry_status ferry_md_write_text(ferry_string *out, ferry_view text, bool begins_line, ferry_error *error);
bool ferry_md_may_begin_line(ferry_view text);
ferry_status ferry_md_check(ferry_view before, ferry_view after, bool *same, ferry_error *error);

#endif
