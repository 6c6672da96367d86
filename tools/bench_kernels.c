/* How fast products are on one thread: each ISA's kernels and OpenBLAS against the peak of fused multiply-adds.
 *
 * Warm: one weight matrix again and again. Cold: a different one in every call, out of more memory than the caches near
 * the core hold, as in decoding. OPENBLAS_CORETYPE tells OpenBLAS which CPU to take this one for.
 *
 *     build/tests/bench_kernels [seconds of one measurement, default 0.01] */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include "../engine/kernels/kernels.h"
#include "bench_openblas.h"

#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { REPETITIONS = 7, MAX_CONTENDERS = 6, COLD_BYTES = 160 << 20, MAX_ROWS = 2048 };

typedef struct shape {
    int32_t rows, K, N;
} shape;

typedef struct bench {
    double seconds; /* of one measurement */
    float *weights; /* COLD_BYTES */
    float *x;
    float *y;
} bench;

typedef struct contender {
    const char *name;
    const ferry_kernels *kernels; /* NULL: OpenBLAS */
} contender;

/* The thread's own time, which waiting for the processor does not lengthen. */
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values)
{
    qsort(values, REPETITIONS, sizeof *values, compare);
    return values[REPETITIONS / 2];
}

/* ---- the peak: independent chains of fused multiply-adds in registers ---- */

#if defined(__x86_64__)
#include <immintrin.h>

enum { CHAINS = 12, PEAK_STEPS = 100000 };

#define DEFINE_PEAK(name, vector, isa, set, fma)                                                                       \
    __attribute__((target(isa))) static double name(void)                                                              \
    {                                                                                                                  \
        vector acc[CHAINS], factor = set(0.5f);                                                                        \
        _Pragma("GCC unroll 12") for (int i = 0; i < CHAINS; i++) acc[i] = set((float)i);                              \
        double start = now();                                                                                          \
        for (int n = 0; n < PEAK_STEPS; n++) {                                                                         \
            _Pragma("GCC unroll 12") for (int i = 0; i < CHAINS; i++)                                                  \
            {                                                                                                          \
                acc[i] = fma(acc[i], factor, factor);                                                                  \
                __asm__ volatile("" : "+v"(acc[i]));                                                                   \
            }                                                                                                          \
        }                                                                                                              \
        return 2.0 * PEAK_STEPS * CHAINS * (double)(sizeof(vector) / sizeof(float)) / (now() - start) * 1e-9;          \
    }
DEFINE_PEAK(peak_avx2, __m256, "avx2,fma", _mm256_set1_ps, _mm256_fmadd_ps)
DEFINE_PEAK(peak_avx512, __m512, "avx512f", _mm512_set1_ps, _mm512_fmadd_ps)
#endif

/* GFLOP/s, or 0 where no fused multiply-add is known. */
static double peak(const char *isa)
{
#if defined(__x86_64__)
    if (strcmp(isa, "avx2") == 0) return peak_avx2();
    if (strcmp(isa, "avx512") == 0) return peak_avx512();
#else
    (void)isa;
#endif
    return 0.0;
}

/* ---- products ---- */

static void multiply(const bench *b, const contender *c, shape s, const float *weights)
{
    if (c->kernels != NULL) {
        c->kernels->product(b->y, (size_t)s.N, b->x, (size_t)s.K, s.rows, weights, s.K, s.N, NULL);
    } else {
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, s.rows, s.N, s.K, 1.0f, b->x, s.K, weights, s.K, 0.0f,
                    b->y, s.N);
    }
}

/* Seconds that `count` products take. */
static double measure(const bench *b, const contender *c, shape s, bool cold, int64_t count)
{
    size_t size = (size_t)s.N * (size_t)s.K, matrices = cold ? COLD_BYTES / sizeof(float) / size : 1;
    double start = now();
    for (int64_t i = 0; i < count; i++) multiply(b, c, s, b->weights + (size_t)i % matrices * size);
    return now() - start;
}

