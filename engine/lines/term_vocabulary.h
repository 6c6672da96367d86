/* What terms need to know about a model's vocabularies: where words begin, which tokens have digits, and names that can
 * stand for opaque terms. */
#ifndef FERRY_LINES_TERM_VOCABULARY_H
#define FERRY_LINES_TERM_VOCABULARY_H

#include <stdint.h>

#include "base/status.h"

/* A name that is one token in the source and in the target. It stands for an opaque term until the text is complete. */
typedef struct ferry_stand_in {
    const char *name;
    int32_t id; /* of the target */
} ferry_stand_in;

enum { FERRY_STAND_INS = 16 };

typedef struct ferry_term_vocabulary {
    /* A bit for each target id; NULL: unknown. */
    uint64_t *word_begins; /* it begins a word or a mark, or has no text */
    uint64_t *numberless;  /* it has no digit */
    ferry_stand_in stand_ins[FERRY_STAND_INS];
    size_t stand_in_count;
} ferry_term_vocabulary;

/* Errors: MEMORY, UNSUPPORTED (target text cannot become tokens). *vocabulary is zeroed before. */
ferry_status ferry_term_vocabulary_create(const ferry_model *model, ferry_term_vocabulary *vocabulary,
                                          ferry_error *error);
void ferry_term_vocabulary_destroy(ferry_term_vocabulary *vocabulary);

#endif
