#include "test.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

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

/* Leaves the tests with these names. */
static bool choose(char **names, int count)
{
    struct CMUnitTest chosen[MOST_TESTS] = {{0}};
    for (int n = 0; n < count; n++) {
        int at = 0;
        while (tests[at].name != NULL && strcmp(tests[at].name, names[n]) != 0) at++;
        if (tests[at].name == NULL || n + 1 >= MOST_TESTS) {
            fprintf(stderr, "no test '%s'\n", names[n]);
            return false;
        }
        chosen[n] = tests[at];
    }
    memcpy(tests, chosen, sizeof tests);
    return true;
}

/* Arguments: names of tests; none: all. */
int main(int argc, char **argv)
{
    if (argc > 1 && !choose(argv + 1, argc - 1)) return 2;
    return cmocka_run_group_tests(tests, NULL, NULL); /* unused entries have no name and do not run */
}
