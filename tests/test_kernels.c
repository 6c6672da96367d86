/* Every ISA that runs here against plain double-precision arithmetic, against OpenBLAS, and against the other ISAs. */
#include "../engine/base/half.h"
#include "../engine/kernels/cpu.h"
#include "../engine/kernels/kernels.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#if !defined(FERRY_WITHOUT_OPENBLAS) /* tests/cross.sh */
#include <cblas.h>

#include "../tools/bench_openblas.h"
#endif

#define EACH_ISA(k) for (const ferry_kernels *const *k = ferry_kernels_available(); *k != NULL; k++)
#define GUARD 12345.25f
#define COUNT(array) (int32_t)(sizeof(array) / sizeof *(array))

/* ---- material ---- */

static uint32_t random_state;

static int restart_random(void **state)
{
    (void)state;
    random_state = 1;
    return 0;
}

static float random_between(float low, float high)
{
    random_state = random_state * 1664525u + 1013904223u;
    return low + (high - low) * (float)(random_state >> 8) * 0x1p-24f;
}

static void fill_random(float *x, size_t n, float low, float high)
{
    for (size_t i = 0; i < n; i++) x[i] = random_between(low, high);
}

static void fill(float *x, size_t n, float value)
{
    for (size_t i = 0; i < n; i++) x[i] = value;
}

/* n floats, 64-byte aligned, and not many more, so that a sanitizer sees what is read behind them. */
static float *new_floats(size_t n)
{
    float *x = aligned_alloc(64, (n + 15) / 16 * 16 * sizeof *x);
    assert_non_null(x);
    return x;
}

static float largest_of(const float *x, int32_t n)
{
    float max = -INFINITY;
    for (int32_t i = 0; i < n; i++) max = x[i] > max ? x[i] : max;
    return max;
}

static void assert_close(double found, double expected, double tolerance)
{
    if (!(fabs(found - expected) <= tolerance)) fail_msg("%.9g instead of %.9g (± %.3g)", found, expected, tolerance);
}

static void assert_same_bytes(const float *a, const float *b, size_t n)
{
    assert_memory_equal(a, b, n * sizeof *a);
}

/* ---- product ---- */

typedef struct product_case {
    int32_t rows, K, N;
    size_t ldx, ldy;
    float *x;      /* [rows, ldx], not aligned */
    float *weight; /* [N, K] */
    float *panels;
    float *bias;
    float *y; /* one guard before, [rows, ldy], guards behind */
    float *memory[5];
} product_case;

static product_case new_product(int32_t rows, int32_t K, int32_t N, size_t more_x, size_t more_y)
{
    product_case c = {.rows = rows, .K = K, .N = N, .ldx = (size_t)K + more_x, .ldy = (size_t)N + more_y};
    size_t sizes[] = {(size_t)rows * c.ldx + 1, (size_t)N * (size_t)K, ferry_panels_count(N, K), (size_t)N,
                      (size_t)rows * c.ldy + 18};
    for (int i = 0; i < 5; i++) {
        c.memory[i] = new_floats(sizes[i]);
        fill_random(c.memory[i], sizes[i], -1.0f, 1.0f);
    }
    c.x = c.memory[0] + 1;
    c.weight = c.memory[1];
    c.panels = c.memory[2];
    c.bias = c.memory[3];
    c.y = c.memory[4] + 1;
    ferry_panels_pack(c.panels, c.weight, N, K);
    return c;
}

static void destroy_product(product_case *c)
{
    for (int i = 0; i < 5; i++) free(c->memory[i]);
}

/* Σ_k x·W + bias in double precision; *bound receives what a chain of K float additions may be off by. */
static double product_oracle(const product_case *c, int32_t i, int32_t n, const float *bias, double *bound)
{
    double sum = 0, size = 1;
    for (int32_t k = 0; k < c->K; k++) {
        double term = (double)c->x[(size_t)i * c->ldx + (size_t)k] * (double)c->weight[n * c->K + k];
        sum += term;
        size += fabs(term);
    }
    *bound = size * 0x1p-24 * (4.0 + sqrt((double)c->K));
    return bias == NULL ? sum : sum + (double)bias[n];
}

/* Nothing but [rows, N] was written. */
static void check_guards(const product_case *c)
{
    assert_true(c->y[-1] == GUARD);
    for (int32_t i = 0; i < c->rows; i++) {
        for (size_t n = (size_t)c->N; n < c->ldy; n++) assert_true(c->y[(size_t)i * c->ldy + n] == GUARD);
    }
    for (size_t n = 0; n < 16; n++) assert_true(c->y[(size_t)c->rows * c->ldy + n] == GUARD);
}

static void check_product(const ferry_kernels *k, product_case *c, const float *bias)
{
    fill(c->y - 1, (size_t)c->rows * c->ldy + 18, GUARD);
    k->product(c->y, c->ldy, c->x, c->ldx, c->rows, c->panels, c->K, c->N, bias);
    check_guards(c);
    for (int32_t i = 0; i < c->rows; i++) {
        for (int32_t n = 0; n < c->N; n++) {
            double bound, expected = product_oracle(c, i, n, bias, &bound);
            assert_close((double)c->y[(size_t)i * c->ldy + (size_t)n], expected, bound);
        }
    }
}

static void check_product_shape(int32_t rows, int32_t K, int32_t N, size_t more_x, size_t more_y)
{
    product_case c = new_product(rows, K, N, more_x, more_y);
    EACH_ISA(k)
    {
        check_product(*k, &c, c.bias);
        check_product(*k, &c, NULL);
    }
    destroy_product(&c);
}

