/* Byte pair encoding by merges that are ranked by pair (Sennrich, Haddow and Birch, "Neural Machine Translation of Rare
 * Words with Subword Units", 2016): a word is characters at first, and the pair of neighbors whose merge is the best
 * becomes one symbol, until no pair of neighbors has a merge. SentencePiece ranks merges by the merged piece instead,
 * which cannot say the same. */
#ifndef FERRY_TOKENIZER_BPE_H
#define FERRY_TOKENIZER_BPE_H

#include "base/status.h"
#include "base/texts.h"
#include "vocabulary.h"

/* Whose rules: they differ in what is merged together, which of two equal merges counts, and how the vocabulary writes
 * the pieces of a word. */
typedef enum ferry_bpe_kind {
    FERRY_BPE_NONE,
    /* Hugging Face's package `tokenizers`: the best pair, the leftmost of several, one by one. Of equal merges, the
     * last counts. Symbols are pieces: those that a merge names are in the vocabulary. */
    FERRY_BPE_TOKENIZERS,
    /* subword-nmt, `#version: 0.1` or none: all occurrences of the best pair at once, from left to right. Of equal
     * merges, the first counts. The last symbol of a word is "</w>". A piece that the word goes on after ends with
     * "@@".
     */
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
    const ferry_vocabulary *vocabulary; /* of the segments; may have pieces that are none */
    int32_t unknown;                    /* id of characters and pieces that the vocabulary lacks */
    /* FERRY_BPE_TOKENIZERS alone: */
    ferry_view word_end; /* the last character of a word ends with it, as in "</w>"; empty: nothing */
    bool fuse_unknown;   /* unknown characters that follow each other are one */
    bool byte_fallback;  /* the bytes of an unknown character become pieces <0x00> … <0xFF>, if there are any */
    bool whole_words;    /* a word that is a piece stays one, whatever the merges say ("ignore_merges") */
} ferry_bpe_config;

/* Immutable: threads may share it. */
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

/* Bytes begin … end - 1 of the word have this id. A status other than FERRY_OK ends the segmentation; the sink fills
 * the caller's error itself. */
typedef ferry_status (*ferry_bpe_sink)(void *user, size_t begin, size_t end, int32_t id);

/* Calls `sink` for the segments of `word`, which may be empty, in order: they adjoin each other and are all of it. An
 * ill-formed byte is an unknown character. Time: n log n of a word of n bytes. Errors: LIMIT (a word of 2³¹ bytes),
 * MEMORY, or that of `sink`. */
ferry_status ferry_bpe_segment(const ferry_bpe *bpe, ferry_view word, ferry_bpe_scratch *scratch, ferry_bpe_sink sink,
                               void *user, ferry_error *error);

#endif
