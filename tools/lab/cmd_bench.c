#define _XOPEN_SOURCE 700
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "engine/ferry_inspect.h"
#include "cmd_bench_encodings.h"
#include "cmd_bench_limits.h"
#include "tools/lines.h"
#include "tools/session.h"

typedef struct bench {
    const ferry_arguments *arguments;
    ferry_session session;
    ferry_lines lines;
    FILE *out;                     /* NULL: translations are not kept */
    double load, first, translate; /* seconds */
    size_t tokens;
    double *each;     /* [lines] seconds of each line, ascending; NULL: all lines in one call */
    double megabytes; /* of memory, at the most */
    ferry_limits limits;
} bench;

static const char *option_text(const bench *b, ferry_option option)
{
    return b->arguments->options[option].text;
}

static bool is_given(const bench *b, ferry_option option)
{
    return b->arguments->options[option].given;
}

/* ---- measuring ---- */

static bool take_result(bench *b, const ferry_result *result, size_t first, size_t count)
{
    bool complete = true;
    for (size_t i = 0; i < count; i++) {
        const char *reason = ferry_result_error(result, i);
        if (reason != NULL) {
            ferry_complain("line %zu: %s", first + i + 1, reason);
            complete = false;
        }
        b->tokens += ferry_result_tokens(result, i, 0);
        if (b->out == NULL) continue;
        ferry_write_text(b->out, ferry_result_text(result, i, 0));
        fputc('\n', b->out);
    }
    return complete;
}

static bool translate(bench *b, size_t first, size_t count, bool keep)
{
    ferry_error error;
    ferry_result *result;
    if (ferry_translate(b->session.translator, b->lines.texts + first, count, &result, &error) != FERRY_OK) {
        ferry_complain("%s", error.message);
        return false;
    }
    const bool complete = !keep || take_result(b, result, first, count);
    ferry_result_destroy(result);
    return complete;
}

static int compare_seconds(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool translate_each(bench *b)
{
    b->each = calloc(b->lines.count, sizeof *b->each);
    if (b->each == NULL) {
        ferry_complain("out of memory");
        return false;
    }
    for (size_t i = 0; i < b->lines.count; i++) {
        const double start = ferry_seconds();
        if (!translate(b, i, 1, true)) return false;
        b->each[i] = ferry_seconds() - start;
    }
    qsort(b->each, b->lines.count, sizeof *b->each, compare_seconds);
    return true;
}

static double peak_megabytes(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss / 1024;
}

static bool measure_limits(bench *b)
{
    const ferry_inspect_work work = ferry_inspect_profile_work(b->session.translator);
    return ferry_limits_measure(&b->limits, &work, b->translate, b->session.options.threads,
                                ferry_inspect_isa(b->session.model));
}

static bool measure(bench *b)
{
    const bool limits = is_given(b, FERRY_OPTION_LIMITS);
    const double start = ferry_seconds();
    if (!translate(b, 0, 1, false)) return false;
    if (limits || is_given(b, FERRY_OPTION_PROFILE)) ferry_inspect_profile_start(b->session.translator);
    const double warm = ferry_seconds();
    const bool done = is_given(b, FERRY_OPTION_SINGLE) ? translate_each(b) : translate(b, 0, b->lines.count, true);
    b->first = warm - start;
    b->translate = ferry_seconds() - warm;
    b->megabytes = peak_megabytes();
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

/* Per cent of `all`, which is 0 where no line went through the model. */
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
           "\"peak_rss_mb\": %.1f",
           b->load, b->first, b->translate, b->lines.count, b->tokens, b->megabytes);
    if (b->each != NULL)
        printf(", \"mean_ms\": %.4f, \"p50_ms\": %.4f, \"p95_ms\": %.4f", mean_ms(b), percentile_ms(b, 50),
               percentile_ms(b, 95));
    if (is_given(b, FERRY_OPTION_PROFILE)) print_json_profile(b);
    if (is_given(b, FERRY_OPTION_LIMITS)) ferry_limits_print_json(&b->limits);
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
    printf("peak memory    %10.1f MB\n", b->megabytes);
    printf("kernels        %10s\n", ferry_inspect_isa(b->session.model));
    printf("beam %d, threads %d, batch %d\n", (int)b->session.options.beam, (int)b->session.options.threads,
           (int)b->session.options.batch);
    if (is_given(b, FERRY_OPTION_PROFILE)) print_profile(b);
    if (is_given(b, FERRY_OPTION_LIMITS)) ferry_limits_print(&b->limits);
}

/* ---- beginning and end ---- */

static bool open_files(bench *b)
{
    const char *input = option_text(b, FERRY_OPTION_INPUT), *output = option_text(b, FERRY_OPTION_OUTPUT);
    if (!ferry_lines_open(&b->lines, input)) return false;
    if (!ferry_lines_rest(&b->lines)) {
        if (!b->lines.failed) ferry_complain("%s: expected lines to translate, found none", b->lines.name);
        return false;
    }
    if (b->lines.failed || output == NULL) return !b->lines.failed;
    if (input != NULL && ferry_same_file(input, output)) {
        ferry_complain("%s: is the input, too", output);
        return false;
    }
    b->out = fopen(output, "wb");
    if (b->out == NULL) ferry_complain("%s: cannot open: %s", output, strerror(errno));
    return b->out != NULL;
}

static bool close_output(bench *b)
{
    if (b->out == NULL) return true;
    const int broken = ferror(b->out);
    if (fclose(b->out) == 0 && !broken) return true;
    ferry_complain("%s: cannot write: %s", option_text(b, FERRY_OPTION_OUTPUT), strerror(errno));
    return false;
}

