/* Text ↔ the model's ids.
 *
 *     text → (leading tag) → (punctuation) → SentencePiece → pieces → vocabulary → ids, prefix and suffix around them
 *     ids → pieces, special ones left out → "▁" becomes a blank, runs of <0xNN> become bytes → trimmed text
 *
 * or, as Hugging Face's `tokenizers` does (text_rules.h):
 *
 *     text → added tokens, words → the best pieces of each (pieces.h) → ids, prefix and suffix around them
 *
 * or, as subword-nmt and FSMT do:
 *
 *     text → words between blanks → pieces (pieces.h) → ids, prefix and suffix around them
 *     ids → pieces, special ones left out → words of pieces with "@@", or up to one with "</w>" → text
 *
 * or the same between making and joining Moses' words (moses.h), as Argos Translate and FSMT do.
 *
 * Segmenting needs the source side's SentencePiece model; joining pieces needs none. Without a model the caller
 * segments: a text is pieces separated by white space, and a translation is pieces separated by single blanks. */
#ifndef FERRY_TOKENIZER_TOKENIZER_H
#define FERRY_TOKENIZER_TOKENIZER_H

#include "base/bytes.h"
#include "base/status.h"
#include "base/texts.h"
#include "pieces.h"
#include "text_rules.h"

typedef struct ferry_tokenizer ferry_tokenizer;

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
    /* Merges, in the order of ferry_bpe_kind. */
    FERRY_TOKENIZER_BPE, /* words as above */
    FERRY_TOKENIZER_SUBWORD_NMT_1,
    FERRY_TOKENIZER_SUBWORD_NMT_2,
    FERRY_TOKENIZER_FSMT
} ferry_tokenizer_kind;

/* What a model file says of its tokenizer. */
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

/* A growing result; empty when zeroed. Its owner frees `ids`. */
typedef struct ferry_ids {
    int32_t *ids; /* [count] */
    size_t count;
    size_t capacity;
} ferry_ids;

/* Bytes begin … end - 1 of a text; begin == end: none of them. */
typedef struct ferry_range {
    size_t begin, end;
} ferry_range;

/* The parts of a text that ids stand for; empty when zeroed. Its owner frees `ranges`.
 * - A range has no white space at either end, and lies on borders of characters. An ill-formed byte is a character.
 * - A range begins where the one before it ends, or later, or is the same: ids that are bytes of one character, or
 *   pieces of what normalization made of it, all have its range, extended to the end of the last of them.
 * - Every character but white space is in a range, unless normalization removes it at an end of the text.
 * - Ids without text, like tags, ends of sentences and "▁", have begin == end, at the offset where they stand among the
 * others. */
typedef struct ferry_ranges {
    ferry_range *ranges; /* [count] */
    size_t count;
    size_t capacity;
} ferry_ranges;

/* Puts `range` before ranges->ranges[at], at ≤ count. Errors: MEMORY. */
ferry_status ferry_ranges_insert(ferry_ranges *ranges, size_t at, ferry_range range, ferry_error *error);
/* Turns ranges [count] in the repaired copy of `text` (ferry_utf8_repair) into those in `text` itself. */
void ferry_ranges_unrepair(ferry_view text, ferry_range *ranges, size_t count);

/* Puts `id` before ids->ids[at], at ≤ count. Errors: MEMORY. */
ferry_status ferry_ids_insert(ferry_ids *ids, size_t at, int32_t id, ferry_error *error);

/* The tables of pieces, their bytes, the target's model, merges, and the prefix and suffix ids must outlive the
 * tokenizer; the rest of `config` is copied. *tokenizer belongs to the caller, NULL after a failure. A tokenizer is
 * immutable: threads may share it. Errors: FORMAT (not a SentencePiece model; an id outside its vocabulary),
 * UNSUPPORTED, MEMORY. */
ferry_status ferry_tokenizer_create(const ferry_tokenizer_config *config, ferry_tokenizer **tokenizer,
                                    ferry_error *error);
/* NULL is allowed. */
void ferry_tokenizer_destroy(ferry_tokenizer *tokenizer);

/* Bytes of the leading tag of `text`; 0 if it has none or leading tags are off. */
size_t ferry_tokenizer_tag_size(const ferry_tokenizer *tokenizer, ferry_view text);

/* Whether the source's vocabulary has the piece. */
bool ferry_tokenizer_has_piece(const ferry_tokenizer *tokenizer, ferry_view piece);

/* Sets *ids to the ids of `text`, which may be empty and contain NUL; each ill-formed byte counts as U+FFFD. A piece or
 * tag outside the vocabulary becomes source_unk_id. Errors: LIMIT (text above 64 MiB), FORMAT, MEMORY; *ids is then
 * unspecified but still owned. */
ferry_status ferry_tokenizer_encode(const ferry_tokenizer *tokenizer, ferry_view text, ferry_ids *ids,
                                    ferry_error *error);
/* The same for a text whose leading tag has been split off (empty: none). Unless `ranges` is NULL, *ranges becomes the
 * bytes of `text` that each id stands for: none at 0 for prefix ids and the tag, none at the end for suffix ids. */
ferry_status ferry_tokenizer_encode_ranges(const ferry_tokenizer *tokenizer, ferry_view tag, ferry_view text,
                                           ferry_ids *ids, ferry_ranges *ranges, ferry_error *error);
/* Sets *ids to the target ids of `text`, a translation or the beginning of one: no prefix, no suffix, no tag; *ranges
 * as above, may be NULL. The first call loads the target's SentencePiece model, unless it is the source's. A piece
 * outside the target vocabulary becomes its "<unk>". Errors: as above, and UNSUPPORTED (the target's SentencePiece
 * model or its "<unk>" is missing). */
ferry_status ferry_tokenizer_encode_target(const ferry_tokenizer *tokenizer, ferry_view text, ferry_ids *ids,
                                           ferry_ranges *ranges, ferry_error *error);

/* The target vocabulary's "<unk>"; -1: it has none. */
int32_t ferry_tokenizer_target_unknown(const ferry_tokenizer *tokenizer);

/* Sets *text to the text of `ids` [count], without white space at either end unless `blanks` keeps it. Each ill-formed
 * byte becomes U+FFFD. Errors: ARGUMENT (an id outside the target vocabulary), MEMORY; *text is then unspecified but
 * still owned. */
ferry_status ferry_tokenizer_decode(const ferry_tokenizer *tokenizer, const int32_t *ids, size_t count,
                                    ferry_string *text, ferry_error *error);
/* A text that replaces an id's own. */
typedef struct ferry_word {
    ferry_view text;  /* empty: the id has its own */
    bool after_blank; /* it begins a word */
} ferry_word;

/* The same, with words [count] (NULL: none) for some ids; and ranges [count] (unless it is NULL): the bytes of *text
 * that each id stands for, as in ferry_ranges. */
ferry_status ferry_tokenizer_decode_ranges(const ferry_tokenizer *tokenizer, const int32_t *ids, size_t count,
                                           const ferry_word *words, ferry_string *text, ferry_range *ranges,
                                           ferry_error *error);

#endif
