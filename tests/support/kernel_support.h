/* What the tests of kernels on several ISAs share: numbers, memory, comparisons. Failures are cmocka's. */
#ifndef FERRY_SUPPORT_KERNEL_SUPPORT_H
#define FERRY_SUPPORT_KERNEL_SUPPORT_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/kernels/kernels.h"
#include "test.h"

#define EACH_ISA(k) for (const ferry_kernels *const *k = ferry_kernels_available(); *k != NULL; k++)
/* __builtin_cpu_supports() tells the processor's features. (zig's runtime, which musl is tested with, knows none.) */
#if defined(__x86_64__) && (defined(__GLIBC__) || defined(_WIN32))
#define FERRY_KNOWN_FEATURES
#endif
/* What stands before and after results, and must stay. */
#define GUARD 12345.25f
#define COUNT(array) (int32_t)(sizeof(array) / sizeof *(array))
/* A test whose random numbers are always the same. */
#define RANDOM_TEST(name) TEST_WITH(name, restart_random, NULL)

/* Whether a product's row depends on that row alone (kernels.h). */
bool has_exact_rows(const ferry_kernels *kernels);

/* A test's setup: the numbers that follow are always the same, and memory of the test before is released. */
int restart_random(void **state);
float random_between(float low, float high);
void fill_random(float *x, size_t n, float low, float high);
void fill(float *x, size_t n, float value);

/* n bytes, 64-byte aligned, and not many more, so that a sanitizer sees what is read past their end. They last until
 * release_memory, or until the next RANDOM_TEST. */
void *new_memory(size_t n);
void release_memory(void);
/* The same of n random floats. */
float *new_floats(size_t n, float low, float high);

void assert_close(double found, double expected, double tolerance);
void assert_same_bytes(const float *a, const float *b, size_t n);

#endif
