/* Text ↔ the model's ids.
 *
 *     text → (leading tag) → (punctuation) → SentencePiece → pieces → vocabulary → ids, prefix and suffix around them
 *     ids → pieces without special ones → "▁" becomes a blank, runs of <0xNN> become bytes → trimmed text
 *
 * or, as in Hugging Face's `tokenizers` (text_rules.h):
 *
 *     text → added tokens, words → the best pieces of each (pieces.h) → ids, prefix and suffix around them
 *
 * or, as in subword-nmt and FSMT:
 *
 *     text → words between blanks → pieces (pieces.h) → ids, prefix and suffix around them
 *     ids → pieces without special ones → "@@" joins a piece to the next one, "</w>" ends a word → text
 *
 * or the last on Moses' words (moses.h), as in Argos Translate and FSMT.
 *
 * Text → ids needs the source's SentencePiece model; ids → text needs no model. Without one, the caller segments: a
 * text is pieces separated by white space, and a translation is pieces separated by single blanks. */
#ifndef FERRY_TOKENIZER_TOKENIZER_H
#define FERRY_TOKENIZER_TOKENIZER_H

#include "base/string_table.h"
#include "ranges.h"
#include "tokenizer_config.h"

typedef struct ferry_tokenizer ferry_tokenizer;

/* Copies `config`. All that it points to must outlive the tokenizer, except special_ids, source_moses and target_moses.
 * *tokenizer belongs to the caller; NULL after a failure. A tokenizer is immutable: threads may share it. Errors:
 * FORMAT (not a SentencePiece model; an id outside its vocabulary), UNSUPPORTED, MEMORY. */
ferry_status ferry_tokenizer_create(const ferry_tokenizer_config *config, ferry_tokenizer **tokenizer,
                                    ferry_error *error);
/* NULL is allowed. */
void ferry_tokenizer_destroy(ferry_tokenizer *tokenizer);

/* Bytes of the leading tag of `text`; 0 without a tag, or if the config has no leading_tag. */
size_t ferry_tokenizer_tag_size(const ferry_tokenizer *tokenizer, ferry_view text);

/* Whether the source's vocabulary contains `piece`. */
bool ferry_tokenizer_has_piece(const ferry_tokenizer *tokenizer, ferry_view piece);

/* Sets *ids to the ids of `text`, which may be empty and contain NUL; each ill-formed byte counts as U+FFFD. A piece or
 * tag outside the vocabulary becomes source_unk_id. Errors: LIMIT (text above 64 MiB), FORMAT, MEMORY; *ids is then
 * unspecified but still owned. */
ferry_status ferry_tokenizer_encode(const ferry_tokenizer *tokenizer, ferry_view text, ferry_ids *ids,
                                    ferry_error *error);
/* The same for a text whose leading tag the caller has split off (empty: no tag). Unless `ranges` is NULL, *ranges
 * becomes the bytes of `text` that each id stands for. Prefix ids and the tag have an empty range at 0, suffix ids an
 * empty range at the end. */
ferry_status ferry_tokenizer_encode_ranges(const ferry_tokenizer *tokenizer, ferry_view tag, ferry_view text,
                                           ferry_ids *ids, ferry_ranges *ranges, ferry_error *error);
/* Sets *ids to the target ids of `text`, a translation or the beginning of one, without prefix, suffix and tag; *ranges
 * as above, may be NULL. The first call loads the target's SentencePiece model if it differs from the source's. A piece
 * outside the target vocabulary becomes "<unk>". Errors: as above, and UNSUPPORTED (the target's SentencePiece model,
 * its merges or its "<unk>" are missing). */
ferry_status ferry_tokenizer_encode_target(const ferry_tokenizer *tokenizer, ferry_view text, ferry_ids *ids,
                                           ferry_ranges *ranges, ferry_error *error);

/* The id of "<unk>" in the target vocabulary; -1: it has none. */
int32_t ferry_tokenizer_target_unknown(const ferry_tokenizer *tokenizer);

/* Sets *text to the text of `ids` [count], without white space at either end unless `blanks` keeps it. Each ill-formed
 * byte becomes U+FFFD. Errors: ARGUMENT (an id outside the target vocabulary), MEMORY; *text is then unspecified but
 * still owned. */
ferry_status ferry_tokenizer_decode(const ferry_tokenizer *tokenizer, const int32_t *ids, size_t count,
                                    ferry_buffer *text, ferry_error *error);
/* A text that replaces the piece of an id. */
typedef struct ferry_word {
    ferry_view text;  /* empty: the piece is kept */
    bool after_blank; /* the text begins a word */
} ferry_word;

/* The same, with words [count] that replace the pieces of some ids (NULL: of none). ranges [count], unless it is NULL,
 * become the bytes of *text that each id stands for, as in ferry_ranges. */
ferry_status ferry_tokenizer_decode_ranges(const ferry_tokenizer *tokenizer, const int32_t *ids, size_t count,
                                           const ferry_word *words, ferry_buffer *text, ferry_range *ranges,
                                           ferry_error *error);

#endif
