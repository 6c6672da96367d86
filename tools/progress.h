/* How far something is, for somebody at a terminal: one line on standard error, which is written again and again, and
 * erased before any message (ferry_complain does that) and at the end. */
#ifndef FERRY_TOOLS_PROGRESS_H
#define FERRY_TOOLS_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/ferry.h"

typedef struct ferry_progress {
    bool wanted;         /* and standard error is a terminal */
    double began, shown; /* seconds of ferry_clock() */
    uint64_t first;      /* units, and share of the work, that were done when it began */
    double first_share;
} ferry_progress;

/* `done` units were done before, the `share` of the work (less than 0: not known). */
void ferry_progress_begin(ferry_progress *progress, bool wanted, uint64_t done, double share);
/* Whether a new line would be shown: if wanted, some times a second. */
bool ferry_progress_is_due(ferry_progress *progress);
/* Shows the line, at most 79 characters of it. */
void ferry_progress_line(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Shows, if that is due, how many units ("lines") are done and what that means: "1,234 lines, 12 %, 56 lines/s, 2:34
 * left". `share`: of all the work, 0 … 1; less than 0: not known. */
void ferry_progress_show(ferry_progress *progress, const char *unit, uint64_t done, double share);
void ferry_progress_erase(void);

/* 1234567 as "1,234,567". */
typedef struct ferry_grouped {
    char text[32];
} ferry_grouped;
ferry_grouped ferry_group_digits(uint64_t number);

/* ---- signals that end the program (SIGHUP, SIGINT, SIGPIPE, SIGTERM, SIGXCPU; those that are not ignored) ----
 *
 * They have to wait until what the program began is in order: what is finished is written, a file that is not complete
 * is removed. */

/* From here to ferry_interrupt_end, a signal cancels the translator's call, and a second one ends the program at once;
 * with NULL, all signals are only noted. */
void ferry_interrupt_begin(ferry_translator *translator);
/* The signal that came since, or 0. */
int ferry_interrupt_signal(void);
/* The same at the end. The caller raises it again when all is in order. */
int ferry_interrupt_end(void);

#endif
