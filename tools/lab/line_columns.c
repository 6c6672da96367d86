#include "line_columns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/repetition.h"
#include "resampling.h"

/* ---- counting ---- */

bool ferry_repeats(const int32_t *ids, size_t count)
{
    return ferry_repetition_find(ids, count, FERRY_REPEATED_PIECES).times >= 3;
}

static void add(double *columns, double sum, double weight)
{
    columns[0] += sum;
    columns[1] += weight;
}

static void count_likelihoods(const ferry_line_pieces *line, double *columns)
{
    for (size_t i = 0; i < line->reference_count; i++) {
        add(columns + FERRY_COLUMNS_LIKELIHOOD, line->nats[i], 1);
        add(columns + FERRY_COLUMNS_CURVE + 2 * (i / FERRY_CURVE_WIDTH), line->nats[i], 1);
    }
    add(columns + FERRY_COLUMNS_END, line->nats[line->reference_count], 1);
}

void ferry_count_pieces(const ferry_line_pieces *line, bool failed, double *columns)
{
    const double pieces = (double)line->translation_count, expected = (double)line->reference_count;
    const bool repeats = ferry_repeats(line->translation, line->translation_count) &&
                         !ferry_repeats(line->reference, line->reference_count);
    if (line->nats != NULL) count_likelihoods(line, columns);
    if (failed) return;
    add(columns + FERRY_COLUMNS_LENGTH_RATIO, pieces, expected);
    add(columns + FERRY_COLUMNS_EARLY_STOP, !line->limited && pieces < FERRY_EARLY * expected, 1);
    add(columns + FERRY_COLUMNS_REPETITION, line->limited || repeats, 1);
}

/* ---- scoring ---- */

static double quotient(const double *sums)
{
    return sums[1] > 0 ? sums[0] / sums[1] : NAN;
}

typedef struct scoring {
    size_t column;
    double (*score)(const double *sums);
} scoring;
static const scoring scorings[FERRY_METRIC_COUNT] = {
    [FERRY_METRIC_BLEU] = {FERRY_COLUMNS_BLEU, ferry_bleu_score},
    [FERRY_METRIC_CHRF] = {FERRY_COLUMNS_CHRF, ferry_chrf_score},
    [FERRY_METRIC_LIKELIHOOD] = {FERRY_COLUMNS_LIKELIHOOD, quotient},
    [FERRY_METRIC_END] = {FERRY_COLUMNS_END, quotient},
    [FERRY_METRIC_LENGTH_RATIO] = {FERRY_COLUMNS_LENGTH_RATIO, quotient},
    [FERRY_METRIC_EARLY_STOP] = {FERRY_COLUMNS_EARLY_STOP, quotient},
    [FERRY_METRIC_REPETITION] = {FERRY_COLUMNS_REPETITION, quotient},
};

/* The lines of a cell, and memory to resample them. */
typedef struct cell_work {
    const ferry_comparison *comparison;
    const ferry_line_columns *columns;
    size_t *lines; /* [count] */
    size_t count;
    uint32_t *times;       /* [count] */
    double *sums;          /* [width] */
    double *metric_scores; /* [FERRY_METRIC_COUNT, resamples] */
    double *curve_scores;  /* [curve_count, resamples] */
} cell_work;

/* The sums of the cell's lines, each `times` times. */
static void add_lines(const cell_work *w)
{
    const size_t width = w->columns->width;
    memset(w->sums, 0, width * sizeof *w->sums);
    for (size_t i = 0; i < w->count; i++) {
        const double *line = w->columns->sums + w->lines[i] * width, times = w->times[i];
        if (times == 0) continue;
        for (size_t c = 0; c < width; c++) w->sums[c] += times * line[c];
    }
}

static double score(const cell_work *w, size_t metric)
{
    return w->count > 0 ? scorings[metric].score(w->sums + scorings[metric].column) : NAN;
}

static const double *curve_sums(const cell_work *w, size_t point)
{
    return w->sums + FERRY_COLUMNS_CURVE + 2 * point;
}

static void resample(const cell_work *w)
{
    const size_t resamples = (size_t)w->comparison->resamples, points = w->comparison->text.curve_count;
    uint64_t random = w->comparison->seed;
    for (size_t r = 0; r < resamples; r++) {
        ferry_resample(&random, w->count, w->times);
        add_lines(w);
        for (size_t m = 0; m < FERRY_METRIC_COUNT; m++) w->metric_scores[m * resamples + r] = score(w, m);
        for (size_t p = 0; p < points; p++) w->curve_scores[p * resamples + r] = quotient(curve_sums(w, p));
    }
}

static void find_lines(cell_work *w, size_t cell)
{
    const ferry_compared_text *text = &w->comparison->text;
    w->count = 0;
    for (size_t i = 0; i < text->count; i++)
        if (cell == 0 || text->buckets[i] == (int32_t)cell - 1) w->lines[w->count++] = i;
}

