/* What the model sees of blocks: their text, a line each. White space is one blank, a wrapped line is joined, elements
 * are marks, and a placeholder, which is an opaque term, stands for what is kept. Text in capitals becomes small
 * letters. */
#ifndef FERRY_DOCUMENTS_SHOWN_H
#define FERRY_DOCUMENTS_SHOWN_H

#include "document.h"
#include "marks.h"

/* What is kept, and what an earlier model has left of a glossary. Piece `i` of a text has the placeholder
 * FERRY_FIRST_PLACEHOLDER + i % FERRY_PLACEHOLDERS, an opaque term. The last model sees a number itself, which its
 * translation must have. */
typedef struct ferry_shown_kept {
    ferry_term term;
    ferry_text target;   /* of a number: itself */
    size_t item;         /* of the document */
    bool is_placeholder; /* not a number, or an entry */
    bool is_entry;       /* of a glossary, with its own targets */
    bool found;          /* in the translation */
} ferry_shown_kept;

typedef struct ferry_shown_block {
    ferry_document_block *block;
    size_t begin, end;             /* bytes of the text */
    size_t first_mark, after_mark; /* marks first_mark … after_mark - 1 */
    size_t first_kept, after_kept;
    bool capitals; /* to be written in capitals */
} ferry_shown_block;

typedef struct ferry_shown {
    ferry_buffer text; /* valid UTF-8 */
    ferry_mark *marks;
    ferry_shown_kept *kept;
    ferry_shown_block *blocks;
    size_t mark_count, mark_capacity, kept_count, kept_capacity, block_count, block_capacity;
} ferry_shown;

/* Adds a block, for the last model or one before it. *aligned: marks are within its text, so that they can only be
 * placed by alignment. */
ferry_status ferry_shown_add(ferry_shown *shown, const ferry_document *document, ferry_document_block *block, bool last,
                             bool *aligned);
/* What the text's translation must have, until the text changes. */
ferry_request ferry_shown_request(ferry_shown *shown);
/* Removes the last block. */
void ferry_shown_remove(ferry_shown *shown);
void ferry_shown_clear(ferry_shown *shown);
void ferry_shown_destroy(ferry_shown *shown);

#endif
