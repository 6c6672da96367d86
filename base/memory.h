/* What a translator holds: its threads' arenas, caches and tables take their bytes from one ferry_memory before they
 * request them from the system. */
#ifndef FERRY_BASE_MEMORY_H
#define FERRY_BASE_MEMORY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* Shared by threads. Zeroed: nothing is held, without a limit. */
typedef struct ferry_memory {
    size_t limit; /* bytes; 0: none */
    atomic_size_t held, peak;
} ferry_memory;

/* One thread's access to it. */
typedef struct ferry_account {
    ferry_memory *memory; /* NULL: nothing is counted */
    size_t needed;        /* what would have been held with the last request that was refused; its user sets it to 0 */
} ferry_account;

/* False, and nothing is taken, if so many bytes more would exceed the limit. An account of NULL counts nothing. */
bool ferry_account_take(ferry_account *account, size_t bytes);
void ferry_account_give(ferry_account *account, size_t bytes);

#endif
