/* Validates what SentencePiece 0.1.97 uses of a model file without checking it; called before it loads one. */
#ifndef FERRY_TOKENIZER_SENTENCEPIECE_CHECK_H
#define FERRY_TOKENIZER_SENTENCEPIECE_CHECK_H

#include "base/bytes.h"
#include "base/status.h"

/* `proto`: a serialized ModelProto. Rejects a normalization trie that leads out of its array or its strings, or matches
 * more prefixes of a text than SentencePiece's arrays hold, and user-defined pieces that could match as many.
 * SentencePiece checks the rest of the proto itself. `name` is for messages. Errors: FORMAT, UNSUPPORTED, MEMORY. */
ferry_status ferry_spm_check(ferry_view proto, const char *name, ferry_error *error);

#endif
