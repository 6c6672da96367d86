#include "memory.h"

#include <stdint.h>
#include <string.h>

#include "system.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) && !defined(__SANITIZE_ADDRESS__)
#define __SANITIZE_ADDRESS__ 1 /* as gcc has it */
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#define POISON(address, size) ASAN_POISON_MEMORY_REGION(address, size)
#define UNPOISON(address, size) ASAN_UNPOISON_MEMORY_REGION(address, size)
enum { GAP = FERRY_ARENA_ALIGNMENT };
#else
#define POISON(address, size) ((void)(address), (void)(size))
#define UNPOISON(address, size) ((void)(address), (void)(size))
enum { GAP = 0 };
#endif

/* ---- the account ---- */

bool ferry_account_take(ferry_account *account, size_t bytes)
{
    if (account == NULL || account->memory == NULL) return true;
    ferry_memory *memory = account->memory;
    const size_t limit = memory->limit > 0 ? memory->limit : SIZE_MAX;
    size_t held = atomic_load(&memory->held);
    do {
        if (bytes > limit || held > limit - bytes) {
            account->refused = held < SIZE_MAX - bytes ? held + bytes : SIZE_MAX;
            return false;
        }
    } while (!atomic_compare_exchange_weak(&memory->held, &held, held + bytes));
    size_t peak = atomic_load(&memory->peak);
    while (peak < held + bytes && !atomic_compare_exchange_weak(&memory->peak, &peak, held + bytes)) continue;
    return true;
}

void ferry_account_give(ferry_account *account, size_t bytes)
{
    if (account != NULL && account->memory != NULL) atomic_fetch_sub(&account->memory->held, bytes);
}

void ferry_account_undo(ferry_account *account, size_t bytes)
{
    ferry_account_give(account, bytes);
    if (account != NULL) account->refused = 0;
}

ferry_status ferry_account_fail(const ferry_account *account, const char *purpose, size_t count, size_t size,
                                ferry_error *error)
{
    if (account == NULL || account->refused == 0) return ferry_fail_memory(error, purpose, count, size);
    return ferry_fail(error, FERRY_ERROR_LIMIT,
                      "option memory_limit: %zu bytes do not suffice for this line, expected %zu",
                      account->memory->limit, account->refused);
}

/* ---- arenas ---- */

enum { MIN_CHUNK = 1 << 16 };

struct ferry_arena_chunk {
    ferry_arena_chunk *previous;
    size_t size; /* of data */
    size_t used;
    _Alignas(FERRY_ARENA_ALIGNMENT) unsigned char data[];
};

/* Of a chunk whose data has `size` bytes. */
static size_t chunk_bytes(size_t size)
{
    return ferry_round_up(size + sizeof(ferry_arena_chunk), FERRY_ARENA_ALIGNMENT);
}

/* Takes `size` bytes from the account or, if it refuses them, as few as a chunk has, or `min`. Returns how many; 0:
 * none. Very small chunks would waste the system's memory, which the account does not see. */
static size_t take_chunk(ferry_account *account, size_t size, size_t min)
{
    const size_t sizes[] = {size, min > MIN_CHUNK ? min : MIN_CHUNK, min};
    const size_t refused = account != NULL ? account->refused : 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        if (sizes[i] > size || !ferry_account_take(account, chunk_bytes(sizes[i]))) continue;
        if (i > 0) account->refused = refused;
        return sizes[i];
    }
    return 0;
}

/* A chunk of `size` bytes, or of fewer, but at least `min`, if the account refuses more. */
static ferry_arena_chunk *add_chunk(ferry_arena *arena, size_t size, size_t min)
{
    if (size > SIZE_MAX / 2) return NULL;
    size = take_chunk(arena->account, size, min);
    if (size == 0) return NULL;
    ferry_arena_chunk *chunk = ferry_aligned_alloc(FERRY_ARENA_ALIGNMENT, chunk_bytes(size));
    if (chunk == NULL) {
        ferry_account_undo(arena->account, chunk_bytes(size));
        return NULL;
    }
    chunk->previous = arena->last;
    chunk->size = size;
    chunk->used = 0;
    POISON(chunk->data, chunk->size);
    arena->last = chunk;
    arena->reserved += size;
    arena->allocations++;
    return chunk;
}

