/* From a text to the ids of one vocabulary, the source's or the target's, by whatever the model file has for it. */
#ifndef FERRY_TOKENIZER_SEGMENTER_H
#define FERRY_TOKENIZER_SEGMENTER_H

#include "pieces.h"
#include "ranges.h"

typedef struct ferry_bpe ferry_bpe;
typedef struct ferry_moses ferry_moses;
typedef struct ferry_spm ferry_spm;
typedef struct ferry_text_rules ferry_text_rules;
typedef struct ferry_tokenizer_config ferry_tokenizer_config;

typedef struct ferry_segmenter {
    const ferry_spm *spm;    /* NULL: words and a Unigram model, or a text is pieces */
    ferry_spm *own_spm;      /* NULL: `spm` is the other side's */
    ferry_text_rules *rules; /* NULL: a text is not divided into words */
    ferry_unigram unigram;   /* for words */
    ferry_bpe *bpe;          /* instead; without rules: for words between blanks */
    ferry_vocabulary vocabulary;
    int32_t *id_of_spm;  /* [pieces of spm] */
    const bool *special; /* by id: no text becomes one; NULL: they are not known */
    int32_t unk;
    bool opus_punctuation;
} ferry_segmenter;

/* Fills the zeroed *segmenter for the source's or the target's side. `spm`: a loaded SentencePiece model to share,
 * NULL: none. What `config` refers to, `special` and `spm` must outlive it. It is to be destroyed after a failure, too.
 * Errors: FORMAT, UNSUPPORTED, MEMORY. */
ferry_status ferry_segmenter_create(ferry_segmenter *segmenter, const ferry_tokenizer_config *config, bool target,
                                    int32_t unk, const bool *special, const ferry_spm *spm, ferry_error *error);
/* Allowed on a zeroed object. */
void ferry_segmenter_destroy(ferry_segmenter *segmenter);

/* The id of a piece; that of unknown ones if the vocabulary lacks it. */
int32_t ferry_segmenter_find(const ferry_segmenter *segmenter, ferry_view piece);

/* Appends the ids of `text`, and their ranges in it, unless `ranges` is NULL. `moses`: makes words first; NULL: none.
 * Errors: LIMIT, FORMAT, MEMORY. */
ferry_status ferry_segmenter_append(const ferry_segmenter *segmenter, const ferry_moses *moses, ferry_view text,
                                    ferry_ids *ids, ferry_ranges *ranges, ferry_error *error);

#endif
