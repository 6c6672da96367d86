#include "pool.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "threads.h"
#include "system.h"

/* How long a helper spins before it sleeps: longer than the typical time between two products. */
#define SPIN_SECONDS 1e-4
/* Spins between two calls of ferry_thread_yield, without which the awaited thread might get no processor. */
enum { SPINS = 64 };
/* A cache line of its own for fields that one thread writes often, away from fields that others read. */
#define OWN_LINE _Alignas(64)

typedef struct worker {
    ferry_pool *pool;
    ferry_thread thread;
    int32_t index;
} worker;

/* The parts that an item shares with helpers. Its worker, the owner, takes parts from the front, helpers from the back:
 * each finds the data of its last parts in its cache. A helper increments `inside` before it checks whether the job is
 * open; the owner closes the job before it waits for `inside` to be 0. So a helper that finds the job open may use it
 * until it decrements `inside`. */
typedef struct shared_job {
    OWN_LINE atomic_size_t state; /* number of openings and closings; odd: open */
    void (*work)(void *user, size_t part);
    void *user;
    size_t count;
    OWN_LINE atomic_flag owned;
    atomic_size_t taken;     /* parts taken, from either end */
    atomic_size_t from_back; /* parts taken from the back */
    atomic_int inside;       /* helpers that may use the job */
} shared_job;

struct ferry_pool {
    ferry_mutex mutex;
    ferry_condition wake; /* a run began, or the pool ends */
    ferry_condition help; /* a job was opened, or the run ended */
    uint64_t run;         /* number of the current run */
    int32_t busy;         /* threads that may still take an item of the run */
    bool stop;
    void (*work)(void *user, int32_t worker, size_t item);
    void *user;
    size_t count;
    atomic_size_t next;
    atomic_uint_least64_t ended; /* number of the last run that ended */
    atomic_int helpers;          /* threads that found no item left */
    atomic_bool asleep;          /* helpers wait for `help` */
    shared_job job;
    int64_t process; /* the id of the process that has the threads: a child of fork() has none */
    int32_t threads; /* without the caller */
    worker workers[];
};

/* ---- helping ---- */

/* One turn of a busy-waiting loop. */
static void spin(uint32_t *spins)
{
    if (++*spins % SPINS == 0) {
        ferry_thread_yield();
        return;
    }
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
    __asm__ volatile("yield");
#endif
}

static bool is_open(size_t state)
{
    return state % 2 == 1;
}

/* Does the remaining parts of the job if it is open. Returns the state that it found. */
static size_t help_job(shared_job *job)
{
    atomic_fetch_add(&job->inside, 1);
    const size_t state = atomic_load(&job->state);
    if (is_open(state))
        while (atomic_fetch_add(&job->taken, 1) < job->count)
            job->work(job->user, job->count - 1 - atomic_fetch_add(&job->from_back, 1));
    atomic_fetch_sub(&job->inside, 1);
    return state;
}

/* Whether the run has ended, or a job is open that a helper which last saw the state `seen` has not seen. */
static bool must_wake(ferry_pool *pool, uint64_t run, size_t seen)
{
    const size_t state = atomic_load(&pool->job.state);
    return (is_open(state) && state != seen) || atomic_load(&pool->ended) >= run;
}

/* Sleeps until a job is opened or the run ends. */
static void sleep_until_woken(ferry_pool *pool, uint64_t run, size_t seen)
{
    ferry_mutex_lock(&pool->mutex);
    atomic_store(&pool->asleep, true);
    if (!must_wake(pool, run, seen)) ferry_condition_wait(&pool->help, &pool->mutex);
    ferry_mutex_unlock(&pool->mutex);
}

static void wake_helpers(ferry_pool *pool)
{
    if (!atomic_load(&pool->asleep)) return;
    ferry_mutex_lock(&pool->mutex);
    atomic_store(&pool->asleep, false);
    ferry_condition_wake_all(&pool->help);
    ferry_mutex_unlock(&pool->mutex);
}

/* Helps with shared parts until the run has ended. */
static void help(ferry_pool *pool, uint64_t run)
{
    size_t seen = 0;
    uint32_t spins = 0;
    double since = ferry_clock();
    atomic_fetch_add(&pool->helpers, 1);
    while (atomic_load(&pool->ended) < run) {
        if (must_wake(pool, run, seen)) {
            seen = help_job(&pool->job);
            since = ferry_clock();
        } else if (spins % SPINS == 0 && ferry_clock() - since > SPIN_SECONDS) {
            sleep_until_woken(pool, run, seen);
            since = ferry_clock();
        }
        spin(&spins);
    }
    atomic_fetch_sub(&pool->helpers, 1);
}

int32_t ferry_pool_helpers(const ferry_pool *pool)
{
    return pool == NULL ? 0 : atomic_load_explicit(&pool->helpers, memory_order_relaxed);
}

