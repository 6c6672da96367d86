/* Strings of programs, in catalogs and in JSON: text between quotation marks, with escapes, as blocks of a document. */
#ifndef FERRY_DOCUMENTS_QUOTED_TEXT_H
#define FERRY_DOCUMENTS_QUOTED_TEXT_H

#include "document.h"

typedef struct ferry_quoted_place {
    size_t begin, end; /* in the source; of an escape of several bytes, the first has all of it */
} ferry_quoted_place;

/* A decoded string. Grows with its use. */
typedef struct ferry_quoted_text {
    ferry_string bytes;
    ferry_quoted_place *places; /* [bytes.size]; what is between two of them in the source is no text */
    size_t capacity;
} ferry_quoted_text;

void ferry_quoted_destroy(ferry_quoted_text *text);
/* Appends what bytes begin … end - 1 of the source stand for. Errors: MEMORY. */
ferry_status ferry_quoted_push(ferry_quoted_text *text, size_t begin, size_t end, ferry_view bytes, ferry_error *error);

/* Makes blocks of a string: of its paragraphs, and of the columns of lines that have such. `line_end` is what lines of
 * the source end and begin with, "\"\n\"", and lasts as long as the document. Empty: strings have one line, each "\n"
 * of them ends a text, and so does " | ", which is between forms of plural. */
ferry_status ferry_quoted_add_blocks(ferry_document *document, const ferry_quoted_text *text, ferry_view line_end);

/* For formats' write_text: with backslashes. */
ferry_status ferry_quoted_write(ferry_string *out, ferry_view text, bool begins_line, ferry_error *error);
/* Whether a translation has no more of what may begin a placeholder or a tag than its source, as many '%' if that has
 * placeholders with it, and placeholders without numbers or names in their order. */
bool ferry_quoted_same_code(const ferry_quoted_text *source, const ferry_quoted_text *translation);

/* Refuses the document: "line 3: expected ':'". `at`: where in its source. Returns UNSUPPORTED. */
ferry_status ferry_quoted_refuse(const ferry_document *document, size_t at, const char *expected);

#endif