static void product_matches_double_precision(void **state)
{
    (void)state;
    static const int32_t short_K[] = {1, 2, 3, 5, 8, 15, 16, 17, 31, 40};
    for (int32_t rows = 1; rows <= 17; rows++) {
        for (int32_t N = 1; N <= 50; N++) {
            check_product_shape(rows, short_K[(rows + N) % COUNT(short_K)], N, (size_t)(N % 3), (size_t)(rows % 4));
        }
        for (int32_t K = 1; K <= 40; K++) check_product_shape(rows, K, 33 + K % 16, 1, 5);
    }
    static const int32_t large[][3] = {{1, 64, 64},   {5, 256, 130},  {14, 512, 48}, {15, 513, 70},  {29, 511, 100},
                                       {57, 600, 35}, {113, 64, 200}, {7, 2048, 40}, {64, 2048, 33}, {200, 40, 17}};
    for (int32_t i = 0; i < COUNT(large); i++) check_product_shape(large[i][0], large[i][1], large[i][2], 3, 2);
}

#if !defined(FERRY_WITHOUT_OPENBLAS)
static void product_matches_openblas(void **state)
{
    (void)state;
    static const int32_t shapes[][3] = {{1, 512, 512}, {13, 100, 77}, {30, 2048, 96}, {64, 256, 256}, {3, 17, 5}};
    for (int32_t s = 0; s < COUNT(shapes); s++) {
        product_case c = new_product(shapes[s][0], shapes[s][1], shapes[s][2], 4, 0);
        size_t count = (size_t)c.rows * (size_t)c.N;
        float *expected = new_floats(count);
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, c.rows, c.N, c.K, 1.0f, c.x, (blasint)c.ldx, c.weight, c.K,
                    0.0f, expected, c.N);
        for (size_t i = 0; i < count; i++) expected[i] += c.bias[i % (size_t)c.N];
        double tolerance = 1e-6 * (double)c.K;
        EACH_ISA(k)
        {
            (*k)->product(c.y, c.ldy, c.x, c.ldx, c.rows, c.panels, c.K, c.N, c.bias);
            for (size_t i = 0; i < count; i++) assert_close((double)c.y[i], (double)expected[i], tolerance);
        }
        free(expected);
        destroy_product(&c);
    }
}

#endif

/* For every number of rows and every place among them, with the same bytes as alone. */
static void product_row_depends_on_itself_alone(void **state)
{
    (void)state;
    static const int32_t shapes[][2] = {{64, 100}, {700, 70}, {512, 16}, {33, 7}};
    for (int32_t s = 0; s < COUNT(shapes); s++) {
        product_case c = new_product(130, shapes[s][0], shapes[s][1], 1, 0);
        size_t N = (size_t)c.N;
        float *alone = new_floats((size_t)c.rows * N);
        EACH_ISA(k)
        {
            for (size_t i = 0; i < (size_t)c.rows; i++) {
                (*k)->product(alone + i * N, N, c.x + i * c.ldx, c.ldx, 1, c.panels, c.K, c.N, c.bias);
            }
            for (int32_t rows = 1; rows <= c.rows; rows += rows < 40 ? 1 : 30) {
                size_t first = (size_t)(rows % 3 < c.rows - rows ? rows % 3 : 0);
                (*k)->product(c.y, N, c.x + first * c.ldx, c.ldx, rows, c.panels, c.K, c.N, c.bias);
                assert_same_bytes(c.y, alone + first * N, (size_t)rows * N);
            }
        }
        free(alone);
        destroy_product(&c);
    }
}

/* ---- attention ---- */

enum { MAX_BLOCKS = 24, MAX_KEYS = 4 * MAX_BLOCKS, MAX_HEAD = 128, MAX_HEADS = 6, ATTENTION_ROWS = 40, OFFSET = 48 };

typedef struct attention_case {
    int32_t rows, width, heads, count;
    size_t ldq, lda, inner; /* inner: floats of all heads */
    ferry_past keys, values;
    const float *blocks[MAX_BLOCKS];
    float *memory[MAX_BLOCKS];
    float *q; /* [rows, ldq] */
    float *a; /* [heads, rows] with lda */
} attention_case;

static float *key_element(const attention_case *c, int32_t h, int32_t j, int32_t d)
{
    return c->memory[j / 4] + OFFSET + (size_t)h * c->keys.head + d / 4 * 16 + j % 4 * 4 + d % 4;
}

static float *value_element(const attention_case *c, int32_t h, int32_t j, int32_t d)
{
    return c->memory[j / 4] + c->values.offset + (size_t)h * c->values.head + (size_t)(j % 4) * c->values.stride + d;
}

/* What must not be read, or must not matter, is NaN. */
static void fill_past(attention_case *c)
{
    for (int32_t j = 0; j < (c->count + 3) / 4 * 4; j++) {
        for (int32_t h = 0; h < c->heads; h++) {
            for (int32_t d = 0; d < (c->width + 3) / 4 * 4; d++) {
                *key_element(c, h, j, d) = j >= c->count ? NAN : d >= c->width ? 0.0f : random_between(-1.0f, 1.0f);
            }
            for (int32_t d = 0; d < c->width; d++) {
                *value_element(c, h, j, d) = j >= c->count ? NAN : random_between(-1.0f, 1.0f);
            }
        }
    }
}

static attention_case new_attention(int32_t rows, int32_t heads, int32_t width, int32_t count)
{
    attention_case c = {.rows = rows, .width = width, .heads = heads, .count = count};
    size_t key = (size_t)((width + 3) / 4 * 16), value = (size_t)((width + 15) / 16 * 16), H = (size_t)heads;
    c.inner = H * (size_t)width;
    c.ldq = c.inner + 3;
    c.lda = (size_t)count + 1;
    c.keys = (ferry_past){.offset = OFFSET, .head = key, .heads = heads, .width = width, .count = count};
    c.values = c.keys;
    c.values.offset = OFFSET + H * key;
    c.values.head = value;
    c.values.stride = H * value;
    for (int b = 0; b < (count + 3) / 4; b++) { /* the others are NULL */
        size_t floats = c.values.offset + 4 * H * value;
        c.memory[b] = new_floats(floats);
        fill(c.memory[b], floats, NAN);
        c.blocks[b] = c.memory[b];
    }
    c.q = new_floats((size_t)rows * c.ldq);
    c.a = new_floats(H * (size_t)rows * c.lda);
    fill_random(c.q, (size_t)rows * c.ldq, -1.0f, 1.0f);
    fill_random(c.a, H * (size_t)rows * c.lda, 0.0f, 1.0f);
    fill_past(&c);
    return c;
}

