/* Shared by moses.c and moses_detokenize.c: sacremoses' data; a text that knows the origin of each character; and
 * rules, which are substitutions in such a text. */
#ifndef FERRY_TOKENIZER_MOSES_RULES_H
#define FERRY_TOKENIZER_MOSES_RULES_H

#include "base/string_table.h"

/* ---- data ---- */

enum {
    FERRY_MOSES_ALNUM = 1 << 0,
    FERRY_MOSES_ALPHA = 1 << 1,
    FERRY_MOSES_DETOKENIZER_ALPHA = 1 << 2, /* without viramas and nuktas */
    FERRY_MOSES_NUMBER = 1 << 3,
    FERRY_MOSES_LOWER = 1 << 4,
    FERRY_MOSES_CURRENCY = 1 << 5,
    FERRY_MOSES_CHINESE = 1 << 6, /* also alphanumeric in this language; as the next two */
    FERRY_MOSES_JAPANESE = 1 << 7,
    FERRY_MOSES_KOREAN = 1 << 8
};

typedef struct ferry_moses_range {
    uint32_t first, last;
    uint32_t classes;
} ferry_moses_range;

/* [ferry_moses_range_count], ascending. */
extern const ferry_moses_range ferry_moses_ranges[];
extern const size_t ferry_moses_range_count;

/* Abbreviations, whose full stop does not end a sentence: ascending by their bytes, each followed by "\n". "#" precedes
 * one that counts only before a number. */
typedef struct ferry_moses_prefix_list {
    const char *language;
    const char *words;
} ferry_moses_prefix_list;

/* [ferry_moses_prefix_count] */
extern const ferry_moses_prefix_list ferry_moses_prefixes[];
extern const size_t ferry_moses_prefix_count;

/* ---- a language ---- */

/* An abbreviation. */
typedef struct ferry_moses_prefix {
    ferry_view word;
    bool numeric; /* counts only before a number */
} ferry_moses_prefix;

typedef struct ferry_moses {
    char code[8]; /* NUL-terminated; "" for a longer code, which has no rules of its own */
    bool fsmt;
    uint32_t letters;             /* the FERRY_MOSES_… classes that are alphanumeric in the language */
    ferry_moses_prefix *prefixes; /* [prefix_count], ascending */
    size_t prefix_count;
} ferry_moses;

/* Whether the language is one of `codes`, separated by blanks. */
bool ferry_moses_speaks(const ferry_moses *moses, const char *codes);

/* ---- a text ---- */

/* A character of a rewritten text, and the offset in the original text that it stands for. */
typedef struct ferry_moses_cell {
    uint32_t character;
    uint32_t offset;
} ferry_moses_cell;

/* A text of `count` characters. Each pass writes the new text to `other`, then swaps. Empty when zeroed. */
typedef struct ferry_moses_text {
    ferry_moses_cell *cells, *other;
    size_t count, other_count;
    size_t capacity, other_capacity;
    uint32_t letters; /* FERRY_MOSES_… classes that are alphanumeric in the text's language */
    bool failed;      /* out of memory: later passes do nothing */
} ferry_moses_text;

/* Sets the zeroed text; each ill-formed byte becomes U+FFFD. Out of memory: sets text->failed, and
 * ferry_moses_text_finish returns MEMORY. Errors: LIMIT. */
ferry_status ferry_moses_text_set(ferry_moses_text *text, ferry_view bytes, ferry_error *error);
/* Writes the text to *output as UTF-8 and releases it. Unless `offsets` is NULL, *offsets [output->size + 1], which the
 * caller frees, becomes the offset in the original of each byte, and then `size`, the size of the original; offsets
 * never descend. Errors: MEMORY. */
ferry_status ferry_moses_text_finish(ferry_moses_text *text, size_t size, ferry_buffer *output, size_t **offsets,
                                     ferry_error *error);
/* For passes that are not rules: the first two append to text->other; the last makes text->other the text. */
void ferry_moses_put(ferry_moses_text *text, uint32_t character, uint32_t offset);
void ferry_moses_copy(ferry_moses_text *text, size_t begin, size_t end);
void ferry_moses_swap(ferry_moses_text *text);
/* Removes white space at both ends. */
void ferry_moses_strip(ferry_moses_text *text);
/* Finds the next word, between white space, at or after *end: cells *begin … *end - 1. False: none. */
bool ferry_moses_next_word(const ferry_moses_text *text, size_t *begin, size_t *end);

/* ---- characters ---- */

/* The FERRY_MOSES_… classes of a character. */
uint32_t ferry_moses_classes(uint32_t character);
/* White space as in Python's regular expressions and str.split. */
bool ferry_moses_is_space(uint32_t character);
/* Whether `character` occurs in `list`, which is ASCII. */
bool ferry_moses_is_one_of(uint32_t character, const char *list);

/* ---- rules ---- */

/* A regular expression over characters, and the replacement of each match, from left to right.
 *
 *     pattern: characters that stand for themselves, and
 *         ~X  a character of a class: w alphanumeric, a letter, N numeral, d decimal digit, s white space, j below
 *             U+0020, q neither letter nor numeral, z ASCII letter, p one of .!:?;, c one of ,. x neither alphanumeric
 *             nor white space nor one of .'`,- C of Unicode's category C
 *         ^   before an item: any other character
 *         + * after an item: one or more; any number. Greedy.
 *         =   before the last item: it must follow, but is not part of the match
 *         $   at the end: the end of the text must follow
 *     replacement: characters, and ~1 … ~9 for the matches of the items
 *
 * A new character has the offset of the first item that the replacement omits. */
typedef struct ferry_moses_rule {
    const char *pattern, *replacement;
} ferry_moses_rule;

/* Applies the rules in order, up to a rule whose pattern is NULL. */
void ferry_moses_apply(ferry_moses_text *text, const ferry_moses_rule *rules);

#endif
