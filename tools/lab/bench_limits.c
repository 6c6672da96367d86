#include "bench_limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/files/file_system.h"
#include "tools/command.h"

/* ---- measuring ---- */

static const double MEASURED_SECONDS = 0.2; /* of each limit: the best run within this time counts */

static double best_peak(const bench_peak *peak)
{
    double best = 0;
    if (peak->name == NULL) return 0;
    const double end = ferry_clock() + MEASURED_SECONDS;
    do {
        const double found = peak->measure();
        best = found > best ? found : best;
    } while (ferry_clock() < end);
    return best;
}

/* Bytes per second when reading the same `size` bytes repeatedly, as each step of a single hypothesis does. */
static bool measure_reading(const char *isa, size_t size, double *speed)
{
    const size_t rounded = ferry_round_up(size, 256);
    *speed = 0;
    if (size == 0) return true;
    void *data = ferry_aligned_alloc(256, rounded);
    if (data == NULL) {
        ferry_complain("out of memory");
        return false;
    }
    memset(data, 1, rounded); /* otherwise all of it would be one page of zeros */
    const double end = ferry_clock() + MEASURED_SECONDS;
    do {
        const double start = ferry_thread_clock();
        bench_read(isa, data, rounded);
        const double found = (double)rounded / (ferry_thread_clock() - start);
        *speed = found > *speed ? found : *speed;
    } while (ferry_clock() < end);
    ferry_aligned_free(data);
    return true;
}

bool ferry_limits_measure(ferry_limits *limits, const ferry_inspect_work *work, double seconds, int32_t threads,
                          const char *isa)
{
    *limits = (ferry_limits){.work = *work, .seconds = seconds, .threads = threads, .peaks = bench_peaks_find(isa)};
    limits->f32 = best_peak(&limits->peaks->f32);
    for (int i = 0; i < BENCH_PEAKS; i++) limits->i8[i] = best_peak(&limits->peaks->i8[i]);
    return measure_reading(isa, work->steps > 0 ? (size_t)(work->weight_bytes / work->steps) : 0, &limits->reading);
}

/* ---- reporting ---- */

/* Products of one kind of numbers. */
typedef struct products {
    const char *name, *title;
    int64_t count;
    const bench_peak *peaks;
    const double *speeds; /* of the peaks */
    int peak_count;
} products;

enum { KINDS = 2 };

static void list_products(const ferry_limits *limits, products list[KINDS])
{
    const bench_peaks *peaks = limits->peaks;
    list[0] = (products){"int8", "int8 products", limits->work.int8_products, peaks->i8, limits->i8, BENCH_PEAKS};
    list[1] = (products){"float32", "float32 products", limits->work.float_products, &peaks->f32, &limits->f32, 1};
}

/* Per cent of what all threads can do; 0 if the limit is unknown. */
static double share(const ferry_limits *limits, int64_t done, double limit)
{
    return limit > 0 ? 100 * (double)done / limits->seconds / (limits->threads * limit) : 0;
}

void ferry_limits_print_json(const ferry_limits *limits)
{
    products list[KINDS];
    list_products(limits, list);
    printf(", \"limits\": {");
    for (int k = 0; k < KINDS; k++) {
        const products *p = &list[k];
        printf("\"%s\": {\"multiply_adds\": %lld, \"per_s\": %.0f, \"peaks\": {", p->name, (long long)p->count,
               (double)p->count / limits->seconds);
        for (int i = 0; i < p->peak_count && p->peaks[i].name != NULL; i++)
            printf("%s\"%s\": {\"per_s\": %.0f, \"share\": %.3f}", i > 0 ? ", " : "", p->peaks[i].name,
                   limits->threads * p->speeds[i], share(limits, p->count, p->speeds[i]));
        printf("}}, ");
    }
    printf("\"weights\": {\"bytes\": %lld, \"bytes_per_s\": %.0f, \"steps\": %lld, \"reading\": {\"bytes_per_s\": "
           "%.0f, \"share\": %.3f}}}",
           (long long)limits->work.weight_bytes, (double)limits->work.weight_bytes / limits->seconds,
           (long long)limits->work.steps, limits->threads * limits->reading,
           share(limits, limits->work.weight_bytes, limits->reading));
}

static void print_products(const ferry_limits *limits, const products *p)
{
    printf("%-16s %12.1f %12.1f  ", p->title, 1e-9 * (double)p->count, 1e-9 * (double)p->count / limits->seconds);
    for (int i = 0; i < p->peak_count && p->peaks[i].name != NULL; i++)
        printf("%s %.1f %% of %s (%.1f)", i > 0 ? "," : "", share(limits, p->count, p->speeds[i]), p->peaks[i].name,
               1e-9 * limits->threads * p->speeds[i]);
    puts(p->peaks[0].name == NULL ? " no limit is known" : "");
}

void ferry_limits_print(const ferry_limits *limits)
{
    const double bytes = (double)limits->work.weight_bytes;
    products list[KINDS];
    list_products(limits, list);
    printf("\n%-16s %12s %12s   share of the limits, %d x one thread's\n", "work", "10^9", "10^9/s",
           (int)limits->threads);
    for (int k = 0; k < KINDS; k++)
        if (list[k].count > 0) print_products(limits, &list[k]);
    printf("%-16s %12.1f %12.1f   %.1f %% of reading %.1f MB repeatedly (%.1f)\n", "bytes of weights", 1e-9 * bytes,
           1e-9 * bytes / limits->seconds, share(limits, limits->work.weight_bytes, limits->reading),
           limits->work.steps > 0 ? 1e-6 * bytes / (double)limits->work.steps : 0,
           1e-9 * limits->threads * limits->reading);
}