/* The pasts of a case, which may have moved. */
static const ferry_past *keys_of(attention_case *c)
{
    c->keys.blocks = c->blocks;
    return &c->keys;
}

static const ferry_past *values_of(attention_case *c)
{
    c->values.blocks = c->blocks;
    return &c->values;
}

static void destroy_attention(attention_case *c)
{
    for (int b = 0; b < MAX_BLOCKS; b++) free(c->memory[b]);
    free(c->q);
    free(c->a);
}

static void check_scores(const ferry_kernels *k, attention_case *c)
{
    size_t written = (size_t)((c->count + 15) / 16 * 16), ldy = written + 2, lines = (size_t)(c->heads * c->rows);
    float *y = new_floats(lines * ldy + 16);
    fill(y, lines * ldy + 16, GUARD);
    k->scores(y, ldy, c->q, c->ldq, c->rows, keys_of(c));
    for (size_t line = 0; line < lines; line++) {
        int32_t h = (int32_t)line / c->rows, i = (int32_t)line % c->rows;
        const float *q = c->q + (size_t)i * c->ldq + h * c->width;
        for (int32_t j = 0; j < c->count; j++) {
            double sum = 0;
            for (int32_t d = 0; d < c->width; d++) sum += (double)q[d] * (double)*key_element(c, h, j, d);
            assert_close((double)y[line * ldy + (size_t)j], sum, 1e-6 * sqrt((double)c->width) + 1e-6);
        }
        for (size_t j = written; j < ldy; j++) assert_true(y[line * ldy + j] == GUARD);
    }
    assert_true(y[lines * ldy] == GUARD);
    free(y);
}

static void check_context(const ferry_kernels *k, attention_case *c)
{
    size_t ldy = c->inner + 3;
    float *y = new_floats((size_t)c->rows * ldy + 16);
    fill(y, (size_t)c->rows * ldy + 16, GUARD);
    k->context(y, ldy, c->a, c->lda, c->rows, values_of(c));
    for (int32_t i = 0; i < c->rows; i++) {
        const float *row = y + (size_t)i * ldy;
        for (int32_t e = 0; e < (int32_t)c->inner; e++) {
            int32_t h = e / c->width, d = e % c->width;
            const float *a = c->a + (size_t)(h * c->rows + i) * c->lda;
            double sum = 0;
            for (int32_t j = 0; j < c->count; j++) sum += (double)a[j] * (double)*value_element(c, h, j, d);
            assert_close((double)row[e], sum, 1e-6 * sqrt((double)c->count) + 1e-6);
        }
        for (size_t e = c->inner; e < ldy; e++) assert_true(row[e] == GUARD);
    }
    assert_true(y[(size_t)c->rows * ldy] == GUARD);
    free(y);
}

/* A row and a head among many are what they are alone, byte for byte. */
static void check_attention_rows(const ferry_kernels *k, attention_case *c)
{
    size_t columns = (size_t)((c->count + 15) / 16 * 16), lines = (size_t)(c->heads * c->rows);
    float *all = new_floats(lines * columns), *context = new_floats((size_t)c->rows * c->inner);
    float alone[MAX_KEYS + MAX_HEAD];
    k->scores(all, columns, c->q, c->ldq, c->rows, keys_of(c));
    k->context(context, c->inner, c->a, c->lda, c->rows, values_of(c));
    for (size_t line = 0; line < lines; line++) {
        size_t h = line / (size_t)c->rows, i = line % (size_t)c->rows, width = (size_t)c->width;
        ferry_past keys = c->keys, values = c->values;
        keys.heads = values.heads = 1;
        keys.offset += h * keys.head;
        values.offset += h * values.head;
        k->scores(alone, columns, c->q + i * c->ldq + h * width, c->ldq, 1, &keys);
        assert_same_bytes(alone, all + line * columns, (size_t)c->count);
        k->context(alone, width, c->a + line * c->lda, c->lda, 1, &values);
        assert_same_bytes(alone, context + i * c->inner + h * width, width);
    }
    free(all);
    free(context);
}

static void attention_matches_double_precision(void **state)
{
    (void)state;
    static const int32_t widths[] = {1, 8, 15, 16, 32, 40, 64, 80, 100, 128};
    static const int32_t rows[] = {1, 2, 3, 5, 7, ATTENTION_ROWS};
    for (int32_t w = 0; w < COUNT(widths); w++) {
        for (int32_t keys = 1; keys <= MAX_KEYS; keys += keys < 34 ? 1 : 7) {
            attention_case c = new_attention(rows[(w + keys) % COUNT(rows)], keys % MAX_HEADS + 1, widths[w], keys);
            EACH_ISA(k)
            {
                check_scores(*k, &c);
                check_context(*k, &c);
                check_attention_rows(*k, &c);
            }
            destroy_attention(&c);
        }
    }
}

/* ---- equal bytes on different ISAs ---- */

static void fused_isas_agree(void **state)
{
    (void)state;
    const ferry_kernels *avx2 = ferry_kernels_find("avx2"), *avx512 = ferry_kernels_find("avx512");
    if (avx2 == NULL || avx512 == NULL) {
        print_message("fused_isas_agree: not run, this machine lacks AVX2 or AVX-512\n");
        skip();
    }
    for (int32_t rows = 1; rows < 70; rows += 4) {
        product_case c = new_product(rows, 10 * rows + 1, 40 + rows, 0, 0);
        size_t count = (size_t)rows * (size_t)c.N;
        float *other = new_floats(count);
        avx2->product(c.y, c.ldy, c.x, c.ldx, rows, c.panels, c.K, c.N, c.bias);
        avx512->product(other, c.ldy, c.x, c.ldx, rows, c.panels, c.K, c.N, c.bias);
        assert_same_bytes(c.y, other, count);
        free(other);
        destroy_product(&c);
    }
}

