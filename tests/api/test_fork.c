/* A child process translates with what its parent opened and created, in the calling thread. */
#define _POSIX_C_SOURCE 200809L
#include "tests/support/shipped_model.h"

#include <sys/wait.h>
#include <unistd.h>

static const char *const lines[] = {"Hello, world!", "I don't know what to do.", "Tom is reading a book.", "No."};
enum { LINES = sizeof lines / sizeof *lines };

static bool same(const ferry_result *a, const ferry_result *b)
{
    bool is_same = true;
    for (size_t i = 0; i < LINES; i++) is_same &= is_same_text(ferry_result_text(a, i, 0), ferry_result_text(b, i, 0));
    return is_same;
}

/* In the child, where cmocka's failures mean nothing: the exit status. */
static int translate_in_child(ferry_translator *translator, const ferry_text *texts, const ferry_result *expected)
{
    ferry_result *result;
    alarm(120); /* a child that waits for threads that it does not have ends */
    if (ferry_translate(translator, texts, LINES, &result, NULL) != FERRY_OK) return 1;
    if (!same(result, expected)) return 2;
    ferry_result_destroy(result);
    ferry_translator_destroy(translator);
    return 0;
}

static void fork_and_translate(int32_t threads, bool used_before)
{
    ferry_text texts[LINES];
    ferry_result *after;
    for (size_t i = 0; i < LINES; i++) texts[i] = (ferry_text){lines[i], strlen(lines[i])};
    ferry_result *expected = translated(model, NULL, texts, LINES);
    ferry_options options = default_options(model);
    options.threads = threads;
    ferry_translator *translator = new_translator(model, &options);
    if (used_before) {
        CHECK(ferry_translate(translator, texts, LINES, &after, &error));
        ferry_result_destroy(after);
    }
    const pid_t child = fork();
    if (child == 0) _exit(translate_in_child(translator, texts, expected));
    assert_true(child > 0);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    CHECK(ferry_translate(translator, texts, LINES, &after, &error)); /* the parent's threads are still there */
    assert_true(same(after, expected));
    ferry_result_destroy(after);
    ferry_result_destroy(expected);
    ferry_translator_destroy(translator);
}

SEPARATE_TEST(test_a_forked_child_translates)
{
    for (int32_t threads = 1; threads <= 2; threads++)
        for (int used = 0; used < 2; used++) fork_and_translate(threads, used != 0);
}
