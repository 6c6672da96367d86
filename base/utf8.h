/* UTF-8 as RFC 3629 defines it (no overlong forms, no surrogates, nothing above U+10FFFF), and text as it is shown. */
#ifndef FERRY_BASE_UTF8_H
#define FERRY_BASE_UTF8_H

#include <stdio.h>

#include "bytes.h"

/* Reads the character at *at < text.size and moves *at past it. If the bytes are ill-formed, moves *at past their
 * maximal subpart (the longest prefix of a well-formed sequence, at least one byte) and returns false. */
bool ferry_utf8_next(ferry_view text, size_t *at, uint32_t *code_point);

/* Reads the character before *at and moves *at to its beginning. False if *at is 0 or the bytes are ill-formed. */
bool ferry_utf8_previous(ferry_view text, size_t *at, uint32_t *code_point);
/* Writes a character, at most U+10FFFF and no surrogate, to `output` [4]. Returns the bytes written. */
size_t ferry_utf8_put(uint32_t code_point, char *output);

bool ferry_utf8_is_valid(ferry_view text);
/* Unicode's property White_Space. */
bool ferry_utf8_is_space(uint32_t code_point);

/* Copies `text` to `output` [3 × text.size], which does not overlap it. Each maximal ill-formed subpart becomes U+FFFD
 * (The Unicode Standard 15.0, section 3.9, "U+FFFD Substitution of Maximal Subparts"). Returns the bytes written. */
size_t ferry_utf8_repair(ferry_view text, char *output);

/* `text` without leading and trailing white space. Ill-formed bytes are not white space. */
ferry_view ferry_utf8_trim(ferry_view text);

/* Bytes of white space at the beginning of `text`. */
size_t ferry_utf8_leading_space(ferry_view text);

/* Whether `text` is empty or only white space. */
bool ferry_utf8_is_blank(ferry_view text);

/* ---- printable forms of untrusted text: names and texts from files, arguments and models ----
 *
 * Raw, untrusted text can move the cursor, change the terminal's title, send input, forge lines or read backwards.
 * These characters are escaped as in C: control characters, separators of lines and paragraphs, controls of direction
 * and shape, U+FEFF, annotations, tags and noncharacters. The escapes are \n \t \r \x1b (an ASCII control character or
 * an ill-formed byte), \u202e and \U000e0041. All other characters stay, among them invisible ones that scripts need
 * (U+200C, U+200D), and the backslash: a text that was escaped stays as it is. */

bool ferry_is_printable(uint32_t code_point);

enum { FERRY_SHOWN_SIZE = 13 };
/* Writes the printable form of the character at *at < text.size to `shown`, NUL-terminated, and moves *at past it. All
 * ill-formed bytes that ferry_utf8_next skips count as one character. Returns the bytes written. */
size_t ferry_printable_next(ferry_view text, size_t *at, char shown[FERRY_SHOWN_SIZE]);

/* Writes the printable form of `text`, one line. Returns the characters written. */
size_t ferry_printable_write(FILE *out, ferry_view text);

typedef struct ferry_printable {
    char text[80]; /* NUL-terminated */
} ferry_printable;

/* The printable form of the view, which ends in "..." if truncated. */
ferry_printable ferry_printable_view(ferry_view view);

#endif
