/* How work is told to stop. */
#ifndef FERRY_BASE_STOP_H
#define FERRY_BASE_STOP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The work of one job. It stops if one of the two words says so. Any thread may set them at any time. */
typedef struct ferry_stop {
    _Atomic uint32_t own;              /* not 0: the job failed, or it was cancelled by itself */
    const _Atomic uint32_t *cancelled; /* of all jobs of a caller: cancelled if the lowest bit is set; NULL: none */
} ferry_stop;

/* NULL: work that nobody stops. */
static inline bool ferry_stopped(const ferry_stop *stop)
{
    if (stop == NULL) return false;
    return atomic_load_explicit(&stop->own, memory_order_relaxed) != 0 ||
           (stop->cancelled != NULL && (atomic_load_explicit(stop->cancelled, memory_order_relaxed) & 1) != 0);
}

static inline void ferry_stop_now(ferry_stop *stop)
{
    atomic_store(&stop->own, 1);
}

#endif
