#define _XOPEN_SOURCE 700 /* sigaction, SIGXCPU */
#include "interrupt.h"

#include <signal.h>
#include <stddef.h>

static const int signals[] = {SIGHUP, SIGINT, SIGPIPE, SIGTERM, SIGXCPU};
enum { SIGNALS = sizeof signals / sizeof *signals };
static struct sigaction before[SIGNALS];

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
    struct sigaction action = {.sa_handler = cancel, .sa_flags = translator != NULL ? (int)SA_RESETHAND : 0};
    sigemptyset(&action.sa_mask);
    running = translator;
    caught = 0;
    for (size_t i = 0; i < SIGNALS; i++) {
        sigaction(signals[i], NULL, &before[i]);
        if (before[i].sa_handler != SIG_IGN) sigaction(signals[i], &action, NULL);
    }
}

int ferry_interrupt_signal(void)
{
    return caught;
}

int ferry_interrupt_end(void)
{
    for (size_t i = 0; i < SIGNALS; i++) sigaction(signals[i], &before[i], NULL);
    return caught;
}
