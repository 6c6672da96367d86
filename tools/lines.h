/* Lines in, lines out. A line is bytes up to '\n'; NUL is one of them, its length has no limit, and the last line needs
 * no
 * '\n'. The '\r' of a "\r\n" belongs to the line's end: it is not part of the text, and the output line gets it back.
 */
#ifndef FERRY_TOOLS_LINES_H
#define FERRY_TOOLS_LINES_H

#include <stdbool.h>
#include <stdio.h>

#include "engine/ferry.h"

typedef struct ferry_lines {
    const char *name; /* for messages */
    int descriptor;   /* -1: all is in `data` already */
    bool ended;       /* nothing is left to read */
    bool failed;      /* a message was printed: what came before it is all there is */

    /* The current batch. */
    ferry_text *texts; /* [count], valid until the next call */
    bool *returns;     /* [count] the line ended in "\r\n" */
    size_t count;
    size_t first; /* number of its first line, from 0 */

    char *data; /* [size] the batch's lines and what was read behind them */
    size_t capacity, size;
    size_t taken;    /* bytes of the batch */
    size_t searched; /* no '\n' between taken and here */
    size_t *starts;  /* [room] where lines begin in data */
    size_t room;     /* of texts, returns, starts */
} ferry_lines;

/* `path` NULL: standard input. Prints a message and returns false when the file cannot be opened. */
bool ferry_lines_open(ferry_lines *lines, const char *path);
/* The lines of the arguments: each is at least one. */
bool ferry_lines_from_arguments(ferry_lines *lines, char *const *arguments, size_t count);
void ferry_lines_close(ferry_lines *lines);

/* The next batch. Waits for its first line; closes it at `most` lines, or when reading more would block. false at the
 * end, and after a failure. */
bool ferry_lines_next(ferry_lines *lines, size_t most);
/* All lines that are left, as one batch. */
bool ferry_lines_rest(ferry_lines *lines);

/* Writes a text. A '\n' inside it (a model may know that character) becomes a blank: a line stays a line. */
void ferry_write_text(FILE *out, ferry_text text);

#endif
