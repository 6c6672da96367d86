/* Punctuation as in the training data of OPUS-MT's models. */
#ifndef FERRY_TOKENIZER_PUNCTUATION_H
#define FERRY_TOKENIZER_PUNCTUATION_H

#include "tokenizer.h"

/* Sets *clean to `text` as the preprocess.sh of OPUS-MT's archives outputs it: full-width and typographic
 * punctuation as ASCII, control and format characters as blanks, no blanks in a row and none at the ends. Ill-formed
 * bytes stay. Errors: MEMORY; *clean is then unspecified but still owned. */
ferry_status ferry_punctuation_clean(ferry_view text, ferry_string *clean, ferry_error *error);

#endif
