/* A pool of threads that wait for work. Its owner creates and destroys it; a pool of one starts no thread. */
#ifndef FERRY_BASE_POOL_H
#define FERRY_BASE_POOL_H

#include "status.h"

typedef struct ferry_pool ferry_pool;

/* A pool of `threads` ≥ 1 workers: the caller of ferry_pool_run, and threads - 1 others, which block all signals. */
ferry_status ferry_pool_create(int32_t threads, ferry_pool **pool, ferry_error *error);
/* NULL is allowed. */
void ferry_pool_destroy(ferry_pool *pool);

/* Calls work(user, worker, item) for every item < count. Returns when all calls have returned. Items are taken in
 * ascending order. `worker` < threads is the index of the calling worker; the caller's is 0. Only one run at a time. A
 * worker that finds no item left helps with parts (ferry_pool_share) until the run ends. In a child of fork(), which is
 * not allowed during a run, the caller does all items. */
void ferry_pool_run(ferry_pool *pool, void (*work)(void *user, int32_t worker, size_t item), void *user, size_t count);

/* The number of workers that have no item of the current run and can help. 0 if `pool` is NULL. */
int32_t ferry_pool_helpers(const ferry_pool *pool);
/* Called within work() of a run: calls work(user, part) for every part < count, with the workers that can help. Returns
 * when all calls have returned. Parts must be independent and short (the caller waits for the last one), and must not
 * call ferry_pool_share. Allocates nothing. Without a pool or a helper, or while another item shares its parts, the
 * caller does all parts, in order. */
void ferry_pool_share(ferry_pool *pool, void (*work)(void *user, size_t part), void *user, size_t count);

#endif
