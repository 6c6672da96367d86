/* Finds the ends of sentences, by rules over Unicode's properties and tables of abbreviations for some languages
 * (sentence_languages.inc). docs/sentences.md describes and measures the rules. */
#ifndef FERRY_TOKENIZER_SENTENCES_H
#define FERRY_TOKENIZER_SENTENCES_H

#include "base/bytes.h"

/* Lists of words in lower case, separated by blanks, without their last full stop. "-str" means every longer word with
 * this ending. NULL: an empty list. */
typedef struct ferry_sentence_language {
    const char *names;
    const char *never;         /* abbreviations that never end a sentence: "Dr" */
    const char *before_number; /* abbreviations that do not end a sentence before a number: "No" */
    const char *before_name;   /* abbreviations that end a sentence only before a starter, as initials do: "Inc" */
    const char *starters;      /* words that begin sentences, but not names */
    const char *stops;         /* further characters that end sentences */
    bool ordinals;             /* "3." is an ordinal number */
} ferry_sentence_language;

/* The rules of the first known language in `names`, which are separated by blanks ("de deu", "deu_Latn"). If none is
 * known, or `names` is NULL: the rules that all languages share. Static. */
const ferry_sentence_language *ferry_sentence_language_find(const char *names);

/* Returns the end of the sentence that begins at `begin` < text.size, where no white space may be: the offset after its
 * last character. A sentence ends at the end of its line at the latest. Ill-formed bytes are characters that end
 * nothing. Time is linear in the size of the sentence; no memory is allocated. */
size_t ferry_sentence_end(ferry_view text, size_t begin, const ferry_sentence_language *language);

#endif
