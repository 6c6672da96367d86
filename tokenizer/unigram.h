/* The segmentation of a word into the pieces whose scores have the largest sum (Kudo 2018, subword regularization), as
 * the package `tokenizers` finds it: sums in double precision, and of equal ones the first that is found, going from
 * left to right and from shorter to longer pieces. SentencePiece adds in float, which decides otherwise where a
 * character is repeated. */
#ifndef FERRY_TOKENIZER_UNIGRAM_H
#define FERRY_TOKENIZER_UNIGRAM_H

#include "base/texts.h"
#include "byte_trie.h"

/* Bytes of a piece: from each character of a word, so many are looked at. */
enum { FERRY_UNIGRAM_MAX_PIECE = 512 };

typedef struct ferry_unigram_config {
    const ferry_texts *pieces; /* [count] by the model's id */
    const double *scores;      /* [count]; NaN: no piece of the segmenter has this id */
    int32_t count;
    int32_t unknown;
    bool byte_fallback; /* the bytes of what no piece covers become pieces <0x00> … <0xFF>, if it has all of them */
} ferry_unigram_config;

/* Immutable: threads may share it. */
typedef struct ferry_unigram {
    ferry_unigram_config config;
    ferry_byte_trie trie;
    double unknown_score;
    int32_t bytes[256]; /* the ids of <0xNN>; -1: none, or no byte_fallback */
} ferry_unigram;

/* The best way to a place of a word. */
typedef struct ferry_unigram_node {
    double score;
    size_t length; /* of the last piece; 0: no way leads here */
    size_t next;   /* on the best way to the end */
    int32_t id;
} ferry_unigram_node;

/* Scratch memory of one thread; empty when zeroed. Its owner frees `nodes`. */
typedef struct ferry_unigram_scratch {
    ferry_unigram_node *nodes;
    size_t capacity;
} ferry_unigram_scratch;

/* Bytes begin … end - 1 of the word have this id. A status other than FERRY_OK ends the segmentation. */
typedef ferry_status (*ferry_unigram_sink)(void *user, size_t begin, size_t end, int32_t id);

/* The arrays of `config` must outlive *unigram. Errors: UNSUPPORTED (a longer piece), LIMIT, MEMORY; *unigram is zeroed
 * on failure. */
ferry_status ferry_unigram_create(const ferry_unigram_config *config, ferry_unigram *unigram, ferry_error *error);
/* Allowed on a zeroed object. */
void ferry_unigram_destroy(ferry_unigram *unigram);
/* Characters without a piece that follow each other are one unknown. Errors: MEMORY, or that of `sink`. */
ferry_status ferry_unigram_segment(const ferry_unigram *unigram, ferry_view word, ferry_unigram_scratch *scratch,
                                   ferry_unigram_sink sink, void *user, ferry_error *error);

#endif
