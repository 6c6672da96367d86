#define _POSIX_C_SOURCE 200809L
#include "interrupt.h"

#include <signal.h>
#include <stddef.h>

enum { SIGNALS = 2 };
static const int signals[SIGNALS] = {SIGINT, SIGTERM};
static struct sigaction before[SIGNALS];

/* Read by the handler. */
static ferry_translator *volatile running;
static volatile sig_atomic_t caught;

static void cancel(int number)
{
    caught = number;
    ferry_translator_cancel(running);
}

void ferry_interrupt_begin(ferry_translator *translator)
{
    struct sigaction action = {.sa_handler = cancel, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    running = translator;
    for (size_t i = 0; i < SIGNALS; i++) {
        sigaction(signals[i], NULL, &before[i]);
        if (before[i].sa_handler != SIG_IGN) sigaction(signals[i], &action, NULL);
    }
}

int ferry_interrupt_end(void)
{
    for (size_t i = 0; i < SIGNALS; i++) sigaction(signals[i], &before[i], NULL);
    return caught;
}
