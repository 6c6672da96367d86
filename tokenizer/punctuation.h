/* Punctuation as in the training data of OPUS-MT's models. */
#ifndef FERRY_TOKENIZER_PUNCTUATION_H
#define FERRY_TOKENIZER_PUNCTUATION_H

#include "tokenizer.h"

/* Where the bytes of a text come from; empty when zeroed. Its owner frees `places`. */
typedef struct ferry_origins {
    size_t *places; /* [capacity] of each byte, and of the end: the byte of the original where its character begins */
    size_t capacity;
} ferry_origins;

/* Sets *clean to `text` as the preprocess.sh of OPUS-MT's archives outputs it: full-width and typographic
 * punctuation as ASCII, control and format characters as blanks, no blanks in a row and none at the ends. Ill-formed
 * bytes stay. *origins, unless it is NULL, tells where they come from; what follows a substitute's own blank begins
 * behind the character that it replaces. Errors: MEMORY; both are then unspecified but still owned. */
ferry_status ferry_punctuation_clean(ferry_view text, ferry_string *clean, ferry_origins *origins, ferry_error *error);

#endif
