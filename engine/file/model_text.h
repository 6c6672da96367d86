/* The parts of a model file besides the graph and its generation: tokenizer, languages, origin. */
#ifndef FERRY_FILE_MODEL_TEXT_H
#define FERRY_FILE_MODEL_TEXT_H

#include "base/texts.h"

/* Where a language's tag goes. */
typedef enum ferry_tag_place {
    FERRY_TAG_NONE,
    FERRY_TAG_PREFIX, /* before all other ids of the source */
    FERRY_TAG_SUFFIX, /* after all other ids of the source */
    FERRY_TAG_FIRST   /* forced as the first target token */
} ferry_tag_place;

/* Languages that a user can name. A model of one pair lists its two languages without tags. */
typedef struct ferry_model_languages {
    const ferry_texts *names;  /* [count] the family's own tag, then other names for it: "deu_Latn de deu" */
    const int32_t *roles;      /* [count] FERRY_LANGUAGE_SOURCE | FERRY_LANGUAGE_TARGET */
    const int32_t *source_ids; /* [count] id of the tag in the source's vocabulary, or -1 */
    const int32_t
        *target_ids; /* [count] in the target's (FERRY_TAG_FIRST), or in the source's (PREFIX, SUFFIX); or -1 */
    int32_t count;
    ferry_tag_place source_tag;
    ferry_tag_place target_tag;
    /* Prompts, put before a line: for a pair of languages, as indices into names; -1: any. */
    const ferry_texts *prompts; /* [prompt_count] "translate English to German: " */
    const int32_t *prompt_sources;
    const int32_t *prompt_targets;
    int32_t prompt_count;
    int32_t default_source; /* index into names, or -1: the user has to give it unless source_tag is NONE */
    int32_t default_target;
} ferry_model_languages;

typedef enum ferry_tokenizer_kind {
    FERRY_TOKENIZER_NONE,          /* the model takes and gives ids */
    FERRY_TOKENIZER_PIECES,        /* a text is pieces separated by blanks */
    FERRY_TOKENIZER_SENTENCEPIECE, /* SentencePiece models */
    FERRY_TOKENIZER_UNIGRAM,       /* words, and a Unigram model for each of them (tokenizer/text_rules.h) */
    /* Merges, in the order of ferry_bpe_kind (tokenizer/pieces.h). */
    FERRY_TOKENIZER_BPE, /* words as above */
    FERRY_TOKENIZER_SUBWORD_NMT_1,
    FERRY_TOKENIZER_SUBWORD_NMT_2,
    FERRY_TOKENIZER_FSMT
} ferry_tokenizer_kind;

/* The tokenizer's part of the file. If there is none, `present` is false and everything else zero. */
typedef struct ferry_model_text {
    bool present;
    ferry_tokenizer_kind kind;
    ferry_view source_model; /* SentencePiece model; empty: a text is pieces separated by blanks */
    ferry_view target_model; /* the same bytes (equal pointers) when the file holds one for both; empty: not known */
    const ferry_texts *source_pieces; /* [source_count] by id; empty: no piece has this id */
    int32_t source_count;             /* = encoder.vocab_size */
    const ferry_texts *target_pieces; /* [target_count] by id; the same list when the vocabulary is shared */
    int32_t target_count;             /* = decoder.vocab_size */
    int32_t source_unk_id;            /* for pieces that source_pieces lacks */
    bool leading_tag;                 /* a line's start from ">>" to the first "<<" is one piece (Marian) */
    const int32_t *prefix_ids;        /* put before the ids of a source line */
    int32_t prefix_count;
    const int32_t *suffix_ids; /* put after them: the end of sentence */
    int32_t suffix_count;
    const int32_t *special_ids; /* target ids without text: end of sentence, padding, unknown */
    int32_t special_count;
    bool opus_punctuation; /* text is cleaned first as OPUS-MT's preprocess.sh does */
    /* From FERRY_TOKENIZER_BPE on, which an importer sets together with them: "left right", the best first. */
    const ferry_texts *source_merges; /* [source_merge_count] */
    int32_t source_merge_count;
    const ferry_texts *target_merges; /* [target_merge_count]; the same list when shared; else none: not known */
    int32_t target_merge_count;
    /* From FERRY_TOKENIZER_SUBWORD_NMT_1 on: the language of Moses' words (tokenizer/moses/moses.h); empty: none. */
    ferry_view source_moses, target_moses;
    /* Of FERRY_TOKENIZER_BPE: ferry_bpe_config says what they mean. */
    ferry_view word_end;
    bool fuse_unknown;
    bool whole_words;
    /* Of FERRY_TOKENIZER_UNIGRAM and, but for the scores, FERRY_TOKENIZER_BPE: tokenizer/tokenizer.h says what they
     * mean. */
    const double *scores; /* [source_count] */
    bool byte_fallback;
    const ferry_texts *steps; /* [step_count] */
    int32_t step_count;
    ferry_view charsmap;
    const int32_t *added_ids;   /* [added_count] */
    const int32_t *added_flags; /* [added_count] */
    int32_t added_count;
    int32_t decoder_bytes;  /* ferry_decoder_bytes */
    int32_t decoder_blanks; /* ferry_decoder_blanks */
    ferry_model_languages languages;
} ferry_model_text;

/* The model's origin. Views are empty and counts 0 where it is not recorded. */
typedef struct ferry_model_origin {
    ferry_view kind;           /* "huggingface-marian", "seq2seq-export-1" */
    ferry_view name;           /* of the converted directory */
    ferry_view license;        /* its text */
    ferry_view training;       /* how it was trained, in words */
    int32_t trained_length;    /* tokens of the longest training example; 0: not recorded */
    int32_t trained_seed;      /* of random numbers; 0: not recorded */
    float trained_tokens;      /* target tokens in all; 0: not recorded */
    const ferry_texts *files;  /* [file_count] names of what was read */
    const uint64_t *sizes;     /* [file_count] bytes */
    const ferry_texts *hashes; /* [file_count] SHA-256 in hexadecimal; NULL: not recorded */
    size_t file_count;
} ferry_model_origin;

#endif
