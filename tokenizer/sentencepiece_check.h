/* What is checked of SentencePiece models before SentencePiece loads them, and their table of normalization rules. */
#ifndef FERRY_TOKENIZER_SENTENCEPIECE_CHECK_H
#define FERRY_TOKENIZER_SENTENCEPIECE_CHECK_H

#include "base/bytes.h"
#include "base/status.h"

/* The most pieces: as many as a model file's vocabulary may have. */
enum { FERRY_SPM_MAX_PIECES = 1 << 20 };

/* Validates what SentencePiece (0.1.97 and 0.2.1) uses of `proto`, a serialized ModelProto, without checking it.
 * Rejects a normalization trie that leads out of its array or its strings, or matches more prefixes of a text than
 * SentencePiece's arrays hold, user-defined pieces that could match as many, and what would cost SentencePiece more
 * memory, stack or time than the model's size accounts for: more or longer pieces, or rules of normalization, than any
 * published model has. SentencePiece checks the rest of the proto itself. *self_test is the part of `proto` that
 * SentencePiece should not see, empty if there is none: sentences that it would segment, however many and long, and
 * print if their pieces differ from the recorded ones. `name` is for messages. Errors: FORMAT, UNSUPPORTED, MEMORY. */
ferry_status ferry_spm_check(ferry_view proto, const char *name, ferry_view *self_test, ferry_error *error);

/* SentencePiece's table of normalization rules, applied as the Rust crate spm_precompiled does: to whole graphemes
 * where SentencePiece takes the longest rule, so that texts differ. */
typedef struct ferry_charsmap {
    uint32_t *units; /* [count] of a double array */
    size_t count;
    ferry_view replacements; /* each ends with NUL */
} ferry_charsmap;

/* `bytes`, the `precompiled_charsmap` of a ModelProto, must outlive *charsmap, which is zeroed on failure; they are
 * checked as by ferry_spm_check. Errors: FORMAT, UNSUPPORTED, MEMORY. */
ferry_status ferry_charsmap_create(ferry_view bytes, const char *name, ferry_charsmap *charsmap, ferry_error *error);
/* Allowed on a zeroed object. */
void ferry_charsmap_destroy(ferry_charsmap *charsmap);
/* Whether a rule applies to `text`, a grapheme or a character: the one of the fewest bytes with which it begins;
 * *replacement then stands for all of it. */
bool ferry_charsmap_find(const ferry_charsmap *charsmap, ferry_view text, ferry_view *replacement);

#endif
