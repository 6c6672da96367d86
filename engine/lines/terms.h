/* Terms: what the translation of a part must have. A part is searched as without terms. While its best hypothesis lacks
 * one, it is searched again with a prefix that ends with the term: the hypothesis up to the place where the weights of
 * cross-attention put the term's span. */
#ifndef FERRY_LINES_TERMS_H
#define FERRY_LINES_TERMS_H

#include "split.h"

/* A term of a part. */
struct ferry_part_term {
    const ferry_term *given;
    ferry_range span; /* bytes of the part's text */
    bool possible;    /* it is not cut by the end of the part, and fits into max_length */
    bool missing;     /* the translation lacks it */
    ferry_range found;
};

/* Gives the parts of a line their terms. `valid`: the line as the parts point into it; `given`: as the caller gave it;
 * `offset`: of the line in the text whose bytes the terms count. Errors: MEMORY. */
ferry_status ferry_terms_share(ferry_parts *parts, const char *valid, ferry_text given, ferry_terms terms,
                               size_t offset, ferry_error *error);

/* Looks for the part's terms in its translation: each at a place of its own, between the beginning and the end of
 * words. Returns the number of terms that it lacks. */
size_t ferry_terms_look(ferry_part *part, ferry_view translation);

/* The best hypothesis of a part's search. */
typedef struct ferry_terms_hypothesis {
    const int32_t *ids; /* [length] */
    size_t length;
    const float *weights; /* [length, part->ids.count] */
} ferry_terms_hypothesis;

/* Writes the leftmost missing term into the part's prefix. *again: it was written. Errors: MEMORY, and those of the
 * tokenizer. */
ferry_status ferry_terms_write(const ferry_model *model, const ferry_line_rules *rules,
                               const ferry_terms_hypothesis *hypothesis, ferry_part *part, bool *again,
                               ferry_error *error);

/* What terms need to know about a model's target vocabulary. */
typedef struct ferry_term_vocabulary {
    uint64_t *word_begins; /* a bit for each id: it begins a word or a mark, or has no text. NULL: unknown */
} ferry_term_vocabulary;

/* Errors: MEMORY, UNSUPPORTED (target text cannot become tokens). *vocabulary is zeroed before. */
ferry_status ferry_term_vocabulary_create(const ferry_model *model, ferry_term_vocabulary *vocabulary,
                                          ferry_error *error);
void ferry_term_vocabulary_destroy(ferry_term_vocabulary *vocabulary);

#endif
