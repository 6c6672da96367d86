/* Reads lines of text in batches. A line is the bytes up to '\n'; it may hold NUL bytes, its length has no limit, and
 * the last one needs no '\n'. The '\r' of a "\r\n" belongs to the end of the line, not to the text. Byte-order marks
 * are dropped, UTF-16 becomes UTF-8, and what is no text is refused (text_encoding.h). */
#ifndef FERRY_TOOLS_LINE_READER_H
#define FERRY_TOOLS_LINE_READER_H

#include <stdbool.h>

#include "engine/ferry.h"
#include "text_encoding.h"

typedef struct ferry_lines {
    const char *name; /* for messages */
    int descriptor;   /* -1: everything is in `data` already */
    bool ended;       /* nothing is left to read */
    bool failed;      /* a message was printed; the lines before the failure are valid */

    /* May be set before the first line is read. */
    bool as_is;         /* the text is UTF-8, whatever it looks like */
    bool quiet;         /* no warnings about its encoding */
    const char *advice; /* for the message about what is no text; NULL: none */

    /* The current batch. */
    ferry_text *texts; /* [count], valid until the next call */
    bool *returns;     /* [count] the line ended in "\r\n" */
    size_t count;
    size_t first; /* number of its first line, from 0 */

    char *data; /* [size] the lines of the batch, and what was read after them */
    size_t capacity, size;
    size_t taken;                            /* bytes of the batch */
    size_t searched;                         /* no '\n' between `taken` and here */
    uint64_t read, total;                    /* bytes of the input; `total` 0: not known */
    size_t texts_capacity, returns_capacity; /* of the arrays */

    ferry_text_kind kind;
    bool recognized; /* `kind` is known */
    char *raw;       /* [raw_size] of UTF-16: what is not in `data` yet */
    size_t raw_capacity, raw_size;
} ferry_lines;

/* `path` NULL: standard input. Prints a message and returns false when the file cannot be opened. */
bool ferry_lines_open(ferry_lines *lines, const char *path);
/* The lines of the arguments; each argument is at least one line. */
bool ferry_lines_from_arguments(ferry_lines *lines, char *const *arguments, size_t count);
void ferry_lines_close(ferry_lines *lines);

/* Reads the first bytes of a file (not of a pipe): what is no text is refused before anything else is done. */
bool ferry_lines_peek(ferry_lines *lines);
/* Reads the next batch. Waits for its first line; ends it at `most` lines, or when reading more would block. Returns
 * false at the end of the input and after a failure. */
bool ferry_lines_next(ferry_lines *lines, size_t most);
/* The same, of `count` lines, or what is left of the input, however long it takes. */
bool ferry_lines_exactly(ferry_lines *lines, size_t count);
/* Reads all remaining lines as one batch. */
bool ferry_lines_rest(ferry_lines *lines);
/* The share of the input that the lines before the current batch and `count` lines of it are: 0 … 1; less than 0: not
 * known. */
double ferry_lines_share(const ferry_lines *lines, size_t count);

#endif
