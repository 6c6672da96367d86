/* A command of the program, and what all of them use. Messages go to standard error; exit statuses: */
#ifndef FERRY_TOOLS_COMMAND_H
#define FERRY_TOOLS_COMMAND_H

#include "arguments.h"

enum { FERRY_EXIT_OK = 0, FERRY_EXIT_FAILED = 1, FERRY_EXIT_USAGE = 2 };

/* One run of the program. */
typedef struct ferry_call {
    const char *program; /* argv[0] */
    double started;      /* ferry_seconds() when main began */
    ferry_arguments arguments;
} ferry_call;

typedef struct ferry_command {
    const char *name;
    const char *synopsis;               /* what follows the name */
    const char *summary;                /* one line */
    const char *details;                /* paragraphs for `ferry help NAME`, each line ended; "" */
    uint64_t options;                   /* FERRY_TAKES(…) | … */
    size_t least, most;                 /* operands */
    int (*run)(const ferry_call *call); /* returns the exit status */
} ferry_command;

extern const ferry_command ferry_command_translate, ferry_command_convert, ferry_command_inspect, ferry_command_verify,
    ferry_command_bench, ferry_command_plot, ferry_command_languages;

/* Prints "ferry: ", the message and a newline. */
void ferry_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Flushes standard output. Returns `status`, or FERRY_EXIT_FAILED with a message when something could not be written.
 */
int ferry_finish_output(int status);
/* The monotonic clock. */
double ferry_seconds(void);
/* Both exist and are one file. */
bool ferry_same_file(const char *a, const char *b);

#endif
