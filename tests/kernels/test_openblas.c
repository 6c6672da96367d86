/* The table whose products of floats are OpenBLAS's: its products, from one thread and from several, and what else it
 * has. Built where it is (FERRY_OPENBLAS). */
#include "tests/support/kernel_support.h"

#include "base/threads.h"
#include "engine/kernels/linear.h"

static const ferry_kernels *openblas(void)
{
    const ferry_kernels *kernels = ferry_kernels_find("openblas");
    assert_non_null(kernels);
    return kernels;
}

/* Everything but `product` is plain C's, and so are products of few rows. */
RANDOM_TEST(openblas_is_plain_but_for_products_of_many_rows)
{
    enum { MOST_ROWS = 8, K = 100, N = 40 };
    const ferry_kernels *plain = ferry_kernels_find("plain");
    ferry_kernels same;
    memcpy(&same, openblas(), sizeof same);
    assert_true(same.product != plain->product);
    same.isa = plain->isa;
    same.product = plain->product;
    assert_memory_equal(&same, plain, sizeof same);

    float *x = new_floats(MOST_ROWS * K, -1.0f, 1.0f), *panels = new_floats(ferry_panels_count(N, K), -1.0f, 1.0f);
    float *y = new_floats(MOST_ROWS * N, 0.0f, 1.0f), *expected = new_floats(MOST_ROWS * N, 0.0f, 1.0f);
    int32_t rows = 1;
    for (; rows <= MOST_ROWS; rows++) {
        openblas()->product(y, N, x, K, rows, panels, K, N, NULL);
        plain->product(expected, N, x, K, rows, panels, K, N, NULL);
        if (rows < MOST_ROWS) assert_same_bytes(y, expected, (size_t)rows * N);
    }
    for (size_t i = 0; i < MOST_ROWS * N; i++) assert_close((double)y[i], (double)expected[i], 1e-4);
}

/* ---- threads ---- */

#if defined(FERRY_EMULATED) /* tests/cross */
enum { PRODUCTS = 50 };
#else
enum { PRODUCTS = 20000 };
#endif
enum { THREADS = 4, ROWS = 16, K = 64, N = 64 };

typedef struct caller {
    ferry_thread thread;
    const float *x, *panels, *expected;
    int32_t wrong;
    float y[ROWS * N];
} caller;

static void multiply(void *user)
{
    caller *c = user;
    for (int32_t i = 0; i < PRODUCTS; i++) {
        openblas()->product(c->y, N, c->x, K, ROWS, c->panels, K, N, NULL);
        if (memcmp(c->y, c->expected, sizeof c->y) != 0) c->wrong++;
    }
}

/* Builds of OpenBLAS without threads share buffers among callers. */
RANDOM_TEST(openblas_serves_several_threads)
{
    caller callers[THREADS];
    for (int t = 0; t < THREADS; t++) {
        float *expected = new_memory(ROWS * N * sizeof *expected);
        callers[t] = (caller){.x = new_floats(ROWS * K, -1.0f, 1.0f),
                              .panels = new_floats(N * K, -1.0f, 1.0f),
                              .expected = expected};
        openblas()->product(expected, N, callers[t].x, K, ROWS, callers[t].panels, K, N, NULL);
    }
    for (int t = 0; t < THREADS; t++)
        assert_int_equal(ferry_thread_start(&callers[t].thread, 0, multiply, &callers[t]), 0);
    int32_t wrong = 0;
    for (int t = 0; t < THREADS; t++) {
        ferry_thread_join(&callers[t].thread);
        wrong += callers[t].wrong;
    }
    if (wrong > 0) fail_msg("%d of %d products were wrong", wrong, THREADS * PRODUCTS);
}
