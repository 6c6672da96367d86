#include "cmocka.h"

#include <setjmp.h>

enum { PASSED, FAILED, SKIPPED };

static jmp_buf before_test;

_Noreturn void cross_leave(int failed)
{
    longjmp(before_test, failed ? FAILED : SKIPPED);
}

static int run_test(const struct CMUnitTest *test)
{
    void *state = NULL;
    const int outcome = setjmp(before_test);
    if (outcome != PASSED) return outcome;
    if (test->setup_func != NULL && test->setup_func(&state) != 0) return FAILED;
    test->test_func(&state);
    if (test->teardown_func != NULL && test->teardown_func(&state) != 0) return FAILED;
    return PASSED;
}

int cross_run(const struct CMUnitTest *tests, size_t count)
{
    static const char *const outcomes[] = {"OK", "FAILED", "SKIPPED"};
    int failures = 0;
    for (size_t i = 0; i < count && tests[i].name != NULL; i++) {
        const int outcome = run_test(&tests[i]);
        failures += outcome == FAILED;
        printf("%-8s %s\n", outcomes[outcome], tests[i].name);
        fflush(stdout);
    }
    return failures;
}
