#include "cmd_bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_cost.h"
#include "bench_probes.h"
#include "bench_quality.h"
#include "bench_speed.h"
#include "comparison_input.h"
#include "line_columns.h"
#include "print_comparison.h"
#include "linear_algebra.h"
#include "report.h"
#include "tools/near_miss.h"
#include "tools/output_file.h"

enum { RESAMPLES = 1000, SEED = 1 };

typedef struct bench {
    const ferry_call *call;
    bool tables; /* printed as they become complete; else JSON or CSV at the end */
    bool probes; /* the machine has what they need */
    ferry_comparison comparison;
    ferry_comparison_input input;
    double **scores; /* [count] of each model: ferry_measure_quality */
} bench;

static bool is_option(const ferry_call *call, const char *name)
{
    return ferry_is_given(call, ferry_search_option(name));
}

static int32_t search_number(const ferry_call *call, const char *name, int32_t usual)
{
    return is_option(call, name) ? call->arguments.options[ferry_search_option(name)].integer : usual;
}

/* ---- trained models ---- */

static bool begin_models(bench *b)
{
    ferry_comparison *c = &b->comparison;
    ferry_error error;
    bool failed = false;
    b->probes = ferry_linear_algebra_load(&error) == FERRY_OK;
    if (!b->probes) ferry_complain("no probes: %s", error.message);
    c->beam = search_number(b->call, "beam", 1);
    c->threads = search_number(b->call, "threads", 1);
    c->batch = search_number(b->call, "batch", 64);
    c->resamples = RESAMPLES;
    c->seed = SEED;
    if (!ferry_comparison_open(b->call, 1, c, &b->input)) return false;
    c->isa = ferry_inspect_isa(b->input.models[0]);
    const size_t differences = FERRY_CELLS * FERRY_METRIC_COUNT * c->count * c->count;
    c->differences = ferry_arena_take(&c->arena, differences, sizeof *c->differences, &failed);
    b->scores = ferry_allocate(c->count, sizeof *b->scores);
    if (failed) ferry_complain("out of memory");
    if (failed || b->scores == NULL) return false;
    memset(c->differences, 0, differences * sizeof *c->differences);
    return true;
}

static bool measure_model(bench *b, size_t index)
{
    ferry_comparison *c = &b->comparison;
    ferry_error error;
    b->scores[index] = ferry_allocate(FERRY_CELLS * FERRY_METRIC_COUNT, RESAMPLES * sizeof(double));
    if (b->scores[index] == NULL) return false;
    ferry_status status = ferry_measure_quality(c, index, b->input.models[index], b->scores[index], &error);
    for (size_t other = 0; status == FERRY_OK && other < index; other++)
        status = ferry_score_difference(c, index, b->scores[index], other, b->scores[other], &error);
    if (status == FERRY_OK && b->probes) status = ferry_measure_probes(c, index, b->input.models[index], &error);
    if (status != FERRY_OK) ferry_complain("%s: %s", c->models[index].path, error.message);
    return status == FERRY_OK;
}

static bool measure_models(bench *b)
{
    ferry_comparison *c = &b->comparison;
    ferry_error error;
    if (!begin_models(b)) return false;
    if (b->tables) ferry_print_head(c);
    for (size_t i = 0; i < c->count; i++) {
        if (!measure_model(b, i)) return false;
        if (b->tables) ferry_print_model(c, i);
    }
    if (b->tables) ferry_print_buckets(c);
    if (!ferry_succeeded(ferry_measure_speed(c, b->input.models, &error), &error)) return false;
    if (b->tables) ferry_print_speed(c);
    if (b->tables) ferry_print_probes(c);
    return true;
}

/* ---- cost ---- */

static bool measure_cost(bench *b)
{
    const char *list = ferry_option_text(b->call, FERRY_OPTION_ENCODINGS);
    const int32_t longest = search_number(b->call, "max-length", 0);
    if (!ferry_measure_cost(&b->comparison, list, longest, b->tables ? ferry_print_cost_head : NULL,
                            b->tables ? ferry_print_cost_case : NULL))
        return false;
    if (b->tables) ferry_print_cost_memory(&b->comparison);
    return true;
}