/* Scores [heads, rows, count], one behind the other, and contexts [rows, heads·width]. Returns how many floats. */
static size_t run_attention(const ferry_kernels *k, attention_case *c, float *results)
{
    size_t columns = (size_t)((c->count + 15) / 16 * 16), lines = (size_t)(c->heads * c->rows), at = 0;
    float *y = new_floats(lines * columns);
    k->scores(y, columns, c->q, c->ldq, c->rows, keys_of(c));
    for (size_t line = 0; line < lines; line++, at += (size_t)c->count) {
        memcpy(results + at, y + line * columns, (size_t)c->count * sizeof *y);
    }
    k->context(results + at, c->inner, c->a, c->lda, c->rows, values_of(c));
    free(y);
    return at + (size_t)c->rows * c->inner;
}

static void all_isas_agree_on_attention(void **state)
{
    (void)state;
    static float expected[9 * MAX_HEADS * (MAX_KEYS + MAX_HEAD)], results[9 * MAX_HEADS * (MAX_KEYS + MAX_HEAD)];
    for (int32_t i = 1; i < 70; i++) {
        attention_case c = new_attention(i % 9 + 1, i % MAX_HEADS + 1, i, i + 3);
        size_t count = run_attention(ferry_kernels_find("plain"), &c, expected);
        EACH_ISA(k)
        {
            assert_int_equal(run_attention(*k, &c, results), count);
            assert_same_bytes(results, expected, count);
        }
        destroy_attention(&c);
    }
}

enum { ROW_MAX = 2100 };

static float log_sum_exp(const ferry_kernels *k, const float *x, int32_t n)
{
    ferry_log_sum total = FERRY_LOG_SUM_ZERO;
    k->add_exp(&total, x, n);
    return ferry_log_of_sum(&total);
}

/* Every row operation on n elements, one result behind the other. Returns how many floats. */
static size_t run_rows(const ferry_kernels *k, const float *x, int32_t n, float *results)
{
    size_t count = (size_t)n, at = 0;
    const float *residual = x + n, *weight = x + 2 * n, *bias = x + 3 * n;
    k->layer_norm(results, x, residual, weight, bias, 1e-5f, 1, n);
    k->layer_norm(results + count, x, NULL, weight, bias, 1e-6f, 1, n);
    k->rms_norm(results + 2 * count, x, residual, weight, 1e-5f, 1, n);
    memcpy(results + 3 * count, x, count * sizeof *x);
    k->ssru(results + 4 * count, results + 3 * count, residual, weight, n);
    at += 5 * count;
    for (int operation = 0; operation < 9; operation++, at += count) {
        float *y = results + at;
        memcpy(y, x, count * sizeof *x);
        if (operation == 0) k->softmax(y, n);
        if (operation == 1) k->activate(FERRY_RELU, y, count);
        if (operation == 2) k->activate(FERRY_GELU, y, count);
        if (operation == 3) k->activate(FERRY_SWISH, y, count);
        if (operation == 4) k->add(y, residual, count);
        if (operation == 5) k->scale(y, 0.37f, count);
        if (operation == 6) k->activate(FERRY_GELU_TANH, y, count);
        if (operation == 7) k->activate(FERRY_GELU_SIGMOID, y, count);
        if (operation == 8) k->multiply(y, residual, count);
    }
    int32_t indices[32];
    ferry_top top = {.values = results + at, .indices = indices, .limit = 32};
    k->add_top(&top, x, n, 0);
    at += (size_t)top.count;
    for (int32_t i = 0; i < top.count; i++) results[at++] = (float)indices[i];
    results[at++] = log_sum_exp(k, x, n);
    results[at++] = (float)k->argmax(x, n);
    return at;
}

static void all_isas_agree_on_rows(void **state)
{
    (void)state;
    static float x[4 * ROW_MAX], expected[14 * ROW_MAX + 80], results[14 * ROW_MAX + 80];
    static const int32_t lengths[] = {255, 256, 257, 512, 1000, 2048, ROW_MAX};
    for (int32_t i = -70; i < COUNT(lengths); i++) {
        int32_t n = i < 0 ? -i : lengths[i];
        fill_random(x, 4 * (size_t)n, -9.0f, 9.0f);
        size_t count = run_rows(ferry_kernels_find("plain"), x, n, expected);
        EACH_ISA(k)
        {
            assert_int_equal(run_rows(*k, x, n, results), count);
            assert_same_bytes(results, expected, count);
        }
    }
}

/* ---- row operations against double precision ---- */

static void check_layer_norm(const ferry_kernels *k, int32_t rows, int32_t n, bool with_residual)
{
    size_t count = (size_t)rows * (size_t)n;
    float *x = new_floats(4 * count + 1), *y = new_floats(count + 2), *residual = x + count;
    const float *weight = x + 2 * count, *bias = x + 3 * count;
    fill_random(x, 4 * count, -2.0f, 3.0f);
    fill(y, count + 2, GUARD);
    k->layer_norm(y + 1, x, with_residual ? residual : NULL, weight, bias, 1e-5f, rows, n);
    assert_true(y[0] == GUARD && y[count + 1] == GUARD);
    for (size_t row = 0; row < count; row += (size_t)n) {
        double mean = 0, variance = 0;
        for (int pass = 0; pass < 3; pass++) {
            for (size_t i = 0; i < (size_t)n; i++) {
                double value = (double)x[row + i] + (with_residual ? (double)residual[row + i] : 0);
                if (pass == 0) mean += value / (double)n;
                if (pass == 1) variance += (value - mean) * (value - mean) / (double)n;
                if (pass < 2) continue;
                double expected = (value - mean) / sqrt(variance + 1e-5) * (double)weight[i] + (double)bias[i];
                assert_close((double)y[1 + row + i], expected, 2e-6 * (1 + 1 / sqrt(variance + 1e-5)));
            }
        }
    }
    k->layer_norm(x, x, with_residual ? residual : NULL, weight, bias, 1e-5f, rows, n);
    assert_same_bytes(x, y + 1, count);
    free(x);
    free(y);
}

