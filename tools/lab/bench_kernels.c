/* The speed of products on one thread: the kernels of each ISA and OpenBLAS, compared with the peak of fused
 * multiply-adds; then int8 products, with and without quantizing, compared with the peak of their instruction and with
 * the speed of reading.
 *
 * Warm: the same weight matrix in every call. Cold: a different one in every call, from more memory than the caches
 * near the core hold, as in decoding. OPENBLAS_CORETYPE tells OpenBLAS which CPU to assume.
 *
 *     build/tests/bench_kernels [seconds of one measurement, default 0.01] */
#include "engine/kernels/linear.h"
#include "base/files/file_system.h"
#include "bench_machine.h"
#include "bench_openblas.h"
#include "statistics.h"

#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>

enum { REPETITIONS = 7, MAX_CONTENDERS = 7, COLD_BYTES = 160 << 20, MAX_ROWS = 2048, WARM_ROWS = 128 };

typedef struct shape {
    int32_t rows, K, N;
} shape;

typedef struct bench {
    double seconds; /* of one measurement */
    float *weights; /* COLD_BYTES; later int8 codes */
    float *x;
    float *y;
    ferry_arena *arena;
} bench;

typedef struct contender {
    const char *name;
    const ferry_kernels *kernels; /* NULL: OpenBLAS */
} contender;

static double median(double *values)
{
    return ferry_median(values, REPETITIONS);
}

/* 10⁹ operations per second, or 0 if the peak is unknown. A multiplication with its addition counts as two. */
static double giga_operations(const bench_peak *peak)
{
    return peak->name != NULL ? 2e-9 * peak->measure() : 0;
}

/* Of float32 multiply-adds. */
static double peak(const char *isa)
{
    return giga_operations(&bench_peaks_find(isa)->f32);
}

/* Of the kernels' own instruction for int8. */
static double peak_i8(const char *isa)
{
    const bench_peaks *peaks = bench_peaks_find(isa);
    int last = BENCH_PEAKS - 1;
    while (last > 0 && peaks->i8[last].name == NULL) last--;
    return giga_operations(&peaks->i8[last]);
}

/* ---- products ---- */

static void multiply(const bench *b, const contender *c, shape s, const float *weights)
{
    if (c->kernels != NULL) {
        ferry_context context = {.kernels = c->kernels, .arena = *b->arena};
        const ferry_matrix matrix = {.N = s.N, .K = s.K, .panels = weights};
        if (ferry_linear(&context, b->y, &(ferry_rows){b->x, s.rows, NULL}, &matrix, NULL) != FERRY_OK) exit(1);
        *b->arena = context.arena;
    } else {
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, s.rows, s.N, s.K, 1.0f, b->x, s.K, weights, s.K, 0.0f,
                    b->y, s.N);
    }
}

/* Seconds that `count` products take. */
static double measure(const bench *b, const contender *c, shape s, bool cold, int64_t count)
{
    size_t size = (size_t)s.N * (size_t)s.K, matrices = cold ? COLD_BYTES / sizeof(float) / size : 1;
    double start = ferry_thread_clock();
    for (int64_t i = 0; i < count; i++) multiply(b, c, s, b->weights + (size_t)i % matrices * size);
    return ferry_thread_clock() - start;
}

/* Prints a line: GFLOP/s of every contender and of the peak, as medians of rounds in which they take turns. */
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
        for (int i = 0; i < count; i++)
            seconds[i][r] = measure(b, &contenders[i], s, cold, products[i]) / (double)products[i];
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
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
                compare_contenders(b, contenders, count, (shape){rows[r], sizes[i][0], sizes[i][1]}, cold == 1);
    }
}

/* ---- int8 ---- */

#define MOST_NORMAL 3.0f

/* Of nearly normal distribution, as hidden states and weights are; how many large ones there are decides how fast some
 * products of int8 are. */
