/* From words to the ids of their pieces: two ways to look pieces up, a hash table (ferry_vocabulary) and a tree of
 * their bytes (ferry_byte_trie), and two segmenters, Unigram and byte pair encoding. All of them are immutable once
 * created, except the scratch memory: threads may share them. */
#ifndef FERRY_TOKENIZER_PIECES_H
#define FERRY_TOKENIZER_PIECES_H

#include "base/bytes.h"
#include "base/status.h"

typedef struct ferry_texts ferry_texts;

/* "▁", which stands for a blank in the pieces of SentencePiece and `tokenizers`. */
#define FERRY_PIECE_BLANK "\u2581"

/* ---- the model's vocabulary: id → piece and piece → id ---- */

/* A slot holds an id + 1 in the bits of id_mask, and in the other bits a part of the hash of its piece, which spares
 * most comparisons of different pieces. 0: the slot is free. */
typedef struct ferry_vocabulary {
    const ferry_texts *pieces; /* [count], by id */
    int32_t count;
    uint32_t *slots; /* [capacity], open addressing; at least one is free */
    size_t capacity;
    uint32_t id_mask;
    ferry_hash_key key; /* pieces are untrusted: nobody shall choose ones that collide */
} ferry_vocabulary;

/* `pieces` [count], count ≥ 0, and their bytes belong to the caller and must outlive the vocabulary. Pieces may be
 * empty, contain NUL bytes and occur twice. Errors: MEMORY; *vocabulary is then zeroed. */
ferry_status ferry_vocabulary_create(const ferry_texts *pieces, int32_t count, ferry_vocabulary *vocabulary,
                                     ferry_error *error);
/* Allowed on a zeroed object. */
void ferry_vocabulary_destroy(ferry_vocabulary *vocabulary);
/* The lowest id of `piece`, or -1. */
int32_t ferry_vocabulary_find(const ferry_vocabulary *vocabulary, ferry_view piece);

/* ---- texts in a trie: those that a text begins with ---- */

typedef struct ferry_byte_node {
    uint32_t first; /* its children, by their bytes, are nodes first … first + count - 1 */
    int32_t value;  /* of the text that ends here; -1: none does */
    uint16_t count;
    uint8_t byte;
} ferry_byte_node;

typedef struct ferry_byte_trie {
    ferry_byte_node *nodes; /* [0] is the root */
    size_t node_count;
} ferry_byte_trie;

typedef struct ferry_byte_entry {
    ferry_view text;
    int32_t value; /* ≥ 0 */
} ferry_byte_entry;

/* Sorts `entries` [count]. Of equal texts, the one with the largest value counts; empty texts match nowhere. Errors:
 * LIMIT (2³² nodes), MEMORY; *trie is zeroed on failure. */
ferry_status ferry_byte_trie_create(ferry_byte_entry *entries, size_t count, ferry_byte_trie *trie, ferry_error *error);
/* Allowed on a zeroed object. */
void ferry_byte_trie_destroy(ferry_byte_trie *trie);
/* The child of a node; 0: there is none. The root is node 0. */
uint32_t ferry_byte_trie_child(const ferry_byte_trie *trie, uint32_t node, uint8_t byte);

/* ---- segmenters ---- */

/* Bytes begin … end - 1 of the word have this id. A status other than FERRY_OK ends the segmentation; the sink fills
 * the caller's error itself. */
typedef ferry_status (*ferry_piece_sink)(void *user, size_t begin, size_t end, int32_t id);

/* ---- Unigram ----
 *
 * The segmentation of a word into the pieces whose scores have the largest sum (Kudo 2018, subword regularization), as
 * the package `tokenizers` finds it: sums in double precision, and of equal ones the first that is found, going from
 * left to right and from shorter to longer pieces. SentencePiece adds in float, which decides otherwise where a
 * character is repeated. */

/* The most bytes of a piece, which are looked at from each character of a word on. */
enum { FERRY_UNIGRAM_MAX_PIECE = 512 };

typedef struct ferry_unigram_config {
    const ferry_texts *pieces; /* [count] by the model's id */
    const double *scores;      /* [count]; NaN: no piece of the segmenter has this id */
    int32_t count;
    int32_t unknown;
    bool byte_fallback; /* the bytes of what no piece covers become pieces <0x00> … <0xFF>, if it has all of them */
} ferry_unigram_config;

typedef struct ferry_unigram {
    ferry_unigram_config config;
    ferry_byte_trie trie;
    double unknown_score;
    int32_t bytes[256]; /* the ids of <0xNN>; -1: none, or no byte_fallback */
} ferry_unigram;

/* The best path to an offset in a word. */
typedef struct ferry_unigram_node {
    double score;
    size_t length; /* of the last piece; 0: no path leads here */
    size_t next;   /* offset, on the best path to the end */
    int32_t id;
} ferry_unigram_node;

/* Scratch memory of one thread; empty when zeroed. Its owner frees `nodes`. */
typedef struct ferry_unigram_scratch {
    ferry_unigram_node *nodes;
    size_t capacity;
} ferry_unigram_scratch;

/* The arrays of `config` must outlive *unigram. Errors: UNSUPPORTED (a longer piece), LIMIT, MEMORY; *unigram is then
 * empty. */
ferry_status ferry_unigram_create(const ferry_unigram_config *config, ferry_unigram *unigram, ferry_error *error);
/* Allowed on a zeroed object. */
void ferry_unigram_destroy(ferry_unigram *unigram);
/* Characters without a piece that follow each other are one unknown. Errors: MEMORY, or that of `sink`. */
ferry_status ferry_unigram_segment(const ferry_unigram *unigram, ferry_view word, ferry_unigram_scratch *scratch,
                                   ferry_piece_sink sink, void *user, ferry_error *error);

#endif
