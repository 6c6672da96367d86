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

#include "base/texts.h"
#include "ranges.h"
#include "tokenizer_config.h"

typedef struct ferry_tokenizer ferry_tokenizer;

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
