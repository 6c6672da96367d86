/* Moses' words, exactly as sacremoses 0.2.0 makes and joins them. Text → words (moses.c): punctuation is normalized,
 * words are separated from adjacent punctuation, and Moses' special characters are escaped ("&" becomes "&amp;").
 * Words → text: moses_detokenize.c.
 *
 *     He said: "That's 5,300 km."   ↔   He said : &quot; That &apos;s 5,300 km . &quot;
 *
 * Time and memory are linear in the text. For Czech compounds like "e-mail", sacremoses raises an exception when it
 * joins them; this does what Moses does. */
#ifndef FERRY_TOKENIZER_MOSES_H
#define FERRY_TOKENIZER_MOSES_H

#include "base/bytes.h"
#include "base/status.h"
#include "base/string_table.h"

/* The rules of one language. Immutable: threads may share it. */
typedef struct ferry_moses ferry_moses;

/* `language` ("en") chooses rules and abbreviations; a language without its own abbreviations gets those of English.
 * `fsmt`: as in transformers' FSMT, full-width and typographic punctuation becomes ASCII before normalization,
 * characters of Unicode's category C are removed after it, and "a-b" becomes "a @-@ b". *moses belongs to the caller;
 * NULL after a failure. Errors: MEMORY. */
ferry_status ferry_moses_create(ferry_view language, bool fsmt, ferry_moses **moses, ferry_error *error);
/* NULL is allowed. */
void ferry_moses_destroy(ferry_moses *moses);

/* Sets *words to the words of `text`, one line, separated by single blanks. Each ill-formed byte counts as U+FFFD.
 * Unless `offsets` is NULL, *offsets [words->size + 1], which the caller frees, becomes for each byte of *words the
 * offset in `text` that it stands for, and then the size of `text`; offsets never descend. Errors: LIMIT (text above 64
 * MiB), MEMORY. */
ferry_status ferry_moses_tokenize(const ferry_moses *moses, ferry_view text, ferry_buffer *words, size_t **offsets,
                                  ferry_error *error);
/* Appends `text` to *words, escaped. Errors: LIMIT, MEMORY. */
ferry_status ferry_moses_escape(ferry_view text, ferry_buffer *words, ferry_error *error);
/* Sets *text to the text of `words`, which are separated by white space. *offsets: as above, with offsets in `words`.
 * Errors: LIMIT, MEMORY. */
ferry_status ferry_moses_detokenize(const ferry_moses *moses, ferry_view words, ferry_buffer *text, size_t **offsets,
                                    ferry_error *error);

/* Sets *clean to `text` as the preprocess.sh of OPUS-MT's archives outputs it, which prepared the training data of
 * these models: full-width and typographic punctuation becomes ASCII, control and format characters become blanks, runs
 * of blanks become one, and blanks at the ends are removed. Ill-formed bytes stay. Unless `offsets` is NULL, *offsets
 * [clean->size + 1], which the caller frees, becomes for each byte of *clean the offset in `text` of its character, and
 * then the size of `text`. A blank within a substitute (". ") has the offset after the replaced character. Errors:
 * MEMORY; *clean is then unspecified but still owned, *offsets NULL. */
ferry_status ferry_punctuation_clean(ferry_view text, ferry_buffer *clean, size_t **offsets, ferry_error *error);

#endif