static int bench_translate(const ferry_call *call)
{
    bench b = {.arguments = &call->arguments, .lines = {.descriptor = -1}};
    bool done = ferry_session_open(call, &b.session);
    b.load = ferry_seconds() - call->started;
    done = done && open_files(&b) && measure(&b);
    if (!close_output(&b)) done = false;
    if (done && is_given(&b, FERRY_OPTION_JSON)) print_json(&b);
    if (done && !is_given(&b, FERRY_OPTION_JSON)) print_table(&b);
    free(b.each);
    ferry_lines_close(&b.lines);
    ferry_session_close(&b.session);
    return ferry_finish_output(done ? FERRY_EXIT_OK : FERRY_EXIT_FAILED);
}

/* What `ferry bench NAME` measures. */
typedef struct subject {
    const char *name;
    uint64_t options;
    int (*run)(const ferry_call *call);
} subject;

static const subject subjects[] = {
    {"translate",
     FERRY_TAKES(FERRY_OPTION_MODEL) | FERRY_TAKES(FERRY_OPTION_FROM) | FERRY_TAKES(FERRY_OPTION_TO) |
         FERRY_TAKES(FERRY_OPTION_INPUT) | FERRY_TAKES(FERRY_OPTION_OUTPUT) | FERRY_TAKES(FERRY_OPTION_BEAM) |
         FERRY_TAKES(FERRY_OPTION_THREADS) | FERRY_TAKES(FERRY_OPTION_BATCH) | FERRY_TAKES(FERRY_OPTION_SINGLE) |
         FERRY_TAKES(FERRY_OPTION_JSON) | FERRY_TAKES(FERRY_OPTION_PROFILE) | FERRY_TAKES(FERRY_OPTION_LIMITS),
     bench_translate},
    {"encodings",
     FERRY_TAKES(FERRY_OPTION_UNTRAINED) | FERRY_TAKES(FERRY_OPTION_ENCODINGS) | FERRY_TAKES(FERRY_OPTION_MAX_LENGTH) |
         FERRY_TAKES(FERRY_OPTION_JSON),
     ferry_bench_encodings},
};
enum { SUBJECT_COUNT = sizeof subjects / sizeof *subjects };

static int run(const ferry_call *call)
{
    const char *name = call->arguments.operands[0];
    size_t s = 0;
    while (s < SUBJECT_COUNT && strcmp(name, subjects[s].name) != 0) s++;
    if (s == SUBJECT_COUNT) {
        ferry_complain("bench: expected 'translate' or 'encodings', found '%s'", name);
        return FERRY_EXIT_USAGE;
    }
    for (int i = 0; i < FERRY_OPTION_COUNT; i++)
        if (call->arguments.options[i].given && (subjects[s].options & FERRY_TAKES(i)) == 0) {
            ferry_complain("bench %s: an option is given that it has no use for; try 'ferry help bench'", name);
            return FERRY_EXIT_USAGE;
        }
    return subjects[s].run(call);
}

const ferry_command ferry_command_bench = {
    .name = "bench",
    .synopsis = "translate|encodings",
    .summary = "measure how fast a file is translated, or what positional encodings cost",
    .details =
        "translate: loading, the first line, then all lines: in one call, or with --single one by one.\n"
        "--json: load_s first_s translate_s lines target_tokens peak_rss_mb, with --single mean_ms p50_ms p95_ms,\n"
        "with --profile profile: for each phase ms share calls; with --limits limits: for int8 and float32\n"
        "multiply_adds per_s peaks, for weights bytes bytes_per_s steps reading.\n"
        "--profile: where the time of all lines went, by phase, summed over the threads.\n"
        "--limits: what all products with weights did, and its share of what the machine can multiply and read.\n"
        "Options: --model, --from, --to, --input, --output, --beam, --threads, --batch, --single, --profile, "
        "--limits,\n"
        "--json.\n"
        "encodings: the encoder over sentences of 32, 512 and 2,000 tokens, the decoder's step at 1, 64 and 512 "
        "target\n"
        "tokens, and memory, of models of random weights that differ by their encoding alone; one thread.\n"
        "--max-length: only lengths up to it. --json: for each encoding name encoder_s step_s step_ratio table_bytes\n"
        "row_bytes cache_bytes thread_bytes. Options: --untrained (there is no other way yet), --encodings, "
        "--max-length,\n"
        "--json.\n",
    .options = FERRY_TAKES(FERRY_OPTION_MODEL) | FERRY_TAKES(FERRY_OPTION_FROM) | FERRY_TAKES(FERRY_OPTION_TO) |
               FERRY_TAKES(FERRY_OPTION_INPUT) | FERRY_TAKES(FERRY_OPTION_OUTPUT) | FERRY_TAKES(FERRY_OPTION_BEAM) |
               FERRY_TAKES(FERRY_OPTION_THREADS) | FERRY_TAKES(FERRY_OPTION_BATCH) | FERRY_TAKES(FERRY_OPTION_SINGLE) |
               FERRY_TAKES(FERRY_OPTION_UNTRAINED) | FERRY_TAKES(FERRY_OPTION_ENCODINGS) |
               FERRY_TAKES(FERRY_OPTION_MAX_LENGTH) | FERRY_TAKES(FERRY_OPTION_JSON) |
               FERRY_TAKES(FERRY_OPTION_PROFILE) | FERRY_TAKES(FERRY_OPTION_LIMITS),
    .least = 1,
    .most = 1,
    .run = run,
};
