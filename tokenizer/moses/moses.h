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

typedef struct ferry_moses_config {
    ferry_view
        source_language; /* "en": chooses rules and abbreviations; a language that has none gets those of English */
    ferry_view target_language;
    /* As transformers has it for FSMT: before normalizing, full-width and typographic punctuation becomes ASCII; after
     * it, characters of Unicode's category C are left out; "a-b" becomes "a @-@ b". */
    bool fsmt;
} ferry_moses_config;

typedef struct ferry_moses ferry_moses;

/* `config` is copied. *moses belongs to the caller, NULL after a failure. It is immutable: threads may share it.
 * Errors: MEMORY. */
ferry_status ferry_moses_create(const ferry_moses_config *config, ferry_moses **moses, ferry_error *error);
/* NULL is allowed. */
void ferry_moses_destroy(ferry_moses *moses);

/* Sets *words to the words of `text`, a line of the source language, separated by single blanks; each ill-formed byte
 * counts as U+FFFD. And *places (unless `places` is NULL) to where in `text` what each byte of *words stands for
 * begins, and its end: *places [words->size + 1] never descends; the caller frees it. Errors: LIMIT (text above 64
 * MiB), MEMORY.
 */
ferry_status ferry_moses_tokenize(const ferry_moses *moses, ferry_view text, ferry_string *words, size_t **places,
                                  ferry_error *error);
/* The same of a text of the target language. */
ferry_status ferry_moses_tokenize_target(const ferry_moses *moses, ferry_view text, ferry_string *words,
                                         size_t **places, ferry_error *error);
/* Appends `text` to *words as a word of the target language has it. Errors: MEMORY. */
ferry_status ferry_moses_escape(ferry_view text, ferry_string *words, ferry_error *error);
/* Sets *text to the text that `words`, separated by white space, are of in the target language; *places as above, in
 * `words`. Errors: as above. */
ferry_status ferry_moses_detokenize(const ferry_moses *moses, ferry_view words, ferry_string *text, size_t **places,
                                    ferry_error *error);

#endif
