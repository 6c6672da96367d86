/* The terms of a request, a line or a text: in order, and without overlaps. */
#ifndef FERRY_LINES_TERM_LIST_H
#define FERRY_LINES_TERM_LIST_H

#include "engine/ferry.h"

/* Terms, of any version's size. */
typedef struct ferry_terms {
    const ferry_term *terms; /* [count] every `size` bytes, sorted by line and begin */
    size_t size, count;
} ferry_terms;

static inline const ferry_term *ferry_terms_at(ferry_terms terms, size_t index)
{
    return (const ferry_term *)(const void *)((const char *)terms.terms + index * terms.size);
}
/* For qsort: terms of one line, or structs that begin with one, by their begins. */
int ferry_terms_compare(const void *a, const void *b);
/* Those of a line. */
ferry_terms ferry_terms_of_line(ferry_terms terms, size_t line);
/* Of terms of one line: those that begin at bytes begin … end - 1. */
ferry_terms ferry_terms_within(ferry_terms terms, size_t begin, size_t end);
/* Of terms of one line: the index of the first one that ends behind byte `at`. */
size_t ferry_terms_behind(ferry_terms terms, size_t at);
/* Of terms of one line: the one that byte `at` is within, not at its begin; NULL: there is none. */
const ferry_term *ferry_terms_around(ferry_terms terms, size_t at);

#endif
