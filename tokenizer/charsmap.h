/* SentencePiece's table of normalization rules, applied as the Rust crate spm_precompiled does: to whole graphemes
 * where SentencePiece takes the longest rule, so that texts differ. */
#ifndef FERRY_TOKENIZER_CHARSMAP_H
#define FERRY_TOKENIZER_CHARSMAP_H

#include "base/bytes.h"
#include "base/status.h"

typedef struct ferry_charsmap {
    uint32_t *units; /* [count] of the double array that sentencepiece_check.c describes */
    size_t count;
    ferry_view replacements; /* each ends with NUL */
} ferry_charsmap;

/* `bytes` must outlive *charsmap. Errors: FORMAT, UNSUPPORTED (ferry_spm_check_charsmap), MEMORY. */
ferry_status ferry_charsmap_create(ferry_view bytes, const char *name, ferry_charsmap *charsmap, ferry_error *error);
/* Allowed on a zeroed object. */
void ferry_charsmap_destroy(ferry_charsmap *charsmap);

/* Whether a rule applies to `text`, a grapheme or a character: the one of the fewest bytes with which it begins;
 * *replacement then stands for all of it. */
bool ferry_charsmap_find(const ferry_charsmap *charsmap, ferry_view text, ferry_view *replacement);

#endif
