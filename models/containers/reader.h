/* For readers of untrusted files: a bounded position in the bytes, messages that name file and element, lines and
 * decimal numbers of text files, and the budget of a source. */
#ifndef FERRY_CONTAINERS_READER_H
#define FERRY_CONTAINERS_READER_H

#include "base/bytes.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/utf8.h"

typedef struct ferry_reader {
    ferry_cursor cursor;
    const char *file; /* for messages */
    ferry_error *error;
} ferry_reader;

/* The start of the text, as ferry_printable_view shows it. */
static inline ferry_printable ferry_printable_text(const char *text)
{
    return ferry_printable_view(ferry_text_view(text));
}

ferry_cursor ferry_cursor_begin(ferry_view bytes);
ferry_reader ferry_reader_begin(ferry_view bytes, const char *file, ferry_error *error);

/* Fails with "FILE: …". */
ferry_status ferry_reader_fail(const ferry_reader *in, ferry_status code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Fails with "FILE: KIND 'NAME': …", the name made printable. */
ferry_status ferry_fail_named(ferry_error *error, ferry_status code, const char *file, const char *kind,
                              ferry_view name, const char *format, ...) __attribute__((format(printf, 6, 7)));

/* Reads unsigned numbers whose widths in bytes are listed in `widths`, "4 2 2 8"; "-12" skips 12 bytes. They become the
 * members of `record`: an array of uint64_t, or a struct of nothing else. false when the bytes end before; the cursor
 * may have moved then. */
bool ferry_read_fields(ferry_cursor *cursor, const char *widths, void *record);
/* Moves past `text`. False if the cursor is at something else; it stays there. */
bool ferry_read_text(ferry_cursor *cursor, const char *text);

/* ---- text files ---- */

/* The next line, without its end, which is LF or CR LF; the last line may lack it. false at the end of the text. */
bool ferry_next_line(ferry_cursor *text, ferry_view *line);
/* The text before its first blank; all of it if it has none. */
ferry_view ferry_first_word(ferry_view text);
/* Upper bound of the number of lines. */
size_t ferry_count_lines(ferry_view text);

/* These read all of `text`, whatever the locale of the process. Digits with an optional sign, point and exponent
 * ("-1.5e-07"), at most 511 bytes; finite. */
bool ferry_parse_decimal(ferry_view text, double *value);
/* Digits with an optional sign. */
bool ferry_parse_integer(ferry_view text, int64_t *value);

/* ---- the budget of a source ---- */

/* What reading one source may take, however its files are nested: the bytes that are inflated into temporary files, the
 * memory of what is parsed, and the bytes of the model file that is written. Each is taken from the account before it
 * is used (base/memory.h). What was inflated is never given back, so that a source cannot make Ferry inflate again and
 * again, either.
 *
 * The limit is the caller's, or else 256 MiB and 8 times the bytes of the files that are read, as they were published.
 * The most that a large model needs is an int8 model, compressed to 3/4, that is written as float32: 4/3 of its bytes
 * inflated and 16/3 in the model file.
 *
 * A budget must not be moved: the account refers to it. */
typedef struct ferry_budget {
    ferry_memory memory;
    ferry_account account;
    bool follows_files; /* the limit grows with the files */
} ferry_budget;

/* `bytes`: the limit; 0: the default above. */
void ferry_budget_begin(ferry_budget *budget, uint64_t bytes);
/* Raises the default limit for a file of `bytes` bytes that will be read. */
void ferry_budget_add_file(ferry_budget *budget, uint64_t bytes);
/* `status`, unless the account has refused something: then LIMIT, with a message that names `file` and replaces
 * *error. */
ferry_status ferry_budget_check(const ferry_budget *budget, const char *file, ferry_status status, ferry_error *error);

#endif
