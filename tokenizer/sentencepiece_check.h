/* Checks a SentencePiece model before SentencePiece loads it, and applies its table of normalization rules. */
#ifndef FERRY_TOKENIZER_SENTENCEPIECE_CHECK_H
#define FERRY_TOKENIZER_SENTENCEPIECE_CHECK_H

#include "base/bytes.h"
#include "base/status.h"

/* The largest number of pieces, that of a model file's vocabulary. */
enum { FERRY_SPM_MAX_PIECES = 1 << 20 };

/* Validates the parts of `proto`, a serialized ModelProto, that SentencePiece (0.1.97 and 0.2.1) uses unchecked.
 * Rejects:
 * - a normalization trie that leads out of its array or its strings;
 * - normalization rules or user-defined pieces of which more can match at one place than SentencePiece's arrays hold;
 * - more or longer pieces or normalization rules than any published model has: they could cost SentencePiece memory,
 *   stack or time out of proportion to the size of the model.
 * SentencePiece checks the rest itself. *self_test becomes the part of `proto` to hide from SentencePiece, empty if
 * there is none: sentences of any number and length, which it would segment, and print if their pieces differ from the
 * recorded ones. `name` is for messages. Errors: FORMAT, UNSUPPORTED, MEMORY. */
ferry_status ferry_spm_check(ferry_view proto, const char *name, ferry_view *self_test, ferry_error *error);

/* SentencePiece's table of normalization rules, applied as the Rust crate spm_precompiled does: to whole graphemes.
 * SentencePiece applies the longest matching rule, so that results can differ. */
typedef struct ferry_charsmap {
    uint32_t *units; /* [count] of a double array */
    size_t count;
    ferry_view replacements; /* each ends with NUL */
} ferry_charsmap;

/* Checks `bytes`, the `precompiled_charsmap` of a ModelProto, as ferry_spm_check does. They must outlive *charsmap,
 * which is zeroed on failure. Errors: FORMAT, UNSUPPORTED, MEMORY. */
ferry_status ferry_charsmap_create(ferry_view bytes, const char *name, ferry_charsmap *charsmap, ferry_error *error);
/* Allowed on a zeroed object. */
void ferry_charsmap_destroy(ferry_charsmap *charsmap);
/* Whether a rule matches a prefix of `text`, a grapheme or a character. *replacement then becomes that of the shortest
 * matching rule, and replaces all of `text`. */
bool ferry_charsmap_find(const ferry_charsmap *charsmap, ferry_view text, ferry_view *replacement);

#endif
