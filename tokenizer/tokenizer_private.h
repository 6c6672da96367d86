/* What a ferry_tokenizer is. */
#ifndef FERRY_TOKENIZER_TOKENIZER_PRIVATE_H
#define FERRY_TOKENIZER_TOKENIZER_PRIVATE_H

#include <stdatomic.h>

#include "tokenizer/moses/moses.h"
#include "sentencepiece_c.h"
#include "tokenizer.h"

/* From text to the ids of one vocabulary. */
typedef struct ferry_tokenizer_side {
    const ferry_spm *spm;    /* NULL: words and a Unigram model, or a text is pieces */
    ferry_spm *own_spm;      /* NULL: `spm` is the other side's */
    ferry_text_rules *rules; /* NULL: a text is not divided into words */
    ferry_unigram unigram;   /* for words */
    ferry_bpe *bpe;          /* instead; without rules: for words between blanks */
    ferry_vocabulary vocabulary;
    int32_t *id_of_spm;  /* [pieces of spm] */
    const bool *special; /* by id: no text becomes one; NULL: they are not known */
    int32_t unk;
} ferry_tokenizer_side;

struct ferry_tokenizer {
    ferry_tokenizer_config config;
    ferry_tokenizer_side source;
    _Atomic(ferry_tokenizer_side *) target;   /* NULL until a text of this side is encoded; it may be `source` */
    bool *special;                            /* [config.target_count] */
    ferry_moses *source_moses, *target_moses; /* NULL: none */
};

/* Texts are segmented here, not by the caller. */
static inline bool ferry_tokenizer_segments(const ferry_tokenizer *tokenizer)
{
    return tokenizer->source.spm != NULL || tokenizer->source.rules != NULL;
}

/* As subword-nmt and FSMT do. */
static inline bool ferry_tokenizer_has_subwords(const ferry_tokenizer *tokenizer)
{
    return tokenizer->config.bpe > FERRY_BPE_TOKENIZERS;
}

/* Replaces *words, of which id i stands for bytes ranges[i] (NULL: not wanted) [count], by their text, and the ranges
 * by those of the text. Errors: LIMIT, MEMORY. */
ferry_status ferry_tokenizer_join_words(const ferry_moses *moses, ferry_string *words, ferry_range *ranges,
                                        size_t count, ferry_error *error);

#endif
