#include "memory_watch.h"

#include "base/files/file_system.h"

enum { STACK = 64 << 10 };
/* Between two looks, which take some 10 microseconds each: a batch of the smallest model lives longer. */
#define INTERVAL 0.002

static void look(ferry_memory_watch *watch)
{
    const size_t bytes = ferry_own_memory();
    if (bytes > watch->peak) watch->peak = bytes;
}

static void keep_looking(void *user)
{
    ferry_memory_watch *watch = user;
    for (; !atomic_load(&watch->ended); ferry_thread_sleep(INTERVAL)) look(watch);
}

void ferry_memory_watch_begin(ferry_memory_watch *watch)
{
    watch->peak = 0;
    atomic_init(&watch->ended, false);
    watch->started = ferry_thread_start(&watch->thread, STACK, keep_looking, watch) == 0;
}

void ferry_memory_watch_end(ferry_memory_watch *watch)
{
    atomic_store(&watch->ended, true);
    if (watch->started) ferry_thread_join(&watch->thread);
    watch->started = false;
    look(watch);
}
