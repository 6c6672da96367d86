#define _GNU_SOURCE /* madvise, malloc_usable_size */
#include "failing_memory.h"

#include <errno.h>
#include <jansson.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/memory.h"
#include "tests/support/random.h"
#include "tests/support/sanitized.h"
#include "tests/support/support.h"

/* ---- which fail ---- */

static atomic_size_t count, first_failure;
static atomic_bool fail_all, has_failed;

void memory_fail(size_t first, bool all)
{
    atomic_store(&count, 0);
    atomic_store(&has_failed, false);
    atomic_store(&fail_all, all);
    atomic_store(&first_failure, first);
}

bool memory_heal(void)
{
    atomic_store(&first_failure, 0);
    return atomic_load(&has_failed);
}

static bool must_fail(void)
{
    const size_t number = atomic_fetch_add(&count, 1) + 1, first = atomic_load(&first_failure);
    if (first == 0 || number < first || (number > first && !atomic_load(&fail_all))) return false;
    atomic_store(&has_failed, true);
    errno = ENOMEM;
    return true;
}

/* ---- what is held ---- */

/* Signed: what the C library allocated may be freed here. */
static atomic_ptrdiff_t blocks, bytes, watched_bytes, most_bytes;

ptrdiff_t memory_blocks(void)
{
    return atomic_load(&blocks);
}

void memory_watch(void)
{
    atomic_store(&watched_bytes, atomic_load(&bytes));
    atomic_store(&most_bytes, atomic_load(&bytes));
}

size_t memory_peak(void)
{
    return (size_t)(atomic_load(&most_bytes) - atomic_load(&watched_bytes));
}

static void *taken(void *block)
{
    if (block == NULL) return NULL;
    const ptrdiff_t size = (ptrdiff_t)malloc_usable_size(block), now = atomic_fetch_add(&bytes, size) + size;
    ptrdiff_t most = atomic_load(&most_bytes);
    while (most < now && !atomic_compare_exchange_weak(&most_bytes, &most, now)) {
    }
    atomic_fetch_add(&blocks, 1);
    return block;
}

static void returned(void *block)
{
    if (block == NULL) return;
    atomic_fetch_sub(&bytes, (ptrdiff_t)malloc_usable_size(block));
    atomic_fetch_sub(&blocks, 1);
}

/* ---- one after the other ---- */

/* Fewer where each takes longer. */
#ifdef SANITIZED
enum { EACH = 60, PART = 3 };
#else
enum { EACH = 160, PART = 6 };
#endif

static void check_failure(const fault *tried, size_t number, ferry_status status, const ferry_error *error)
{
    const bool named = status == FERRY_ERROR_MEMORY || strstr(error->message, "Cannot allocate memory") != NULL;
    if (status == FERRY_OK || (named && error->status == status && error->message[0] != '\0')) return;
    fail_msg("%s, allocation %zu: status %d, error %d '%s'", tried->name, number, (int)status, (int)error->status,
             error->message);
}

/* The next descriptor: a file that stays open takes one. */
static int free_descriptor(void)
{
    const int descriptor = dup(STDERR_FILENO);
    close(descriptor);
    return descriptor;
}

/* Whether an allocation failed. */
static bool fail_number(const fault *tried, size_t number, bool all)
{
    ferry_error error = {0};
    const ptrdiff_t before = memory_blocks();
    const int descriptor = free_descriptor();
    if (tried->before != NULL) tried->before(tried->user);
    memory_fail(number, all);
    const ferry_status status = tried->run(tried->user, &error);
    const bool failed = memory_heal();
    check_failure(tried, number, status, &error);
    if (!failed) assert_int_equal(status, FERRY_OK);
    tried->after(tried->user, status);
    const ptrdiff_t left = memory_blocks() - before;
    if (left != 0) fail_msg("%s, allocation %zu: status %d, %td blocks left", tried->name, number, (int)status, left);
    if (free_descriptor() != descriptor) fail_msg("%s, allocation %zu: a file stays open", tried->name, number);
    return failed;
}

/* Each of the first `each`, then up to a part more at random. */
static void fail_some(const fault *tried, size_t each)
{
    static uint32_t random = 1;
    size_t runs = 0, number = 1;
    fail_number(tried, 0, false); /* what is made once for all is made now */
    for (int all = 0; all < 2; all++)
        for (number = 1; fail_number(tried, number, all != 0); runs++)
            number += number < each ? 1 : 1 + next_random(&random) % (uint32_t)(number / PART);
    assert_true(runs > 1);
    print_message("%s: %zu failures, of up to %zu allocations\n", tried->name, runs, number);
}

