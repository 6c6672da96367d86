/* Byte pair encoding, by merges that are ranked by pair.
 *
 * Sennrich, Haddow and Birch, "Neural Machine Translation of Rare Words with Subword Units", 2016: a word begins as a
 * sequence of characters. The adjacent pair with the best merge becomes one symbol, until no adjacent pair has a merge.
 * SentencePiece ranks merges by the merged piece instead, which cannot express the same merges. */
#ifndef FERRY_TOKENIZER_BPE_H
#define FERRY_TOKENIZER_BPE_H

#include "base/string_table.h"
#include "pieces.h"
#include "tokenizer_config.h"

typedef struct ferry_bpe_config {
    ferry_tokenizer_kind kind;        /* from FERRY_TOKENIZER_BPE on */
    const ferry_string_table *merges; /* [merge_count] "left right", the best first; no blank within left or right */
    size_t merge_count;
    const ferry_vocabulary *vocabulary; /* ids of the segments; it may have other pieces */
    int32_t unknown;                    /* the id of characters and segments that the vocabulary lacks */
    /* Only for FERRY_TOKENIZER_BPE: */
    ferry_view word_end; /* appended to the last character of a word ("</w>"); empty: nothing */
    bool fuse_unknown;   /* adjacent unknown characters are one segment */
    bool byte_fallback;  /* the bytes of an unknown character become pieces <0x00> … <0xFF>, if these exist */
    bool whole_words;    /* a word that is a piece is one segment, without merges ("ignore_merges") */
} ferry_bpe_config;

typedef struct ferry_bpe ferry_bpe;

/* Copies `config`. The vocabulary must outlive *bpe; the merges need not. *bpe belongs to the caller; NULL after a
 * failure. `name` is for messages. Errors: FORMAT (a merge is not two texts with a blank between them; for
 * FERRY_TOKENIZER_BPE: left, right or both together are not in the vocabulary), UNSUPPORTED (byte_fallback with some of
 * the 256 pieces, or with word_end), LIMIT, MEMORY. */
ferry_status ferry_bpe_create(const ferry_bpe_config *config, const char *name, ferry_bpe **bpe, ferry_error *error);
/* NULL is allowed. */
void ferry_bpe_destroy(ferry_bpe *bpe);

typedef struct ferry_bpe_symbol ferry_bpe_symbol;

/* Scratch memory of one thread, kept from word to word. Empty when zeroed. */
typedef struct ferry_bpe_scratch {
    ferry_bpe_symbol *symbols;
    size_t symbol_count, symbol_capacity;
    uint64_t *queue;
    size_t queue_count, queue_capacity;
    uint32_t *batch;
    size_t batch_capacity;
    ferry_buffer piece;
} ferry_bpe_scratch;

/* Allowed on a zeroed object. */
void ferry_bpe_scratch_destroy(ferry_bpe_scratch *scratch);
/* Calls `sink` for each segment of `word`, in order; together they are all of `word`, which may be empty. An ill-formed
 * byte is an unknown character. Time: O(n log n) for n bytes. Errors: LIMIT (a word of 2³¹ - 1 bytes), MEMORY, or that
 * of `sink`. */
ferry_status ferry_bpe_segment(const ferry_bpe *bpe, ferry_view word, ferry_bpe_scratch *scratch, ferry_piece_sink sink,
                               void *user, ferry_error *error);

#endif
