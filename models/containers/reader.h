/* What the readers of untrusted files share: a bounded position in the bytes, and messages that name the file and the
 * thing in it. */
#ifndef FERRY_CONTAINERS_READER_H
#define FERRY_CONTAINERS_READER_H

#include "base/bytes.h"
#include "base/status.h"

typedef struct ferry_reader {
    ferry_cursor cursor;
    const char *file; /* for messages */
    ferry_error *error;
} ferry_reader;

ferry_cursor ferry_cursor_begin(ferry_view bytes);
ferry_reader ferry_reader_begin(ferry_view bytes, const char *file, ferry_error *error);

/* Fails with "FILE: …". */
ferry_status ferry_reader_fail(const ferry_reader *in, ferry_status code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Fails with "FILE: KIND 'NAME': …", the name made printable. */
ferry_status ferry_fail_named(ferry_error *error, ferry_status code, const char *file, const char *kind,
                              ferry_view name, const char *format, ...) __attribute__((format(printf, 6, 7)));

/* Reads unsigned numbers of the widths in bytes that `widths` lists, "4 2 2 8"; "-12" skips 12 bytes. They become the
 * members of `record`: an array of uint64_t, or a struct of nothing else. false when the bytes end before; the cursor
 * may have moved then. */
bool ferry_read_fields(ferry_cursor *cursor, const char *widths, void *record);
/* Moves past `text`; false, and the cursor stays, when something else follows. */
bool ferry_read_text(ferry_cursor *cursor, const char *text);

#endif
