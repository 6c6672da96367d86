/* What a model file says about its tokenizer. */
#ifndef FERRY_TOKENIZER_TOKENIZER_CONFIG_H
#define FERRY_TOKENIZER_TOKENIZER_CONFIG_H

#include "base/bytes.h"

typedef struct ferry_texts ferry_texts;

/* What pieces <0xNN> are in a translation. */
typedef enum ferry_decoder_bytes {
    FERRY_BYTES_EACH, /* bytes; each that is ill-formed becomes U+FFFD */
    FERRY_BYTES_RUN,  /* bytes; in a run that is ill-formed, each becomes U+FFFD */
    FERRY_BYTES_NONE  /* pieces like others */
} ferry_decoder_bytes;

/* What becomes of blanks at the ends of a translation. */
typedef enum ferry_decoder_blanks {
    FERRY_BLANKS_TRIM,        /* all white space is left out */
    FERRY_BLANKS_FIRST_PIECE, /* every "▁" of the first piece is left out */
    FERRY_BLANKS_FIRST_BLANK, /* one blank at the beginning is left out */
    FERRY_BLANKS_KEEP
} ferry_decoder_blanks;

typedef enum ferry_tokenizer_kind {
    FERRY_TOKENIZER_NONE,          /* the model takes and gives ids */
    FERRY_TOKENIZER_PIECES,        /* a text is pieces separated by blanks */
    FERRY_TOKENIZER_SENTENCEPIECE, /* SentencePiece models */
    FERRY_TOKENIZER_UNIGRAM,       /* words (text_rules.h), and a Unigram model for each of them */
    /* Words, and merges (bpe.h) for each of them, as Hugging Face's package `tokenizers`: the best pair is merged, the
     * leftmost one if it occurs several times. Of equal merges, the last counts. Symbols are pieces: the vocabulary has
     * those that a merge names. */
    FERRY_TOKENIZER_BPE,
    /* Words between blanks, and merges as subword-nmt, `#version: 0.1` or none: all occurrences of the best pair are
     * merged at once, from left to right. Of equal merges, the first counts. The last symbol of a word is "</w>". Each
     * piece but a word's last ends with "@@". */
    FERRY_TOKENIZER_SUBWORD_NMT_1,
    /* The same for `#version: 0.2`: the last character of a word ends with "</w>". */
    FERRY_TOKENIZER_SUBWORD_NMT_2,
    /* FSMT: as FERRY_TOKENIZER_SUBWORD_NMT_2, but of equal merges, the last counts, and the last piece of a word ends
     * with "</w>". */
    FERRY_TOKENIZER_FSMT
} ferry_tokenizer_kind;

enum { FERRY_BPE_MAX_MERGES = 1 << 22 };

/* Flags of an added token: it includes the white space before it, or after it; it is searched in the normalized text.
 */
enum { FERRY_ADDED_LSTRIP = 1, FERRY_ADDED_RSTRIP = 2, FERRY_ADDED_NORMALIZED = 4, FERRY_ADDED_FLAGS = 7 };

/* The rules that divide a text into words (text_rules.h). */
typedef struct ferry_text_rules_config {
    const ferry_texts *steps; /* [step_count] names, each followed by its arguments */
    size_t step_count;
    ferry_view charsmap;        /* of the step "precompiled"; empty: none */
    const int32_t *added_ids;   /* [added_count] */
    const int32_t *added_flags; /* [added_count] */
    size_t added_count;
    const ferry_texts *pieces; /* [piece_count] by id: the texts of added tokens */
    int32_t piece_count;
} ferry_text_rules_config;

typedef struct ferry_tokenizer_config {
    bool present; /* the model has a tokenizer */
    ferry_tokenizer_kind kind;
    ferry_view source_model;          /* serialized SentencePiece ModelProto; empty: a text is pieces */
    ferry_view target_model;          /* the target side's; the same pointer: the same model; empty: not known */
    const ferry_texts *source_pieces; /* [source_count] by the model's id; empty: no piece has this id */
    int32_t source_count;
    const ferry_texts *target_pieces; /* [target_count]; source_pieces when the sides share them */
    int32_t target_count;
    int32_t source_unk_id;     /* of pieces outside the source vocabulary */
    bool leading_tag;          /* a text's start from ">>" to the first "<<" is one piece, not segmented (Marian) */
    const int32_t *prefix_ids; /* [prefix_count] before the text's ids */
    int32_t prefix_count;
    const int32_t *suffix_ids; /* [suffix_count] after them: eos, … */
    int32_t suffix_count;
    const int32_t *special_ids; /* [special_count] target ids without text: eos, pad, unk, languages, … */
    int32_t special_count;
    /* OPUS-MT's preprocess.sh: full-width and typographic punctuation becomes ASCII, characters of category C become
     * blanks, blanks are squeezed. */
    bool opus_punctuation;
    /* From FERRY_TOKENIZER_BPE on; merges are as in ferry_bpe_config. */
    const ferry_texts *source_merges; /* [source_merge_count] */
    int32_t source_merge_count;
    const ferry_texts *target_merges; /* [target_merge_count]; the same pointer: shared; or a count of 0: not known */
    int32_t target_merge_count;
    /* From FERRY_TOKENIZER_SUBWORD_NMT_1 on: a text is divided into Moses' words before its merges, and they are joined
     * after them; empty: it is not. */
    ferry_view source_moses; /* its language */
    ferry_view target_moses; /* that of translations; both are empty, or neither */
    /* For FERRY_TOKENIZER_BPE, as in ferry_bpe_config: */
    ferry_view word_end;
    bool fuse_unknown;
    bool whole_words;
    /* For FERRY_TOKENIZER_UNIGRAM and, but for the scores, FERRY_TOKENIZER_BPE, instead of SentencePiece models; both
     * sides then have one vocabulary: */
    const double *scores;          /* [source_count] of the Unigram model; NaN: no piece of it. NULL: no such model */
    bool byte_fallback;            /* its unknown characters become pieces <0xNN> */
    ferry_text_rules_config rules; /* without `pieces`, which are source_pieces */
    ferry_decoder_bytes decoder_bytes;
    ferry_decoder_blanks decoder_blanks;
} ferry_tokenizer_config;

#endif
