#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/system.h"
#include "base/threads.h"
#include "cmd_bench.h"
#include "statistics.h"
#include "tools/line_reader.h"
#include "tools/translator_session.h"

enum { CALLERS = 16, ROUNDS = 9, URGENT = 60, BEHIND = 400, WAITING = 50000, SUBMITTED = 20, MEGABYTE = 1000000 };
static const double LONGEST_PAUSE = 0.05; /* seconds between two urgent lines, at most */

/* What is measured, and one text of it at a time. */
typedef struct bench {
    ferry_service *service;
    const ferry_lines *lines;
    size_t peak; /* bytes that the translator of a call held */
    atomic_bool failed, ending;
} bench;

/* ---- a caller submits texts, and waits for them ---- */

typedef struct caller {
    bench *bench;
    ferry_thread thread;
    size_t first; /* of its lines */
    bool patient; /* waits for each before it submits the next */
    ferry_mutex mutex;
    ferry_condition answered;
    size_t left; /* that it waits for */
} caller;

static void wake(void *user, ferry_ticket ticket, ferry_result *result, const ferry_error *error)
{
    caller *c = user;
    (void)ticket;
    if (error != NULL) atomic_store(&c->bench->failed, true);
    ferry_result_destroy(result);
    ferry_mutex_lock(&c->mutex);
    c->left--;
    ferry_condition_wake_all(&c->answered);
    ferry_mutex_unlock(&c->mutex);
}

static void submit(caller *c, ferry_text line, int priority)
{
    const ferry_submission submission = {
        .size = sizeof submission, .text = line, .priority = priority, .done = wake, .user = c};
    ferry_mutex_lock(&c->mutex);
    c->left++;
    ferry_mutex_unlock(&c->mutex);
    if (ferry_service_submit(c->bench->service, &submission, NULL, NULL) == FERRY_OK) return;
    atomic_store(&c->bench->failed, true);
    ferry_mutex_lock(&c->mutex);
    c->left--;
    ferry_mutex_unlock(&c->mutex);
}

static void wait_for_all(caller *c)
{
    ferry_mutex_lock(&c->mutex);
    while (c->left > 0) ferry_condition_wait(&c->answered, &c->mutex);
    ferry_mutex_unlock(&c->mutex);
}

static void translate_share(void *user)
{
    caller *c = user;
    const ferry_lines *lines = c->bench->lines;
    for (size_t i = c->first; i < lines->count; i += CALLERS) {
        submit(c, lines->texts[i], 0);
        if (c->patient) wait_for_all(c);
    }
    wait_for_all(c);
}

static void begin_caller(caller *c, bench *b, size_t first, bool patient)
{
    *c = (caller){.bench = b, .first = first, .patient = patient};
    ferry_mutex_create(&c->mutex);
    ferry_condition_create(&c->answered);
}

static void end_caller(caller *c)
{
    ferry_condition_destroy(&c->answered);
    ferry_mutex_destroy(&c->mutex);
}

/* ---- all lines ---- */

enum { ONE_BY_ONE, ONE_CALL, AT_ONCE, EACH_WAITS, WAYS };
static const char *const ways[WAYS] = {"calls of one line", "one call", "16 callers, all at once",
                                       "16 callers, each waits"};

static bool call(ferry_translator *translator, const ferry_lines *lines, size_t together)
{
    ferry_error error;
    for (size_t i = 0; i < lines->count; i += together) {
        ferry_result *result;
        const ferry_status status = ferry_translate(translator, lines->texts + i, together, &result, &error);
        ferry_result_destroy(result);
        if (!ferry_succeeded(status, &error)) return false;
    }
    return true;
}

static bool serve(bench *b, bool patient)
{
    caller callers[CALLERS];
    int started = 0;
    for (; started < CALLERS; started++) {
        begin_caller(&callers[started], b, (size_t)started, patient);
        if (ferry_thread_start(&callers[started].thread, 0, translate_share, &callers[started]) != 0) break;
    }
    for (int i = 0; i < started; i++) ferry_thread_join(&callers[i].thread);
    for (int i = 0; i < started; i++) end_caller(&callers[i]);
    return started == CALLERS && !atomic_load(&b->failed);
}

/* The ways first … end - 1. */
static bool measure_ways(bench *b, ferry_translator *translator, int first, int end)
{
    double seconds[WAYS][ROUNDS], processor[WAYS][ROUNDS];
    for (int r = -1; r < ROUNDS; r++) /* the first round makes room in memory */
        for (int way = first; way < end; way++) {
            const double begin = ferry_clock();
            const clock_t processor_begin = clock();
            const size_t together = way == ONE_CALL ? b->lines->count : 1;
            if (!(way <= ONE_CALL ? call(translator, b->lines, together) : serve(b, way == EACH_WAITS))) return false;
            if (r < 0) continue;
            seconds[way][r] = ferry_clock() - begin;
            processor[way][r] = (double)(clock() - processor_begin) / CLOCKS_PER_SEC;
        }
    for (int way = first; way < end; way++)
        printf("%-24s %9.3f %14.3f\n", ways[way], ferry_median(seconds[way], ROUNDS),
               ferry_median(processor[way], ROUNDS));
    return true;
}

/* ---- urgent lines ---- */

/* Another text takes the place of each that has ended. */
static void refill(void *user, ferry_ticket ticket, ferry_result *result, const ferry_error *error);