static void drop_last_chunk(ferry_arena *arena)
{
    ferry_arena_chunk *chunk = arena->last;
    arena->last = chunk->previous;
    arena->reserved -= chunk->size;
    UNPOISON(chunk->data, chunk->size);
    ferry_account_give(arena->account, chunk_bytes(chunk->size));
    ferry_large_free(chunk, chunk_bytes(chunk->size));
}

void *ferry_arena_alloc(ferry_arena *arena, size_t count, size_t size)
{
    size_t bytes;
    if (!ferry_mul_size(count, size, &bytes) || bytes > SIZE_MAX / 4) {
        ferry_account_undo(arena->account, 0);
        return NULL;
    }
    bytes = ferry_round_up(bytes, FERRY_ARENA_ALIGNMENT) + GAP;
    ferry_arena_chunk *chunk = arena->last;
    if (chunk == NULL || chunk->size - chunk->used < bytes) {
        /* At least as much as all chunks have: their number stays logarithmic. */
        size_t wanted = arena->reserved > MIN_CHUNK ? arena->reserved : MIN_CHUNK;
        if (arena->exact) wanted = FERRY_ARENA_ALIGNMENT;
        chunk = add_chunk(arena, wanted > bytes ? wanted : bytes, bytes);
        if (chunk == NULL) return NULL;
    }
    unsigned char *block = chunk->data + chunk->used;
    chunk->used += bytes;
    arena->used += bytes;
    if (arena->used > arena->peak) arena->peak = arena->used;
    UNPOISON(block, bytes - GAP);
    return block;
}

ferry_status ferry_arena_fail(const ferry_arena *arena, const char *purpose, size_t count, size_t size,
                              ferry_error *error)
{
    return ferry_account_fail(arena->account, purpose, count, size, error);
}

char *ferry_arena_text(ferry_arena *arena, ferry_view text)
{
    char *copy = ferry_arena_alloc(arena, text.size + 1, 1);
    if (copy == NULL) return NULL;
    if (text.size > 0) memcpy(copy, text.data, text.size);
    copy[text.size] = '\0';
    return copy;
}

void *ferry_arena_take(ferry_arena *arena, size_t count, size_t size, bool *failed)
{
    void *block = *failed ? NULL : ferry_arena_alloc(arena, count, size);
    *failed = block == NULL;
    return block;
}

ferry_arena_mark ferry_arena_begin(const ferry_arena *arena)
{
    ferry_arena_chunk *chunk = arena->last;
    while (chunk != NULL && chunk->used == 0) chunk = chunk->previous; /* an empty one may be joined with others */
    return (ferry_arena_mark){chunk, chunk != NULL ? chunk->used : 0, arena->used};
}

/* Several chunks after `kept` become one, of what they were needed for; in an exact arena, none. */
static void join_chunks(ferry_arena *arena, const ferry_arena_chunk *kept)
{
    const size_t needed = arena->peak - arena->used, size = needed > MIN_CHUNK ? needed : MIN_CHUNK;
    if (!arena->exact && (arena->last == kept || arena->last->previous == kept)) return;
    while (arena->last != kept) drop_last_chunk(arena);
    if (!arena->exact) add_chunk(arena, size, size); /* if this fails, the next allocation tries again */
}

void ferry_arena_end(ferry_arena *arena, ferry_arena_mark mark)
{
    arena->used = mark.used;
    join_chunks(arena, mark.chunk);
    for (ferry_arena_chunk *chunk = arena->last; chunk != NULL; chunk = chunk->previous) {
        chunk->used = chunk == mark.chunk ? mark.chunk_used : 0;
        POISON(chunk->data + chunk->used, chunk->size - chunk->used);
        if (chunk == mark.chunk) break;
    }
}

void ferry_arena_forget(ferry_arena *arena, size_t min)
{
    const ferry_arena_chunk *chunk = arena->last;
    if (chunk != NULL && chunk->size - chunk->used >= min)
        ferry_pages_forget((const char *)chunk->data + chunk->used, chunk->size - chunk->used);
}

void ferry_arena_destroy(ferry_arena *arena)
{
    while (arena->last != NULL) drop_last_chunk(arena);
    arena->used = arena->peak = 0;
}
