/* Text → ids of one vocabulary, the source's or the target's, with the segmenter that the model file has. */
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
    const ferry_spm *spm;    /* NULL: no SentencePiece model */
    ferry_spm *own_spm;      /* NULL: `spm` belongs to the other side */
    ferry_text_rules *rules; /* divide a text into words; NULL: none */
    ferry_unigram unigram;   /* segments the words of `rules` if `bpe` is NULL */
    ferry_bpe *bpe;          /* segments the words of `rules`, or, without rules, words between blanks */
    ferry_vocabulary vocabulary;
    int32_t spm_unknown; /* ferry_spm_unknown(spm), which hashes */
    int32_t *id_of_spm;  /* [ferry_spm_count(spm)] the model's id of each SentencePiece id */
    const bool *special; /* by id: ids that no text becomes; NULL: unknown */
    int32_t unk;         /* the id of pieces outside the vocabulary */
    bool opus_punctuation;
} ferry_segmenter;

/* Fills the zeroed *segmenter for the source, or for the target if `target`. `spm`: a loaded SentencePiece model to
 * share; NULL: none. All that `config` points to, `special` and `spm` must outlive the segmenter. The caller destroys
 * it, after a failure, too. Errors: FORMAT, UNSUPPORTED, MEMORY. */
ferry_status ferry_segmenter_create(ferry_segmenter *segmenter, const ferry_tokenizer_config *config, bool target,
                                    int32_t unk, const bool *special, const ferry_spm *spm, ferry_error *error);
/* Allowed on a zeroed object. */
void ferry_segmenter_destroy(ferry_segmenter *segmenter);

/* The id of `piece`; segmenter->unk if the vocabulary lacks it. */
int32_t ferry_segmenter_find(const ferry_segmenter *segmenter, ferry_view piece);

/* Appends the ids of `text` and, unless `ranges` is NULL, their ranges in it. `moses`: divides the text into Moses'
 * words first; NULL: no such words. Errors: LIMIT, FORMAT, MEMORY. */
ferry_status ferry_segmenter_append(const ferry_segmenter *segmenter, const ferry_moses *moses, ferry_view text,
                                    ferry_ids *ids, ferry_ranges *ranges, ferry_error *error);

#endif
