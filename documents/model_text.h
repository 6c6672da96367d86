/* What the model sees of segments: their text, a line each. White space is one blank, a wrapped line is joined,
 * elements are marks, and a placeholder, which is an opaque term, stands for what is kept. Text in capitals becomes
 * small letters. */
#ifndef FERRY_DOCUMENTS_MODEL_TEXT_H
#define FERRY_DOCUMENTS_MODEL_TEXT_H

#include "document.h"

/* ---- marks: elements in the text that a model sees, and what stands alone ---- */

typedef enum ferry_mark_kind {
    FERRY_MARK_POINT, /* stands alone */
    FERRY_MARK_OPEN,  /* begins an element */
    FERRY_MARK_CLOSE  /* ends it */
} ferry_mark_kind;

/* Elements are well nested: between the marks of a pair are whole pairs. */
typedef struct ferry_mark {
    ferry_mark_kind kind;
    bool spaced;    /* a blank is behind it that the text has not, as there is one before it */
    bool joined;    /* the text has a blank that the source has not: before OPEN, behind the others */
    size_t span;    /* of the document */
    size_t at;      /* its place in the text: before this byte */
    size_t partner; /* of OPEN and CLOSE: the other mark */
} ferry_mark;

/* What is kept, and what an earlier model has left of a glossary. Piece `i` of a text has the placeholder
 * FERRY_FIRST_PLACEHOLDER + i % FERRY_PLACEHOLDERS, an opaque term. The last model sees a number itself, which its
 * translation must have. */
typedef struct ferry_model_placeholder {
    ferry_term term;
    ferry_text target;   /* of a number: itself */
    size_t span;         /* of the document */
    bool is_placeholder; /* not a number, or an entry */
    bool is_entry;       /* of a glossary, with its own targets */
    bool found;          /* in the translation */
} ferry_model_placeholder;

typedef struct ferry_model_segment {
    ferry_segment *segment;
    size_t begin, end;             /* bytes of the text */
    size_t first_mark, after_mark; /* marks first_mark … after_mark - 1 */
    size_t first_kept, after_kept;
    bool capitals; /* to be written in capitals */
} ferry_model_segment;

typedef struct ferry_model_text {
    ferry_buffer text; /* valid UTF-8 */
    ferry_mark *marks;
    ferry_model_placeholder *kept;
    ferry_model_segment *segments;
    size_t mark_count, mark_capacity, kept_count, kept_capacity, segment_count, segment_capacity;
} ferry_model_text;

/* Adds a segment, for the last model or one before it. *aligned: marks are within its text, so that they can only be
 * placed by alignment. */
ferry_status ferry_model_text_add(ferry_model_text *shown, const ferry_document *document, ferry_segment *segment,
                                  bool last, bool *aligned);
/* What the text's translation must have, until the text changes. */
ferry_request ferry_model_text_request(ferry_model_text *shown);
/* Removes the last segment. */
void ferry_model_text_remove(ferry_model_text *shown);
void ferry_model_text_clear(ferry_model_text *shown);
void ferry_model_text_destroy(ferry_model_text *shown);

#endif
