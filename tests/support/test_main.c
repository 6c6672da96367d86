#include "test.h"

enum { MOST_TESTS = 40 };

static struct CMUnitTest tests[MOST_TESTS];
static int lines[MOST_TESTS];

void add_test(int line, const char *name, CMUnitTestFunction test, CMFixtureFunction setup, CMFixtureFunction teardown)
{
    int at = 0, end = 0;
    while (tests[end].name != NULL) end++;
    if (end + 1 >= MOST_TESTS) __builtin_trap();
    while (at < end && lines[at] < line) at++;
    for (int i = end; i > at; i--) {
        tests[i] = tests[i - 1];
        lines[i] = lines[i - 1];
    }
    tests[at] = (struct CMUnitTest){.name = name, .test_func = test, .setup_func = setup, .teardown_func = teardown};
    lines[at] = line;
}

int main(void)
{
    return cmocka_run_group_tests(tests, NULL, NULL); /* unused entries have no name and do not run */
}
