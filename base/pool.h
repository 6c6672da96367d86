/* Threads that wait for work, owned by one handle and joined when it is destroyed; a pool of one starts no thread. */
#ifndef FERRY_BASE_POOL_H
#define FERRY_BASE_POOL_H

#include "status.h"

typedef struct ferry_pool ferry_pool;

/* A pool of `threads` ≥ 1 workers: the caller of ferry_pool_run and threads - 1 others, which take no signals. */
ferry_status ferry_pool_create(int32_t threads, ferry_pool **pool, ferry_error *error);
/* NULL is allowed. */
void ferry_pool_destroy(ferry_pool *pool);

/* Calls work(user, worker, item) for every item < count and returns when all are done. Items are taken in ascending
 * order; `worker` < threads says whose scratch to use, 0 being the caller. One run at a time. Workers that find no
 * item left help those that share theirs until the run ends. In a child of fork(), which may not happen during a run,
 * the caller does all items. */
void ferry_pool_run(ferry_pool *pool, void (*work)(void *user, int32_t worker, size_t item), void *user, size_t count);

/* Workers without an item of the current run, which can help now. 0 for a pool of NULL. */
int32_t ferry_pool_helpers(const ferry_pool *pool);
/* Called by an item of the run: calls work(user, part) for every part < count, with the help of such workers, and
 * returns when all are done. Parts are independent, short (the caller waits for the last one), and do not share in
 * turn. Allocates nothing. Without helpers or a pool, or while another item shares, the caller does all parts, in
 * order. */
void ferry_pool_share(ferry_pool *pool, void (*work)(void *user, size_t part), void *user, size_t count);

#endif
