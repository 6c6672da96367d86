/* Products whose columns threads share: the same bytes as of one thread. */
#include "tests/support/quantized.h"

#include <sched.h>

#include "base/pool.h"

enum { K = 300, MOST_ROWS = 40, MATRICES = 4, THREADS = 3 };

/* Outputs: small ones that stay whole, odd ones, ones that end right after a piece. */
static const int32_t sizes[][MATRICES] = {{1000, 1000, 1000, 0}, {3001, 17, 64, 448}, {1, 2047, 129, 640}, {4096}};
static const int32_t rows_of[] = {1, 2, 5, 17, MOST_ROWS};

typedef struct products_case {
    const ferry_kernels *kernels;
    ferry_context settings;
    const float *x;
    int32_t rows, count;
    const int32_t *group_ends;
    const ferry_matrix *const *matrices;
    float *y[MATRICES];
    bool alone; /* no helper came in time */
    ferry_status status;
} products_case;

static void multiply(products_case *c)
{
    ferry_context context = c->settings;
    context.kernels = c->kernels;
    const ferry_rows rows = {c->x, c->rows, c->group_ends};
    c->status = ferry_linear_many(&context, c->y, &rows, c->matrices, c->count, NULL);
    ferry_arena_destroy(&context.arena);
}

/* The run's only item: the other workers come to help. Failures of cmocka are for the main thread. */
static void multiply_with_help(void *user, int32_t worker, size_t item)
{
    (void)worker;
    (void)item;
    products_case *c = user;
    for (int i = 0; i < 10000000 && ferry_pool_helpers(c->settings.pool) < THREADS - 1; i++) sched_yield();
    c->alone = ferry_pool_helpers(c->settings.pool) < THREADS - 1;
    multiply(c);
}

static void compare(const products_case *given, ferry_pool *pool)
{
    products_case alone = *given, shared = *given;
    for (int32_t m = 0; m < given->count; m++) {
        const size_t size = (size_t)given->rows * (size_t)given->matrices[m]->N + 16;
        alone.y[m] = new_floats(size, GUARD, GUARD);
        shared.y[m] = new_floats(size, GUARD, GUARD);
    }
    multiply(&alone);
    shared.settings.pool = pool;
    ferry_pool_run(pool, multiply_with_help, &shared, 1);
    assert_false(shared.alone);
    assert_int_equal(alone.status, FERRY_OK);
    assert_int_equal(shared.status, FERRY_OK);
    for (int32_t m = 0; m < given->count; m++) {
        const size_t size = (size_t)given->rows * (size_t)given->matrices[m]->N;
        assert_memory_equal(shared.y[m], alone.y[m], (size + 16) * sizeof(float));
        assert_true(alone.y[m][size] == GUARD);
    }
}

static void compare_rows_and_isas(ferry_pool *pool, const ferry_matrix *const *matrices, int32_t count)
{
    static const int32_t ends[] = {1, 2, 5, 17, MOST_ROWS};
    float *x = new_floats(MOST_ROWS * K, -3.0f, 3.0f);
    EACH_ISA(k)
    {
        for (int32_t r = 0; r < (int32_t)(sizeof rows_of / sizeof *rows_of); r++) {
            products_case c = {.kernels = *k, .x = x, .rows = rows_of[r], .count = count, .matrices = matrices};
            compare(&c, pool);
            c.settings = (ferry_context){0};
            c.group_ends = ends;
            compare(&c, pool);
        }
    }
}

/* `floats`: so many of the matrices, from the first on, are float32. */
static void check_sizes(ferry_pool *pool, const int32_t *N, int32_t floats)
{
    static const float input_multipliers[] = {0, 0, 20.0f, 20.0f};
    quantized w[MATRICES];
    float *panels[MATRICES] = {NULL};
    ferry_matrix changed[MATRICES];
    const ferry_matrix *matrices[MATRICES];
    int32_t count = 0;
    for (; count < MATRICES && N[count] > 0; count++) {
        w[count] = new_quantized(N[count], K, count % 2 == 0, count != 1, input_multipliers[count]);
        changed[count] = w[count].matrix;
        if (count < floats) {
            panels[count] = new_floats(ferry_panels_count(N[count], K), -1.0f, 1.0f);
            changed[count] = (ferry_matrix){.N = N[count], .K = K, .panels = panels[count], .bias = w[count].bias};
        }
        matrices[count] = &changed[count];
    }
    compare_rows_and_isas(pool, matrices, count);
    release_memory();
}

RANDOM_TEST(shared_columns_are_the_same_bytes)
{
    ferry_error error = {0};
    ferry_pool *pool;
    assert_int_equal(ferry_pool_create(THREADS, &pool, &error), FERRY_OK);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int32_t floats = 0; floats <= MATRICES; floats += 2) check_sizes(pool, sizes[s], floats);
    ferry_pool_destroy(pool);
}
