#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/ferry_inspect.h"
#include "base/files/file_system.h"
#include "base/system.h"
#include "base/threads.h"
#include "bench_limits.h"
#include "cmd_bench.h"
#include "statistics.h"
#include "tools/line_reader.h"
#include "tools/output_file.h"
#include "tools/translator_session.h"

/* ---- memory ---- */

/* The most memory that the process has of its own while something runs, by looking again and again. */
typedef struct memory_watch {
    ferry_thread thread;
    bool started;
    atomic_bool ended;
    size_t peak; /* bytes; 0 where the system does not tell */
} memory_watch;

enum { STACK = 64 << 10 };
/* Between two looks, which take some 10 microseconds each: a batch of the smallest model lives longer. */
#define INTERVAL 0.002

static void look(memory_watch *watch)
{
    const size_t bytes = ferry_own_memory();
    if (bytes > watch->peak) watch->peak = bytes;
}

static void keep_looking(void *user)
{
    memory_watch *watch = user;
    for (; !atomic_load(&watch->ended); ferry_thread_sleep(INTERVAL)) look(watch);
}

/* Begins to look, on a thread of its own. The watch may not be moved. If no thread can be had, its peak is what it is
 * at the end. */
static void begin_watch(memory_watch *watch)
{
    watch->peak = 0;
    atomic_init(&watch->ended, false);
    watch->started = ferry_thread_start(&watch->thread, STACK, keep_looking, watch) == 0;
}

/* Allowed on a zeroed object. */
static void end_watch(memory_watch *watch)
{
    atomic_store(&watch->ended, true);
    if (watch->started) ferry_thread_join(&watch->thread);
    watch->started = false;
    look(watch);
}

typedef struct bench {
    const ferry_call *call;
    ferry_session session;
    ferry_lines lines;
    FILE *out;                     /* NULL: the translations are not written */
    double load, first, translate; /* seconds */
    size_t tokens;
    double *each;     /* [lines] seconds of each line, sorted; NULL: all lines in one call */
    double megabytes; /* of memory, at most */
    memory_watch own;
    ferry_limits limits;
} bench;

/* ---- measuring ---- */

static bool take_result(bench *b, const ferry_result *result, size_t first, size_t count)
{
    bool complete = true;
    for (size_t i = 0; i < count; i++) {
        const char *reason = ferry_result_outcome(result, i)->error;
        if (reason != NULL) {
            ferry_fail_lines(first + i + 1, 1, reason);
            complete = false;
        }
        b->tokens += ferry_result_token_count(result, i, 0);
        if (b->out == NULL) continue;
        ferry_output_text(b->out, ferry_result_text(result, i, 0));
        fputc('\n', b->out);
    }
    return complete;
}

static bool translate(bench *b, size_t first, size_t count, bool keep)
{
    ferry_error error;
    ferry_result *result;
    const ferry_status status = ferry_translate(b->session.translator, b->lines.texts + first, count, &result, &error);
    if (!ferry_succeeded(status, &error)) return false;
    const bool complete = !keep || take_result(b, result, first, count);
    ferry_result_destroy(result);
    return complete;
}

static bool translate_each(bench *b)
{
    b->each = ferry_allocate(b->lines.count, sizeof *b->each);
    if (b->each == NULL) return false;
    for (size_t i = 0; i < b->lines.count; i++) {
        const double start = ferry_clock();
        if (!translate(b, i, 1, true)) return false;
        b->each[i] = ferry_clock() - start;
    }
    ferry_sort_numbers(b->each, b->lines.count);
    return true;
}

static bool measure_limits(bench *b)
{
    const ferry_inspect_work work = ferry_inspect_profile_work(b->session.translator);
    return ferry_limits_measure(&b->limits, &work, b->translate, b->session.options.threads,
                                ferry_inspect_isa(b->session.model));
}

static double in_megabytes(size_t bytes)
{
    return (double)bytes / (1 << 20);
}

static bool measure(bench *b)
{
    const bool limits = ferry_is_given(b->call, FERRY_OPTION_LIMITS);
    const double start = ferry_clock();
    if (!translate(b, 0, 1, false)) return false;
    if (limits || ferry_is_given(b->call, FERRY_OPTION_PROFILE)) ferry_inspect_profile_start(b->session.translator);
    const double warm = ferry_clock();
    const bool done =
        ferry_is_given(b->call, FERRY_OPTION_SINGLE) ? translate_each(b) : translate(b, 0, b->lines.count, true);
    b->first = warm - start;
    b->translate = ferry_clock() - warm;
    b->megabytes = in_megabytes(ferry_peak_memory());
    end_watch(&b->own);
    return done && (!limits || measure_limits(b));
}

/* ---- reporting ---- */

static double mean_ms(const bench *b)
{
    double sum = 0;
    for (size_t i = 0; i < b->lines.count; i++) sum += b->each[i];
    return 1e3 * sum / (double)b->lines.count;
}

static double percentile_ms(const bench *b, size_t percent)
{
    return 1e3 * b->each[b->lines.count * percent / 100];
}

static double profile_seconds(const bench *b)
{
    double sum = 0;
    ferry_inspect_phase phase;
    for (size_t i = 0; phase = ferry_inspect_profile_phase(b->session.translator, i), phase.name != NULL; i++)
        sum += phase.seconds;
    return sum;
}

