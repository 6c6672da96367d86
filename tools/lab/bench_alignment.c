/* bench_alignment MODEL TEXT BEAM: what options.alignment adds to the processor time of translating the lines of a text
 * in one thread, in rounds that take turns; and what ferry_score takes for the same lines and their translations. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime, getline */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "engine/ferry.h"
#include "statistics.h"

enum { ROUNDS = 9, MOST_LINES = 4096 };

static ferry_text lines[MOST_LINES], translations[MOST_LINES];
static size_t count;

static double milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void need(ferry_status status, const ferry_error *error)
{
    if (status == FERRY_OK) return;
    fprintf(stderr, "%s\n", error->message);
    exit(1);
}

static void read_lines(const char *path)
{
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t capacity = 0;
    ssize_t size;
    while (file != NULL && count < MOST_LINES && (size = getline(&line, &capacity, file)) > 0) {
        lines[count++] = (ferry_text){line, (size_t)size - 1};
        line = NULL;
        capacity = 0;
    }
    if (file != NULL) fclose(file);
}

static ferry_translator *create(const ferry_model *model, int beam, int aligned)
{
    ferry_options options;
    ferry_error error;
    ferry_translator *translator;
    ferry_options_default(model, &options, sizeof options);
    options.beam = beam;
    options.scores = 0;
    options.alignment = aligned;
    need(ferry_translator_create(model, &options, &translator, &error), &error);
    return translator;
}

/* Milliseconds of a call. */
static double run(ferry_translator *translator, int scores, ferry_result **result)
{
    ferry_error error;
    const double begin = milliseconds();
    need(scores ? ferry_score(translator, lines, translations, count, result, &error)
                : ferry_translate(translator, lines, count, result, &error),
         &error);
    return milliseconds() - begin;
}

int main(int argc, char **argv)
{
    double times[3][ROUNDS], ratios[2][ROUNDS];
    ferry_model *model;
    ferry_result *kept, *result;
    ferry_error error;
    if (argc != 4) return 2;
    read_lines(argv[2]);
    need(ferry_model_open(argv[1], 0, &model, &error), &error);
    ferry_translator *translators[] = {create(model, atoi(argv[3]), 0), create(model, atoi(argv[3]), 1)};
    run(translators[0], 0, &kept);
    for (size_t i = 0; i < count; i++) translations[i] = ferry_result_text(kept, i, 0);
    for (int round = 0; round < ROUNDS; round++) {
        for (int kind = 0; kind < 3; kind++) {
            times[kind][round] = run(translators[kind % 2], kind == 2, &result);
            ferry_result_destroy(result);
        }
        for (int kind = 1; kind < 3; kind++) ratios[kind - 1][round] = times[kind][round] / times[0][round];
    }
    printf("%s, beam %s, %zu lines: translate %.0f ms; with alignment %.0f ms, %.3f times; score %.0f ms, %.3f times\n",
           argv[1], argv[3], count, ferry_median(times[0], ROUNDS), ferry_median(times[1], ROUNDS),
           ferry_median(ratios[0], ROUNDS), ferry_median(times[2], ROUNDS), ferry_median(ratios[1], ROUNDS));
    ferry_result_destroy(kept);
    for (int i = 0; i < 2; i++) ferry_translator_destroy(translators[i]);
    ferry_model_close(model);
    return 0;
}