static void layer_norm_matches_double_precision(void **state)
{
    (void)state;
    EACH_ISA(k)
    {
        for (int32_t n = 1; n <= 50; n++) check_layer_norm(*k, 3, n, n % 2 == 0);
        check_layer_norm(*k, 20, 512, true);
        check_layer_norm(*k, 2, 1023, false);
    }
}

static void check_rms_norm(const ferry_kernels *k, int32_t rows, int32_t n, bool with_residual)
{
    size_t count = (size_t)rows * (size_t)n;
    float *x = new_floats(3 * count), *y = new_floats(count + 2), *residual = x + count;
    const float *weight = x + 2 * count;
    fill_random(x, 3 * count, -2.0f, 3.0f);
    fill(y, count + 2, GUARD);
    k->rms_norm(y + 1, x, with_residual ? residual : NULL, weight, 1e-5f, rows, n);
    assert_true(y[0] == GUARD && y[count + 1] == GUARD);
    for (size_t row = 0; row < count; row += (size_t)n) {
        double square = 0;
        for (int pass = 0; pass < 2; pass++) {
            for (size_t i = 0; i < (size_t)n; i++) {
                double value = (double)x[row + i] + (with_residual ? (double)residual[row + i] : 0);
                if (pass == 0) square += value * value / (double)n;
                if (pass == 0) continue;
                assert_close((double)y[1 + row + i], value / sqrt(square + 1e-5) * (double)weight[i],
                             2e-6 * (1 + 1 / sqrt(square + 1e-5)));
            }
        }
    }
    k->rms_norm(x, x, with_residual ? residual : NULL, weight, 1e-5f, rows, n);
    assert_same_bytes(x, y + 1, count);
    free(x);
    free(y);
}

static void rms_norm_matches_double_precision(void **state)
{
    (void)state;
    const float x[] = {1, 2, 3, 4}, weight[] = {1, 1, 1, 1};
    static const double expected[] = {0.365148, 0.730297, 1.095445, 1.460593};
    EACH_ISA(k)
    {
        float y[4];
        (*k)->rms_norm(y, x, NULL, weight, 1e-6f, 1, 4);
        for (int i = 0; i < 4; i++) assert_close((double)y[i], expected[i], 6e-7);
        for (int32_t n = 1; n <= 50; n++) check_rms_norm(*k, 3, n, n % 2 == 0);
        check_rms_norm(*k, 20, 512, true);
        check_rms_norm(*k, 2, 1023, false);
    }
}

static void check_ssru(const ferry_kernels *k, int32_t n)
{
    float f[70], w[70], c[72], y[72], before[72];
    fill_random(f, 70, -6.0f, 6.0f);
    fill_random(w, 70, -3.0f, 3.0f);
    fill_random(before, 72, -3.0f, 3.0f);
    memcpy(c, before, sizeof c);
    fill(y, 72, GUARD);
    k->ssru(y + 1, c + 1, f, w, n);
    for (int32_t i = 0; i < n; i++) {
        double g = 1 / (1 + exp(-(double)f[i]));
        double state = g * (double)before[i + 1] + (1 - g) * (double)w[i];
        assert_close((double)c[i + 1], state, 2e-6);
        assert_true(y[i + 1] == (c[i + 1] > 0 ? c[i + 1] : 0));
    }
    assert_true(y[0] == GUARD && y[n + 1] == GUARD && c[0] == before[0] && c[n + 1] == before[n + 1]);
    k->ssru(w, before + 1, f, w, n); /* y may be w */
    assert_same_bytes(w, y + 1, (size_t)n);
}

static void ssru_matches_double_precision(void **state)
{
    (void)state;
    EACH_ISA(k)
    {
        for (int32_t n = 1; n <= 70; n++) check_ssru(*k, n);
        /* The specification's example: W = 2, W_f = 1, b_f = 0, inputs 1, then -1. */
        float c = 0, y, f = 1, w = 2;
        (*k)->ssru(&y, &c, &f, &w, 1);
        assert_close((double)c, 0.537883, 5e-7);
        assert_true(y == c);
        f = -1, w = -2;
        (*k)->ssru(&y, &c, &f, &w, 1);
        assert_close((double)c, -1.317458, 6e-7);
        assert_true(y == 0);
    }
}

static void check_softmax(const ferry_kernels *k, float *x, int32_t n)
{
    double max = (double)largest_of(x, n), sum = 0;
    float y[200];
    y[0] = y[n + 1] = GUARD;
    memcpy(y + 1, x, (size_t)n * sizeof *x);
    for (int32_t i = 0; i < n; i++) sum += exp((double)x[i] - max);
    k->softmax(y + 1, n);
    assert_true(y[0] == GUARD && y[n + 1] == GUARD);
    for (int32_t i = 0; i < n; i++) {
        double expected = exp((double)x[i] - max) / sum;
        /* x - max is rounded, which an exponential turns into a relative error */
        double relative = x[i] == -INFINITY ? 0 : 3e-7 + 0x1p-24 * (max - (double)x[i]);
        assert_close((double)y[i + 1], expected, relative * expected + 1e-37);
        if (x[i] == -INFINITY) assert_true(y[i + 1] == 0.0f);
    }
    assert_close((double)log_sum_exp(k, x, n), max + log(sum), 1e-6 + 1e-7 * fabs(max));
}

