#include "quantized.h"

#include "base/system.h"
#include "engine/kernels/coarse.h"

void pack_quantized(quantized *w)
{
    const int32_t N = w->matrix.N, K = w->matrix.K;
    for (int32_t n = 0; n < N; n += 16) {
        ferry_int8_pack(w->codes + (size_t)(n / 16) * ferry_int8_size(16, K), w->q + (size_t)n * (size_t)K,
                        N - n < 16 ? N - n : 16, K);
    }
}

quantized new_quantized(int32_t N, int32_t K, bool with_scales, bool with_bias, float input_multiplier)
{
    quantized w = {.q = new_memory((size_t)N * (size_t)K), .codes = new_memory(ferry_int8_size(N, K))};
    for (size_t i = 0; i < (size_t)N * (size_t)K; i++) w.q[i] = (int8_t)random_between(-127.99f, 127.99f);
    w.scales = new_floats((size_t)N, 0.001f, 0.01f);
    w.bias = new_floats((size_t)N, -1.0f, 1.0f);
    w.matrix = (ferry_matrix){FERRY_MATRIX_INT8, .N = N, .K = K, .int8 = w.codes, .input_multiplier = input_multiplier};
    w.matrix.scales = with_scales ? w.scales : NULL;
    w.matrix.multiplier = with_scales ? 0.0f : 97.3f;
    w.matrix.bias = with_bias ? w.bias : NULL;
    pack_quantized(&w);
    return w;
}

ferry_matrix new_planes(const quantized *w)
{
    const int32_t N = w->matrix.N, K = w->matrix.K;
    ferry_matrix planes = w->matrix;
    uint8_t *upper = new_memory(ferry_nibbles_size(N, K)), *lower = new_memory(ferry_nibbles_size(N, K));
    for (int32_t n = 0; n < N; n += FERRY_LANES)
        ferry_planes_from_panel(w->codes + ferry_int8_size(n, K), K, upper + ferry_nibbles_size(n, K),
                                lower + ferry_nibbles_size(n, K));
    planes.kind = FERRY_MATRIX_PLANES;
    planes.nibbles = upper;
    planes.lower = lower;
    planes.nibbles_error = ferry_planes_error(&planes);
    return planes;
}

ferry_matrix new_steps(quantized *w, bool largest)
{
    static const int8_t ends[][2] = {{15, -8}, {-15, -8}, {18, 7}, {-18, 7}, {18, -7}};
    const int32_t N = w->matrix.N, K = w->matrix.K, groups = K / FERRY_STEP_INPUTS;
    uint8_t *panels = new_memory(ferry_steps_size(N, K));
    int8_t *steps = new_memory((size_t)N * (size_t)groups), *q = new_memory((size_t)N * (size_t)K);
    for (int32_t i = 0; i < N * groups; i++) {
        const int8_t *end = ends[i / groups % 5];
        steps[i] = largest ? end[0] : (int8_t)random_between(-18.99f, 18.99f);
        for (int32_t k = i * FERRY_STEP_INPUTS; k < (i + 1) * FERRY_STEP_INPUTS; k++) {
            q[k] = largest ? end[1] : (int8_t)floorf(random_between(abs(steps[i]) > 15 ? -7 : -8, 7.99f));
            w->q[k] = (int8_t)(steps[i] * q[k]);
        }
    }
    pack_quantized(w);
    for (int32_t n = 0; n < N; n += FERRY_LANES)
        ferry_steps_pack(panels + ferry_steps_size(n, K), steps + n * groups, q + (size_t)n * (size_t)K,
                         N - n < FERRY_LANES ? N - n : FERRY_LANES, K);
    ferry_matrix matrix = w->matrix;
    matrix.kind = FERRY_MATRIX_STEPS;
    matrix.steps = panels;
    return matrix;
}

