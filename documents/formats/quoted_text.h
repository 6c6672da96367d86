/* Strings of programs, in catalogs and in JSON: text between quotation marks, with escapes, as blocks of a document. */
#ifndef FERRY_DOCUMENTS_FORMATS_QUOTED_TEXT_H
#define FERRY_DOCUMENTS_FORMATS_QUOTED_TEXT_H

#include "documents/document.h"

typedef struct ferry_quoted_place {
    size_t begin, end; /* in the source; of an escape of several bytes, the first has all of it */
} ferry_quoted_place;

/* A decoded string. Grows with its use. */
typedef struct ferry_quoted_text {
    ferry_buffer bytes;
    ferry_quoted_place *places; /* [bytes.size]; what is between two of them in the source is no text */
    size_t capacity;
} ferry_quoted_text;

void ferry_quoted_destroy(ferry_quoted_text *text);
/* Decodes what begins at byte *at, within quotation marks. JSON: up to the next quotation mark, or to what it allows in
 * no string. PO: up to the end, with all the strings that follow. Moves *at there. Errors: MEMORY. */
ferry_status ferry_quoted_decode(ferry_view source, size_t *at, bool json, ferry_quoted_text *text, ferry_error *error);

/* Makes blocks of a string: of its paragraphs, and of the columns of lines that have such. `line_end` is what lines of
 * the source end and begin with, "\"\n\"", and lasts as long as the document. Empty: strings have one line, each "\n"
 * of them ends a text, and so does " | ", which is between forms of plural. */
ferry_status ferry_quoted_add_blocks(ferry_document *document, const ferry_quoted_text *text, ferry_view line_end);

/* For formats' write_text: with backslashes. */
ferry_status ferry_quoted_write(ferry_buffer *out, ferry_view text, bool begins_line, ferry_error *error);
/* For formats' check: a translation has no more of what may begin a placeholder or a tag than its source, as many '%'
 * if that has placeholders with it, and placeholders without numbers or names in their order. */
ferry_status ferry_quoted_check(ferry_view before, ferry_view after, bool json, bool *same, ferry_error *error);

typedef struct ferry_icu_texts {
    ferry_quoted_place *items; /* [count], ascending bytes of a message; free() frees them */
    size_t count, capacity;
} ferry_icu_texts;

/* Reads the argument of ICU's MessageFormat of type plural, select or selectordinal that begins with the "{" at byte
 * `at` of a message. *end: the byte after it; `at`: there is none; SIZE_MAX: it is not well formed. Appends its texts
 * (NULL: they are not wanted); an argument of these types within a text divides that text. Errors: MEMORY. */
ferry_status ferry_icu_argument_read(ferry_view message, size_t at, size_t *end, ferry_icu_texts *texts,
                                     ferry_error *error);

/* Refuses the document: "line 3: expected ':'". `at`: where in its source. Returns UNSUPPORTED. */
ferry_status ferry_quoted_refuse(const ferry_document *document, size_t at, const char *expected);

#endif
