/* Scratch memory of one thread: bump allocation, released to a mark, kept for the next use.
 *
 *   chunk 0: [ block | gap | block | gap | ... free ]   chunk 1: [ ... ]   (a chunk is added when the last one is full)
 *
 * When everything has been released, several chunks become one of their common size, so that after a warm-up of a given
 * size no more memory is asked for. Blocks are aligned to 64 bytes; under AddressSanitizer the gaps are poisoned. */
#ifndef FERRY_BASE_ARENA_H
#define FERRY_BASE_ARENA_H

#include <stddef.h>

#include "bytes.h"

#define FERRY_ARENA_ALIGNMENT 64

typedef struct ferry_arena_chunk ferry_arena_chunk;

typedef struct ferry_arena {
    ferry_arena_chunk *last; /* newest chunk; older ones hang behind it */
    size_t used;             /* bytes handed out now, all chunks */
    size_t reserved;         /* bytes asked from the system now */
    size_t allocations;      /* how often the system was asked, ever (tests count this) */
} ferry_arena;

typedef struct ferry_arena_mark {
    ferry_arena_chunk *chunk;
    size_t chunk_used;
    size_t used;
} ferry_arena_mark;

/* A zeroed ferry_arena is empty and ready. */
/* `count` × `size` bytes, uninitialized, or NULL when the product overflows or memory is out. */
void *ferry_arena_alloc(ferry_arena *arena, size_t count, size_t size);
/* The text, NUL-terminated; NULL when out of memory. */
char *ferry_arena_text(ferry_arena *arena, ferry_view text);
ferry_arena_mark ferry_arena_begin(const ferry_arena *arena);
/* Releases every block handed out since `mark`. */
void ferry_arena_end(ferry_arena *arena, ferry_arena_mark mark);
void ferry_arena_destroy(ferry_arena *arena);

#endif
