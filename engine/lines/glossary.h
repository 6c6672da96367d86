/* Finds the entries of a glossary in a text: whole words, the longest first. A small letter of an entry's source stands
 * for its capital, too, and any white space for one blank. */
#ifndef FERRY_LINES_GLOSSARY_H
#define FERRY_LINES_GLOSSARY_H

#include <stdbool.h>

#include "base/bytes.h"
#include "term_list.h"

/* An entry in a text. */
typedef struct ferry_glossary_match {
    size_t begin, end;         /* bytes begin … end - 1 of the text */
    const ferry_text *targets; /* [target_count] of the glossary */
    size_t target_count;
    bool capitals; /* the text has nothing but capitals here, two at least, and the entry's source has not */
} ferry_glossary_match;

/* Adds a user. The glossary lives until ferry_glossary_destroy was called for each of them. NULL: does nothing. */
void ferry_glossary_share(const ferry_glossary *glossary);

/* Finds the first entry of the text, which may be ill-formed UTF-8, that begins at bytes *at … until - 1 and does not
 * overlap any of the terms `taken` of the text. Moves *at behind it, or to `until` or behind if there is none. Time is
 * linear in what *at passes. */
bool ferry_glossary_next(const ferry_glossary *glossary, ferry_terms taken, ferry_view text, size_t *at, size_t until,
                         ferry_glossary_match *match);

#endif
