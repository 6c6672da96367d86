/* What SentencePiece believes of a model file without looking (version 0.1.97): checked before it may load one. */
#ifndef FERRY_TOKENIZER_SENTENCEPIECE_CHECK_H
#define FERRY_TOKENIZER_SENTENCEPIECE_CHECK_H

#include "base/bytes.h"
#include "base/status.h"

/* `proto`: a serialized ModelProto. Refuses a normalization trie that leads out of its array or its strings, or matches
 * more prefixes of a text than SentencePiece has room for, and user-defined pieces that could do the latter. The rest
 * of the proto is SentencePiece's own business. `name` stands in messages. Errors: FORMAT, UNSUPPORTED, MEMORY. */
ferry_status ferry_spm_check(ferry_view proto, const char *name, ferry_error *error);

#endif
