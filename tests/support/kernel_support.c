#include "kernel_support.h"

#include "base/system.h"
#include "random.h"

static uint32_t random_state;
static struct block {
    struct block *next;
    void *memory;
} * blocks; /* new_memory's */

bool has_exact_rows(const ferry_kernels *kernels)
{
    return strcmp(kernels->isa, "openblas") != 0;
}

int restart_random(void **state)
{
    (void)state;
    release_memory();
    random_state = 1;
    return 0;
}

float random_between(float low, float high)
{
    return low + (high - low) * (float)next_random(&random_state) * 0x1p-24f;
}

void fill_random(float *x, size_t n, float low, float high)
{
    for (size_t i = 0; i < n; i++) x[i] = random_between(low, high);
}

void fill(float *x, size_t n, float value)
{
    for (size_t i = 0; i < n; i++) x[i] = value;
}

void *new_memory(size_t n)
{
    struct block *block = malloc(sizeof *block);
    assert_non_null(block);
    *block = (struct block){blocks, ferry_aligned_alloc(64, (n + 63) / 64 * 64)};
    assert_non_null(block->memory);
    blocks = block;
    return block->memory;
}

void release_memory(void)
{
    while (blocks != NULL) {
        struct block *next = blocks->next;
        ferry_aligned_free(blocks->memory);
        free(blocks);
        blocks = next;
    }
}

float *new_floats(size_t n, float low, float high)
{
    float *x = new_memory(n * sizeof *x);
    fill_random(x, n, low, high);
    return x;
}

void assert_close(double found, double expected, double tolerance)
{
    if (!(fabs(found - expected) <= tolerance)) fail_msg("%.9g instead of %.9g (± %.3g)", found, expected, tolerance);
}

void assert_same_bytes(const float *a, const float *b, size_t n)
{
    assert_memory_equal(a, b, n * sizeof *a);
}
