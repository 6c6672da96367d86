/* Punctuation as in the training data of OPUS-MT's models. */
#ifndef FERRY_TOKENIZER_PUNCTUATION_H
#define FERRY_TOKENIZER_PUNCTUATION_H

#include "tokenizer.h"

/* Sets *clean to `text` as the preprocess.sh of OPUS-MT's archives outputs it: full-width and typographic
 * punctuation as ASCII, control and format characters as blanks, no blanks in a row and none at the ends. Ill-formed
 * bytes stay. *places, unless `places` is NULL, becomes an array that the caller frees: of each byte of *clean, and of
 * the end, the byte of `text` where its character begins; what follows a substitute's own blank begins behind the
 * character that it replaces. Errors: MEMORY; *clean is then unspecified but still owned, *places NULL. */
ferry_status ferry_punctuation_clean(ferry_view text, ferry_string *clean, size_t **places, ferry_error *error);

/* What stands for a full-width or typographic character in ASCII; NULL: the character itself. */
const char *ferry_punctuation_ascii(uint32_t code_point);

#endif
