/* Memory that runs out. In suite_failing_memory (tests/CMakeLists.txt wraps its symbols), every allocation of Ferry's
 * own, from the heap, of mappings, of threads and in arenas, of the SentencePiece inside, and of jansson passes here,
 * can be made to fail, and is counted until it is freed. Other shared libraries have their own, which never fails.
 * Mapped files are copies in memory of exactly their size, so that the sanitizers see reads past the end. */
#ifndef FERRY_TESTS_FAILING_MEMORY_H
#define FERRY_TESTS_FAILING_MEMORY_H

#include "engine/ferry.h"

#include <stdbool.h>

/* Which allocations fail, from now on: number `first` (1: the next one; 0: none) of any thread, or all from it on. */
void memory_fail(size_t first, bool all);
/* None fails any more. Returns whether one did. */
bool memory_heal(void);

/* Blocks and mappings that are not freed, but for a constant. */
ptrdiff_t memory_blocks(void);
/* memory_peak: the most bytes that were held at any time since memory_watch, beyond those that were held then. */
void memory_watch(void);
size_t memory_peak(void);

/* Work in which memory runs out. */
typedef struct fault {
    const char *name;
    void *user;
    void (*before)(void *user); /* or NULL */
    ferry_status (*run)(void *user, ferry_error *error);
    void (*after)(void *user, ferry_status status); /* checks and frees what `run` made, and that it can run again */
} fault;

/* Repeats the work, and lets its first allocation fail, its second and so on until there are no more, or some of them
 * where there are many; each alone, and with all that follow. `run` must end in an error that says so, or have done
 * without, and nothing may be left allocated after `after`. */
void fail_each(const fault *tried);
/* The same without leaving any out. */
void fail_every(const fault *tried);

#endif
