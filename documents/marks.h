/* What stands in the text that a model sees of a document: elements, and what stands alone. */
#ifndef FERRY_DOCUMENTS_MARKS_H
#define FERRY_DOCUMENTS_MARKS_H

#include "base/bytes.h"
#include "base/status.h"
#include "engine/ferry.h"

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
    size_t item;    /* of the document */
    size_t at;      /* its place in the text: before this byte */
    size_t partner; /* of OPEN and CLOSE: the other mark */
} ferry_mark;

#endif