static float random_normal(void)
{
    static uint32_t state = 1;
    float sum = 0;
    for (int i = 0; i < 3; i++) {
        state = state * 1664525u + 1013904223u;
        sum += (float)(state >> 8) * 0x1p-23f - 1;
    }
    return sum;
}

/* GB/s of reading `size` bytes of weights: different ones every time (cold), or the same. */
static double reading(const bench *b, const char *isa, size_t size, bool cold)
{
    const size_t count = COLD_BYTES / size;
    double start = ferry_thread_clock();
    for (size_t n = 0; n < count; n++) bench_read(isa, (const char *)b->weights + (cold ? n * size : 0), size);
    double seconds = ferry_thread_clock() - start;
    return 1e-9 * (double)(count * size) / seconds;
}

/* Products of a shape with int8 matrices. */
typedef struct bench_i8 {
    const bench *bench;
    ferry_context context;
    ferry_matrix first;   /* of all that are multiplied */
    ferry_rows_i8 inputs; /* of the shape, quantized */
    void *memory;         /* theirs */
    shape shape;
    bool cold;
} bench_i8;

/* Seconds that `count` products take, with quantizing or (`alone`) without. */
static double measure_i8(bench_i8 *b, bool alone, int64_t count)
{
    const shape s = b->shape;
    size_t size = ferry_int8_size(s.N, s.K), matrices = b->cold ? COLD_BYTES / size : 1;
    double start = ferry_thread_clock();
    for (int64_t i = 0; i < count; i++) {
        ferry_matrix matrix = b->first;
        matrix.int8 += (size_t)i % matrices * size;
        if (alone)
            b->context.kernels->product_i8(b->bench->y, (size_t)s.N, &b->inputs, &matrix);
        else if (ferry_linear(&b->context, b->bench->y, &(ferry_rows){b->bench->x, s.rows, NULL}, &matrix, NULL) !=
                 FERRY_OK)
            exit(1);
    }
    return ferry_thread_clock() - start;
}

/* Seconds of each of REPETITIONS products. */
static void repeat_i8(bench_i8 *b, bool alone, double *seconds)
{
    int64_t products = 1;
    while (measure_i8(b, alone, products) < b->bench->seconds) products *= 2;
    for (int r = 0; r < REPETITIONS; r++) seconds[r] = measure_i8(b, alone, products) / (double)products;
}

/* Quantizes all rows, up to 127. */
static void quantize_all(bench_i8 *b)
{
    const ferry_kernels *kernels = b->context.kernels;
    const ferry_matrix *first = &b->first;
    b->inputs = ferry_rows_i8_begin(kernels, b->shape.rows, &first, 1, b->memory);
    for (int32_t i = 0; i < b->shape.rows; i++) {
        b->inputs.inverse_scales[i] = 127.0f / MOST_NORMAL;
        kernels->quantize(&b->inputs, b->bench->x + (size_t)i * (size_t)b->shape.K, i);
    }
}

/* Bytes that suffice for every ISA. */
static size_t largest_inputs(shape s)
{
    size_t most = 0;
    for (const ferry_kernels *const *k = ferry_kernels_available(); *k != NULL; k++) {
        const size_t size = ferry_rows_i8_size(*k, s.rows, s.K);
        most = size > most ? size : most;
    }
    return most;
}

