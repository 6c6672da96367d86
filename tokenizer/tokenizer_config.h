/* What a model file says about its tokenizer. */
#ifndef FERRY_TOKENIZER_TOKENIZER_CONFIG_H
#define FERRY_TOKENIZER_TOKENIZER_CONFIG_H

#include "base/bytes.h"

typedef struct ferry_string_table ferry_string_table;

/* How pieces <0xNN> of a translation are decoded. */
typedef enum ferry_decoder_bytes {
    FERRY_BYTES_EACH, /* to bytes; each ill-formed byte becomes U+FFFD */
    FERRY_BYTES_RUN,  /* to bytes; if a run of them is ill-formed, each of its bytes becomes U+FFFD */
    FERRY_BYTES_NONE  /* like other pieces: the text "<0xNN>" */
} ferry_decoder_bytes;

/* Which blanks at the ends of a translation are removed. */
typedef enum ferry_decoder_blanks {
    FERRY_BLANKS_TRIM,        /* all white space at both ends */
    FERRY_BLANKS_FIRST_PIECE, /* every "▁" of the first piece */
    FERRY_BLANKS_FIRST_BLANK, /* one blank at the beginning */
    FERRY_BLANKS_KEEP         /* none */
} ferry_decoder_blanks;

typedef enum ferry_tokenizer_kind {
    FERRY_TOKENIZER_NONE,          /* none: input and output are ids */
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

/* Flags of an added token: it includes the white space before it; it includes the white space after it; it is searched
 * in the normalized text. */
enum { FERRY_ADDED_LSTRIP = 1, FERRY_ADDED_RSTRIP = 2, FERRY_ADDED_NORMALIZED = 4, FERRY_ADDED_FLAGS = 7 };

/* The rules that divide a text into words (text_rules.h). */
typedef struct ferry_text_rules_config {
    const ferry_string_table *steps; /* [step_count] names, each followed by its arguments */
    size_t step_count;
    ferry_view charsmap;        /* of the step "precompiled"; empty: none */
    const int32_t *added_ids;   /* [added_count] */
    const int32_t *added_flags; /* [added_count] */
    size_t added_count;
    const ferry_string_table *pieces; /* [piece_count] by id: the texts of added tokens */
    int32_t piece_count;
} ferry_text_rules_config;

typedef struct ferry_tokenizer_config {
    bool present; /* the model file has a tokenizer */
    ferry_tokenizer_kind kind;
    ferry_view source_model;                 /* serialized SentencePiece ModelProto; empty: a text is pieces */
    ferry_view target_model;                 /* the target side's; the same pointer: the same model; empty: unknown */
    const ferry_string_table *source_pieces; /* [source_count] by the model's id; an empty piece: the id has none */
    int32_t source_count;
    const ferry_string_table *target_pieces; /* [target_count]; the same pointer: the sides share one vocabulary */
    int32_t target_count;
    int32_t source_unk_id;     /* the id of pieces outside the source vocabulary */
    bool leading_tag;          /* from ">>" at the start of a text to the first "<<" is one piece (Marian) */
    const int32_t *prefix_ids; /* [prefix_count] before the ids of the text */
    int32_t prefix_count;
    const int32_t *suffix_ids; /* [suffix_count] after the ids of the text: eos, … */
    int32_t suffix_count;
    const int32_t *special_ids; /* [special_count] target ids without text: eos, pad, unk, languages, … */
    int32_t special_count;
    /* OPUS-MT's preprocess.sh: full-width and typographic punctuation becomes ASCII, characters of category C become
     * blanks, runs of blanks become one. */
    bool opus_punctuation;
    /* From FERRY_TOKENIZER_BPE on, as in ferry_bpe_config: */
    const ferry_string_table *source_merges; /* [source_merge_count] */
    int32_t source_merge_count;
    const ferry_string_table
        *target_merges; /* [target_merge_count]; the same pointer: the same merges; count 0: unknown */
    int32_t target_merge_count;
    /* From FERRY_TOKENIZER_SUBWORD_NMT_1 on: the languages of Moses' words (moses.h), which are made of a text before
     * the merges, and joined after decoding. Both are empty (no such words), or neither is. */
    ferry_view source_moses;
    ferry_view target_moses;
    /* For FERRY_TOKENIZER_BPE, as in ferry_bpe_config: */
    ferry_view word_end;
    bool fuse_unknown;
    bool whole_words;
    /* For FERRY_TOKENIZER_UNIGRAM and, except `scores`, FERRY_TOKENIZER_BPE. Both sides have one vocabulary: */
    const double *scores; /* [source_count] log-probabilities; NaN: the Unigram model lacks the piece; NULL: no model */
    bool byte_fallback;   /* unknown characters become pieces <0xNN> */
    ferry_text_rules_config rules; /* `pieces` and `piece_count` are unused: they are source_pieces */
    ferry_decoder_bytes decoder_bytes;
    ferry_decoder_blanks decoder_blanks;
} ferry_tokenizer_config;

#endif
