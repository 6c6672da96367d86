#include "interrupt.h"

#include <signal.h>
#include <stddef.h>

#include "tools/system/terminal.h"

/* Read by the handler. */
static ferry_translator *volatile running;
static volatile sig_atomic_t caught;

static void cancel(int number)
{
    caught = number;
    if (running != NULL) ferry_translator_cancel(running);
}

void ferry_interrupt_begin(ferry_translator *translator)
{
    running = translator;
    caught = 0;
    ferry_signals_catch(cancel, translator != NULL);
}

int ferry_interrupt_signal(void)
{
    return caught;
}

int ferry_interrupt_end(void)
{
    ferry_signals_release();
    return caught;
}
