/* Tests that register themselves: TEST(name) { … } at file scope. test_main.c runs those of a program. */
#ifndef FERRY_SUPPORT_TEST_H
#define FERRY_SUPPORT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

void add_test(const char *file, int line, const char *name, CMUnitTestFunction test, CMFixtureFunction setup,
              CMFixtureFunction teardown);

#define TEST_WITH(name, setup, teardown)                                                                               \
    static void name(void **state);                                                                                    \
    __attribute__((constructor)) static void add_##name(void)                                                          \
    {                                                                                                                  \
        add_test(__FILE__, __LINE__, #name, name, setup, teardown);                                                    \
    }                                                                                                                  \
    static void name(__attribute__((unused)) void **state)
#define TEST(name) TEST_WITH(name, NULL, NULL)

#endif
