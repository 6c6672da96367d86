/* Sequences of symbols: the characters of a text, or numbers for its words; and the n-grams that two of them share. */
#ifndef FERRY_LAB_SYMBOLS_H
#define FERRY_LAB_SYMBOLS_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/status.h"

typedef struct ferry_symbols {
    uint32_t *at; /* [count] */
    size_t count;
} ferry_symbols;

/* The code points of a text, in `arena`; what is not UTF-8 counts as U+FFFD. */
ferry_status ferry_symbols_of_text(ferry_arena *arena, ferry_text text, ferry_symbols *symbols, ferry_error *error);

/* White space as Python's str.split and str.rstrip see it: Unicode's, and U+001C to U+001F. */
bool ferry_is_python_space(uint32_t code_point);

enum { FERRY_NGRAM_MAX = 6 };
/* How many n-grams two sequences share: shared[n - 1] for n ≤ orders ≤ FERRY_NGRAM_MAX; one that occurs x times in `a`
 * and y times in `b` counts min(x, y) times. Symbols are below UINT32_MAX. */
ferry_status ferry_shared_ngrams(ferry_arena *arena, const ferry_symbols *a, const ferry_symbols *b, size_t orders,
                                 double *shared, ferry_error *error);
/* The number of n-grams of a sequence of `count` symbols. */
double ferry_ngram_count(size_t count, size_t n);

#endif