/* `copy` [resamples] is sorted in place of the scores, which stay in the order of the resamples. */
static void fill_cell(const cell_work *w, double *copy, ferry_compared_cell *cell)
{
    const size_t resamples = (size_t)w->comparison->resamples;
    for (size_t i = 0; i < w->count; i++) {
        w->times[i] = 1;
        cell->failed += w->columns->failed[w->lines[i]];
        cell->unscored += w->columns->unscored[w->lines[i]];
    }
    add_lines(w);
    for (size_t m = 0; m < FERRY_METRIC_COUNT; m++) cell->metrics[m].value = score(w, m);
    for (size_t p = 0; p < w->comparison->text.curve_count; p++) {
        cell->curve[p].pieces = (size_t)curve_sums(w, p)[1];
        cell->curve[p].nats.value = quotient(curve_sums(w, p));
    }
    resample(w);
    for (size_t m = 0; m < FERRY_METRIC_COUNT; m++) {
        memcpy(copy, w->metric_scores + m * resamples, resamples * sizeof *copy);
        cell->metrics[m] = ferry_resampled_interval(cell->metrics[m].value, copy, resamples);
    }
    for (size_t p = 0; p < w->comparison->text.curve_count; p++)
        cell->curve[p].nats =
            ferry_resampled_interval(cell->curve[p].nats.value, w->curve_scores + p * resamples, resamples);
}

ferry_status ferry_score_model(ferry_comparison *comparison, ferry_compared_model *model,
                               const ferry_line_columns *columns, double *scores, ferry_error *error)
{
    const size_t lines = comparison->text.count, points = comparison->text.curve_count,
                 resamples = (size_t)comparison->resamples;
    ferry_arena *arena = &comparison->arena;
    bool failed = false;
    for (size_t c = 0; c < FERRY_CELLS; c++)
        model->cells[c].curve = ferry_arena_take(arena, points + 1, sizeof(ferry_curve_point), &failed);
    const ferry_arena_mark mark = ferry_arena_begin(arena);
    cell_work w = {.comparison = comparison, .columns = columns};
    w.lines = ferry_arena_take(arena, lines + 1, sizeof *w.lines, &failed);
    w.times = ferry_arena_take(arena, lines + 1, sizeof *w.times, &failed);
    w.sums = ferry_arena_take(arena, columns->width, sizeof *w.sums, &failed);
    w.curve_scores = ferry_arena_take(arena, (points + 1) * resamples, sizeof *w.curve_scores, &failed);
    double *copy = ferry_arena_take(arena, resamples, sizeof *copy, &failed);
    for (size_t c = 0; !failed && c < FERRY_CELLS; c++) {
        w.metric_scores = scores + c * FERRY_METRIC_COUNT * resamples;
        find_lines(&w, c);
        fill_cell(&w, copy, &model->cells[c]);
    }
    ferry_arena_end(arena, mark);
    return failed ? ferry_fail_memory(error, "resampling", (points + 1) * resamples * sizeof(double)) : FERRY_OK;
}

/* ---- differences ---- */

/* Whether all lines of the cell count for the metric. */
static bool is_complete(const ferry_compared_cell *cell, size_t metric)
{
    if (metric == FERRY_METRIC_BLEU || metric == FERRY_METRIC_CHRF) return true;
    return (metric == FERRY_METRIC_LIKELIHOOD || metric == FERRY_METRIC_END ? cell->unscored : cell->failed) == 0;
}

static ferry_difference negative(const ferry_difference *d)
{
    return (ferry_difference){{-d->difference.value, -d->difference.high, -d->difference.low}, d->p};
}

static ferry_difference compare(const ferry_compared_cell *a, const double *a_scores, const ferry_compared_cell *b,
                                const double *b_scores, size_t metric, size_t resamples, double *differences)
{
    if (!is_complete(a, metric) || !is_complete(b, metric)) return (ferry_difference){{NAN, NAN, NAN}, NAN};
    for (size_t r = 0; r < resamples; r++) differences[r] = a_scores[r] - b_scores[r];
    const double p = ferry_resampled_p(differences, resamples);
    const double value = a->metrics[metric].value - b->metrics[metric].value;
    return (ferry_difference){ferry_resampled_interval(value, differences, resamples), p};
}

ferry_status ferry_score_difference(ferry_comparison *comparison, size_t a, const double *a_scores, size_t b,
                                    const double *b_scores, ferry_error *error)
{
    const size_t resamples = (size_t)comparison->resamples;
    double *differences = calloc(resamples, sizeof *differences);
    if (differences == NULL) return ferry_fail_memory(error, "differences", resamples * sizeof *differences);
    for (size_t c = 0; c < FERRY_CELLS; c++)
        for (size_t m = 0; m < FERRY_METRIC_COUNT; m++) {
            const size_t first = (c * FERRY_METRIC_COUNT + m) * resamples;
            const ferry_difference found =
                compare(&comparison->models[a].cells[c], a_scores + first, &comparison->models[b].cells[c],
                        b_scores + first, m, resamples, differences);
            *ferry_comparison_difference(comparison, c, (ferry_metric)m, a, b) = found;
            *ferry_comparison_difference(comparison, c, (ferry_metric)m, b, a) = negative(&found);
        }
    free(differences);
    return FERRY_OK;
}
