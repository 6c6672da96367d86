/* How work is told to stop. */
#ifndef FERRY_BASE_STOP_H
#define FERRY_BASE_STOP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of a job, of the text or the call that the job is for, of all calls of a translator, or of a service. Work stops if
 * its own word or one above has the lowest bit set. Any thread, and a signal handler, may set it at any time. */
typedef struct ferry_stop ferry_stop;
struct ferry_stop {
    _Atomic uint32_t word;
    const ferry_stop *above; /* NULL: none */
};

/* NULL: work that nobody stops. */
static inline bool ferry_stopped(const ferry_stop *stop)
{
    for (; stop != NULL; stop = stop->above)
        if ((atomic_load_explicit(&stop->word, memory_order_relaxed) & 1) != 0) return true;
    return false;
}

static inline void ferry_stop_now(ferry_stop *stop)
{
    atomic_fetch_or(&stop->word, 1);
}

#endif
