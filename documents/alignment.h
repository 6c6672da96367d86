/* A part of a sentence that was translated at once: the words of its translation, and what they are aligned to. */
#ifndef FERRY_DOCUMENTS_ALIGNMENT_H
#define FERRY_DOCUMENTS_ALIGNMENT_H

#include "base/memory.h"
#include "placing.h"

#define FERRY_NO_INDEX SIZE_MAX

typedef struct ferry_place_word {
    size_t begin, end; /* bytes of the target */
    size_t token;      /* of the source that it is aligned to most; FERRY_NO_INDEX: none */
    bool spoken;       /* has a letter or a number */
    bool literal;      /* belongs to a text that stayed as it was */
} ferry_place_word;

typedef struct ferry_place_token {
    size_t begin, end;  /* bytes of the source */
    size_t number;      /* among all tokens to which the part is aligned */
    size_t first, last; /* the first and the last word with this token; FERRY_NO_INDEX: none */
    size_t word;        /* where its weight is largest; FERRY_NO_INDEX: it has none */
    float weight;       /* that weight */
    float sum;          /* of its weights for the word at work */
    bool spoken;        /* has a letter or a number; then its word has, and otherwise not */
} ferry_place_token;

typedef struct ferry_place_part {
    ferry_place_word *words;   /* [word_count] */
    ferry_place_token *tokens; /* [token_count] those of the source that have text */
    size_t word_count, token_count;
    size_t next;       /* the target token after it */
    size_t source_end; /* byte of the source where the next part begins; FERRY_NO_INDEX: it is the last one */
} ferry_place_part;

/* The part that begins with target token part->next. What is in it belongs to the arena. Errors: MEMORY. */
ferry_status ferry_place_read_part(const ferry_place_sentence *sentence, ferry_arena *arena, ferry_place_part *part,
                                   ferry_error *error);

#endif