static void compare_i8(const bench *b, shape s, bool cold)
{
    double peaks[REPETITIONS], reads[REPETITIONS], seconds[REPETITIONS], best = 0;
    const ferry_kernels *const *kernels = ferry_kernels_available();
    const double work = 2e-9 * (double)s.rows * (double)s.K * (double)s.N;
    const size_t size = ferry_int8_size(s.N, s.K);
    bench_i8 run = {.bench = b, .shape = s, .cold = cold};
    run.memory = aligned_alloc(64, ferry_round_up(largest_inputs(s), 64));
    if (run.memory == NULL) exit(1);
    for (int r = 0; r < REPETITIONS; r++) {
        peaks[r] = peak_i8(kernels[0]->isa);
        reads[r] = reading(b, kernels[0]->isa, size, cold);
    }
    printf("%s %5d × %5d × %5d", cold ? "cold" : "warm", s.rows, s.K, s.N);
    for (int i = 0; kernels[i] != NULL; i++) {
        run.context = (ferry_context){.kernels = kernels[i]};
        run.first = (ferry_matrix){FERRY_MATRIX_INT8, .N = s.N, .K = s.K, .int8 = (const int8_t *)b->weights,
                                   .multiplier = 1.0f};
        if (ferry_matrix_begin(&run.first, kernels[i], &run.context.arena, NULL) != FERRY_OK) exit(1);
        /* Some kernels are faster once many rows have been multiplied. */
        for (int32_t rows = 0; rows < WARM_ROWS; rows += s.rows) measure_i8(&run, false, 1);
        repeat_i8(&run, false, seconds);
        const double whole = median(seconds);
        quantize_all(&run);
        repeat_i8(&run, true, seconds);
        const double alone = median(seconds);
        if (i == 0) best = alone;
        printf(" %8.1f %8.1f", work / whole, work / alone);
        if (s.rows <= kernels[i]->nibbles_rows) {
            run.first.kind = FERRY_MATRIX_NIBBLES;
            quantize_all(&run);
            repeat_i8(&run, true, seconds);
            printf(" %8.1f", work / median(seconds));
        } else if (kernels[i]->nibbles_rows > 0) {
            printf(" %8s", "");
        }
        ferry_arena_destroy(&run.context.arena);
    }
    const double top = median(peaks), speed = 1e-9 * (double)size / best;
    printf(" %8.1f %5.0f %% %8.1f %5.0f %%\n", top, top > 0 ? 100.0 * work / best / top : 0.0, speed,
           100.0 * speed / median(reads));
    fflush(stdout);
    free(run.memory);
}

static void print_table_i8(const bench *b)
{
    static const int32_t sizes[][2] = {{256, 256}, {512, 512}, {512, 2048}, {2048, 512}, {512, 58112}};
    static const int32_t rows[] = {1, 4, 16, 64, 128, 256};
    const char *best = ferry_kernels_available()[0]->isa;
    int8_t *codes = (int8_t *)b->weights;
    for (size_t i = 0; i < COLD_BYTES; i++) codes[i] = (int8_t)(random_normal() * (127 / MOST_NORMAL));
    printf("\nint8 GOP/s with quantizing, alone, and alone with nibbles; peak, share, GB/s of codes and share of "
           "reading: %s, alone\n"
           "             rows ×     K ×     N",
           best);
    for (const ferry_kernels *const *k = ferry_kernels_available(); *k != NULL; k++)
        printf(" %*s", (*k)->nibbles_rows > 0 ? 26 : 17, (*k)->isa);
    printf("     peak   share     GB/s   share\n");
    for (int cold = 0; cold < 2; cold++) {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
                compare_i8(b, (shape){rows[r], sizes[i][0], sizes[i][1]}, cold == 1);
    }
}

int main(int argc, char **argv)
{
    ferry_arena arena = {0};
    bench b = {.seconds = argc > 1 ? atof(argv[1]) : 0.01, .arena = &arena};
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
    for (size_t i = 0; i < (size_t)MAX_ROWS * 2048; i++) b.x[i] = random_normal();
    for (const ferry_kernels *const *k = ferry_kernels_available(); *k != NULL; k++)
        contenders[count++] = (contender){.name = (*k)->isa, .kernels = *k};
    contenders[count++] = (contender){.name = "openblas"};
    printf("OpenBLAS's core: %s%s\n", ferry_openblas_core(), ferry_openblas_matches_cpu() ? "" : " (below this CPU)");
    print_table(&b, contenders, count);
    print_table_i8(&b);
    ferry_arena_destroy(&arena);
    free(b.weights);
    free(b.x);
    free(b.y);
    return 0;
}
