/* The most memory that the process has of its own while something runs, by looking again and again. */
#ifndef FERRY_TOOLS_LAB_MEMORY_WATCH_H
#define FERRY_TOOLS_LAB_MEMORY_WATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/threads.h"

typedef struct ferry_memory_watch {
    ferry_thread thread;
    bool started;
    atomic_bool ended;
    size_t peak; /* bytes; 0 where the system does not tell */
} ferry_memory_watch;

/* Begins to look, on a thread of its own. The watch may not be moved. If no thread can be had, its peak is what it is
 * at the end. */
void ferry_memory_watch_begin(ferry_memory_watch *watch);
/* Allowed on a zeroed object. */
void ferry_memory_watch_end(ferry_memory_watch *watch);

#endif
