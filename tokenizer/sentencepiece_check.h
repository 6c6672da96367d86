/* Validates what SentencePiece (0.1.97 and 0.2.1) uses of a model file without checking it; called before it loads one.
 */
#ifndef FERRY_TOKENIZER_SENTENCEPIECE_CHECK_H
#define FERRY_TOKENIZER_SENTENCEPIECE_CHECK_H

#include "base/bytes.h"
#include "base/status.h"

/* The most pieces: as many as a model file's vocabulary may have. */
enum { FERRY_SPM_MAX_PIECES = 1 << 20 };

/* `proto`: a serialized ModelProto. Rejects a normalization trie that leads out of its array or its strings, or matches
 * more prefixes of a text than SentencePiece's arrays hold, user-defined pieces that could match as many, and what
 * would cost SentencePiece more memory, stack or time than the model's size accounts for: more or longer pieces, or
 * rules of normalization, than any published model has. SentencePiece checks the rest of the proto itself. *self_test
 * is the part of `proto` that SentencePiece should not see, empty if there is none: sentences that it would segment,
 * however many and long, and print if their pieces differ from the recorded ones. `name` is for messages. Errors:
 * FORMAT, UNSUPPORTED, MEMORY. */
ferry_status ferry_spm_check(ferry_view proto, const char *name, ferry_view *self_test, ferry_error *error);
/* The same for a normalization table alone, the `precompiled_charsmap` of a ModelProto. */
ferry_status ferry_spm_check_charsmap(ferry_view charsmap, const char *name, ferry_error *error);

#endif
