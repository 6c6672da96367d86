/* A translated block: the words of its sentences, with its elements and what is kept at their places. */
#ifndef FERRY_DOCUMENTS_COMPOSE_H
#define FERRY_DOCUMENTS_COMPOSE_H

#include "document_parts.h"
#include "shown.h"

typedef struct ferry_composition {
    ferry_document *document;
    ferry_shown *shown;
    const ferry_result *result; /* of shown->text */
    ferry_document_pieces pieces;
    const char *reason; /* why the translation cannot be used, until the next block; NULL: it can */
    bool changed;       /* it is not the text itself */
} ferry_composition;

/* Composes a block of sentences first … after - 1 of the result. Errors: MEMORY. */
ferry_status ferry_compose(ferry_composition *c, const ferry_shown_block *block, size_t first, size_t after);

#endif
