/* What stands in the text that a model sees of a document: elements, what stands alone, and words that stand for what
 * is kept. */
#ifndef FERRY_DOCUMENTS_MARKS_H
#define FERRY_DOCUMENTS_MARKS_H

#include "base/bytes.h"
#include "base/status.h"
#include "engine/ferry.h"

typedef enum ferry_mark_kind {
    FERRY_MARK_POINT, /* stands alone */
    FERRY_MARK_OPEN,  /* begins an element, or a word that stands for what is kept */
    FERRY_MARK_CLOSE  /* ends it */
} ferry_mark_kind;

enum { FERRY_ATTEMPTS = 5 }; /* of a sentence with such words: each has others */

/* Elements are well nested: between the marks of a pair are whole pairs. */
typedef struct ferry_mark {
    ferry_mark_kind kind;
    bool kept;                   /* between OPEN and CLOSE is such a word */
    bool spaced;                 /* a blank is behind it that the text has not, as there is one before it */
    bool joined;                 /* the text has a blank that the source has not: before OPEN, behind the others */
    size_t item;                 /* of the document; of a term of the glossary: the text in which it begins */
    size_t at;                   /* its place in the text: before this byte */
    size_t partner;              /* of OPEN and CLOSE: the other mark */
    size_t form_begin, form_end; /* of OPEN: bytes of ferry_shown.forms that are written in the item's place; or none */
} ferry_mark;

#endif
