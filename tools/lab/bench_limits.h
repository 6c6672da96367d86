/* `ferry bench translate --limits`: the work of the products of a run, compared with the limits of the machine. */
#ifndef FERRY_LAB_BENCH_LIMITS_H
#define FERRY_LAB_BENCH_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/ferry_inspect.h"
#include "bench_machine.h"

/* The limits are those of one thread. */
typedef struct ferry_limits {
    ferry_inspect_work work;
    double seconds; /* of the run */
    int32_t threads;
    const bench_peaks *peaks;    /* the instructions that were measured */
    double f32, i8[BENCH_PEAKS]; /* multiplications per second of each */
    double reading;              /* bytes per second */
} ferry_limits;

/* Measures, for about a second, the limits of a run that did `work` with the kernels `isa`. Prints a message and
 * returns false when out of memory. */
bool ferry_limits_measure(ferry_limits *limits, const ferry_inspect_work *work, double seconds, int32_t threads,
                          const char *isa);
/* Print a comma and a member of a JSON object; or lines of a table. */
void ferry_limits_print_json(const ferry_limits *limits);
void ferry_limits_print(const ferry_limits *limits);

#endif
