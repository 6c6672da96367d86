/* Which encoding text has, by the bytes with which it begins; UTF-16 as UTF-8. Text is UTF-8 unless it begins with the
 * byte-order mark of UTF-16. What is no text has a known signature, or too many control characters (text_encoding.c
 * says how many); UTF-16 without a mark and UTF-32 are among that. */
#ifndef FERRY_TOOLS_TEXT_ENCODING_H
#define FERRY_TOOLS_TEXT_ENCODING_H

#include "base/string_table.h"

typedef enum ferry_encoding {
    FERRY_ENCODING_UTF8,
    FERRY_ENCODING_UTF16_LE,
    FERRY_ENCODING_UTF16_BE,
    FERRY_ENCODING_OTHER, /* of 8 bits or of East Asia: read as UTF-8, it has ill-formed characters */
    FERRY_ENCODING_BINARY /* no text, or in an encoding that is refused */
} ferry_encoding;

typedef struct ferry_text_kind {
    ferry_encoding encoding;
    size_t mark;      /* bytes of the byte-order mark */
    const char *name; /* of OTHER and BINARY: "ISO-8859-1 or Windows-1252", "a gzip file" */
} ferry_text_kind;

/* `start`: all of the text, or its first bytes: those of the first line, better some thousands. */
ferry_text_kind ferry_text_recognize(ferry_view start);
/* For text that is called `name`. BINARY: prints a message, with `advice` (may be NULL), and returns false. OTHER:
 * prints a warning unless `quiet`. */
bool ferry_text_accept(const char *name, ferry_text_kind kind, const char *advice, bool quiet);

/* Whether all of a text is rather Windows-1252, or ISO-8859-1, than UTF-8: it has more ill-formed characters than
 * well-formed ones beyond ASCII, three times as many letters, and no byte that Windows-1252 lacks. */
bool ferry_text_is_windows_1252(ferry_view text);
/* Appends Windows-1252 as UTF-8. Errors: MEMORY. */
ferry_status ferry_windows_1252_decode(ferry_view text, ferry_buffer *out, ferry_error *error);

/* Bytes that ferry_utf16_decode writes at most. */
size_t ferry_utf16_room(size_t size);
/* Writes UTF-16 of the encoding as UTF-8 to `output` [ferry_utf16_room(text.size)]. A surrogate without its partner
 * becomes the byte 0xFF, which is ill-formed in UTF-8 as well. What may be the first half of a character at the end
 * stays (*used tells how many bytes were read), unless it is the `last` of the text. Returns the bytes written. */
size_t ferry_utf16_decode(ferry_encoding encoding, ferry_view text, bool last, char *output, size_t *used);

#endif
