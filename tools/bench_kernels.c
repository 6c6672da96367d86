/* How fast products are on one thread: each ISA's kernels and OpenBLAS against the peak of fused multiply-adds; then
 * int8 products, alone and with the quantising, against the peak of the instruction for them and the speed of reading.
 *
 * Warm: one weight matrix again and again. Cold: a different one in every call, out of more memory than the caches near
 * the core hold, as in decoding. OPENBLAS_CORETYPE tells OpenBLAS which CPU to take this one for.
 *
 *     build/tests/bench_kernels [seconds of one measurement, default 0.01] */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include "../engine/kernels/linear.h"
#include "bench_openblas.h"

#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { REPETITIONS = 7, MAX_CONTENDERS = 7, COLD_BYTES = 160 << 20, MAX_ROWS = 2048 };

typedef struct shape {
    int32_t rows, K, N;
} shape;

typedef struct bench {
    double seconds; /* of one measurement */
    float *weights; /* COLD_BYTES; as codes: any bytes */
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

__attribute__((target("avx512f,avx512vnni"))) static double peak_vnni(void)
{
    __m512i acc[CHAINS], factor = _mm512_set1_epi8(3);
    _Pragma("GCC unroll 12") for (int i = 0; i < CHAINS; i++) acc[i] = _mm512_set1_epi32(i);
    double start = now();
    for (int n = 0; n < PEAK_STEPS; n++) {
        _Pragma("GCC unroll 12") for (int i = 0; i < CHAINS; i++)
        {
            acc[i] = _mm512_dpbusd_epi32(acc[i], factor, factor);
            __asm__ volatile("" : "+v"(acc[i]));
        }
    }
    return 2.0 * PEAK_STEPS * CHAINS * 64.0 / (now() - start) * 1e-9;
}

/* Four tiles of sums, all from the same two. Whoever finds the table asks for the use of tiles. */
__attribute__((target("amx-tile,amx-int8"))) static double peak_amx(void)
{
    enum { STEPS = 20000, TILES = 4 };
    struct {
        uint8_t palette, start_row, reserved[14];
        uint16_t row_bytes[16];
        uint8_t rows[16];
    } shapes = {.palette = 1};
    for (int t = 0; t < 6; t++) {
        shapes.row_bytes[t] = 64;
        shapes.rows[t] = 16;
    }
    __asm__ volatile("" : : "m"(shapes));
    _tile_loadconfig(&shapes); /* zeroes the tiles */
    double start = now();
    for (int n = 0; n < STEPS; n++) {
        _tile_dpbssd(0, 4, 5);
        _tile_dpbssd(1, 4, 5);
        _tile_dpbssd(2, 4, 5);
        _tile_dpbssd(3, 4, 5);
    }
    double seconds = now() - start;
    _tile_release();
    return 2.0 * STEPS * TILES * 16 * 16 * 64 / seconds * 1e-9;
}
#endif

/* GOP/s of int8 multiplications and additions, or 0 where no instruction for them is known. */
static double peak_i8(const char *isa)
{
#if defined(__x86_64__)
    if (strcmp(isa, "avx512vnni") == 0) return peak_vnni();
    if (strcmp(isa, "amx") == 0) return peak_amx();
#else
    (void)isa;
#endif
    return 0.0;
}

#if defined(__x86_64__)
static bool has_avx512(const char *isa)
{
    return strncmp(isa, "avx512", 6) == 0 || strcmp(isa, "amx") == 0;
}
#endif

/* GFLOP/s, or 0 where no fused multiply-add is known. */
static double peak(const char *isa)
{
#if defined(__x86_64__)
    if (strcmp(isa, "avx2") == 0) return peak_avx2();
    if (has_avx512(isa)) return peak_avx512();
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

/* ---- int8 ---- */

/* Adds up `size` bytes as four streams side by side. */
typedef uint64_t line __attribute__((vector_size(64), may_alias));

static inline __attribute__((always_inline)) void read_lines(line *sums, const char *data, size_t size)
{
    const line *lines = (const line *)(const void *)data;
    const size_t quarter = size / sizeof *lines / 4;
    for (size_t i = 0; i < quarter; i++) {
        _Pragma("GCC unroll 4") for (size_t j = 0; j < 4; j++) sums[j] += lines[j * quarter + i];
    }
}

static void read_plain(line *sums, const char *data, size_t size)
{
    read_lines(sums, data, size);
}

#if defined(__x86_64__)
__attribute__((target("avx512f"))) static void read_avx512(line *sums, const char *data, size_t size)
{
    line own[4] = {sums[0], sums[1], sums[2], sums[3]};
    read_lines(own, data, size);
    memcpy(sums, own, sizeof own);
}
#endif

/* GB/s of reading `size` bytes of the weights: other ones every time, or the same. */
static double reading(const bench *b, const char *isa, size_t size, bool cold)
{
    const size_t count = COLD_BYTES / size;
    void (*read)(line *, const char *, size_t) = read_plain;
    line sums[4] = {{0}};
#if defined(__x86_64__)
    if (has_avx512(isa)) read = read_avx512;
#else
    (void)isa;
#endif
    double start = now();
    for (size_t n = 0; n < count; n++) read(sums, (const char *)b->weights + (cold ? n * size : 0), size);
    double seconds = now() - start;
    __asm__ volatile("" : : "m"(sums));
    return 1e-9 * (double)(count * size) / seconds;
}

/* What is multiplied by int8 matrices. */
typedef struct bench_i8 {
    const bench *bench;
    ferry_context context;
    ferry_rows_i8 inputs; /* of the shape, quantised */
    shape shape;
    bool cold;
} bench_i8;

/* Seconds that `count` products take: with the quantising, or without. */
static double measure_i8(bench_i8 *b, bool alone, int64_t count)
{
    const shape s = b->shape;
    size_t size = ferry_codes_size(s.N, s.K), matrices = b->cold ? COLD_BYTES / size : 1;
    double start = now();
    for (int64_t i = 0; i < count; i++) {
        ferry_matrix matrix = {.N = s.N, .K = s.K, .multiplier = 1.0f};
        matrix.codes = (const int8_t *)b->bench->weights + (size_t)i % matrices * size;
        if (alone) {
            b->context.kernels->product_i8(b->bench->y, &b->inputs, matrix.codes, s.N, NULL, 1.0f, NULL);
        } else if (ferry_linear(&b->context, b->bench->y, b->bench->x, s.rows, &matrix, NULL) != FERRY_OK) {
            exit(1);
        }
    }
    return now() - start;
}

/* Seconds of each of REPETITIONS products. */
static void repeat_i8(bench_i8 *b, bool alone, double *seconds)
{
    int64_t products = 1;
    while (measure_i8(b, alone, products) < b->bench->seconds) products *= 2;
    for (int r = 0; r < REPETITIONS; r++) seconds[r] = measure_i8(b, alone, products) / (double)products;
}

/* Every row's factor is 1. */
static void quantise_all(bench_i8 *b)
{
    const ferry_kernels *kernels = b->context.kernels;
    for (int32_t i = 0; i < b->shape.rows; i++) {
        b->inputs.factors[i] = 1.0f;
        kernels->quantise(&b->inputs, b->bench->x + (size_t)i * (size_t)b->shape.K, i);
    }
}

static void compare_i8(const bench *b, shape s, bool cold)
{
    double peaks[REPETITIONS], reads[REPETITIONS], seconds[REPETITIONS], best = 0;
    const ferry_kernels *const *kernels = ferry_kernels_available();
    const double work = 2e-9 * (double)s.rows * (double)s.K * (double)s.N;
    const size_t size = ferry_codes_size(s.N, s.K), rows = (size_t)s.rows;
    bench_i8 run = {.bench = b, .shape = s, .cold = cold, .inputs = {.rows = s.rows, .K = s.K}};
    run.inputs.factors = aligned_alloc(64, (rows * sizeof(float) + 63) / 64 * 64);
    run.inputs.sums = aligned_alloc(64, (rows * sizeof(int32_t) + 63) / 64 * 64);
    run.inputs.codes = aligned_alloc(64, rows * (size_t)((s.K + 63) / 64 * 64));
    if (run.inputs.factors == NULL || run.inputs.sums == NULL || run.inputs.codes == NULL) exit(1);
    for (int r = 0; r < REPETITIONS; r++) {
        peaks[r] = peak_i8(kernels[0]->isa);
        reads[r] = reading(b, kernels[0]->isa, size, cold);
    }
    printf("%s %5d × %5d × %5d", cold ? "cold" : "warm", s.rows, s.K, s.N);
    for (int i = 0; kernels[i] != NULL; i++) {
        run.context = (ferry_context){.kernels = kernels[i]};
        repeat_i8(&run, false, seconds);
        const double whole = median(seconds);
        quantise_all(&run);
        repeat_i8(&run, true, seconds);
        const double alone = median(seconds);
        if (i == 0) best = alone;
        printf(" %8.1f %8.1f", work / whole, work / alone);
        ferry_arena_destroy(&run.context.arena);
    }
    const double top = median(peaks), speed = 1e-9 * (double)size / best;
    printf(" %8.1f %5.0f %% %8.1f %5.0f %%\n", top, top > 0 ? 100.0 * work / best / top : 0.0, speed,
           100.0 * speed / median(reads));
    fflush(stdout);
    free(run.inputs.factors);
    free(run.inputs.sums);
    free(run.inputs.codes);
}

static void print_table_i8(const bench *b)
{
    static const int32_t sizes[][2] = {{256, 256}, {512, 512}, {512, 2048}, {2048, 512}, {512, 58112}};
    static const int32_t rows[] = {1, 4, 16, 64, 128, 256};
    const char *best = ferry_kernels_available()[0]->isa;
    printf("\nint8 GOP/s with the quantising and alone; peak, share, GB/s of codes and share of reading: %s, alone\n"
           "             rows ×     K ×     N",
           best);
    for (const ferry_kernels *const *k = ferry_kernels_available(); *k != NULL; k++) printf(" %17s", (*k)->isa);
    printf("     peak   share     GB/s   share\n");
    for (int cold = 0; cold < 2; cold++) {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
                compare_i8(b, (shape){rows[r], sizes[i][0], sizes[i][1]}, cold == 1);
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
    b.y = aligned_alloc(64, (size_t)256 * 58112 * sizeof *b.y + (size_t)MAX_ROWS * 2048 * sizeof *b.y);
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
    print_table_i8(&b);
    free(b.weights);
    free(b.x);
    free(b.y);
    return 0;
}
