#include "term_list.h"

int ferry_terms_compare(const void *a, const void *b)
{
    const ferry_term *x = a, *y = b;
    return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* The index of the first term, of terms in order, that is not before byte `begin` of line `line`. */
static size_t first_from(ferry_terms terms, size_t line, size_t begin)
{
    size_t low = 0, high = terms.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const ferry_term *term = ferry_terms_at(terms, middle);
        if (term->line < line || (term->line == line && term->begin < begin))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static ferry_terms slice(ferry_terms terms, size_t first, size_t end)
{
    const ferry_terms none = {.size = terms.size};
    return first < end ? (ferry_terms){ferry_terms_at(terms, first), terms.size, end - first} : none;
}

ferry_terms ferry_terms_of_line(ferry_terms terms, size_t line)
{
    return slice(terms, first_from(terms, line, 0), first_from(terms, line + 1, 0));
}

ferry_terms ferry_terms_within(ferry_terms terms, size_t begin, size_t end)
{
    const size_t line = terms.count > 0 ? ferry_terms_at(terms, 0)->line : 0;
    return slice(terms, first_from(terms, line, begin), first_from(terms, line, end));
}

size_t ferry_terms_behind(ferry_terms terms, size_t at)
{
    size_t low = 0, high = terms.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (ferry_terms_at(terms, middle)->end <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const ferry_term *ferry_terms_around(ferry_terms terms, size_t at)
{
    const size_t index = ferry_terms_behind(terms, at);
    const ferry_term *term = index < terms.count ? ferry_terms_at(terms, index) : NULL;
    return term != NULL && term->begin < at ? term : NULL;
}
