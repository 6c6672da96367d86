/* UTF-8 as RFC 3629 defines it (no overlong forms, no surrogates, nothing above U+10FFFF), and text as it is shown. */
#ifndef FERRY_BASE_UTF8_H
#define FERRY_BASE_UTF8_H

#include <stdio.h>

#include "bytes.h"

/* Reads the character at *at < text.size and moves *at past it. If the bytes are ill-formed, moves *at past their
 * maximal subpart (the longest prefix of a well-formed sequence, at least one byte) and returns false. */
bool ferry_utf8_next(ferry_view text, size_t *at, uint32_t *code_point);

/* The same of the character before *at: moves *at to where it begins. False if none is before it. */
bool ferry_utf8_previous(ferry_view text, size_t *at, uint32_t *code_point);
/* Writes a character, at most U+10FFFF and no surrogate, to `output` [4]. Returns its bytes. */
size_t ferry_utf8_put(uint32_t code_point, char *output);

bool ferry_utf8_is_valid(ferry_view text);
/* Unicode's property White_Space. */
bool ferry_utf8_is_space(uint32_t code_point);

/* Copies `text`, each maximal ill-formed subpart replaced by U+FFFD (The Unicode Standard 15.0, section 3.9, "U+FFFD
 * Substitution of Maximal Subparts"). `output` [3 × text.size] does not overlap `text`. Returns
 * the bytes written. */
size_t ferry_utf8_repair(ferry_view text, char *output);

/* The part of `text` between leading and trailing white space. Ill-formed bytes are not white space. */
ferry_view ferry_utf8_trim(ferry_view text);

/* Bytes of the white space with which `text` begins. */
size_t ferry_utf8_leading_space(ferry_view text);

/* Nothing but white space, or empty. */
bool ferry_utf8_is_blank(ferry_view text);

/* ---- names and other text from files, arguments and models, as a person may see them ----
 *
 * Raw, such text can move the cursor, retitle the terminal, answer for the keyboard, forge lines, or read backwards.
 * Shown as they are: all characters but control characters, separators of lines, what changes the direction of text or
 * how other characters are shown, U+FEFF, tags, and noncharacters. Invisible characters that scripts need, such as
 * U+200C and U+200D, stay. The others are shown as C would write them: \n \t \r \x1b (a byte: of ASCII, or not UTF-8),
 * \u202e, \U000e0041. A backslash stays one, so text may pass twice. */

bool ferry_is_printable(uint32_t code_point);

enum { FERRY_SHOWN_SIZE = 13 };
/* Writes the character at *at < text.size as it is shown, NUL-terminated, and moves *at past it. Ill-formed UTF-8: as
 * ferry_utf8_next, all of its bytes. Returns the bytes of `shown`. */
size_t ferry_printable_next(ferry_view text, size_t *at, char shown[FERRY_SHOWN_SIZE]);

/* Writes all of the text as it is shown, on one line. Returns the characters written. */
size_t ferry_printable_write(FILE *out, ferry_view text);

typedef struct ferry_printable {
    char text[80]; /* NUL-terminated */
} ferry_printable;

/* The start of the text as it is shown; ends in "..." if truncated. */
ferry_printable ferry_printable_view(ferry_view view);

#endif
