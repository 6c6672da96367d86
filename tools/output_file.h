/* Output files: never the input; with a message if anything could not be written. A stream is written as it comes, into
 * whatever has the name; a file that is of no use unless it is complete is put in place by base/new_file.h. */
#ifndef FERRY_TOOLS_OUTPUT_FILE_H
#define FERRY_TOOLS_OUTPUT_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "engine/ferry.h"

/* Whether `path` and `input`, which may be NULL, name the same file. If so, prints a message that calls it the
 * `role`: "input", "model". */
bool ferry_output_is_input(const char *path, const char *input, const char *role);
/* Opens `path` for a stream; prints a message and returns NULL when that fails. */
FILE *ferry_output_open(const char *path);
/* The same, after what is in the file. */
FILE *ferry_output_continue(const char *path);
/* Closes a stream (standard output is flushed instead). Prints a message and returns false if anything written to it
 * was lost. `out` NULL: nothing to do. */
bool ferry_output_close(FILE *out, const char *path);

/* Whether a complete file could get the name `path`; prints a message if not. */
bool ferry_output_check(const char *path);
/* Makes it of what `write` writes to `out`. Prints a message and returns false if it cannot be put in place; returns
 * false if `write` does, which prints its own message. */
typedef bool ferry_output_writer(FILE *out, const void *user);
bool ferry_output_complete(const char *path, ferry_output_writer *write, const void *user);

/* Writes a translation. A '\n' inside it (some vocabularies have that character) becomes a blank: a line stays one. Its
 * other bytes stay as they are, unless `out` is a terminal: see ferry_printable_write. */
void ferry_output_text(FILE *out, ferry_text text);

#endif
