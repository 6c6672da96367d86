/* Memory: an account of what is held, and arenas, the scratch memory of one thread.
 *
 * An arena is bump allocation, released to a mark, kept for the next use.
 *
 *   chunk 0: [ block | gap | block | gap | ... free ]   chunk 1: [ ... ]   (a chunk is added when the last one is full)
 *
 * When several chunks have been released, they become one that would have sufficed, so that work of a given size
 * requests no more memory after its first run, and does not keep what growing has left behind. Blocks are aligned to 64
 * bytes; under AddressSanitizer the gaps are poisoned. */
#ifndef FERRY_BASE_MEMORY_H
#define FERRY_BASE_MEMORY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "bytes.h"
#include "status.h"

/* What a translator holds: its threads' arenas, caches and tables take their bytes from one ferry_memory before they
 * request them from the system. Shared by threads. Zeroed: nothing is held, without a limit. */
typedef struct ferry_memory {
    size_t limit; /* bytes; 0: none */
    atomic_size_t held, peak;
} ferry_memory;

/* One thread's access to it. */
typedef struct ferry_account {
    ferry_memory *memory; /* NULL: nothing is counted */
    /* Why the last request failed: bytes that would have been held, if the limit refused it; 0: the system refused it
     */
    size_t refused;
} ferry_account;

/* False, and nothing is taken, if so many bytes more would exceed the limit. An account of NULL counts nothing. */
bool ferry_account_take(ferry_account *account, size_t bytes);
void ferry_account_give(ferry_account *account, size_t bytes);
/* Gives back `bytes` that were taken for a request which the system has refused. */
void ferry_account_undo(ferry_account *account, size_t bytes);
/* For a failed request: LIMIT, naming the option memory_limit, if the limit refused it, else MEMORY. */
ferry_status ferry_account_fail(const ferry_account *account, const char *purpose, size_t count, size_t size,
                                ferry_error *error);

#define FERRY_ARENA_ALIGNMENT 64

typedef struct ferry_arena_chunk ferry_arena_chunk;

typedef struct ferry_arena {
    ferry_arena_chunk *last; /* the newest chunk, head of the list */
    size_t used;             /* bytes handed out, in all chunks */
    size_t peak;             /* of them at any time */
    size_t reserved;         /* bytes held from the system */
    size_t allocations;      /* requests to the system, in total (tests count them) */
    ferry_account *account;  /* where chunks are counted; NULL: nowhere */
    bool exact;              /* each block is a chunk of its size, until it is released: least memory, most requests */
} ferry_arena;

typedef struct ferry_arena_mark {
    ferry_arena_chunk *chunk;
    size_t chunk_used;
    size_t used;
} ferry_arena_mark;

/* A zeroed ferry_arena is empty and ready. */
/* `count` × `size` bytes, uninitialized, or NULL if the product overflows, the system is out of
 * memory, or the account refuses. */
void *ferry_arena_alloc(ferry_arena *arena, size_t count, size_t size);
/* The same for several blocks in a row: the first NULL sets *failed, after which no more memory is requested. */
void *ferry_arena_take(ferry_arena *arena, size_t count, size_t size, bool *failed);
/* After NULL: ferry_account_fail of the arena's account. */
ferry_status ferry_arena_fail(const ferry_arena *arena, const char *purpose, size_t count, size_t size,
                              ferry_error *error);
/* A copy of `text`, NUL-terminated; NULL if out of memory. */
char *ferry_arena_text(ferry_arena *arena, ferry_view text);
ferry_arena_mark ferry_arena_begin(const ferry_arena *arena);
/* Releases every block handed out since `mark`. */
void ferry_arena_end(ferry_arena *arena, ferry_arena_mark mark);
/* Lets what is free behind the newest block, if `min` bytes or more, go back to the system; it stays reserved. */
void ferry_arena_forget(ferry_arena *arena, size_t min);
/* Releases all memory; the arena can be used again. */
void ferry_arena_destroy(ferry_arena *arena);

#endif
