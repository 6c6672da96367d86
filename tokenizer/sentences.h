/* Where sentences end: rules over Unicode's properties, and a table of abbreviations for each of some languages
 * (sentence_languages.inc). docs/sentences.md describes the rules and measures them. */
#ifndef FERRY_TOKENIZER_SENTENCES_H
#define FERRY_TOKENIZER_SENTENCES_H

#include "base/bytes.h"

/* Lists of words in lower case, separated by blanks, without their last full stop ("-str": any longer word with this
 * ending); NULL: none. */
typedef struct ferry_sentence_language {
    const char *names;
    const char *never;         /* abbreviations after which a sentence goes on: "Dr" */
    const char *before_number; /* abbreviations after which it goes on before a number: "No" */
    const char *before_name;   /* abbreviations (and initials) after which it ends only before a starter: "Inc" */
    const char *starters;      /* words with which sentences begin, and names do not */
    const char *stops;         /* characters that end sentences besides those of all languages */
    bool ordinals;             /* "3." is an ordinal number */
} ferry_sentence_language;

/* The language of the first of `names` that is known (separated by blanks: "de deu", "deu_Latn"); if none is, or
 * `names` is NULL, the rules that all languages share. Static. */
const ferry_sentence_language *ferry_sentence_language_find(const char *names);

/* The byte after the last character of the sentence that begins at `begin` < text.size, which is not white space. A
 * sentence ends at the end of its line, if not before. Any bytes are permitted: ill-formed ones count as characters
 * that end nothing. Time is linear in the sentence's size, and no memory is allocated. */
size_t ferry_sentence_end(ferry_view text, size_t begin, const ferry_sentence_language *language);

#endif
