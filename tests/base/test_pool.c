/* Threads and their work: every item and every part once, done when the call returns; and idle workers really help. */
#define _POSIX_C_SOURCE 200809L /* nanosleep */
#include "tests/support/support.h"

#include <sched.h>
#include <stdatomic.h>
#include <time.h>

#include "base/pool.h"
#include "base/system.h"
#include "tests/support/random.h"

enum { MOST_THREADS = 4, MOST_ITEMS = 12, MOST_SHARES = 30, MOST_PARTS = 40, ROUNDS = 150 };

/* Long enough for any machine that is not broken. */
static const double patience = 120;

static ferry_pool *create(int32_t threads)
{
    ferry_pool *pool;
    CHECK(ferry_pool_create(threads, &pool, &error));
    return pool;
}

static void sleep_for(long microseconds)
{
    nanosleep(&(struct timespec){.tv_nsec = microseconds * 1000}, NULL);
}

/* ---- exactly once ---- */

typedef struct item_run {
    ferry_pool *pool;
    int32_t threads;
    uint32_t seed;
    int done[MOST_ITEMS];
    int wrong[MOST_ITEMS]; /* failures of cmocka are for the main thread */
} item_run;

/* Not atomic: the thread sanitizer sees two threads that meet. */
static void count_part(void *user, size_t part)
{
    int *counts = user;
    counts[part]++;
}

static void share_at_random(void *user, int32_t worker, size_t item)
{
    item_run *run = user;
    uint32_t random = run->seed + (uint32_t)item * 977u;
    const uint32_t shares = next_random(&random) % MOST_SHARES;
    run->done[item]++;
    run->wrong[item] += worker < 0 || worker >= run->threads || ferry_pool_helpers(run->pool) >= run->threads;
    for (uint32_t s = 0; s < shares; s++) {
        int counts[MOST_PARTS] = {0};
        const size_t parts = next_random(&random) % (MOST_PARTS + 1);
        if (next_random(&random) % 64 == 0) sleep_for(300); /* helpers fall asleep */
        ferry_pool_share(run->pool, count_part, counts, parts);
        for (size_t p = 0; p < MOST_PARTS; p++) run->wrong[item] += counts[p] != (p < parts);
    }
}

static void next_in_order(void *user, size_t part)
{
    *(size_t *)user += part == *(size_t *)user;
}

TEST(test_everything_is_done_once)
{
    size_t parts = 0;
    uint32_t random = 1;
    ferry_pool_share(NULL, next_in_order, &parts, MOST_PARTS);
    assert_int_equal(parts, MOST_PARTS);
    assert_int_equal(ferry_pool_helpers(NULL), 0);
    for (int32_t threads = 1; threads <= MOST_THREADS; threads++) {
        ferry_pool *pool = create(threads);
        for (int round = 0; round < ROUNDS; round++) {
            item_run run = {.pool = pool, .threads = threads, .seed = next_random(&random)};
            const size_t items = next_random(&random) % (MOST_ITEMS + 1);
            ferry_pool_run(pool, share_at_random, &run, items);
            for (size_t i = 0; i < MOST_ITEMS; i++) {
                assert_int_equal(run.done[i], i < items);
                assert_int_equal(run.wrong[i], 0);
            }
        }
        ferry_pool_destroy(pool);
    }
}

/* ---- together ---- */

typedef struct meeting {
    ferry_pool *pool;
    int32_t threads;
    atomic_int present, late;
    int shares;
} meeting;

/* Whether *count reached `wanted` in time. */
static bool wait_for(atomic_int *count, int wanted)
{
    const double end = ferry_clock() + patience;
    while (atomic_load(count) < wanted) {
        if (ferry_clock() > end) return false;
        sched_yield();
    }
    return true;
}

/* Ends when as many parts have begun as there are threads: each thread has one. */
static void meet(void *user, size_t part)
{
    (void)part;
    meeting *m = user;
    atomic_fetch_add(&m->present, 1);
    if (!wait_for(&m->present, m->threads)) atomic_fetch_add(&m->late, 1);
}

static void meet_awake_and_asleep(void *user, int32_t worker, size_t item)
{
    (void)item;
    (void)worker;
    meeting *m = user;
    const double end = ferry_clock() + patience;
    while (ferry_pool_helpers(m->pool) < m->threads - 1 && ferry_clock() < end) sched_yield();
    for (; m->shares < 20 && atomic_load(&m->late) == 0; m->shares++) {
        if (m->shares % 2 == 1) sleep_for(2000);
        atomic_store(&m->present, 0);
        ferry_pool_share(m->pool, meet, m, (size_t)m->threads);
    }
}

TEST(test_idle_workers_help)
{
    for (int32_t threads = 2; threads <= MOST_THREADS; threads++) {
        meeting m = {.pool = create(threads), .threads = threads};
        for (int round = 0; round < 5; round++) {
            m.shares = 0;
            ferry_pool_run(m.pool, meet_awake_and_asleep, &m, 1);
            assert_int_equal(m.shares, 20);
            assert_int_equal(atomic_load(&m.late), 0);
        }
        ferry_pool_destroy(m.pool);
    }
}

static double processor_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void wait_alone(void *user, int32_t worker, size_t item)
{
    (void)user;
    (void)worker;
    (void)item;
    sleep_for(200000);
}

/* Helpers sleep between runs, and after 0.1 ms of one that has nothing for them: the process takes no time. */
TEST(test_idle_workers_sleep)
{
    meeting m = {.pool = create(MOST_THREADS), .threads = MOST_THREADS};
    ferry_pool_run(m.pool, meet_awake_and_asleep, &m, 1);
    sleep_for(20000);
    double before = processor_seconds();
    sleep_for(200000);
    assert_true(processor_seconds() - before < 0.05);
    before = processor_seconds();
    ferry_pool_run(m.pool, wait_alone, NULL, 1);
    assert_true(processor_seconds() - before < 0.05);
    ferry_pool_destroy(m.pool);
}
