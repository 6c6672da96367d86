/* Names and other text from files, arguments and models, as a person may see it. Raw, it can move the cursor, retitle
 * the terminal, answer for the keyboard, forge lines, or read backwards.
 *
 * Shown as they are: all characters but control characters, separators of lines, what changes the direction of text or
 * how other characters are shown, U+FEFF, tags, and noncharacters. Invisible characters that scripts need, such as
 * U+200C and U+200D, stay. The others are shown as C would write them: \n \t \r \x1b (a byte: of ASCII, or not UTF-8),
 * \u202e, \U000e0041. A backslash stays one, so text may pass twice. */
#ifndef FERRY_BASE_PRINTABLE_H
#define FERRY_BASE_PRINTABLE_H

#include <stdio.h>

#include "bytes.h"

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