/* A line: GFLOP/s of every contender, by medians of rounds in which each takes its turn, the peak too. */
static void compare_contenders(const bench *b, const contender *contenders, int count, shape s, bool cold)
{
    double seconds[MAX_CONTENDERS][REPETITIONS], peaks[REPETITIONS];
    double work = 2e-9 * (double)s.rows * (double)s.K * (double)s.N;
    int64_t products[MAX_CONTENDERS];
    for (int i = 0; i < count; i++) {
        products[i] = 1;
        while (measure(b, &contenders[i], s, cold, products[i]) < b->seconds) products[i] *= 2;
    }
    for (int r = 0; r < REPETITIONS; r++) {
        for (int i = 0; i < count; i++) {
            seconds[i][r] = measure(b, &contenders[i], s, cold, products[i]) / (double)products[i];
        }
        peaks[r] = peak(contenders[0].name);
    }
    printf("%s %5d × %5d × %5d", cold ? "cold" : "warm", s.rows, s.K, s.N);
    for (int i = 0; i < count; i++) printf(" %9.1f", work / median(seconds[i]));
    double best = median(peaks), ours = median(seconds[0]);
    printf(" %9.1f", best);
    if (best > 0) printf(" %6.0f %%", 100.0 * work / ours / best);
    printf(" %9.1f\n", 4e-9 * (double)s.K * (double)s.N / ours);
    fflush(stdout);
}

static void print_table(const bench *b, const contender *contenders, int count)
{
    static const int32_t sizes[][2] = {{256, 256},  {256, 1024}, {1024, 256}, {512, 512},
                                       {512, 2048}, {2048, 512}, {512, 58112}};
    static const int32_t rows[] = {1, 4, 16, 24, 64};
    printf("\nGFLOP/s      rows ×     K ×     N");
    for (int i = 0; i < count; i++) printf(" %9s", contenders[i].name);
    printf("  FMA peak    share  GB/s of weights (%s)\n", contenders[0].name);
    compare_contenders(b, contenders, count, (shape){2048, 2048, 2048}, false);
    for (int cold = 0; cold < 2; cold++) {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
                compare_contenders(b, contenders, count, (shape){rows[r], sizes[i][0], sizes[i][1]}, cold == 1);
            }
        }
    }
}

int main(int argc, char **argv)
{
    bench b = {.seconds = argc > 1 ? atof(argv[1]) : 0.01};
    contender contenders[MAX_CONTENDERS];
    int count = 0;
    b.weights = aligned_alloc(64, COLD_BYTES);
    b.x = aligned_alloc(64, (size_t)MAX_ROWS * 2048 * sizeof *b.x);
    b.y = aligned_alloc(64, (size_t)64 * 58112 * sizeof *b.y + (size_t)MAX_ROWS * 2048 * sizeof *b.y);
    if (b.weights == NULL || b.x == NULL || b.y == NULL || b.seconds <= 0) {
        fprintf(stderr, "bench_kernels: out of memory, or not a time: %s\n", argc > 1 ? argv[1] : "");
        return 1;
    }
    for (size_t i = 0; i < COLD_BYTES / sizeof(float); i++) b.weights[i] = (float)(i % 17) * 0.125f - 1.0f;
    for (size_t i = 0; i < (size_t)MAX_ROWS * 2048; i++) b.x[i] = (float)(i % 13) * 0.125f - 0.75f;
    for (const ferry_kernels *const *k = ferry_kernels_available(); *k != NULL; k++) {
        contenders[count++] = (contender){.name = (*k)->isa, .kernels = *k};
    }
    contenders[count++] = (contender){.name = "openblas"};
    printf("OpenBLAS's core: %s%s\n", ferry_openblas_core(), ferry_openblas_matches_cpu() ? "" : " (below this CPU)");
    print_table(&b, contenders, count);
    free(b.weights);
    free(b.x);
    free(b.y);
    return 0;
}
