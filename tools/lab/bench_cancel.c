#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/system.h"
#include "base/threads.h"
#include "cmd_bench.h"
#include "statistics.h"
#include "tools/line_reader.h"
#include "tools/translator_session.h"

enum { CALLS = 40 };
static const double LONGEST_WAIT = 1; /* seconds before a call is cancelled, at most */

/* What is translated: the first lines of the input, or so many bytes of it as one line. */
typedef struct work {
    const char *name;
    size_t lines, bytes;
} work;

static const work works[] = {{"32 lines", 32, 0}, {"a line of 20 kB", 1, 20000}, {"a line of 100 kB", 1, 100000}};
enum { WORKS = sizeof works / sizeof *works };

/* One call, and the thread that cancels it. */
typedef struct cancellation {
    ferry_translator *translator;
    double wait;      /* seconds */
    double cancelled; /* the clock then */
} cancellation;

static void cancel_later(void *user)
{
    cancellation *c = user;
    ferry_thread_sleep(c->wait);
    c->cancelled = ferry_clock();
    ferry_translator_cancel(c->translator);
}

/* Seconds from the request to the return of the call; negative if the call had ended before, or on failure. */
static double measure_call(ferry_translator *translator, const ferry_text *lines, size_t count, double wait, bool *done)
{
    ferry_thread thread;
    ferry_error error;
    ferry_result *result;
    cancellation c = {.translator = translator, .wait = wait};
    if (ferry_thread_start(&thread, 0, cancel_later, &c) != 0) {
        ferry_complain("cannot start a thread");
        *done = false;
        return -1;
    }
    const ferry_status status = ferry_translate(translator, lines, count, &result, &error);
    const double end = ferry_clock();
    ferry_thread_join(&thread);
    ferry_result_destroy(result);
    if (status == FERRY_ERROR_CANCELLED) return end - c.cancelled;
    if (status != FERRY_OK) *done = ferry_succeeded(status, &error);
    return -1;
}

/* The text of all lines, repeated until it has `bytes`, as one line. */
static char *join(const ferry_lines *lines, size_t bytes)
{
    char *text = ferry_allocate(bytes, 1);
    for (size_t at = 0, i = 0; text != NULL && at < bytes; i = (i + 1) % lines->count) {
        const size_t size = lines->texts[i].size < bytes - at ? lines->texts[i].size : bytes - at;
        memcpy(text + at, lines->texts[i].data, size);
        at += size;
        if (at < bytes) text[at++] = ' ';
    }
    return text;
}

static bool measure_work(ferry_translator *translator, const ferry_lines *lines, const work *w)
{
    char *joined = w->bytes > 0 ? join(lines, w->bytes) : NULL;
    if (w->bytes > 0 && joined == NULL) return false;
    const ferry_text line = {joined, w->bytes};
    const size_t count = w->bytes > 0 ? 1 : w->lines < lines->count ? w->lines : lines->count;
    double seconds[CALLS];
    size_t cancelled = 0;
    bool done = true;
    for (int i = 0; done && i < CALLS; i++) {
        const double wait = LONGEST_WAIT * (double)rand() / RAND_MAX;
        const double found = measure_call(translator, w->bytes > 0 ? &line : lines->texts, count, wait, &done);
        if (found >= 0) seconds[cancelled++] = found;
    }
    free(joined);
    if (!done) return false;
    printf("%-18s %6zu", w->name, cancelled);
    if (cancelled > 0) printf(" %9.1f ms", 1e3 * ferry_median(seconds, cancelled)); /* sorts */
    if (cancelled > 0) printf(" %9.1f ms", 1e3 * seconds[cancelled - 1]);
    putchar('\n');
    return true;
}

static bool measure(ferry_translator *translator, const ferry_lines *lines)
{
    bool done = lines->count > 0;
    if (!done) ferry_complain("the input has no lines");
    printf("%-18s %6s %12s %12s\n", "cancelled", "calls", "median", "maximum");
    for (int i = 0; done && i < WORKS; i++) done = measure_work(translator, lines, &works[i]);
    return done;
}

int ferry_bench_cancel(const ferry_call *call)
{
    ferry_session session;
    ferry_lines lines = {.descriptor = -1};
    const bool done = ferry_session_open(call, &(ferry_session_needs){.path = NULL}, &session) &&
                      ferry_lines_open(&lines, ferry_option_text(call, FERRY_OPTION_INPUT)) &&
                      (ferry_lines_rest(&lines) || !lines.failed) && measure(session.translator, &lines);
    ferry_lines_close(&lines);
    ferry_session_close(&session);
    return ferry_finish_output(done ? FERRY_EXIT_OK : FERRY_EXIT_FAILED);
}