void fail_each(const fault *tried)
{
    fail_some(tried, EACH);
}

void fail_every(const fault *tried)
{
    fail_some(tried, SIZE_MAX);
}

/* ---- instead of the C library's ---- */

enum { PAGE = 4096 };

void *__real_malloc(size_t size);
void *__real_calloc(size_t number, size_t size);
void *__real_realloc(void *block, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
char *__real_realpath(const char *path, char *resolved);
void __real_free(void *block);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t number, size_t size);
void *__wrap_realloc(void *block, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
char *__wrap_strdup(const char *text);
char *__wrap_realpath(const char *path, char *resolved);
void __wrap_free(void *block);
void *__wrap_mmap(void *address, size_t size, int protection, int flags, int file, off_t offset);
int __wrap_munmap(void *address, size_t size);
int __wrap_madvise(void *address, size_t size, int advice);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument);

void *__wrap_malloc(size_t size)
{
    return must_fail() ? NULL : taken(__real_malloc(size));
}

void *__wrap_calloc(size_t number, size_t size)
{
    return must_fail() ? NULL : taken(__real_calloc(number, size));
}

void *__wrap_realloc(void *block, size_t size)
{
    if (must_fail()) return NULL;
    returned(block);
    return taken(__real_realloc(block, size));
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return must_fail() ? NULL : taken(__real_aligned_alloc(alignment, size));
}

char *__wrap_strdup(const char *text)
{
    const size_t size = strlen(text) + 1;
    char *copy = __wrap_malloc(size);
    return copy != NULL ? memcpy(copy, text, size) : NULL;
}

char *__wrap_realpath(const char *path, char *resolved)
{
    return must_fail() ? NULL : taken(__real_realpath(path, resolved));
}

void __wrap_free(void *block)
{
    returned(block);
    __real_free(block);
}

void *__wrap_mmap(void *address, size_t size, int protection, int flags, int file, off_t offset)
{
    (void)address;
    (void)protection;
    void *copy = NULL;
    if (must_fail() || posix_memalign(&copy, PAGE, size) != 0) return MAP_FAILED;
    if ((flags & MAP_ANONYMOUS) != 0) return taken(memset(copy, 0, size));
    if (pread(file, copy, size, offset) == (ssize_t)size) return taken(copy);
    __real_free(copy);
    return MAP_FAILED;
}

int __wrap_munmap(void *address, size_t size)
{
    (void)size;
    __wrap_free(address);
    return 0;
}

/* Would empty a copy. */
int __wrap_madvise(void *address, size_t size, int advice)
{
    (void)address;
    (void)size;
    (void)advice;
    return 0;
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument)
{
    return must_fail() ? EAGAIN : __real_pthread_create(thread, attributes, start, argument);
}

/* ---- jansson's, before it is used ---- */

__attribute__((constructor)) static void wrap_jansson(void)
{
    json_set_alloc_funcs(malloc, free);
}

/* ---- instead of the arena's, which asks for memory seldom ---- */

void *__real_ferry_arena_alloc(ferry_arena *arena, size_t number, size_t size);
char *__real_ferry_arena_text(ferry_arena *arena, ferry_view text);
void *__real_ferry_arena_take(ferry_arena *arena, size_t number, size_t size, bool *failed);

void *__wrap_ferry_arena_alloc(ferry_arena *arena, size_t number, size_t size);
char *__wrap_ferry_arena_text(ferry_arena *arena, ferry_view text);
void *__wrap_ferry_arena_take(ferry_arena *arena, size_t number, size_t size, bool *failed);

void *__wrap_ferry_arena_alloc(ferry_arena *arena, size_t number, size_t size)
{
    return must_fail() ? NULL : __real_ferry_arena_alloc(arena, number, size);
}

char *__wrap_ferry_arena_text(ferry_arena *arena, ferry_view text)
{
    return must_fail() ? NULL : __real_ferry_arena_text(arena, text);
}

void *__wrap_ferry_arena_take(ferry_arena *arena, size_t number, size_t size, bool *failed)
{
    *failed = *failed || must_fail();
    return __real_ferry_arena_take(arena, number, size, failed);
}
