/* Moses' rules: substitutions in a text whose characters know where they come from. */
#ifndef FERRY_TOKENIZER_MOSES_RULES_H
#define FERRY_TOKENIZER_MOSES_RULES_H

#include "base/bytes.h"
#include "base/status.h"
#include "base/texts.h"

/* A character of a text that is being rewritten, and the byte of the original that it stands for. */
typedef struct ferry_moses_cell {
    uint32_t character;
    uint32_t place;
} ferry_moses_cell;

/* A text of `count` characters; each pass writes it anew, to the other buffer. Empty when zeroed. */
typedef struct ferry_moses_text {
    ferry_moses_cell *cells, *other;
    size_t count, other_count;
    size_t capacity, other_capacity;
    uint32_t letters; /* FERRY_MOSES_… classes that are alphanumeric in the text's language */
    bool failed;      /* out of memory: what follows does nothing */
} ferry_moses_text;

/* A regular expression of single characters and what takes the place of each match, from left to right.
 *
 *     pattern: characters that stand for themselves, and
 *         ~X  a character of a class: w alphanumeric, a letter, N numeral, d decimal digit, s white space, j below
 * U+0020, q neither letter nor numeral, z ASCII letter, p one of .!:?;, c one of ,. x neither alphanumeric nor white
 * space nor one of .'`,- C of Unicode's category C ^   before an item: any other character
 *         + * after an item: one or more, any number, as many as there are
 *         =   before the last item: it must follow, but is not part of the match
 *         $   at the end: the end of the text must follow
 *     replacement: characters, and ~1 … ~9 for what an item has matched
 *
 * A new character stands for the place of the first item that the replacement leaves out. */
typedef struct ferry_moses_rule {
    const char *pattern, *replacement;
} ferry_moses_rule;

/* Sets the text; each ill-formed byte becomes U+FFFD. Errors are left in `failed`. */
void ferry_moses_text_set(ferry_moses_text *text, ferry_view bytes);
void ferry_moses_text_destroy(ferry_moses_text *text);
/* Rules in their order, up to one without a pattern. */
void ferry_moses_apply(ferry_moses_text *text, const ferry_moses_rule *rules);
/* Removes white space at both ends. */
void ferry_moses_strip(ferry_moses_text *text);
/* For other passes: appends to the buffer that is written, and makes it the text. */
void ferry_moses_put(ferry_moses_text *text, uint32_t character, uint32_t place);
void ferry_moses_copy(ferry_moses_text *text, size_t begin, size_t end);
void ferry_moses_swap(ferry_moses_text *text);
/* The text's next word from *end on, between white space: cells *begin … *end - 1; false: there is none. */
bool ferry_moses_next_word(const ferry_moses_text *text, size_t *begin, size_t *end);
/* White space as Python's regular expressions and str.split have it. */
bool ferry_moses_is_space(uint32_t character);
/* The FERRY_MOSES_… classes of a character (moses_data.h). */
uint32_t ferry_moses_classes(uint32_t character);

/* Writes the text as UTF-8 and, unless `places` is NULL, the place of each byte and, at the end, `size`, the size of
 * the original: *places [output->size + 1], which the caller frees, never descends. Errors: MEMORY. */
ferry_status ferry_moses_write(const ferry_moses_text *text, size_t size, ferry_string *output, size_t **places,
                               ferry_error *error);

#endif