void ferry_pool_share(ferry_pool *pool, void (*work)(void *user, size_t part), void *user, size_t count)
{
    if (count < 2 || ferry_pool_helpers(pool) == 0 || atomic_flag_test_and_set(&pool->job.owned)) {
        for (size_t part = 0; part < count; part++) work(user, part);
        return;
    }
    shared_job *job = &pool->job;
    uint32_t spins = 0;
    job->work = work;
    job->user = user;
    job->count = count;
    atomic_store(&job->taken, 0);
    atomic_store(&job->from_back, 0);
    atomic_fetch_add(&job->state, 1); /* opens it */
    wake_helpers(pool);
    for (size_t part = 0; atomic_fetch_add(&job->taken, 1) < count; part++) work(user, part);
    atomic_fetch_add(&job->state, 1); /* closes it */
    while (atomic_load(&job->inside) > 0) spin(&spins);
    atomic_flag_clear(&job->owned);
}

/* ---- items ---- */

static void take_items(ferry_pool *pool, int32_t index)
{
    for (;;) {
        const size_t item = atomic_fetch_add(&pool->next, 1);
        if (item >= pool->count) return;
        pool->work(pool->user, index, item);
    }
}

/* Takes items, then helps; returns when the run has ended. */
static void take_part(ferry_pool *pool, int32_t index, uint64_t run)
{
    take_items(pool, index);
    ferry_mutex_lock(&pool->mutex);
    const bool last = --pool->busy == 0;
    if (last) {
        atomic_store(&pool->ended, run);
        ferry_condition_wake_all(&pool->help);
    }
    ferry_mutex_unlock(&pool->mutex);
    if (!last) help(pool, run);
}

static void serve(void *argument)
{
    worker *self = argument;
    ferry_pool *pool = self->pool;
    uint64_t seen = 0;
    (void)ferry_fenv_begin(); /* a thread inherits the environment of its creator */
    ferry_mutex_lock(&pool->mutex);
    for (;;) {
        while (!pool->stop && pool->run == seen) ferry_condition_wait(&pool->wake, &pool->mutex);
        if (pool->stop) break;
        seen = pool->run;
        ferry_mutex_unlock(&pool->mutex);
        take_part(pool, self->index, seen);
        ferry_mutex_lock(&pool->mutex);
    }
    ferry_mutex_unlock(&pool->mutex);
}

/* ---- the pool ---- */

/* Whether this is a child of fork(), which has none of the threads. Its mutex may be locked for ever. */
static bool is_forked(const ferry_pool *pool)
{
    return pool->process != ferry_process_id();
}

ferry_status ferry_pool_create(int32_t threads, ferry_pool **pool, ferry_error *error)
{
    const size_t bytes = sizeof(ferry_pool) + (size_t)(threads - 1) * sizeof(worker);
    ferry_pool *created = ferry_aligned_alloc(_Alignof(ferry_pool), ferry_round_up(bytes, _Alignof(ferry_pool)));
    *pool = NULL;
    if (created == NULL) return ferry_fail_memory(error, "threads", bytes, 1);
    memset(created, 0, bytes);
    atomic_flag_clear(&created->job.owned);
    created->process = ferry_process_id();
    ferry_mutex_create(&created->mutex);
    ferry_condition_create(&created->wake);
    ferry_condition_create(&created->help);
    int failure = 0;
    for (int32_t i = 0; i < threads - 1 && failure == 0; i++) {
        worker *new_worker = &created->workers[i];
        *new_worker = (worker){.pool = created, .index = i + 1};
        failure = ferry_thread_start(&new_worker->thread, FERRY_THREAD_STACK, serve, new_worker);
        if (failure == 0) created->threads++;
    }
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
    if (is_forked(pool)) {
        ferry_aligned_free(pool);
        return;
    }
    ferry_mutex_lock(&pool->mutex);
    pool->stop = true;
    ferry_condition_wake_all(&pool->wake);
    ferry_mutex_unlock(&pool->mutex);
    for (int32_t i = 0; i < pool->threads; i++) ferry_thread_join(&pool->workers[i].thread);
    ferry_condition_destroy(&pool->help);
    ferry_condition_destroy(&pool->wake);
    ferry_mutex_destroy(&pool->mutex);
    ferry_aligned_free(pool);
}

void ferry_pool_run(ferry_pool *pool, void (*work)(void *user, int32_t worker, size_t item), void *user, size_t count)
{
    if (is_forked(pool)) {
        for (size_t item = 0; item < count; item++) work(user, 0, item);
        return;
    }
    ferry_mutex_lock(&pool->mutex);
    const uint64_t run = ++pool->run;
    pool->work = work;
    pool->user = user;
    pool->count = count;
    atomic_store(&pool->next, 0);
    pool->busy = pool->threads + 1;
    ferry_condition_wake_all(&pool->wake);
    ferry_mutex_unlock(&pool->mutex);
    take_part(pool, 0, run);
}