static void softmax_matches_double_precision(void **state)
{
    (void)state;
    float x[150];
    EACH_ISA(k)
    {
        for (int32_t n = 1; n <= 150; n++) {
            fill_random(x, (size_t)n, -6.0f, 6.0f);
            check_softmax(*k, x, n);
            for (int32_t i = 0; i < n; i += 3) x[i] = i == n / 2 ? 100.0f : -INFINITY;
            if (largest_of(x, n) > -INFINITY) check_softmax(*k, x, n);
            fill(x, (size_t)n, -5000.0f);
            check_softmax(*k, x, n);
        }
        x[0] = NAN;
        x[1] = 1.0f;
        (*k)->softmax(x, 2);
        assert_true(isnan(x[0]) && isnan(x[1]));
    }
}

/* What comes in parts has the same bytes. */
static void log_sum_exp_of_a_vocabulary(void **state)
{
    (void)state;
    enum { n = 58101 };
    float *x = new_floats(n);
    fill_random(x, n, -15.0f, 12.0f);
    double sum = 0;
    for (int32_t i = 0; i < n; i++) sum += exp((double)x[i]);
    EACH_ISA(k)
    {
        const float whole = log_sum_exp(*k, x, n);
        assert_close((double)whole, log(sum), 1e-6);
        for (int32_t part = FERRY_LOG_SUM_BLOCK; part < n; part *= 3) {
            ferry_log_sum total = FERRY_LOG_SUM_ZERO;
            for (int32_t i = 0; i < n; i += part) (*k)->add_exp(&total, x + i, n - i < part ? n - i : part);
            assert_true(ferry_log_of_sum(&total) == whole);
        }
    }
    free(x);
}

/* Blocks that are masked whole, before and after what is not. */
static void masked_blocks_add_nothing(void **state)
{
    (void)state;
    enum { n = 4 * FERRY_LOG_SUM_BLOCK };
    static float x[n];
    EACH_ISA(k)
    {
        for (int32_t at = 0; at < n; at += FERRY_LOG_SUM_BLOCK / 2) {
            ferry_log_sum total = FERRY_LOG_SUM_ZERO;
            fill(x, n, -INFINITY);
            (*k)->add_exp(&total, x, n);
            assert_true(total.sum == 0.0 && total.largest == -INFINITY);
            x[at] = 88.5f;
            x[at + 1] = -100.0f;
            (*k)->add_exp(&total, x, n);
            assert_true(total.sum == 1.0 && ferry_log_of_sum(&total) == 88.5f);
        }
    }
}

/* ---- choosing ---- */

static void check_choice(const ferry_kernels *k, const float *x, int32_t n, int32_t count)
{
    float values[42];
    int32_t indices[42], expected = 0;
    bool taken[3000] = {false};
    values[count] = GUARD;
    indices[count] = -7;
    ferry_top top = {.values = values, .indices = indices, .limit = count};
    const int32_t part = n / 3 + 1; /* indices count on from part to part */
    for (int32_t i = 0; i < n; i += part) k->add_top(&top, x + i, n - i < part ? n - i : part, i);
    assert_int_equal(top.count, count < n ? count : n);
    for (int32_t t = 0; t < top.count; t++) {
        for (expected = 0; taken[expected]; expected++) continue;
        for (int32_t i = expected + 1; i < n; i++) expected = !taken[i] && x[i] > x[expected] ? i : expected;
        taken[expected] = true;
        assert_int_equal(indices[t], expected);
        assert_true(values[t] == x[expected]);
        if (t == 0) assert_int_equal(k->argmax(x, n), expected);
    }
    assert_true(values[count] == GUARD && indices[count] == -7);
}

static void the_largest_come_in_order(void **state)
{
    (void)state;
    static const int32_t lengths[] = {1, 2, 15, 16, 17, 31, 33, 64, 100, 700, 3000};
    float x[3000];
    EACH_ISA(k)
    {
        for (int32_t l = 0; l < COUNT(lengths); l++) {
            int32_t n = lengths[l];
            for (int32_t count = 1; count <= 40; count += 3) {
                fill_random(x, (size_t)n, -50.0f, 50.0f);
                check_choice(*k, x, n, count);
                for (int32_t i = 0; i < n; i++) x[i] = floorf(x[i] / 10.0f); /* ties */
                check_choice(*k, x, n, count);
                for (int32_t i = 0; i < n; i++) x[i] = i % 5 == 4 ? x[i] : -INFINITY;
                check_choice(*k, x, n, count);
                for (int32_t i = 0; i < n; i++) x[i] = (float)i;
                check_choice(*k, x, n, count);
                fill(x, (size_t)n, -INFINITY);
                check_choice(*k, x, n, count);
            }
        }
        ferry_top none = {0};
        (*k)->add_top(&none, x, 5, 0);
        assert_int_equal(none.count, 0);
    }
}

/* ---- exponential and error function ---- */

static double gelu_oracle(double x)
{
    return 0.5 * x * erfc(-x * sqrt(0.5));
}

/* What the sigmoid of the tanh form (0; 1 + tanh u = 2 sigmoid(2u)) and the sigmoid form (1) is taken of. */
static double gelu_exponent(int form, double x)
{
    return form == 0 ? 2 * sqrt(2 / acos(-1.0)) * (x + 0.044715 * x * x * x) : 1.702 * x;
}

