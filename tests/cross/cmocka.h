/* The part of cmocka that the kernels' tests use, for a machine whose cmocka is not at hand (tests/cross.sh). */
#ifndef FERRY_TESTS_CROSS_CMOCKA_H
#define FERRY_TESTS_CROSS_CMOCKA_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef void (*CMUnitTestFunction)(void **state);
typedef int (*CMFixtureFunction)(void **state);

struct CMUnitTest {
    const char *name;
    CMUnitTestFunction test_func;
    CMFixtureFunction setup_func, teardown_func;
};

/* Runs all tests that have a name; returns how many failed. */
int cross_run(const struct CMUnitTest *tests, size_t count);
/* Leaves the test that runs: it failed, or is skipped. */
_Noreturn void cross_leave(int failed);

#define cmocka_run_group_tests(tests, setup, teardown) cross_run(tests, sizeof tests / sizeof *tests)

#define print_message(...) printf(__VA_ARGS__)
#define fail_msg(...) (printf("%s:%d: ", __FILE__, __LINE__), printf(__VA_ARGS__), puts(""), cross_leave(1))
#define skip() cross_leave(0)

#define assert_true(condition) ((condition) ? (void)0 : fail_msg("%s is false", #condition))
#define assert_false(condition) assert_true(!(condition))
#define assert_null(pointer) assert_true((pointer) == NULL)
#define assert_non_null(pointer) assert_true((pointer) != NULL)
#define assert_ptr_equal(a, b) assert_true((const void *)(a) == (const void *)(b))
#define assert_ptr_not_equal(a, b) assert_true((a) != (b))
#define assert_int_equal(a, b) assert_true((intmax_t)(a) == (intmax_t)(b))
#define assert_string_equal(a, b) assert_true(strcmp(a, b) == 0)
#define assert_memory_equal(a, b, size) assert_true(memcmp(a, b, size) == 0)

#endif
