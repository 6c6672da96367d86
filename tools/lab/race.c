#include "race.h"

#include <math.h>
#include <stdlib.h>

#include "base/status.h"
#include "base/system.h"

enum { SINGLE_LINES = 48, ROUND_LINES = 128, ROUNDS = 5 };

typedef struct times {
    double line_ms[SINGLE_LINES], token_ms[SINGLE_LINES], tokens_per_s[ROUNDS];
} times;

typedef struct race {
    const ferry_racer *racers; /* [count] */
    size_t count;
    times *times;                  /* [count] */
    ferry_text lines[ROUND_LINES]; /* [line_count] */
    size_t line_count, singles;
} race;

static ferry_status run(ferry_translator *translator, const ferry_text *lines, size_t count, double *seconds,
                        size_t *tokens, ferry_error *error)
{
    ferry_result *result;
    const double start = ferry_clock();
    FERRY_TRY(ferry_translate(translator, lines, count, &result, error));
    *seconds = ferry_clock() - start;
    *tokens = 0;
    for (size_t i = 0; i < count; i++) *tokens += ferry_result_token_count(result, i, 0);
    ferry_result_destroy(result);
    return FERRY_OK;
}

static ferry_status warm_up(const race *r, ferry_error *error)
{
    double seconds;
    size_t tokens;
    for (size_t m = 0; m < r->count; m++) {
        FERRY_TRY(run(r->racers[m].single, r->lines, 1, &seconds, &tokens, error));
        FERRY_TRY(run(r->racers[m].many, r->lines, 1, &seconds, &tokens, error));
    }
    return FERRY_OK;
}

/* Each model translates a line before any of them translates the next one. */
static ferry_status run_single(const race *r, ferry_error *error)
{
    for (size_t i = 0; i < r->singles; i++)
        for (size_t m = 0; m < r->count; m++) {
            double seconds;
            size_t tokens;
            times *one = &r->times[m];
            FERRY_TRY(run(r->racers[m].single, &r->lines[i * r->line_count / r->singles], 1, &seconds, &tokens, error));
            one->line_ms[i] = 1e3 * seconds;
            one->token_ms[i] = tokens > 0 ? one->line_ms[i] / (double)tokens : NAN;
        }
    return FERRY_OK;
}

static ferry_status run_rounds(const race *r, ferry_error *error)
{
    for (size_t round = 0; round < ROUNDS; round++)
        for (size_t m = 0; m < r->count; m++) {
            double seconds;
            size_t tokens;
            FERRY_TRY(run(r->racers[m].many, r->lines, r->line_count, &seconds, &tokens, error));
            r->times[m].tokens_per_s[round] = (double)tokens / seconds;
        }
    return FERRY_OK;
}

/* Backwards: the others need the first one's times unsorted. */
static void evaluate(race *r, ferry_race_speed *speeds)
{
    double ratios[SINGLE_LINES];
    for (size_t m = r->count; m-- > 0;) {
        times *one = &r->times[m];
        for (size_t i = 0; i < r->singles; i++) ratios[i] = one->token_ms[i] / r->times[0].token_ms[i];
        speeds[m].token_ratio = ferry_median_interval(ratios, r->singles);
        speeds[m].line_ms = ferry_median_interval(one->line_ms, r->singles);
        speeds[m].token_ms = ferry_median_interval(one->token_ms, r->singles);
        speeds[m].tokens_per_s = ferry_median_interval(one->tokens_per_s, r->line_count > 0 ? ROUNDS : 0);
    }
}

ferry_status ferry_race(const ferry_racer *racers, size_t count, const ferry_text *lines, size_t line_count,
                        ferry_race_speed *speeds, ferry_error *error)
{
    race r = {.racers = racers, .count = count};
    r.line_count = line_count < ROUND_LINES ? line_count : ROUND_LINES;
    r.singles = line_count < SINGLE_LINES ? line_count : SINGLE_LINES;
    for (size_t i = 0; i < r.line_count; i++) r.lines[i] = lines[i * line_count / r.line_count];
    r.times = calloc(count, sizeof *r.times);
    if (r.times == NULL) return ferry_fail_memory(error, "a measurement", count, sizeof *r.times);
    ferry_status status = FERRY_OK;
    if (r.line_count > 0) {
        status = warm_up(&r, error);
        if (status == FERRY_OK) status = run_single(&r, error);
        if (status == FERRY_OK) status = run_rounds(&r, error);
    }
    if (status == FERRY_OK) evaluate(&r, speeds);
    free(r.times);
    return status;
}
