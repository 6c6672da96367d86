/* `ferry bench translate --limits`: what a run's products did, beside what the machine can do. */
#ifndef FERRY_LAB_CMD_BENCH_LIMITS_H
#define FERRY_LAB_CMD_BENCH_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/ferry_inspect.h"
#include "bench_machine.h"

/* Speeds of the limits are those of one thread. */
typedef struct ferry_limits {
    ferry_inspect_work work;
    double seconds; /* that the run took */
    int32_t threads;
    const bench_peaks *peaks;    /* which ones */
    double f32, i8[BENCH_PEAKS]; /* multiplications a second of each of them */
    double reading;              /* bytes a second */
} ferry_limits;

/* Measures the limits of a run on the kernels `isa` that did `work`, about a second. Prints a message and returns false
 * when memory is out. */
bool ferry_limits_measure(ferry_limits *limits, const ferry_inspect_work *work, double seconds, int32_t threads,
                          const char *isa);
/* A member of a JSON object, after a comma; or lines of a table. */
void ferry_limits_print_json(const ferry_limits *limits);
void ferry_limits_print(const ferry_limits *limits);

#endif
