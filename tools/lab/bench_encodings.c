#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/ferry_inspect.h"
#include "cmd_bench.h"
#include "statistics.h"

/* The base model of Vaswani et al. 2017, with a small vocabulary: no measurement multiplies by the output matrix. */
static const ferry_inspect_shape shape = {
    .d_model = 512, .heads = 8, .ffn_width = 2048, .encoder_layers = 6, .decoder_layers = 6, .vocab = 1024};

enum { SOURCE = 32, LONG_SOURCE = 2000, CASES = 6, FIRST_STEP = 3, MAX_ROUNDS = 21 };

/* A computation to measure: see ferry_inspect_timer_create. In every round, each encoding takes a turn of `runs` runs;
 * only the fastest counts, which leaves out the cold start of a turn. */
typedef struct bench_case {
    int32_t source, target, rounds, runs;
} bench_case;
static const bench_case cases[CASES] = {
    {SOURCE, 0, 15, 5}, {512, 0, 7, 1},      {LONG_SOURCE, 0, 3, 1}, /* encoder */
    {SOURCE, 1, 21, 5}, {SOURCE, 64, 21, 5}, {SOURCE, 512, 21, 5},   /* decoder, from FIRST_STEP on */
};

typedef struct entrant {
    const char *name;
    ferry_model *model;
    ferry_inspect_timer *timer; /* of the current case; NULL: not measured, or longer than the encoding permits */
    double rounds[MAX_ROUNDS];  /* seconds, of the current case */
    double seconds[CASES];      /* medians; NAN: not measured */
    double ratio[CASES];        /* medians of the rounds' ratios to the first entrant */
    ferry_inspect_memory memory;
    size_t long_thread; /* bytes of the thread that encoded LONG_SOURCE tokens */
} entrant;

typedef struct race {
    entrant *entrants; /* [count], the first without an encoding */
    size_t count;
    int32_t longest; /* longer cases are left out; 0: no limit */
    char *names;     /* owned; the names of the entrants point into it */
} race;

static bool failed(const char *name, const ferry_error *error)
{
    ferry_complain("%s: %s", name, error->message);
    return false;
}

/* ---- measuring ---- */

/* The length of the sequence that a case measures. */
static int32_t length_of(const bench_case *c)
{
    return c->target > 0 ? c->target : c->source;
}

static bool begin_case(race *r, const bench_case *c)
{
    for (size_t i = 0; i < r->count; i++) {
        entrant *e = &r->entrants[i];
        ferry_error error;
        if (r->longest > 0 && length_of(c) > r->longest) continue;
        const ferry_status status = ferry_inspect_timer_create(e->model, c->source, c->target, &e->timer, &error);
        if (status != FERRY_OK && status != FERRY_ERROR_LIMIT) return failed(e->name, &error);
        if (e->timer == NULL) continue;
        e->memory = ferry_inspect_timer_memory(e->timer);
        if (c->source == LONG_SOURCE) e->long_thread = e->memory.thread;
    }
    return true;
}

static void end_case(race *r)
{
    for (size_t i = 0; i < r->count; i++) {
        ferry_inspect_timer_destroy(r->entrants[i].timer);
        r->entrants[i].timer = NULL;
    }
}

static bool take_turn(entrant *e, int32_t runs, double *fastest)
{
    ferry_error error;
    *fastest = INFINITY;
    for (int32_t i = 0; i < runs; i++) {
        double seconds;
        if (ferry_inspect_timer_run(e->timer, &seconds, &error) != FERRY_OK) return failed(e->name, &error);
        if (seconds < *fastest) *fastest = seconds;
    }
    return true;
}

static bool run_rounds(race *r, const bench_case *c)
{
    for (int32_t round = 0; round < c->rounds; round++)
        for (size_t i = 0; i < r->count; i++)
            if (r->entrants[i].timer != NULL && !take_turn(&r->entrants[i], c->runs, &r->entrants[i].rounds[round]))
                return false;
    return true;
}

static void evaluate(race *r, size_t index)
{
    const size_t rounds = (size_t)cases[index].rounds;
    for (size_t i = r->count; i-- > 0;) { /* the first one last: the others need its rounds unsorted */
        entrant *e = &r->entrants[i];
        double ratios[MAX_ROUNDS];
        e->seconds[index] = e->ratio[index] = NAN;
        if (e->timer == NULL) continue;
        for (size_t k = 0; k < rounds; k++) ratios[k] = e->rounds[k] / r->entrants[0].rounds[k];
        e->ratio[index] = ferry_median(ratios, rounds);
        e->seconds[index] = ferry_median(e->rounds, rounds);
    }
}

static bool measure(race *r)
{
    for (size_t i = 0; i < CASES; i++) {
        const bool done = begin_case(r, &cases[i]) && run_rounds(r, &cases[i]);
        if (done) evaluate(r, i);
        end_case(r);
        if (!done) return false;
    }
    return true;
}

/* ---- reporting ---- */

static void print_cell(double value, const char *format, int width)
{
    char text[32] = "-";
    if (!isnan(value)) snprintf(text, sizeof text, format, value);
    printf(" %*s", width, text);
}

static void print_row(const entrant *e)
{
    printf("%-15s", e->name);
    for (size_t i = 0; i < FIRST_STEP; i++) print_cell(cases[i].source / e->seconds[i], "%.0f", 7);
    for (size_t i = FIRST_STEP; i < CASES; i++) print_cell(1e3 * e->seconds[i], "%.2f", 7);
    for (size_t i = FIRST_STEP; i < CASES; i++) print_cell(e->ratio[i], "%.3f", 6);
    printf(" %9.1f %7.1f %7.1f", (double)e->memory.tables / 1e3, (double)e->memory.row / 1e3,
           (double)e->memory.token / 1e3);
    print_cell(e->long_thread > 0 ? (double)e->long_thread / 1e6 : NAN, "%.1f", 7);
    putchar('\n');
}

