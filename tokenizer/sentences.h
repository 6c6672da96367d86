/* Finds the ends of sentences, by rules over Unicode's properties and tables of abbreviations for some languages
 * (sentence_languages.inc). docs/sentences.md describes and measures the rules. */
#ifndef FERRY_TOKENIZER_SENTENCES_H
#define FERRY_TOKENIZER_SENTENCES_H

#include <stdbool.h>
#include <stdint.h>

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

/* The marker of a list item: "1.", "b)", "2.)". */
typedef struct ferry_list_marker {
    int form;
    bool letter;
    uint32_t value;
    size_t end;
} ferry_list_marker;

enum { FERRY_SENTENCE_PAIRS = 13 }; /* number of pairs of quotes and brackets within which no sentence ends */

/* The search for the end of a sentence. */
typedef struct ferry_sentence_search {
    ferry_view text;
    const ferry_sentence_language *language;
    size_t begin;                          /* of the sentence */
    size_t at;                             /* of the next character */
    size_t word;                           /* the begin of the current word, after white space and opening marks */
    size_t visible;                        /* the end of the last character that is not white space */
    size_t shelter;                        /* no sentence ends before this */
    size_t searched[FERRY_SENTENCE_PAIRS]; /* no mark before this closes the pair */
    ferry_list_marker item;                /* at the begin of the sentence */
    bool first, after_dash;                /* whether the next character is the first of a word, or follows a dash */
} ferry_sentence_search;

/* Begins to search for the end of the sentence that begins at `begin` < text.size, where no white space may be. A
 * sentence ends at the end of its line at the latest. Ill-formed bytes are characters that end nothing. No memory is
 * allocated. */
void ferry_sentence_begin(ferry_sentence_search *search, ferry_view text, size_t begin,
                          const ferry_sentence_language *language);
/* Searches `bytes` further bytes. Returns true when the end is found: it is search->visible, the offset after the
 * sentence's last character. */
bool ferry_sentence_go_on(ferry_sentence_search *search, size_t bytes);
/* Whether the sentence ended at the end of its line. Else the search can go on, as if it had not ended. */
bool ferry_sentence_ends_line(const ferry_sentence_search *search);
/* The end of the sentence. Time is linear in its size. */
size_t ferry_sentence_end(ferry_view text, size_t begin, const ferry_sentence_language *language);

#endif