static void activations_match_libm(void **state)
{
    (void)state;
    enum { n = 40000 };
    float *x = new_floats(n), *y = new_floats(n);
    EACH_ISA(k)
    {
        for (int32_t i = 0; i < n; i++) x[i] = (float)(i - n / 2) * (100.0f / (n / 2));
        memcpy(y, x, n * sizeof *x);
        (*k)->activate(FERRY_GELU, y, n);
        for (int32_t i = 0; i < n; i++) {
            double expected = gelu_oracle((double)x[i]);
            assert_close((double)y[i], expected, 3e-8 + 1.2e-7 * fabs(expected));
        }
        memcpy(y, x, n * sizeof *x);
        (*k)->activate(FERRY_SWISH, y, n);
        for (int32_t i = 0; i < n; i++) {
            double expected = (double)x[i] / (1 + exp(-(double)x[i]));
            assert_close((double)y[i], expected, 2.5e-7 * fabs(expected) + 1e-36);
        }
        for (int form = 0; form < 2; form++) {
            memcpy(y, x, n * sizeof *x);
            (*k)->activate(form == 0 ? FERRY_GELU_TANH : FERRY_GELU_SIGMOID, y, n);
            for (int32_t i = 0; i < n; i++) {
                double expected, exponent = gelu_exponent(form, (double)x[i]);
                expected = (double)x[i] / (1 + exp(-exponent));
                /* The exponent is rounded, which the exponential turns into a relative error. */
                double relative = x[i] < 0 && exponent > -87 ? 3e-7 + 2.5e-7 * -exponent : 3e-7;
                assert_close((double)y[i], expected, relative * fabs(expected) + 1e-35);
            }
        }
        float one[] = {1, 1};
        (*k)->activate(FERRY_GELU_TANH, one, 1);
        (*k)->activate(FERRY_GELU_SIGMOID, one + 1, 1);
        assert_close((double)one[0], 0.841192, 5e-7);
        assert_close((double)one[1], 0.845796, 5e-7);
        memcpy(y, x, n * sizeof *x);
        (*k)->activate(FERRY_RELU, y, n);
        for (int32_t i = 0; i < n; i++) assert_true(y[i] == (x[i] > 0 ? x[i] : 0));
    }
    free(x);
    free(y);
}

/* softmax of {0, x} is {1, e^x}/(1 + e^x): for x below -17 the sum is 1 and e^x comes out untouched; between -17 and 0
 * e^x = y[1]/y[0] up to two roundings. */
static void exponential_matches_libm(void **state)
{
    (void)state;
    EACH_ISA(k)
    {
        for (int32_t i = 0; i < 100000; i++) {
            float y[2] = {0.0f, -(float)i * (88.0f / 100000.0f)};
            double expected = exp((double)y[1]);
            bool alone = y[1] < -17.0f, zero = y[1] < -86.9f;
            (*k)->softmax(y, 2);
            assert_close((double)y[1] / (double)y[0], expected, zero ? expected : expected * (alone ? 1.2e-7 : 2.4e-7));
        }
    }
}

static void activations_of_special_values(void **state)
{
    (void)state;
    static const ferry_activation all[] = {FERRY_RELU, FERRY_GELU, FERRY_SWISH, FERRY_GELU_TANH, FERRY_GELU_SIGMOID};
    EACH_ISA(k)
    {
        for (int32_t a = 0; a < COUNT(all); a++) {
            float x[20] = {NAN, INFINITY, 0.0f, FLT_MAX, -FLT_MAX, 1e-30f, -1e-30f, -200.0f, 200.0f};
            (*k)->activate(all[a], x, 20);
            assert_true(isnan(x[0]));
            assert_true(x[1] == INFINITY);
            assert_true(x[2] == 0.0f);
            assert_true(x[3] == FLT_MAX);
            assert_true(x[4] == 0.0f);
            assert_close((double)x[5], all[a] == FERRY_RELU ? 1e-30 : 5e-31, 1e-36);
            assert_close((double)x[6], all[a] == FERRY_RELU ? 0 : -5e-31, 1e-36);
            assert_true(x[7] == 0.0f);
            assert_true(x[8] == 200.0f);
        }
    }
}

static void sums_products_and_scales(void **state)
{
    (void)state;
    float x[64], y[64], z[64], original[64];
    EACH_ISA(k)
    {
        for (size_t n = 0; n < 60; n++) {
            fill_random(x, 64, -1.0f, 1.0f);
            memcpy(original, x, sizeof x);
            fill(y, 64, 0.5f);
            (*k)->add(y + 1, x, n);
            (*k)->scale(x, -3.0f, n);
            memcpy(z, y, sizeof z);
            (*k)->multiply(z + 1, original, n);
            assert_true(z[0] == y[0] && z[n + 1] == y[n + 1]);
            for (size_t i = 0; i < n; i++) {
                assert_true(y[i + 1] == original[i] + 0.5f);
                assert_true(z[i + 1] == y[i + 1] * original[i]);
                assert_true(x[i] == original[i] * -3.0f);
            }
            assert_true(y[0] == 0.5f && y[n + 1] == 0.5f && x[n] == original[n]);
        }
    }
}

/* ---- 16-bit floats ---- */

static void halves_widen_exactly(void **state)
{
    (void)state;
    static uint16_t halves[65536 + 7];
    static float wide[65536 + 8];
    for (uint32_t i = 0; i < 65536; i++) halves[i] = (uint16_t)i;
    for (uint32_t i = 0; i < 65536; i++) {
        uint32_t exponent = i >> 10 & 31, mantissa = i & 1023;
        double expected =
            ldexp((double)(exponent == 0 ? mantissa : 1024 + mantissa), (exponent == 0 ? 1 : (int)exponent) - 25);
        float value = ferry_f16_to_f32((uint16_t)i);
        if (exponent < 31) assert_true((double)value == (i & 0x8000 ? -expected : expected));
        if (exponent == 31) assert_true(mantissa == 0 ? value == (i & 0x8000 ? -INFINITY : INFINITY) : isnan(value));
        assert_int_equal(signbit(value) != 0, i >> 15);
        assert_int_equal(ferry_f32_to_f16(value), exponent == 31 && mantissa != 0 ? i | 0x200 : i);
        assert_int_equal(ferry_f32_bits(ferry_bf16_to_f32((uint16_t)i)), i << 16);
    }
    EACH_ISA(k)
    {
        for (size_t shift = 0; shift < 5; shift++) {
            size_t n = 65536 - shift;
            fill(wide, 65544, GUARD);
            (*k)->widen_f16(wide + 1, halves + shift, n);
            for (size_t i = 0; i < n; i++) {
                assert_int_equal(ferry_f32_bits(wide[i + 1]), ferry_f32_bits(ferry_f16_to_f32(halves[i + shift])));
            }
            assert_true(wide[0] == GUARD && wide[n + 1] == GUARD);
        }
    }
}

