/* A command of the program, and what all commands use. Messages go to standard error. */
#ifndef FERRY_TOOLS_COMMAND_H
#define FERRY_TOOLS_COMMAND_H

#include "engine/ferry.h"
#include "arguments.h"

/* Exit statuses. */
enum { FERRY_EXIT_OK = 0, FERRY_EXIT_FAILED = 1, FERRY_EXIT_USAGE = 2 };

/* One run of the program. */
typedef struct ferry_call {
    const char *program; /* argv[0] */
    double started;      /* when main began, by ferry_clock() */
    ferry_arguments arguments;
} ferry_call;

typedef struct ferry_command {
    const char *name;
    const char *synopsis; /* the operands */
    const char *summary;  /* one line */
    const char *details;  /* paragraphs for `ferry help NAME`, each line ended; "" */
    const char *examples; /* three command lines, each ended: as typed, or with '#' and what it does */
    ferry_taken options;
    size_t least, most;                 /* operands */
    int (*run)(const ferry_call *call); /* returns the exit status */
} ferry_command;

extern const ferry_command ferry_command_translate, ferry_command_score, ferry_command_compare, ferry_command_convert,
    ferry_command_inspect, ferry_command_verify, ferry_command_bench, ferry_command_languages, ferry_command_cache;

bool ferry_is_given(const ferry_call *call, ferry_option option);
/* The option's value as it was written; NULL if it was not given, or is "-" for a standard stream. */
const char *ferry_option_text(const ferry_call *call, ferry_option option);

/* Prints "ferry: ", the message and a newline. Names from files and arguments may be in the message as they are: it is
 * shown on one line, as ferry_printable_write does. */
void ferry_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Prints a warning about line `line`, counted from 1, if it is one of the first ten of the run, and not with --quiet.
 */
void ferry_warn_of_line(const ferry_call *call, size_t line, const char *warning);
/* Prints why `count` lines from `first` on failed, if it is one of the first ten such messages. */
void ferry_fail_lines(size_t first, size_t count, const char *reason);
/* Prints how many more of both there were. */
void ferry_count_unprinted(void);
/* Whether a call of the library succeeded; prints its message if not. */
bool ferry_succeeded(ferry_status status, const ferry_error *error);
/* calloc that prints a message on failure. */
void *ferry_allocate(size_t count, size_t size);
/* Flushes standard output. Returns `status`, or FERRY_EXIT_FAILED after a message if anything could not be written. */
int ferry_finish_output(int status);

#endif
