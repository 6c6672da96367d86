/* Properties of characters, from utf8proc. */
#ifndef FERRY_TOKENIZER_UNICODE_H
#define FERRY_TOKENIZER_UNICODE_H

#include "base/utf8.h"

/* Groups of Unicode's general categories; the letters come first. */
typedef enum ferry_character {
    FERRY_CHARACTER_UPPER,   /* Lu, Lt */
    FERRY_CHARACTER_LOWER,   /* Ll */
    FERRY_CHARACTER_LETTER,  /* Lm, Lo: of scripts without case */
    FERRY_CHARACTER_MARK,    /* M… */
    FERRY_CHARACTER_NUMBER,  /* N… */
    FERRY_CHARACTER_OPENING, /* Ps, Pi */
    FERRY_CHARACTER_CLOSING, /* Pe, Pf */
    FERRY_CHARACTER_DASH,    /* Pd */
    FERRY_CHARACTER_OTHER
} ferry_character;

/* Reads the character at *at < text.size and moves *at past it. Each ill-formed byte counts as U+FFFD. */
static inline uint32_t ferry_unicode_next(ferry_view text, size_t *at)
{
    const size_t begin = *at;
    uint32_t c;
    if (ferry_utf8_next(text, at, &c)) return c;
    *at = begin + 1;
    return 0xFFFD;
}

/* In all of these, a `c` above 0x10FFFF counts as unassigned. */
ferry_character ferry_unicode_character(uint32_t c);
static inline bool ferry_unicode_is_letter(uint32_t c)
{
    return ferry_unicode_character(c) <= FERRY_CHARACTER_LETTER;
}
uint32_t ferry_unicode_lower(uint32_t c);
uint32_t ferry_unicode_upper(uint32_t c);  /* the simple mapping, to one character */
bool ferry_unicode_is_digit(uint32_t c);   /* Nd */
int ferry_unicode_digit(uint32_t c);       /* the value of a digit, 0 … 9; -1 for other characters */
bool ferry_unicode_is_control(uint32_t c); /* C…, including Cn (unassigned) */
/* A letter, or a mark on one, of a script that separates words by blanks. */
bool ferry_unicode_is_word_letter(uint32_t c);
/* The same, or a number: two of them that meet belong to one word. */
bool ferry_unicode_is_of_word(uint32_t c);
/* Whether the characters before and after byte `at` belong to one word. */
bool ferry_unicode_is_within_word(ferry_view text, size_t at);
bool ferry_unicode_has_digit(ferry_view text);
/* A sign that is no letter or punctuation: Nl, No, Sm, So, or one that is a letter or digit raised, lowered, in a
 * circle, a square or a fraction. */
bool ferry_unicode_is_sign(uint32_t c);
/* One that normalization (NFKC) replaces by other characters. */
bool ferry_unicode_is_replaced_sign(uint32_t c);
/* Whether two adjacent characters belong to one grapheme, judged without the text around them (Unicode's annex 29). */
bool ferry_unicode_joins(uint32_t before, uint32_t c);
/* Whether a grapheme begins between two adjacent characters (Unicode's annex 29). *state is 0 before the first pair of
 * a text. */
bool ferry_unicode_breaks(uint32_t before, uint32_t c, int32_t *state);

#endif
