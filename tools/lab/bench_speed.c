#include "bench_speed.h"

#include <stdlib.h>

#include "base/status.h"
#include "comparison_input.h"
#include "race.h"

static bool all_can_translate(const ferry_comparison *comparison, size_t line)
{
    bool all = comparison->text.buckets[line] >= 0;
    for (size_t m = 0; m < comparison->count; m++) all = all && comparison->models[m].failures[line] == NULL;
    return all;
}

static ferry_status create_racers(const ferry_comparison *comparison, ferry_model *const *models, ferry_racer *racers,
                                  ferry_error *error)
{
    for (size_t m = 0; m < comparison->count; m++) {
        const ferry_options one = ferry_comparison_options(comparison, models[m], 1);
        const ferry_options many = ferry_comparison_options(comparison, models[m], comparison->threads);
        FERRY_TRY(ferry_translator_create(models[m], &one, &racers[m].single, error));
        FERRY_TRY(ferry_translator_create(models[m], &many, &racers[m].many, error));
    }
    return FERRY_OK;
}

/* `lines` [comparison->text.count] takes those that all models can translate. */
static ferry_status measure(ferry_comparison *comparison, ferry_model *const *models, ferry_racer *racers,
                            ferry_text *lines, ferry_compared_speed *speeds, ferry_error *error)
{
    size_t count = 0;
    for (size_t i = 0; i < comparison->text.count; i++)
        if (all_can_translate(comparison, i)) lines[count++] = comparison->text.sources[i];
    FERRY_TRY(create_racers(comparison, models, racers, error));
    FERRY_TRY(ferry_race(racers, comparison->count, lines, count, speeds, error));
    for (size_t m = 0; m < comparison->count; m++) comparison->models[m].speed = speeds[m];
    return FERRY_OK;
}

ferry_status ferry_measure_speed(ferry_comparison *comparison, ferry_model *const *models, ferry_error *error)
{
    const size_t count = comparison->count, lines_size = comparison->text.count * sizeof(ferry_text);
    ferry_racer *racers = calloc(count, sizeof *racers);
    ferry_text *lines = calloc(1, lines_size);
    ferry_compared_speed *speeds = calloc(count, sizeof *speeds);
    ferry_status status;
    if (racers == NULL || lines == NULL || speeds == NULL)
        status = ferry_fail_memory(error, "a measurement", lines_size + count * (sizeof *racers + sizeof *speeds));
    else
        status = measure(comparison, models, racers, lines, speeds, error);
    for (size_t m = 0; racers != NULL && m < count; m++) {
        ferry_translator_destroy(racers[m].single);
        ferry_translator_destroy(racers[m].many);
    }
    free(racers);
    free(lines);
    free(speeds);
    return status;
}
