/* A translated segment: the words of its sentences, with its elements and what is kept at their places. */
#ifndef FERRY_DOCUMENTS_COMPOSE_H
#define FERRY_DOCUMENTS_COMPOSE_H

#include "document_parts.h"
#include "model_text.h"

enum { FERRY_CODE_SIGNS = 15, FERRY_LACKS_NUMBER = '0' };

typedef struct ferry_composition {
    ferry_document *document;
    ferry_model_text *shown;
    const ferry_result *result; /* of shown->text */
    ferry_written_pieces pieces;
    const char *reason;               /* why the translation cannot be used, until the next segment; NULL: it can */
    bool changed;                     /* it is not the text itself */
    char lacks[FERRY_CODE_SIGNS + 1]; /* why: signs that it has less often than the text, or FERRY_LACKS_NUMBER */
    char message[128];                /* a reason */
} ferry_composition;

/* Composes a segment of sentences first … after - 1 of the result. Errors: MEMORY. */
ferry_status ferry_compose(ferry_composition *c, const ferry_model_segment *segment, size_t first, size_t after);

#endif