static void fill(bench *b, size_t line)
{
    const ferry_submission submission = {
        .size = sizeof submission, .text = b->lines->texts[line], .priority = -1, .done = refill, .user = b};
    ferry_service_submit(b->service, &submission, NULL, NULL);
}

static void refill(void *user, ferry_ticket ticket, ferry_result *result, const ferry_error *error)
{
    bench *b = user;
    ferry_result_destroy(result);
    if (error != NULL) atomic_store(&b->failed, true);
    if (!atomic_load(&b->ending)) fill(b, ticket % b->lines->count);
}

static bool measure_urgent(bench *b, bool busy)
{
    double seconds[URGENT];
    caller c;
    begin_caller(&c, b, 0, true);
    for (size_t i = 0; busy && i < BEHIND; i++) fill(b, i % b->lines->count);
    for (int i = 0; i < URGENT; i++) {
        ferry_thread_sleep(LONGEST_PAUSE * (double)rand() / RAND_MAX);
        const double begin = ferry_clock();
        submit(&c, b->lines->texts[(size_t)i % b->lines->count], 0);
        wait_for_all(&c);
        seconds[i] = ferry_clock() - begin;
    }
    end_caller(&c);
    printf("%-22s %8.1f ms\n", busy ? "beside 400 others" : "an urgent line alone",
           1e3 * ferry_median(seconds, URGENT));
    return !atomic_load(&b->failed);
}

/* ---- submitting ---- */

static void drop(void *user, ferry_ticket ticket, ferry_result *result, const ferry_error *error)
{
    (void)user, (void)ticket, (void)error;
    ferry_result_destroy(result);
}

/* A megabyte beside many texts that wait; all are cancelled at the end. */
static bool measure_submit(const bench *b)
{
    double seconds[SUBMITTED];
    char *text = calloc(MEGABYTE, 1);
    ferry_submission submission = {.size = sizeof submission, .text = b->lines->texts[0], .done = drop};
    bool done = text != NULL;
    for (int i = 0; i < WAITING && done; i++)
        done = ferry_service_submit(b->service, &submission, NULL, NULL) == FERRY_OK;
    submission.text = (ferry_text){text, MEGABYTE};
    for (int i = 0; i < SUBMITTED && done; i++) {
        const double begin = ferry_clock();
        done = ferry_service_submit(b->service, &submission, NULL, NULL) == FERRY_OK;
        seconds[i] = ferry_clock() - begin;
    }
    free(text);
    if (done) printf("submitting 1 MB beside 50000 texts %.3f ms\n", 1e3 * ferry_median(seconds, SUBMITTED));
    return done;
}

/* ---- the whole ---- */

/* With a translator and a service of these options. */
static bool measure_with(const ferry_session *session, const ferry_options *options, bench *b,
                         bool (*measure)(bench *, ferry_translator *))
{
    const ferry_service_options room = {.size = sizeof room, .max_texts = SIZE_MAX};
    ferry_translator *served = NULL, *translator = NULL;
    ferry_error error;
    b->service = NULL;
    atomic_store(&b->ending, false);
    atomic_store(&b->failed, false);
    ferry_status status = ferry_translator_create(session->model, options, &translator, &error);
    if (status == FERRY_OK) status = ferry_translator_create(session->model, options, &served, &error);
    if (status == FERRY_OK) status = ferry_service_create(served, &room, &b->service, &error);
    const bool done = ferry_succeeded(status, &error) && measure(b, translator);
    if (!done && status == FERRY_OK) ferry_complain("a line was not translated");
    atomic_store(&b->ending, true);
    ferry_service_stop(b->service, 1);
    ferry_service_destroy(b->service, NULL);
    if (b->service == NULL) ferry_translator_destroy(served);
    ferry_translator_destroy(translator);
    return done;
}

static bool measure_all(bench *b, ferry_translator *translator)
{
    printf("%5zu lines              %9s %14s\n", b->lines->count, "seconds", "of processors");
    const bool done = measure_ways(b, translator, 0, WAYS);
    ferry_translator_memory(translator, &b->peak);
    return done && measure_urgent(b, false) && measure_urgent(b, true) && measure_submit(b);
}

static bool measure_limited(bench *b, ferry_translator *translator)
{
    return measure_ways(b, translator, ONE_CALL, AT_ONCE + 1);
}

static bool measure(const ferry_session *session, const ferry_lines *lines)
{
    bench b = {.lines = lines};
    ferry_options options = session->options;
    bool done = measure_with(session, &options, &b, measure_all);
    for (size_t divisor = 2; divisor <= 4 && done; divisor *= 2) {
        options.memory_limit = b.peak / divisor;
        printf("with a memory_limit of %.1f MB; one call held %.1f MB\n", 1e-6 * (double)options.memory_limit,
               1e-6 * (double)b.peak);
        done = measure_with(session, &options, &b, measure_limited);
    }
    return done;
}

int ferry_bench_service(const ferry_call *call)
{
    ferry_session session;
    ferry_lines lines = {.descriptor = -1};
    bool done = ferry_session_open(call, &(ferry_session_needs){.path = NULL}, &session) &&
                ferry_lines_open(&lines, ferry_option_text(call, FERRY_OPTION_INPUT)) &&
                (ferry_lines_rest(&lines) || !lines.failed);
    if (done && lines.count == 0) done = (ferry_complain("the input has no lines"), false);
    done = done && measure(&session, &lines);
    ferry_lines_close(&lines);
    ferry_session_close(&session);
    return ferry_finish_output(done ? FERRY_EXIT_OK : FERRY_EXIT_FAILED);
}