/* Per cent of `all`, which is 0 if no line went through the model. */
static double share(double seconds, double all)
{
    return all > 0 ? 100 * seconds / all : 0;
}

static void print_json_profile(const bench *b)
{
    const double all = profile_seconds(b);
    ferry_inspect_phase phase;
    printf(", \"profile\": {");
    for (size_t i = 0; phase = ferry_inspect_profile_phase(b->session.translator, i), phase.name != NULL; i++)
        printf("%s\"%s\": {\"ms\": %.4f, \"share\": %.3f, \"calls\": %lld}", i > 0 ? ", " : "", phase.name,
               1e3 * phase.seconds, share(phase.seconds, all), (long long)phase.calls);
    putchar('}');
}

static void print_profile(const bench *b)
{
    const double all = profile_seconds(b);
    const int threads = (int)b->session.options.threads;
    ferry_inspect_phase phase;
    printf("\n%-16s %12s %8s %10s\n", "phase", "ms", "share", "calls");
    for (size_t i = 0; phase = ferry_inspect_profile_phase(b->session.translator, i), phase.name != NULL; i++)
        if (phase.calls > 0)
            printf("%-16s %12.2f %6.1f %% %10lld\n", phase.name, 1e3 * phase.seconds, share(phase.seconds, all),
                   (long long)phase.calls);
    printf("threads at work  %12.2f %6.1f %% of %d x %.3f s\n", 1e3 * all, share(all, threads * b->translate), threads,
           b->translate);
}

static void print_json(const bench *b)
{
    printf("{\"load_s\": %.6f, \"first_s\": %.6f, \"translate_s\": %.6f, \"lines\": %zu, \"target_tokens\": %zu, "
           "\"peak_rss_mb\": %.1f, \"peak_own_mb\": %.1f",
           b->load, b->first, b->translate, b->lines.count, b->tokens, b->megabytes, in_megabytes(b->own.peak));
    if (b->each != NULL)
        printf(", \"mean_ms\": %.4f, \"p50_ms\": %.4f, \"p95_ms\": %.4f", mean_ms(b), percentile_ms(b, 50),
               percentile_ms(b, 95));
    if (ferry_is_given(b->call, FERRY_OPTION_PROFILE)) print_json_profile(b);
    if (ferry_is_given(b->call, FERRY_OPTION_LIMITS)) ferry_limits_print_json(&b->limits);
    puts("}");
}

static void print_table(const bench *b)
{
    printf("lines          %10zu\n", b->lines.count);
    printf("target tokens  %10zu\n", b->tokens);
    printf("load           %10.1f ms\n", 1e3 * b->load);
    printf("first line     %10.1f ms\n", 1e3 * b->first);
    printf("all lines      %10.3f s\n", b->translate);
    printf("speed          %10.0f target tokens/s, %.1f lines/s\n", (double)b->tokens / b->translate,
           (double)b->lines.count / b->translate);
    if (b->each != NULL)
        printf("one line       %10.2f ms (mean), %.2f ms (median), %.2f ms (95th percentile)\n", mean_ms(b),
               percentile_ms(b, 50), percentile_ms(b, 95));
    printf("peak memory    %10.1f MB, %.1f MB without the pages of files\n", b->megabytes, in_megabytes(b->own.peak));
    printf("kernels        %10s\n", ferry_inspect_isa(b->session.model));
    printf("beam %d, threads %d, batch %d\n", (int)b->session.options.beam, (int)b->session.options.threads,
           (int)b->session.options.batch);
    if (ferry_is_given(b->call, FERRY_OPTION_PROFILE)) print_profile(b);
    if (ferry_is_given(b->call, FERRY_OPTION_LIMITS)) ferry_limits_print(&b->limits);
}

/* ---- files ---- */

static bool open_files(bench *b)
{
    const char *input = ferry_option_text(b->call, FERRY_OPTION_INPUT),
               *output = ferry_option_text(b->call, FERRY_OPTION_OUTPUT);
    if (!ferry_lines_open(&b->lines, input)) return false;
    if (!ferry_lines_rest(&b->lines)) {
        if (!b->lines.failed) ferry_complain("%s: expected lines to translate, found none", b->lines.name);
        return false;
    }
    if (b->lines.failed || output == NULL) return !b->lines.failed;
    b->out = ferry_output_open(output, false);
    return b->out != NULL;
}

int ferry_bench_translate(const ferry_call *call)
{
    bench b = {.call = call, .lines = {.descriptor = -1}};
    begin_watch(&b.own);
    bool done = ferry_session_open(call, &(ferry_session_needs){.path = NULL}, &b.session);
    b.load = ferry_clock() - call->started;
    done = done && open_files(&b) && measure(&b);
    if (!ferry_output_close(b.out, ferry_option_text(call, FERRY_OPTION_OUTPUT))) done = false;
    if (done && ferry_is_given(call, FERRY_OPTION_JSON)) print_json(&b);
    if (done && !ferry_is_given(call, FERRY_OPTION_JSON)) print_table(&b);
    end_watch(&b.own);
    free(b.each);
    ferry_lines_close(&b.lines);
    ferry_session_close(&b.session);
    return ferry_finish_output(done ? FERRY_EXIT_OK : FERRY_EXIT_FAILED);
}
