/* A part of a sentence that was translated at once: the words of its translation, and what they are aligned to. */
#ifndef FERRY_API_MARKUP_WORDS_H
#define FERRY_API_MARKUP_WORDS_H

#include "base/arena.h"
#include "markup_place.h"

#define FERRY_NO_INDEX SIZE_MAX

typedef struct ferry_markup_word {
    size_t begin, end; /* bytes of the target */
    size_t token;      /* of the source that it is aligned to most; FERRY_NO_INDEX: none */
    bool sure;         /* it is the token's word, too */
    bool spoken;       /* has a letter or a number */
    bool literal;      /* belongs to a text that stayed as it was */
} ferry_markup_word;

typedef struct ferry_markup_token {
    size_t begin, end;  /* bytes of the source */
    size_t first, last; /* the first and the last word with this token; FERRY_NO_INDEX: none */
    size_t word;        /* where its weight is largest; FERRY_NO_INDEX: it has none */
    float weight;       /* that weight */
    bool spoken;        /* has a letter or a number; then its word has, and otherwise not */
} ferry_markup_token;

typedef struct ferry_markup_part {
    size_t source_begin;        /* byte of the source where its first token begins */
    ferry_markup_word *words;   /* [word_count] */
    ferry_markup_token *tokens; /* [token_count] those of the source that have text */
    size_t word_count, token_count;
    size_t next; /* the target token after it */
} ferry_markup_part;

/* The part that begins with target token `first` < target_count. What is in it belongs to the arena. Errors: MEMORY. */
ferry_status ferry_markup_read_part(const ferry_place_sentence *sentence, size_t first, ferry_arena *arena,
                                    ferry_markup_part *part, ferry_error *error);

#endif
