/* Pieces and their ids: a hash table (ferry_vocabulary), a tree of bytes (ferry_byte_trie), and the Unigram segmenter,
 * which divides a word into pieces. (Byte pair encoding: bpe.h.) All are immutable once created, except the scratch
 * memory: threads may share them. */
#ifndef FERRY_TOKENIZER_PIECES_H
#define FERRY_TOKENIZER_PIECES_H

#include "base/bytes.h"
#include "base/status.h"

typedef struct ferry_string_table ferry_string_table;

/* "▁", which stands for a blank in the pieces of SentencePiece and `tokenizers`. */
#define FERRY_PIECE_BLANK "\u2581"

/* ---- the model's vocabulary: id → piece and piece → id ---- */

/* A slot holds an id + 1 in the bits of id_mask, and in the other bits a part of the hash of its piece, which spares
 * most comparisons of different pieces. 0: the slot is free. */
typedef struct ferry_vocabulary {
    const ferry_string_table *pieces; /* [count], by id */
    int32_t count;
    uint32_t *slots; /* [capacity], open addressing; at least one is free */
    size_t capacity;
    uint32_t id_mask;
    ferry_hash_key key; /* pieces are untrusted: chosen ones must not collide */
} ferry_vocabulary;

/* `pieces` [count], count ≥ 0, and their bytes belong to the caller and must outlive the vocabulary. Pieces may be
 * empty, contain NUL bytes and occur twice. Errors: MEMORY; *vocabulary is then zeroed. */
ferry_status ferry_vocabulary_create(const ferry_string_table *pieces, int32_t count, ferry_vocabulary *vocabulary,
                                     ferry_error *error);
/* Allowed on a zeroed object. */
void ferry_vocabulary_destroy(ferry_vocabulary *vocabulary);
/* The lowest id of `piece`, or -1. */
int32_t ferry_vocabulary_find(const ferry_vocabulary *vocabulary, ferry_view piece);

/* ---- a trie: finds the entries that a text begins with ---- */

typedef struct ferry_byte_node {
    uint32_t first; /* its children are nodes first … first + count - 1, ascending by byte */
    int32_t value;  /* of the entry that ends here; -1: none */
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

/* Sorts `entries` [count]. If texts are equal, the largest value counts; empty texts never match. Errors: LIMIT (2³²
 * nodes), MEMORY; *trie is zeroed on failure. */
ferry_status ferry_byte_trie_create(ferry_byte_entry *entries, size_t count, ferry_byte_trie *trie, ferry_error *error);
/* Allowed on a zeroed object. */
void ferry_byte_trie_destroy(ferry_byte_trie *trie);
/* The child of `node` (root: 0) for `byte`; 0: none. */
uint32_t ferry_byte_trie_child(const ferry_byte_trie *trie, uint32_t node, uint8_t byte);

/* ---- segmenters ---- */

/* Receives the id of bytes begin … end - 1 of the word. A status other than FERRY_OK ends the segmentation; the sink
 * then has filled the caller's error. */
typedef ferry_status (*ferry_piece_sink)(void *user, size_t begin, size_t end, int32_t id);

/* ---- Unigram ----
 *
 * Divides a word into the pieces whose scores have the largest sum (Kudo 2018, subword regularization), as the package
 * `tokenizers` does: sums in double precision; of equal sums, the first one found from left to right and from shorter
 * to longer pieces. SentencePiece adds in float, which can decide otherwise if a character is repeated. */

/* The largest piece in bytes. At each character of a word, up to this many bytes are searched. */
enum { FERRY_UNIGRAM_MAX_PIECE = 512 };

typedef struct ferry_unigram_config {
    const ferry_string_table *pieces; /* [count] by the model's id */
    const double *scores;             /* [count]; NaN: the segmenter ignores the piece */
    int32_t count;
    int32_t unknown;    /* the id of characters without a piece */
    bool byte_fallback; /* the bytes of unknown text become pieces <0x00> … <0xFF>, if all of its bytes have one */
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
    size_t length; /* bytes of the last piece; 0: no path leads here */
    size_t next;   /* the next offset on the best path to the end */
    int32_t id;    /* of the last piece */
} ferry_unigram_node;

/* Scratch memory of one thread; empty when zeroed. Its owner frees `nodes`. */
typedef struct ferry_unigram_scratch {
    ferry_unigram_node *nodes;
    size_t capacity;
} ferry_unigram_scratch;

/* The arrays of `config` must outlive *unigram. Errors: UNSUPPORTED (a piece of more than FERRY_UNIGRAM_MAX_PIECE
 * bytes), LIMIT, MEMORY; *unigram is then empty. */
ferry_status ferry_unigram_create(const ferry_unigram_config *config, ferry_unigram *unigram, ferry_error *error);
/* Allowed on a zeroed object. */
void ferry_unigram_destroy(ferry_unigram *unigram);
/* Calls `sink` for each piece of `word`, in order. Adjacent characters without a piece are one unknown piece. Errors:
 * MEMORY, or that of `sink`. */
ferry_status ferry_unigram_segment(const ferry_unigram *unigram, ferry_view word, ferry_unigram_scratch *scratch,
                                   ferry_piece_sink sink, void *user, ferry_error *error);

#endif
