/* The program and its surroundings: arguments, environment, terminal, input, output streams, signals. */
#ifndef FERRY_TOOLS_TERMINAL_H
#define FERRY_TOOLS_TERMINAL_H

#include <stdio.h>

#include "base/bytes.h"

/* The first call of main(): makes the arguments UTF-8, and what is printed bytes. (Windows: the console shows UTF-8.)
 */
void ferry_program_begin(int *count, char ***arguments);
/* The path of the program; false if the system does not tell. */
bool ferry_program_path(char *path, size_t size);
/* getenv(), in UTF-8; what it returns stays. */
const char *ferry_environment(const char *name);

bool ferry_is_terminal(FILE *stream);
/* What a person types to end standard input. */
extern const char *const ferry_end_of_input;

/* Opens a file, a pipe or a device for reading, until ferry_descriptor_close; -1 and errno on failure. */
int ferry_input_open(const char *path);
enum { FERRY_STANDARD_INPUT = 0 };
/* What is available, at least one byte: waits for it. 0 at the end, -1 and errno on failure. */
int64_t ferry_input_read(int descriptor, char *data, size_t size);
/* Whether ferry_input_read would wait. */
bool ferry_input_would_wait(int descriptor);

/* Functions that fail leave the reason in errno. */
/* fopen(). */
FILE *ferry_stream_open(const char *path, const char *mode);
int ferry_stream_descriptor(FILE *stream);
/* Keeps other processes that ask for the same from writing the file, until this one closes any descriptor of it or
 * ends. False: another one has it, *holder (0: its number is not known). What is no file, or on a disk without locks,
 * may have several writers. */
bool ferry_stream_lock(FILE *stream, int64_t *holder);
/* Cuts off what is behind the first `size` bytes of the file, and continues there. */
bool ferry_stream_cut(FILE *stream, uint64_t size);

/* Signals that end the program, unless they are ignored, call `handle` until ferry_signals_release; `once`: only the
 * first one of each does. */
void ferry_signals_catch(void (*handle)(int number), bool once);
void ferry_signals_release(void);
/* A write beyond the limit of a file's size becomes an error of that write. */
void ferry_signals_ignore_size(void);

#endif
