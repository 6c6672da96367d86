/* Output files: never an input; with a message if anything could not be written. A stream is written as it comes, into
 * whatever has the name; a file that is of no use unless it is complete is put in place by base/files/new_file.h. */
#ifndef FERRY_TOOLS_OUTPUT_FILE_H
#define FERRY_TOOLS_OUTPUT_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "command.h"

/* Whether the call writes the file `path` (NULL: standard input), as standard output or as an option says. If so,
 * prints a message that names both; `role` is what reads the file: "-i". */
bool ferry_input_is_output(const ferry_call *call, const char *path, const char *role);
/* The same of any file of a model. */
bool ferry_model_is_output(const ferry_call *call, const char *path, const char *role);
/* Whether standard output or standard error is open on the file `path`. */
bool ferry_output_is_standard(const char *path);
/* Opens `path` for a stream, and empties it; `resumed`: writes after what is in the file, which may be read, too.
 * Returns stdout or stderr, as it is, if that is open on the file. Prints a message and returns NULL when that fails,
 * if another process is writing the file, or if a standard stream is `resumed`. */
FILE *ferry_output_open(const char *path, bool resumed);
/* Why anything that was written to a stream is lost; NULL: nothing is. */
const char *ferry_output_loss(FILE *out, const char *path);
/* Closes a stream (a standard one is flushed instead). Prints a message and returns false if anything written to it
 * was lost. `out` NULL: nothing to do. */
bool ferry_output_close(FILE *out, const char *path);

/* Whether a complete file could get the name `path`; prints a message if not. */
bool ferry_output_check(const char *path);
/* Makes it of what `write` writes to `out`; a pipe, a device or a standard stream is written in place. Prints a message
 * and returns false if it cannot be put in place; returns false if `write` does, which prints its own message. */
typedef bool ferry_output_writer(FILE *out, const void *user);
bool ferry_output_complete(const char *path, ferry_output_writer *write, const void *user);

/* Writes a translation. A '\n' inside it (some vocabularies have that character) becomes a blank: a line stays one. Its
 * other bytes stay as they are, unless `out` is a terminal: see ferry_printable_write. */
void ferry_output_text(FILE *out, ferry_text text);

#endif
