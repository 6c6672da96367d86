/* From words to the ids of their pieces: two ways to look pieces up, a hash table (ferry_vocabulary) and a tree of
 * their bytes (ferry_byte_trie), and two segmenters, Unigram and byte pair encoding. All of them are immutable once
 * created, except the scratch memory: threads may share them. */
#ifndef FERRY_TOKENIZER_PIECES_H
#define FERRY_TOKENIZER_PIECES_H

#include "base/bytes.h"
#include "base/status.h"
#include "base/texts.h"

/* "▁", which stands for a blank in the pieces of SentencePiece and `tokenizers`. */
#define FERRY_PIECE_BLANK "\u2581"

/* ---- the model's vocabulary: id → piece and piece → id ---- */

/* In the bits of id_mask an id + 1; in the others bits of its piece's hash, which spare most comparisons with pieces
 * that differ. 0: free. */
typedef uint32_t ferry_vocabulary_slot;

typedef struct ferry_vocabulary {
    const ferry_texts *pieces; /* [count], by id */
    int32_t count;
    ferry_vocabulary_slot *slots; /* [capacity], open addressing; at least one is free */
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

/* ---- byte pair encoding ----
 *
 * Merges are ranked by pair (Sennrich, Haddow and Birch, "Neural Machine Translation of Rare Words with Subword Units",
 * 2016): a word is characters at first, and the pair of neighbors whose merge is the best becomes one symbol, until no
 * pair of neighbors has a merge. SentencePiece ranks merges by the merged piece instead, which cannot express the same
 * merges. */

/* Whose rules: they differ in what is merged together, which of two equal merges counts, and how the vocabulary writes
 * the pieces of a word. */
typedef enum ferry_bpe_kind {
    FERRY_BPE_NONE,
    /* Hugging Face's package `tokenizers`: the best pair, the leftmost of several, one by one. Of equal merges, the
     * last counts. Symbols are pieces: those that a merge names are in the vocabulary. */
    FERRY_BPE_TOKENIZERS,
    /* subword-nmt, `#version: 0.1` or none: all occurrences of the best pair at once, from left to right. Of equal
     * merges, the first counts. The last symbol of a word is "</w>". Each piece but a word's last ends with "@@". */
    FERRY_BPE_SUBWORD_NMT_1,
    /* `#version: 0.2`: the last character of a word ends with "</w>". */
    FERRY_BPE_SUBWORD_NMT_2,
    /* FSMT: the same, but of equal merges, the last counts, and the last piece of a word ends with "</w>". */
    FERRY_BPE_FSMT
} ferry_bpe_kind;

enum { FERRY_BPE_MAX_MERGES = 1 << 22 };

typedef struct ferry_bpe_config {
    ferry_bpe_kind kind;
    const ferry_texts *merges; /* [merge_count] "left right", the best first: one blank, and none in left and right */
    size_t merge_count;
    const ferry_vocabulary *vocabulary; /* has the segments; pieces that are no segments are allowed */
    int32_t unknown;                    /* id of characters and pieces that the vocabulary lacks */
    /* FERRY_BPE_TOKENIZERS alone: */
    ferry_view word_end; /* the last character of a word ends with it, as in "</w>"; empty: nothing */
    bool fuse_unknown;   /* unknown characters that follow each other are one */
    bool byte_fallback;  /* the bytes of an unknown character become pieces <0x00> … <0xFF>, if there are any */
    bool whole_words;    /* a word that is a piece stays one, whatever the merges say ("ignore_merges") */
} ferry_bpe_config;

typedef struct ferry_bpe ferry_bpe;

/* `config` is copied; the vocabulary must outlive *bpe, the merges need not. *bpe belongs to the caller, NULL after a
 * failure. `name` is for messages. Errors: FORMAT (a merge is not two texts with a blank between them; FERRY_BPE_
 * TOKENIZERS: its left, right or both together are not in the vocabulary), UNSUPPORTED (byte_fallback with some of the
 * 256 pieces, or with word_end), LIMIT, MEMORY. */
ferry_status ferry_bpe_create(const ferry_bpe_config *config, const char *name, ferry_bpe **bpe, ferry_error *error);
/* NULL is allowed. */
void ferry_bpe_destroy(ferry_bpe *bpe);

typedef struct ferry_bpe_symbol ferry_bpe_symbol;

/* Memory of one thread, which grows from word to word; empty when zeroed. */
typedef struct ferry_bpe_scratch {
    ferry_bpe_symbol *symbols;
    size_t symbol_count, symbol_capacity;
    uint64_t *queue;
    size_t queue_count, queue_capacity;
    uint32_t *batch;
    size_t batch_capacity;
    ferry_string piece;
} ferry_bpe_scratch;

/* Allowed on a zeroed object. */
void ferry_bpe_scratch_destroy(ferry_bpe_scratch *scratch);
/* Calls `sink` for the segments of `word`, which may be empty, in order: they adjoin each other and are all of it. An
 * ill-formed byte is an unknown character. Time: n log n of a word of n bytes. Errors: LIMIT (a word of 2³¹ bytes),
 * MEMORY, or that of `sink`. */
ferry_status ferry_bpe_segment(const ferry_bpe *bpe, ferry_view word, ferry_bpe_scratch *scratch, ferry_piece_sink sink,
                               void *user, ferry_error *error);

#endif
