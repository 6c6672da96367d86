/* Words of a text that have a translation of their own, or none: what the library is given as a glossary, sorted. */
#ifndef FERRY_DOCUMENTS_GLOSSARY_H
#define FERRY_DOCUMENTS_GLOSSARY_H

#include "base/string_table.h"
#include "ferry_documents.h"

#define ferry_glossary ferry_document_glossary
#define ferry_glossary_create ferry_document_glossary_create
#define ferry_glossary_destroy ferry_document_glossary_destroy

enum { FERRY_MOST_TERM = 256 }; /* bytes of a source: so that time is linear */

typedef struct ferry_glossary_term {
    ferry_view key;            /* the source in small letters, with one blank in place of white space */
    ferry_view source, target; /* bytes of the caller; target.size 0: the source stays as the text has it */
} ferry_glossary_term;

typedef struct ferry_glossary {
    ferry_glossary_term *terms; /* [count], ascending by their keys */
    size_t count;
    char *keys;
} ferry_glossary;

/* The entries [count] have to last as long as the glossary, which is to be destroyed after a failure, too. Errors:
 * ARGUMENT (an entry that is empty, too long, no UTF-8, or given twice with another target), MEMORY. */
ferry_status ferry_glossary_create(const ferry_document_term *entries, size_t count, ferry_glossary *glossary,
                                   ferry_error *error);
void ferry_glossary_destroy(ferry_glossary *glossary);

/* A search for the terms that a text begins with, character by character; zeroed, with `end` the glossary's count. */
typedef struct ferry_glossary_search {
    size_t begin, end;               /* terms whose keys begin with what was found */
    size_t size;                     /* bytes of these keys that were compared */
    char found[FERRY_MOST_TERM * 2]; /* [found_size] the text */
    size_t found_size;
} ferry_glossary_search;

/* Goes on with the next character; white space is ' ', once. Returns whether there are terms that go on so. */
bool ferry_glossary_step(const ferry_glossary *glossary, ferry_glossary_search *search, uint32_t c);
/* The term that is complete here, or NULL. A small letter of its source stands for the capital, too. */
const ferry_glossary_term *ferry_glossary_complete(const ferry_glossary *glossary, const ferry_glossary_search *search);
/* The term that is all of a text; NULL: there is none, or no glossary. */
const ferry_glossary_term *ferry_glossary_find(const ferry_glossary *glossary, ferry_view text);
/* Appends what stands in the place of what was found: the target, in capitals if the text has nothing but capitals
 * where the source has not; without a target, the text. Errors: MEMORY. */
ferry_status ferry_glossary_write(const ferry_glossary_term *term, ferry_view found, ferry_buffer *out,
                                  ferry_error *error);

#endif
