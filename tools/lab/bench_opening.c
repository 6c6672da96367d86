/* bench_opening MODEL...: the time that ferry_model_open takes, the files in the page cache: first, median and best of
 * 51, as time of day and as processor time. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include <stdio.h>
#include <time.h>

#include "engine/ferry.h"
#include "statistics.h"

enum { RUNS = 51 };

static double milliseconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void print(const char *what, double *times)
{
    const double first = times[0], median = ferry_median(times, RUNS); /* sorts */
    printf("  %-9s first %6.2f  median %6.2f  best %6.2f ms\n", what, first, median, times[0]);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        double elapsed[RUNS], processor[RUNS];
        for (int run = 0; run < RUNS; run++) {
            ferry_error error;
            ferry_model *model;
            elapsed[run] = -milliseconds(CLOCK_MONOTONIC);
            processor[run] = -milliseconds(CLOCK_PROCESS_CPUTIME_ID);
            if (ferry_model_open(argv[i], 0, &model, &error) != FERRY_OK) {
                fprintf(stderr, "%s\n", error.message);
                return 1;
            }
            elapsed[run] += milliseconds(CLOCK_MONOTONIC);
            processor[run] += milliseconds(CLOCK_PROCESS_CPUTIME_ID);
            ferry_model_close(model);
        }
        printf("%s\n", argv[i]);
        print("elapsed", elapsed);
        print("processor", processor);
    }
    return 0;
}