/* The multiple of the half's last place next to `value`, with ties to even by rint. */
static double nearest_half(float value)
{
    if (value == 0 || isinf(value)) return (double)value;
    int exponent = ilogb((double)value) < -14 ? -14 : ilogb((double)value);
    double nearest = ldexp(rint(ldexp((double)value, 10 - exponent)), exponent - 10);
    return fabs(nearest) > 65504 ? copysign((double)INFINITY, (double)value) : nearest;
}

/* At every exponent and around every tie. */
static void floats_round_to_the_nearest_half(void **state)
{
    (void)state;
    static const uint32_t tails[] = {0,      1,      0xfff,  0x1000,   0x1001,   0x1fff,
                                     0x2000, 0x3000, 0x5555, 0x7fefff, 0x7ff000, 0x7fffff};
    for (uint32_t exponent = 0; exponent < 512; exponent++) {
        for (int32_t t = 0; t < COUNT(tails); t++) {
            for (uint32_t step = 0; step < 40; step++) {
                float value = ferry_f32_from_bits(exponent << 23 | ((tails[t] + step * 0x2f001) & 0x7fffff));
                if (isnan(value)) continue;
                float rounded = ferry_f16_to_f32(ferry_f32_to_f16(value));
                assert_true((double)rounded == nearest_half(value));
                assert_int_equal(signbit(rounded) != 0, signbit(value) != 0);
            }
        }
    }
    assert_int_equal(ferry_f32_to_f16(65519.996f), 0x7bff);
    assert_int_equal(ferry_f32_to_f16(65520.0f), 0x7c00);
    assert_int_equal(ferry_f32_to_f16(0x1p-25f), 0);
    assert_int_equal(ferry_f32_to_f16(0x1.000002p-25f), 1);
    assert_int_equal(ferry_f32_to_f16(NAN) & 0x7e00, 0x7e00);
}

/* ---- tables and panels ---- */

static void tables_are_found_by_name(void **state)
{
    (void)state;
    assert_ptr_equal(ferry_kernels_find(NULL), ferry_kernels_available()[0]);
    assert_ptr_equal(ferry_kernels_find(""), ferry_kernels_available()[0]);
    assert_null(ferry_kernels_find("sse9"));
    assert_string_equal(ferry_kernels_find("plain")->isa, "plain");
    EACH_ISA(k) assert_ptr_equal(ferry_kernels_find((*k)->isa), *k);
#if defined(__x86_64__)
    bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    assert_int_equal(ferry_kernels_find("avx2") != NULL, avx2);
    assert_int_equal(ferry_kernels_find("avx512") != NULL, avx512);
#elif defined(__aarch64__)
    assert_non_null(ferry_kernels_find("neon"));
    assert_string_equal(ferry_kernels_available()[1 + (ferry_kernels_find("neon_dotprod") != NULL)]->isa, "plain");
#endif
}

#if !defined(FERRY_WITHOUT_OPENBLAS)
static void openblas_names_its_core(void **state)
{
    (void)state;
    const char *core = ferry_openblas_core();
    assert_true(strlen(core) > 0);
    if (strcmp(core, "Prescott") == 0)
        assert_int_equal(ferry_openblas_matches_cpu(), ferry_cpu_detect() == FERRY_CPU_PLAIN);
    if (strcmp(core, "SkylakeX") == 0) assert_true(ferry_openblas_matches_cpu());
}

#endif

static void panels_hold_the_matrix(void **state)
{
    (void)state;
    for (int32_t N = 1; N < 40; N++) {
        int32_t K = N % 7 + 1;
        product_case c = new_product(1, K, N, 0, 0);
        assert_int_equal(ferry_panels_count(N, K), (N + 15) / 16 * 16 * K);
        for (int32_t n = 0; n < N; n++) {
            float row[8];
            ferry_panels_row(row, c.panels, K, n);
            assert_same_bytes(row, c.weight + n * K, (size_t)K);
        }
        for (int32_t n = N; n < (N + 15) / 16 * 16; n++) {
            for (int32_t i = 0; i < K; i++) assert_true(c.panels[n / 16 * K * 16 + i * 16 + n % 16] == 0.0f);
        }
        destroy_product(&c);
    }
}

#define TEST(test) cmocka_unit_test_setup(test, restart_random)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(tables_are_found_by_name),
        TEST(panels_hold_the_matrix),
        TEST(product_matches_double_precision),
#if !defined(FERRY_WITHOUT_OPENBLAS)
        TEST(openblas_names_its_core),
        TEST(product_matches_openblas),
#endif
        TEST(product_row_depends_on_itself_alone),
        TEST(attention_matches_double_precision),
        TEST(fused_isas_agree),
        TEST(all_isas_agree_on_attention),
        TEST(all_isas_agree_on_rows),
        TEST(layer_norm_matches_double_precision),
        TEST(rms_norm_matches_double_precision),
        TEST(ssru_matches_double_precision),
        TEST(softmax_matches_double_precision),
        TEST(log_sum_exp_of_a_vocabulary),
        TEST(masked_blocks_add_nothing),
        TEST(the_largest_come_in_order),
        TEST(exponential_matches_libm),
        TEST(activations_match_libm),
        TEST(activations_of_special_values),
        TEST(sums_products_and_scales),
        TEST(halves_widen_exactly),
        TEST(floats_round_to_the_nearest_half),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
