/* Strings of PO files as blocks of a document. */
#ifndef FERRY_DOCUMENTS_PO_TEXT_H
#define FERRY_DOCUMENTS_PO_TEXT_H

#include "document.h"

/* One byte of a string, decoded: "\"", "a\n" in the source; bytes between two of them do not belong to the string. */
typedef struct ferry_po_char {
    size_t begin, end; /* in the source */
    char byte;
} ferry_po_char;

/* Grows with its use; release with free(). */
typedef struct ferry_po_string {
    ferry_po_char *chars; /* [count] */
    size_t count, capacity;
} ferry_po_string;

/* Decodes the quoted strings in bytes begin … end - 1 of the document, between which is nothing but white space. */
ferry_status ferry_po_decode(ferry_document *document, size_t begin, size_t end, ferry_po_string *string);
/* Makes blocks of a string: of its paragraphs, and of the columns of lines that have such. `line_end` is what lines of
 * the source end and begin with, "\"\n\"", and lasts as long as the document. */
ferry_status ferry_po_add_blocks(ferry_document *document, const ferry_po_string *string, ferry_view line_end);

#endif
