/* Moses' words, exactly as sacremoses 0.2.0 makes and joins them: punctuation is normalized, words are separated from
 * what is written next to them, characters that mean something to Moses are escaped ("&" becomes "&amp;"); and back.
 *
 *     He said: "That's 5,300 km."   ↔   He said : &quot; That &apos;s 5,300 km . &quot;
 *
 * Time and memory grow linearly with the text. Where sacremoses raises an exception (Czech words like "e-mail", which
 * it wants to join), this does what Moses does. */
#ifndef FERRY_TOKENIZER_MOSES_H
#define FERRY_TOKENIZER_MOSES_H

#include "base/bytes.h"
#include "base/status.h"
#include "base/texts.h"

/* The rules of one language. Immutable: threads may share it. */
typedef struct ferry_moses ferry_moses;

/* `language`, as "en", chooses rules and abbreviations; one that has none gets those of English. With `fsmt`, as
 * transformers has it for FSMT: before normalizing, full-width and typographic punctuation becomes ASCII; after it,
 * characters of Unicode's category C are left out; "a-b" becomes "a @-@ b". *moses belongs to the caller, NULL after a
 * failure. Errors: MEMORY. */
ferry_status ferry_moses_create(ferry_view language, bool fsmt, ferry_moses **moses, ferry_error *error);
/* NULL is allowed. */
void ferry_moses_destroy(ferry_moses *moses);

/* Sets *words to the words of `text`, a line, separated by single blanks; each ill-formed byte counts as U+FFFD. Unless
 * `offsets` is NULL, *offsets [words->size + 1], which the caller frees, becomes the offset in `text` of what each byte
 * of *words stands for, and of its end; it never descends. Errors: LIMIT (text above 64 MiB), MEMORY. */
ferry_status ferry_moses_tokenize(const ferry_moses *moses, ferry_view text, ferry_string *words, size_t **offsets,
                                  ferry_error *error);
/* Appends `text` to *words, escaped as it is in a word. Errors: MEMORY. */
ferry_status ferry_moses_escape(ferry_view text, ferry_string *words, ferry_error *error);
/* Sets *text to the text that `words`, separated by white space, were made of; *offsets as above, in `words`. Errors:
 * as above. */
ferry_status ferry_moses_detokenize(const ferry_moses *moses, ferry_view words, ferry_string *text, size_t **offsets,
                                    ferry_error *error);

/* Sets *clean to `text` as the preprocess.sh of OPUS-MT's archives outputs it, which is how the training data of these
 * models was prepared: full-width and typographic punctuation as ASCII, control and format characters as blanks, no
 * blanks in a row and none at the ends. Ill-formed bytes stay. Unless `offsets` is NULL, *offsets [clean->size + 1],
 * which the caller frees, becomes the offset in `text` of the character of each byte of *clean, and of the end; a blank
 * that is part of a substitute has the offset behind the character that it replaces. Errors: MEMORY; *clean is then
 * unspecified but still owned, *offsets NULL. */
ferry_status ferry_punctuation_clean(ferry_view text, ferry_string *clean, size_t **offsets, ferry_error *error);

#endif
