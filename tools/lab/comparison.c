#include "comparison.h"

#include <math.h>

const ferry_bucket ferry_buckets[FERRY_BUCKETS] = {
    {1, 8, "1-8"},     {9, 16, "9-16"},   {17, 31, "17-31"},   {32, 47, "32-47"},
    {48, 63, "48-63"}, {64, 95, "64-95"}, {96, 127, "96-127"}, {128, INT32_MAX, "128-"},
};

const ferry_metric_description ferry_metrics[FERRY_METRIC_COUNT] = {
    [FERRY_METRIC_BLEU] = {"bleu", "BLEU", 1, 1},
    [FERRY_METRIC_CHRF] = {"chrf", "chrF", 1, 1},
    [FERRY_METRIC_LIKELIHOOD] = {"nats", "nats", -1, 2},
    [FERRY_METRIC_END] = {"end_nats", "end, nats", -1, 2},
    [FERRY_METRIC_LENGTH_RATIO] = {"length_ratio", "length ratio", 0, 2},
    [FERRY_METRIC_EARLY_STOP] = {"early_stop", "early stops", -1, 2},
    [FERRY_METRIC_REPETITION] = {"repetition", "repetition", -1, 2},
};

enum { SOURCE = 32 };

const ferry_cost_case ferry_cost_cases[FERRY_COST_CASES] = {
    {SOURCE, 0}, {512, 0},     {FERRY_COST_LONGEST, 0}, /* encoder */
    {SOURCE, 1}, {SOURCE, 64}, {SOURCE, 512},           /* decoder, from FERRY_COST_FIRST_STEP on */
};

const char *ferry_cell_name(size_t cell)
{
    return cell == 0 ? "all" : ferry_buckets[cell - 1].name;
}

ferry_difference *ferry_comparison_difference(const ferry_comparison *comparison, size_t cell, ferry_metric metric,
                                              size_t a, size_t b)
{
    const size_t count = comparison->count;
    return &comparison->differences[((cell * FERRY_METRIC_COUNT + metric) * count + a) * count + b];
}

size_t ferry_comparison_best(const ferry_comparison *comparison, size_t cell, ferry_metric metric)
{
    size_t best = comparison->count;
    for (size_t m = 0; ferry_metrics[metric].better != 0 && m < comparison->count; m++) {
        const double value = ferry_metrics[metric].better * comparison->models[m].cells[cell].metrics[metric].value;
        if (isnan(value)) continue;
        if (best == comparison->count ||
            value > ferry_metrics[metric].better * comparison->models[best].cells[cell].metrics[metric].value)
            best = m;
    }
    return best;
}

void ferry_comparison_destroy(ferry_comparison *comparison)
{
    for (size_t i = 0; i < comparison->count; i++)
        if (comparison->models[i].probes != NULL) ferry_probes_destroy(comparison->models[i].probes);
    ferry_arena_destroy(&comparison->arena);
}
