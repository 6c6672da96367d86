/* Byte pair encoding, by merges that are ranked by pair.
 *
 * Merges are ranked by pair (Sennrich, Haddow and Birch, "Neural Machine Translation of Rare Words with Subword Units",
 * 2016): a word is characters at first, and the pair of neighbors whose merge is the best becomes one symbol, until no
 * pair of neighbors has a merge. SentencePiece ranks merges by the merged piece instead, which cannot express the same
 * merges. */
#ifndef FERRY_TOKENIZER_BPE_H
#define FERRY_TOKENIZER_BPE_H

#include "base/texts.h"
#include "pieces.h"
#include "tokenizer_config.h"

typedef struct ferry_bpe_config {
    ferry_tokenizer_kind kind; /* from FERRY_TOKENIZER_BPE on */
    const ferry_texts *merges; /* [merge_count] "left right", the best first: one blank, and none in left and right */
    size_t merge_count;
    const ferry_vocabulary *vocabulary; /* has the segments; pieces that are no segments are allowed */
    int32_t unknown;                    /* id of characters and pieces that the vocabulary lacks */
    /* Only for FERRY_TOKENIZER_BPE: */
    ferry_view word_end; /* the last character of a word ends with it, as in "</w>"; empty: nothing */
    bool fuse_unknown;   /* unknown characters that follow each other are one */
    bool byte_fallback;  /* the bytes of an unknown character become pieces <0x00> … <0xFF>, if there are any */
    bool whole_words;    /* a word that is a piece stays one, whatever the merges say ("ignore_merges") */
} ferry_bpe_config;

typedef struct ferry_bpe ferry_bpe;

/* `config` is copied; the vocabulary must outlive *bpe, the merges need not. *bpe belongs to the caller, NULL after a
 * failure. `name` is for messages. Errors: FORMAT (a merge is not two texts with a blank between them; for
 * FERRY_TOKENIZER_BPE: left, right or both together are not in the vocabulary), UNSUPPORTED (byte_fallback with some of
 * the 256 pieces, or with word_end), LIMIT, MEMORY. */
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