void begin_extra(const ferry_kernels *kernels, const ferry_matrix *matrix)
{
    enum { ROWS = 128, PRODUCTS = 16, PRODUCT_ROWS = ROWS / PRODUCTS };
    const size_t size = ferry_round_up(ferry_rows_i8_size(kernels, PRODUCT_ROWS, matrix->K), 64);
    void *memory = ferry_aligned_alloc(64, size);
    assert_non_null(memory);
    kernels->extra->matrix_begin(matrix);
    for (int i = 0; i < PRODUCTS; i++) (void)ferry_rows_i8_begin(kernels, PRODUCT_ROWS, &matrix, 1, memory);
    ferry_aligned_free(memory);
}

static void run_once(const ferry_kernels *kernels, float *const *y, const ferry_rows *rows,
                     const ferry_matrix *const *matrices, int32_t count)
{
    ferry_context context = {.kernels = kernels};
    ferry_error error = {0};
    assert_int_equal(ferry_linear_many(&context, y, rows, matrices, count, &error), FERRY_OK);
    assert_int_equal(context.arena.used, 0);
    ferry_arena_destroy(&context.arena);
}

void run_many(const ferry_kernels *kernels, float *const *y, const ferry_rows *rows,
              const ferry_matrix *const *matrices, int32_t count)
{
    ferry_matrix with[FERRY_LINEAR_MAX];
    const ferry_matrix *all[FERRY_LINEAR_MAX];
    float *again[FERRY_LINEAR_MAX];
    ferry_arena arena = {0};
    for (int32_t m = 0; m < count; m++) {
        with[m] = *matrices[m];
        all[m] = &with[m];
        if (with[m].kind == FERRY_MATRIX_INT8 || with[m].kind == FERRY_MATRIX_PLANES) {
            assert_int_equal(ferry_matrix_begin(&with[m], kernels, &arena, NULL), FERRY_OK);
            if (kernels->extra != NULL) begin_extra(kernels, &with[m]);
        }
        again[m] = malloc((size_t)rows->count * (size_t)with[m].N * sizeof *again[m]);
        assert_non_null(again[m]);
    }
    run_once(kernels, y, rows, matrices, count);
    run_once(kernels, again, rows, all, count);
    for (int32_t m = 0; m < count; m++) {
        assert_memory_equal(again[m], y[m], (size_t)rows->count * (size_t)with[m].N * sizeof *again[m]);
        free(again[m]);
    }
    ferry_arena_destroy(&arena);
}

void run(const ferry_kernels *kernels, float *y, const float *x, int32_t rows, const ferry_matrix *matrix)
{
    run_many(kernels, &y, &(ferry_rows){x, rows, NULL}, &matrix, 1);
}

float factor_of(const float *x, size_t n)
{
    float largest = 0;
    for (size_t i = 0; i < n; i++) largest = fmaxf(largest, fabsf(x[i]));
    return largest > 0 ? 127.0f / largest : 1.0f;
}

static int8_t code_of(float x, float a)
{
    return (int8_t)fmax(-127, fmin(127, nearbyint((double)(x * a))));
}

int64_t exact_sum(const quantized *w, int32_t n, const float *x, float a)
{
    int64_t sum = 0;
    const int8_t *q = w->q + (size_t)n * (size_t)w->matrix.K;
    for (int32_t k = 0; k < w->matrix.K; k++) sum += code_of(x[k], a) * q[k];
    return sum;
}

void check_row(const quantized *w, const float *y, const float *x, float a)
{
    for (int32_t n = 0; n < w->matrix.N; n++) {
        double sum = (double)exact_sum(w, n, x, a), unit = 1.0 / ((double)a * (double)w->matrix.multiplier);
        if (w->matrix.scales != NULL) unit = (double)w->scales[n] / (double)a;
        double bias = w->matrix.bias != NULL ? (double)w->bias[n] : 0.0, expected = sum * unit + bias;
        /* At most four roundings of the product, and one of the sum. */
        double bound = (4.0 * fabs(sum * unit) + fabs(expected)) * 0x1.01p-24;
        if (!(fabs((double)y[n] - expected) <= bound))
            fail_msg("output %d: %.9g instead of %.9g (± %.3g)", n, (double)y[n], expected, bound);
    }
}
