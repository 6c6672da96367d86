#include <math.h>
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

enum { CALLS = 40, WHOLE_CALLS = 3 };

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
    uint32_t job;
    double wait;      /* seconds */
    double cancelled; /* the clock then */
} cancellation;

static void cancel_later(void *user)
{
    cancellation *c = user;
    ferry_thread_sleep(c->wait);
    c->cancelled = ferry_clock();
    ferry_translator_cancel(c->translator, c->job);
}

/* What became of the calls of a work. */
typedef struct outcomes {
    double seconds[CALLS];   /* [cancelled] from the cancel to the return */
    size_t cancelled, ended; /* ended: before their cancel */
    bool missed;             /* a call went on for long after its cancel, and was not cancelled */
} outcomes;

/* One call, which is cancelled at a random time of the `whole` seconds that it takes. Returns whether it worked. */
static bool measure_call(ferry_translator *translator, const ferry_text *lines, size_t count, double whole,
                         outcomes *found)
{
    ferry_thread thread;
    ferry_error error;
    ferry_result *result;
    cancellation c = {.translator = translator, .job = ferry_translator_job(translator)};
    c.wait = whole * (double)rand() / RAND_MAX;
    if (ferry_thread_start(&thread, 0, cancel_later, &c) != 0) {
        ferry_complain("cannot start a thread");
        return false;
    }
    const ferry_status status = ferry_translate(translator, lines, count, &result, &error);
    const double end = ferry_clock();
    ferry_thread_join(&thread);
    ferry_result_destroy(result);
    if (status == FERRY_ERROR_CANCELLED) found->seconds[found->cancelled++] = end - c.cancelled;
    found->ended += status == FERRY_OK;
    found->missed = found->missed || (status == FERRY_OK && end - c.cancelled > whole / 4);
    return status == FERRY_ERROR_CANCELLED || ferry_succeeded(status, &error);
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

/* The seconds of a call that is not cancelled, the fastest of some (the first one is slower); negative if it failed. */
static double measure_whole(ferry_translator *translator, const ferry_text *lines, size_t count)
{
    double whole = INFINITY;
    for (int i = 0; i < WHOLE_CALLS; i++) {
        ferry_error error;
        ferry_result *result;
        const double start = ferry_clock();
        const ferry_status status = ferry_translate(translator, lines, count, &result, &error);
        whole = fmin(whole, ferry_clock() - start);
        ferry_result_destroy(result);
        if (!ferry_succeeded(status, &error)) return -1;
    }
    return whole;
}

static bool measure_work(ferry_translator *translator, const ferry_lines *lines, const work *w)
{
    char *joined = w->bytes > 0 ? join(lines, w->bytes) : NULL;
    if (w->bytes > 0 && joined == NULL) return false;
    const ferry_text line = {joined, w->bytes}, *texts = w->bytes > 0 ? &line : lines->texts;
    const size_t count = w->bytes > 0 ? 1 : w->lines < lines->count ? w->lines : lines->count;
    outcomes found = {.cancelled = 0};
    ferry_translator_job(translator);
    const double whole = measure_whole(translator, texts, count);
    bool done = whole >= 0;
    for (int i = 0; done && i < CALLS; i++) done = measure_call(translator, texts, count, whole, &found);
    free(joined);
    if (!done) return false;
    printf("%-18s %9zu %7zu", w->name, found.cancelled, found.ended);
    if (found.cancelled > 0) printf(" %9.1f ms", 1e3 * ferry_median(found.seconds, found.cancelled)); /* sorts */
    if (found.cancelled > 0) printf(" %9.1f ms", 1e3 * found.seconds[found.cancelled - 1]);
    putchar('\n');
    if (found.cancelled < CALLS / 2) ferry_complain("%s: fewer than half of the calls were cancelled", w->name);
    if (found.missed) ferry_complain("%s: a call went on after it was cancelled", w->name);
    return found.cancelled >= CALLS / 2 && !found.missed;
}

static bool measure(ferry_translator *translator, const ferry_lines *lines)
{
    bool done = lines->count > 0;
    if (!done) ferry_complain("the input has no lines");
    printf("%-18s %9s %7s %12s %12s\n", "", "cancelled", "ended", "median", "maximum");
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
