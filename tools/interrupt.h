/* Signals that end the program (SIGINT, SIGTERM) cancel a running call of the library first, so that what is finished
 * can be written. A second one ends the program at once. */
#ifndef FERRY_TOOLS_INTERRUPT_H
#define FERRY_TOOLS_INTERRUPT_H

#include "engine/ferry.h"

/* From here to ferry_interrupt_end, a signal cancels the translator's call. */
void ferry_interrupt_begin(ferry_translator *translator);
/* Returns the signal that came since, or 0. */
int ferry_interrupt_end(void);

#endif