/* ---- the report ---- */

/* Before anything is measured: minutes later would be a bad time to learn that the file cannot be written. */
static bool check_report(const ferry_call *call)
{
    return !ferry_is_given(call, FERRY_OPTION_REPORT) ||
           ferry_output_check(ferry_option_text(call, FERRY_OPTION_REPORT));
}

static bool write_report(FILE *out, const void *user)
{
    const bool done = ferry_report(out, user);
    if (!done) ferry_complain("out of memory");
    return done;
}

static bool save_report(const bench *b)
{
    return !ferry_is_given(b->call, FERRY_OPTION_REPORT) ||
           ferry_output_complete(ferry_option_text(b->call, FERRY_OPTION_REPORT), write_report, &b->comparison);
}

/* ---- the command ---- */

static bool refuse(const char *message)
{
    ferry_complain("bench encodings: %s", message);
    return false;
}

/* Whether each name of a list has an encoding. */
static bool check_encodings(const char *list)
{
    for (size_t size; list != NULL; list = list[size] == ',' ? list + size + 1 : NULL) {
        size = strcspn(list, ",");
        const ferry_view name = {list, size};
        ferry_near_miss miss = ferry_near_miss_of(name);
        ferry_name known = {""};
        const char *encoding;
        for (size_t i = 0; (encoding = ferry_inspect_encoding(i)) != NULL && !ferry_view_is(name, encoding); i++) {
            ferry_near_miss_try(&miss, "", ferry_text_view(encoding));
            known = ferry_name_format("%s%s%s", known.text, i > 0 ? "|" : "", encoding);
        }
        if (encoding != NULL) continue;
        ferry_complain("--encodings: expected %s, found '%.*s'; %s", known.text, (int)size, list,
                       ferry_near_miss_question(&miss, "try 'ferry help bench'").text);
        return false;
    }
    return true;
}

static bool check_usage(const ferry_call *call)
{
    const bool untrained = ferry_is_given(call, FERRY_OPTION_UNTRAINED);
    if (untrained && call->arguments.operand_count > 1) return refuse("expected MODEL or --untrained, found both");
    if (!untrained && (ferry_is_given(call, FERRY_OPTION_ENCODINGS) || is_option(call, "max-length")))
        return refuse("--encodings and --max-length are for --untrained");
    if (ferry_is_given(call, FERRY_OPTION_INPUT) != ferry_is_given(call, FERRY_OPTION_REFERENCE))
        return refuse("a text needs both --input and --reference");
    return check_encodings(ferry_option_text(call, FERRY_OPTION_ENCODINGS));
}

int ferry_bench_encodings(const ferry_call *call)
{
    if (!check_usage(call)) return FERRY_EXIT_USAGE;
    const bool json = ferry_is_given(call, FERRY_OPTION_JSON), csv = ferry_is_given(call, FERRY_OPTION_CSV),
               untrained = ferry_is_given(call, FERRY_OPTION_UNTRAINED), named = call->arguments.operand_count > 1;
    bench b = {.call = call, .tables = !json && !csv, .input = {.source.descriptor = -1, .reference.descriptor = -1}};
    bool done = check_report(call) && (untrained || measure_models(&b));
    if (b.tables && !untrained && !named && done) putchar('\n');
    if (done && !named && !csv) done = measure_cost(&b);
    done = done && save_report(&b);
    if (done && json) ferry_print_json(&b.comparison);
    if (done && csv) ferry_print_csv(&b.comparison);
    for (size_t i = 0; b.scores != NULL && i < b.comparison.count; i++) free(b.scores[i]);
    free(b.scores);
    ferry_comparison_close(&b.comparison, &b.input);
    ferry_comparison_destroy(&b.comparison);
    return ferry_finish_output(done ? FERRY_EXIT_OK : FERRY_EXIT_FAILED);
}
