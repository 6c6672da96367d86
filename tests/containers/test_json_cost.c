/* What is taken from a budget for a JSON text is at least what is then allocated, and not far more. */
#define _GNU_SOURCE /* malloc_usable_size */
#include "tests/support/files.h"

#include <malloc.h>

#include "models/containers/json.h"

#define MEGABYTE ((size_t)1 << 20)

static size_t held, peak;

static void *counted_malloc(size_t size)
{
    void *block = malloc(size);
    if (block == NULL) return NULL;
    held += malloc_usable_size(block) + sizeof(size_t); /* and malloc's own */
    if (held > peak) peak = held;
    return block;
}

static void counted_free(void *block)
{
    if (block != NULL) held -= malloc_usable_size(block) + sizeof(size_t);
    free(block);
}

static void check_cost(ferry_view text, double most)
{
    json_t *root;
    ferry_memory memory = {0};
    ferry_account account = {.memory = &memory};
    json_set_alloc_funcs(counted_malloc, counted_free);
    peak = held = 0;
    CHECK(ferry_json_parse(text, "cost.json", JSON_OBJECT, &account, &root, &error));
    const size_t found = peak + 2 * text.size; /* with the reserve for the reader's buffer */
    const size_t cost = ferry_json_cost(text);
    assert_int_equal(atomic_load(&memory.held), cost);
    ferry_json_release(root, text, &account);
    assert_int_equal(atomic_load(&memory.held), 0);
    assert_int_equal(held, 0);
    json_set_alloc_funcs(malloc, free);
    print_message("%.10s…: %zu bytes of text, %zu held, %zu estimated\n", text.data, text.size, found, cost);
    assert_true(found <= cost);
    assert_true((double)cost <= most * (double)found);
}

TEST(test_json_cost)
{
    static const char *const units[] = {"{},",
                                        "[],",
                                        "1,",
                                        "1.5,",
                                        "\"\",",
                                        "\"a b c d e f g h i j k l m n o p\",",
                                        "[[1]],",
                                        "{\"a\":{\"b\":\"\"}},",
                                        "{\"a\":0},",
                                        "{\"\":\"\"},",
                                        "{\"a\":0,\"b\":1},"};
    static const size_t times[] = {1, 8, 9, 1000, 1023, 1025, 100000};
    for (size_t i = 0; i < COUNT(units); i++)
        for (size_t k = 0; k < COUNT(times); k++) check_cost(repeated_text("{\"x\":[", units[i], times[k], "1]}"), 4);
}

TEST(test_json_cost_of_texts)
{
    check_cost(repeated_text("{", "\"#\":#,", 131073, "\"last\":1}"), 3);
    check_cost(repeated_text("{\"x\":\"", "x", MEGABYTE, "\"}"), 4);
    check_cost(repeated_text("{\"x\":\"", "\\u00e4", MEGABYTE, "\"}"), 4);
    check_cost(repeated_text("{\"x\":10000000000000000000000,\"y\":\"", "\\\"", MEGABYTE, "\"}"), 4);
    check_cost(repeated_text("{\"", "k", MEGABYTE, "\":1}"), 4);
    check_cost(repeated_text("{\"x\":0.", "1", MEGABYTE, "}"), 4);
}
