/* Signals that end the program (SIGHUP, SIGINT, SIGPIPE, SIGTERM, SIGXCPU; those that are not ignored) have to wait
 * until what it began is in order: what is finished is written, a file that is not complete is removed. */
#ifndef FERRY_TOOLS_INTERRUPT_H
#define FERRY_TOOLS_INTERRUPT_H

#include "engine/ferry.h"

/* From here to ferry_interrupt_end, a signal cancels the translator's call, and a second one ends the program at once;
 * with NULL, all signals are only noted. */
void ferry_interrupt_begin(ferry_translator *translator);
/* The signal that came since, or 0. */
int ferry_interrupt_signal(void);
/* The same at the end. The caller raises it again when all is in order. */
int ferry_interrupt_end(void);

#endif
