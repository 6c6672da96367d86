/* The main of every program of tests: PROGRAM [--list | --reverse] [FILE [TEST…]]
 * Runs the tests of FILE (test_parts), of these only TEST…; default: those of all files, in the order in which they
 * stand there. --reverse: the last one first. --list prints "FILE TEST" for each instead, which are arguments again. */
#include "test.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TESTS = 1000, LONGEST_NAME = 160 };

typedef struct {
    char file[LONGEST_NAME / 2]; /* without folder and ending */
    int line;
    struct CMUnitTest unit;
} registered_test;

static registered_test tests[MOST_TESTS];
static size_t count;

void add_test(const char *file, int line, const char *name, CMUnitTestFunction test, CMFixtureFunction setup,
              CMFixtureFunction teardown)
{
    if (count == MOST_TESTS) __builtin_trap();
    registered_test *added = &tests[count++];
    const char *folder = strrchr(file, '/');
    if (folder != NULL) file = folder + 1;
    snprintf(added->file, sizeof added->file, "%.*s", (int)strcspn(file, "."), file);
    added->line = line;
    added->unit = (struct CMUnitTest){.name = name, .test_func = test, .setup_func = setup, .teardown_func = teardown};
}

/* By file, then by line. */
static int compare(const void *a, const void *b)
{
    const registered_test *first = a, *second = b;
    const int files = strcmp(first->file, second->file);
    return files != 0 ? files : (first->line > second->line) - (first->line < second->line);
}

static bool is_chosen(const registered_test *test, int argc, char **argv)
{
    bool chosen = argc < 2;
    if (argc > 0 && strcmp(test->file, argv[0]) != 0) return false;
    for (int i = 1; i < argc; i++) chosen = chosen || strcmp(test->unit.name, argv[i]) == 0;
    return chosen;
}

int main(int argc, char **argv)
{
    static struct CMUnitTest chosen[MOST_TESTS + 1]; /* unused entries have no name and do not run */
    static char names[MOST_TESTS][LONGEST_NAME];
    const bool list = argc > 1 && strcmp(argv[1], "--list") == 0,
               reverse = argc > 1 && strcmp(argv[1], "--reverse") == 0;
    const int first = list || reverse ? 2 : 1;
    size_t found = 0;
    qsort(tests, count, sizeof *tests, compare);
    for (size_t i = 0; i < count; i++) {
        const registered_test *test = &tests[reverse ? count - 1 - i : i];
        if (!is_chosen(test, argc - first, argv + first)) continue;
        snprintf(names[found], sizeof names[found], "%s %s", test->file, test->unit.name);
        chosen[found] = test->unit;
        chosen[found].name = names[found];
        if (list) puts(names[found]);
        found++;
    }
    if (found == 0 || (argc - first > 1 && found != (size_t)(argc - first - 1))) {
        fprintf(stderr, "%s: %zu of the tests that the arguments name\n", argv[0], found);
        return 2;
    }
    return list ? 0 : cmocka_run_group_tests(chosen, NULL, NULL);
}
