#include "bench_speed.h"

#include <math.h>
#include <stdlib.h>

#include "base/system.h"
#include "comparison_input.h"
#include "statistics.h"

enum { SINGLE_LINES = 48, ROUND_LINES = 128, ROUNDS = 5 };

typedef struct runner {
    ferry_translator *single, *many;
    double line_ms[SINGLE_LINES], token_ms[SINGLE_LINES], tokens_per_s[ROUNDS];
} runner;

typedef struct race {
    ferry_comparison *comparison;
    runner *runners;   /* [comparison->count] */
    ferry_text *lines; /* [count] that all models can translate, evenly spread over the text */
    size_t count;
} race;

static bool all_can_translate(const ferry_comparison *comparison, size_t line)
{
    bool all = comparison->text.buckets[line] >= 0;
    for (size_t m = 0; m < comparison->count; m++) all = all && comparison->models[m].failures[line] == NULL;
    return all;
}

static ferry_status choose_lines(race *r, ferry_error *error)
{
    const ferry_compared_text *text = &r->comparison->text;
    r->lines = calloc(text->count, sizeof *r->lines);
    if (r->lines == NULL) return ferry_fail_memory(error, "lines", text->count * sizeof *r->lines);
    for (size_t i = 0; i < text->count; i++)
        if (all_can_translate(r->comparison, i)) r->lines[r->count++] = text->sources[i];
    const size_t kept = r->count < ROUND_LINES ? r->count : ROUND_LINES;
    for (size_t i = 0; i < kept; i++) r->lines[i] = r->lines[i * r->count / kept];
    r->count = kept;
    return FERRY_OK;
}

static ferry_status run(ferry_translator *translator, const ferry_text *lines, size_t count, double *seconds,
                        size_t *tokens, ferry_error *error)
{
    ferry_result *result;
    const double start = ferry_clock();
    FERRY_TRY(ferry_translate(translator, lines, count, &result, error));
    *seconds = ferry_clock() - start;
    *tokens = 0;
    for (size_t i = 0; i < count; i++) *tokens += ferry_result_tokens(result, i, 0);
    ferry_result_destroy(result);
    return FERRY_OK;
}

/* Each model translates `line` before any of them translates the next one. */
static ferry_status run_single(race *r, size_t singles, ferry_error *error)
{
    for (size_t i = 0; i < singles; i++)
        for (size_t m = 0; m < r->comparison->count; m++) {
            double seconds;
            size_t tokens;
            runner *one = &r->runners[m];
            FERRY_TRY(run(one->single, &r->lines[i * r->count / singles], 1, &seconds, &tokens, error));
            one->line_ms[i] = 1e3 * seconds;
            one->token_ms[i] = tokens > 0 ? one->line_ms[i] / (double)tokens : NAN;
        }
    return FERRY_OK;
}

static ferry_status run_rounds(race *r, ferry_error *error)
{
    for (size_t round = 0; round < ROUNDS; round++)
        for (size_t m = 0; m < r->comparison->count; m++) {
            double seconds;
            size_t tokens;
            FERRY_TRY(run(r->runners[m].many, r->lines, r->count, &seconds, &tokens, error));
            r->runners[m].tokens_per_s[round] = (double)tokens / seconds;
        }
    return FERRY_OK;
}

/* Backwards: the others need the first one's times unsorted. */
static void evaluate(race *r, size_t singles)
{
    double ratios[SINGLE_LINES];
    for (size_t m = r->comparison->count; m-- > 0;) {
        runner *one = &r->runners[m];
        ferry_compared_speed *speed = &r->comparison->models[m].speed;
        for (size_t i = 0; i < singles; i++) ratios[i] = one->token_ms[i] / r->runners[0].token_ms[i];
        speed->token_ratio = ferry_median_interval(ratios, singles);
        speed->line_ms = ferry_median_interval(one->line_ms, singles);
        speed->token_ms = ferry_median_interval(one->token_ms, singles);
        speed->tokens_per_s = ferry_median_interval(one->tokens_per_s, r->count > 0 ? ROUNDS : 0);
    }
}

/* The first line is translated once before it counts. */
static ferry_status prepare(race *r, ferry_model *const *models, ferry_error *error)
{
    FERRY_TRY(choose_lines(r, error));
    r->runners = calloc(r->comparison->count, sizeof *r->runners);
    if (r->runners == NULL) return ferry_fail_memory(error, "a measurement", r->comparison->count * sizeof *r->runners);
    for (size_t m = 0; m < r->comparison->count; m++) {
        const ferry_options one = ferry_comparison_options(r->comparison, models[m], 1);
        const ferry_options many = ferry_comparison_options(r->comparison, models[m], r->comparison->threads);
        double seconds;
        size_t tokens;
        FERRY_TRY(ferry_translator_create(models[m], &one, &r->runners[m].single, error));
        FERRY_TRY(ferry_translator_create(models[m], &many, &r->runners[m].many, error));
        if (r->count == 0) continue;
        FERRY_TRY(run(r->runners[m].single, r->lines, 1, &seconds, &tokens, error));
        FERRY_TRY(run(r->runners[m].many, r->lines, 1, &seconds, &tokens, error));
    }
    return FERRY_OK;
}

ferry_status ferry_measure_speed(ferry_comparison *comparison, ferry_model *const *models, ferry_error *error)
{
    race r = {.comparison = comparison};
    ferry_status status = prepare(&r, models, error);
    const size_t singles = r.count < SINGLE_LINES ? r.count : SINGLE_LINES;
    if (status == FERRY_OK) status = run_single(&r, singles, error);
    if (status == FERRY_OK && r.count > 0) status = run_rounds(&r, error);
    if (status == FERRY_OK) evaluate(&r, singles);
    for (size_t m = 0; r.runners != NULL && m < comparison->count; m++) {
        ferry_translator_destroy(r.runners[m].single);
        ferry_translator_destroy(r.runners[m].many);
    }
    free(r.runners);
    free(r.lines);
    return status;
}
