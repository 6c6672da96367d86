/* A progress callback that cancels a call when enough lines are finished. */
#ifndef FERRY_TESTS_CANCEL_WHEN_ENOUGH_H
#define FERRY_TESTS_CANCEL_WHEN_ENOUGH_H

#include "engine/ferry.h"

typedef struct watch {
    ferry_translator *translator; /* NULL: the callback's answer cancels */
    uint32_t job;                 /* of the translator */
    size_t enough, total, last;
} watch;

static inline int cancel_when_enough(void *user, size_t done, size_t total)
{
    watch *w = user;
    w->total = total;
    w->last = done;
    if (done < w->enough) return 0;
    if (w->translator == NULL) return w->enough % 2 == 0 ? 1 : -1; /* other than 0 */
    ferry_translator_cancel(w->translator, w->job);
    return 0;
}

#endif
