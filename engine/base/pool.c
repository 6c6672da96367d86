#define _POSIX_C_SOURCE 200809L /* pthread_sigmask */
#include "pool.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

typedef struct worker {
    ferry_pool *pool;
    pthread_t thread;
    int32_t index;
} worker;

struct ferry_pool {
    pthread_mutex_t mutex;
    pthread_cond_t wake; /* a run began, or the pool ends */
    pthread_cond_t idle; /* a worker has no more items */
    uint64_t run;        /* number of the current run */
    int32_t busy;        /* threads that still work on it */
    bool stop;
    void (*work)(void *user, int32_t worker, size_t item);
    void *user;
    size_t count;
    atomic_size_t next;
    int32_t threads; /* beside the caller */
    worker workers[];
};

static void take_items(ferry_pool *pool, int32_t index)
{
    for (;;) {
        const size_t item = atomic_fetch_add(&pool->next, 1);
        if (item >= pool->count) return;
        pool->work(pool->user, index, item);
    }
}

static void *serve(void *argument)
{
    worker *self = argument;
    ferry_pool *pool = self->pool;
    uint64_t seen = 0;
    pthread_mutex_lock(&pool->mutex);
    for (;;) {
        while (!pool->stop && pool->run == seen) pthread_cond_wait(&pool->wake, &pool->mutex);
        if (pool->stop) break;
        seen = pool->run;
        pthread_mutex_unlock(&pool->mutex);
        take_items(pool, self->index);
        pthread_mutex_lock(&pool->mutex);
        if (--pool->busy == 0) pthread_cond_signal(&pool->idle);
    }
    pthread_mutex_unlock(&pool->mutex);
    return NULL;
}

ferry_status ferry_pool_create(int32_t threads, ferry_pool **pool, ferry_error *error)
{
    const size_t bytes = sizeof(ferry_pool) + (size_t)(threads - 1) * sizeof(worker);
    ferry_pool *created = calloc(1, bytes);
    *pool = NULL;
    if (created == NULL) return ferry_fail_memory(error, "threads", bytes);
    pthread_mutex_init(&created->mutex, NULL);
    pthread_cond_init(&created->wake, NULL);
    pthread_cond_init(&created->idle, NULL);
    /* Signals are the host program's: new threads inherit a mask that blocks them all. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failure = 0;
    for (int32_t i = 0; i < threads - 1 && failure == 0; i++) {
        worker *new_worker = &created->workers[i];
        *new_worker = (worker){.pool = created, .index = i + 1};
        failure = pthread_create(&new_worker->thread, NULL, serve, new_worker);
        if (failure == 0) created->threads++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failure != 0) {
        ferry_fail(error, FERRY_ERROR_MEMORY, "option threads: cannot start thread %d of %d: %s",
                   (int)created->threads + 2, (int)threads, strerror(failure));
        ferry_pool_destroy(created);
        return FERRY_ERROR_MEMORY;
    }
    *pool = created;
    return FERRY_OK;
}

void ferry_pool_destroy(ferry_pool *pool)
{
    if (pool == NULL) return;
    pthread_mutex_lock(&pool->mutex);
    pool->stop = true;
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->mutex);
    for (int32_t i = 0; i < pool->threads; i++) pthread_join(pool->workers[i].thread, NULL);
    pthread_cond_destroy(&pool->idle);
    pthread_cond_destroy(&pool->wake);
    pthread_mutex_destroy(&pool->mutex);
    free(pool);
}

void ferry_pool_run(ferry_pool *pool, void (*work)(void *user, int32_t worker, size_t item), void *user, size_t count)
{
    pthread_mutex_lock(&pool->mutex);
    pool->work = work;
    pool->user = user;
    pool->count = count;
    atomic_store(&pool->next, 0);
    pool->busy = pool->threads;
    pool->run++;
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->mutex);
    take_items(pool, 0);
    pthread_mutex_lock(&pool->mutex);
    while (pool->busy > 0) pthread_cond_wait(&pool->idle, &pool->mutex);
    pthread_mutex_unlock(&pool->mutex);
}