static void print_table(const race *r)
{
    printf("d_model %d, ffn %d, %d heads, %d+%d layers, random weights; one thread; kernels %s\n\n", (int)shape.d_model,
           (int)shape.ffn_width, (int)shape.heads, (int)shape.encoder_layers, (int)shape.decoder_layers,
           ferry_inspect_isa(r->entrants[0].model));
    printf("%-15s %-23s %-23s %-20s %9s %7s %7s %7s\n", "", "encoder, tokens/s", "decoder's step, ms", "step / none",
           "tables", "row", "cache", "memory");
    printf("%-15s", "encoding");
    for (size_t i = 0; i < FIRST_STEP; i++) printf(" %7d", (int)cases[i].source);
    for (size_t i = FIRST_STEP; i < CASES; i++) printf(" %7d", (int)cases[i].target);
    for (size_t i = FIRST_STEP; i < CASES; i++) printf(" %6d", (int)cases[i].target);
    printf(" %9s %7s %7s %7s\n", "kB", "kB", "kB", "MB");
    for (size_t i = 0; i < r->count; i++) print_row(&r->entrants[i]);
    printf("\nencoder: one sentence of that many tokens. step: one row at that target position, without the output\n"
           "matrix, over a source of %d tokens; medians. tables: of the model; row: for each position that a thread\n"
           "has prepared; cache: keys and values of a target token; memory: of a thread that encodes %d tokens.\n",
           SOURCE, LONG_SOURCE);
}

static void print_number(double value, const char *format)
{
    if (isnan(value))
        fputs("null", stdout);
    else
        printf(format, value);
}

static void print_json_group(const char *name, size_t first, size_t end, const double *values, const char *format)
{
    printf(", \"%s\": {", name);
    for (size_t i = first; i < end; i++) {
        printf("%s\"%d\": ", i > first ? ", " : "", (int)length_of(&cases[i]));
        print_number(values[i], format);
    }
    putchar('}');
}

static void print_json(const race *r)
{
    printf("{\"isa\": \"%s\", \"encodings\": [", ferry_inspect_isa(r->entrants[0].model));
    for (size_t i = 0; i < r->count; i++) {
        const entrant *e = &r->entrants[i];
        printf("%s{\"name\": \"%s\"", i > 0 ? ", " : "", e->name);
        print_json_group("encoder_s", 0, FIRST_STEP, e->seconds, "%.6f");
        print_json_group("step_s", FIRST_STEP, CASES, e->seconds, "%.9f");
        print_json_group("step_ratio", FIRST_STEP, CASES, e->ratio, "%.4f");
        printf(", \"table_bytes\": %zu, \"row_bytes\": %zu, \"cache_bytes\": %zu, \"thread_bytes\": ", e->memory.tables,
               e->memory.row, e->memory.token);
        print_number(e->long_thread > 0 ? (double)e->long_thread : NAN, "%.0f");
        putchar('}');
    }
    puts("]}");
}

/* ---- models ---- */

static bool enter(race *r, const char *name)
{
    ferry_error error;
    for (size_t i = 0; i < r->count; i++)
        if (strcmp(r->entrants[i].name, name) == 0) return true;
    entrant *e = &r->entrants[r->count];
    if (!ferry_succeeded(ferry_inspect_untrained(name, &shape, getenv("FERRY_ISA"), &e->model, &error), &error))
        return false;
    e->name = name;
    r->count++;
    return true;
}

static bool enter_all(race *r)
{
    size_t count = 0;
    while (ferry_inspect_encoding(count) != NULL) count++;
    r->entrants = ferry_allocate(count, sizeof *r->entrants);
    if (r->entrants == NULL) return false;
    for (size_t i = 0; i < count; i++)
        if (!enter(r, ferry_inspect_encoding(i))) return false;
    return true;
}

/* `list`: names, separated by commas. The encoding `none` always comes first: all are compared with it. */
static bool enter_listed(race *r, const char *list)
{
    size_t most = 2;
    for (const char *c = list; *c != '\0'; c++) most += *c == ',';
    r->entrants = ferry_allocate(most, sizeof *r->entrants);
    r->names = ferry_allocate(strlen(list) + 1, 1);
    if (r->entrants == NULL || r->names == NULL) return false;
    strcpy(r->names, list);
    if (!enter(r, ferry_inspect_encoding(0))) return false;
    for (char *name = r->names, *next = name; next != NULL; name = next + 1) {
        next = strchr(name, ',');
        if (next != NULL) *next = '\0';
        if (!enter(r, name)) return false;
    }
    return true;
}

static void close_race(race *r)
{
    for (size_t i = 0; i < r->count; i++) ferry_model_close(r->entrants[i].model);
    free(r->entrants);
    free(r->names);
}

int ferry_bench_encodings(const ferry_call *call)
{
    race r = {.longest = call->arguments.options[ferry_search_option("max-length")].integer};
    if (!ferry_is_given(call, FERRY_OPTION_UNTRAINED)) {
        ferry_complain("bench encodings: measures only models with random weights; add --untrained");
        return FERRY_EXIT_USAGE;
    }
    const char *list = ferry_option_text(call, FERRY_OPTION_ENCODINGS);
    const bool done = (list != NULL ? enter_listed(&r, list) : enter_all(&r)) && measure(&r);
    if (done && ferry_is_given(call, FERRY_OPTION_JSON)) print_json(&r);
    if (done && !ferry_is_given(call, FERRY_OPTION_JSON)) print_table(&r);
    close_race(&r);
    return ferry_finish_output(done ? FERRY_EXIT_OK : FERRY_EXIT_FAILED);
}
