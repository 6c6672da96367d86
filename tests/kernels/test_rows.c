/* Operations on rows, of every ISA that runs here: against plain double-precision arithmetic, and against the other
 * ISAs. */
#include "tests/support/kernel_support.h"

#include <float.h>

/* ---- equal bytes on different ISAs ---- */

enum { ROW_MAX = 2100 };

static float log_sum_exp(const ferry_kernels *k, const float *x, int32_t n)
{
    ferry_log_sum total = FERRY_LOG_SUM_ZERO;
    k->add_exp(&total, x, n);
    return ferry_log_of_sum(&total);
}

/* Every row operation on n elements, one result after the other. Returns how many floats. */
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
        if (operation == 0) k->softmax(y, count, 1, n);
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

RANDOM_TEST(all_isas_agree_on_rows)
{
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

/* ---- norms and recurrences ---- */

typedef struct norm_case {
    const float *residual, *weight, *bias; /* no residual: NULL */
    bool rms;
    int32_t rows, n;
} norm_case;

static void run_norm(const ferry_kernels *k, const norm_case *c, float *y, const float *x)
{
    if (c->rms)
        k->rms_norm(y, x, c->residual, c->weight, 1e-5f, c->rows, c->n);
    else
        k->layer_norm(y, x, c->residual, c->weight, c->bias, 1e-5f, c->rows, c->n);
}

static void check_norm_row(const norm_case *c, size_t row, const float *x, const float *y)
{
    double mean = 0, variance = 0;
    for (int pass = 0; pass < 3; pass++) {
        for (size_t i = 0; i < (size_t)c->n; i++) {
            double value = (double)x[row + i] + (c->residual != NULL ? (double)c->residual[row + i] : 0);
            if (pass == 0 && !c->rms) mean += value / (double)c->n;
            if (pass == 1) variance += (value - mean) * (value - mean) / (double)c->n;
            if (pass < 2) continue;
            double expected = (value - mean) / sqrt(variance + 1e-5) * (double)c->weight[i];
            if (!c->rms) expected += (double)c->bias[i];
            assert_close((double)y[row + i], expected, 2e-6 * (1 + 1 / sqrt(variance + 1e-5)));
        }
    }
}

static void check_norm(const ferry_kernels *k, bool rms, int32_t rows, int32_t n, bool with_residual)
{
    size_t count = (size_t)rows * (size_t)n;
    float *x = new_floats(4 * count, -2.0f, 3.0f), *y = new_memory((count + 2) * sizeof *y);
    const norm_case c = {with_residual ? x + count : NULL, x + 2 * count, x + 3 * count, rms, rows, n};
    fill(y, count + 2, GUARD);
    run_norm(k, &c, y + 1, x);
    assert_true(y[0] == GUARD && y[count + 1] == GUARD);
    for (size_t row = 0; row < count; row += (size_t)n) check_norm_row(&c, row, x, y + 1);
    run_norm(k, &c, x, x);
    assert_same_bytes(x, y + 1, count);
}

RANDOM_TEST(norms_match_double_precision)
{
    EACH_ISA(k)
    {
        for (int rms = 0; rms < 2; rms++) {
            for (int32_t n = 1; n <= 50; n++) check_norm(*k, rms, 3, n, n % 2 == 0);
            check_norm(*k, rms, 20, 512, true);
            check_norm(*k, rms, 2, 1023, false);
        }
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

RANDOM_TEST(ssru_matches_double_precision)
{
    EACH_ISA(k)
    for (int32_t n = 1; n <= 70; n++) check_ssru(*k, n);
}

/* ---- softmax ---- */

static float largest_of(const float *x, int32_t n)
{
    float max = -INFINITY;
    for (int32_t i = 0; i < n; i++) max = x[i] > max ? x[i] : max;
    return max;
}

static void check_softmax(const ferry_kernels *k, float *x, int32_t n)
{
    double max = (double)largest_of(x, n), sum = 0;
    float y[200];
    y[0] = y[n + 1] = GUARD;
    memcpy(y + 1, x, (size_t)n * sizeof *x);
    for (int32_t i = 0; i < n; i++) sum += exp((double)x[i] - max);
    k->softmax(y + 1, (size_t)n, 1, n);
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

/* Each row of several has the bytes that it has alone; between rows, nothing is touched. */
RANDOM_TEST(softmax_of_rows)
{
    enum { ROWS = 7, MOST = 70, LD = MOST + 1 };
    EACH_ISA(k)
    {
        for (int32_t n = 1; n <= MOST; n++) {
            float x[ROWS * LD], alone[ROWS * LD];
            fill_random(x, ROWS * LD, -9.0f, 9.0f);
            memcpy(alone, x, sizeof x);
            for (int32_t r = 0; r < ROWS; r++) (*k)->softmax(alone + r * LD, LD, 1, n);
            (*k)->softmax(x, LD, ROWS, n);
            assert_memory_equal(x, alone, sizeof x);
        }
    }
}

RANDOM_TEST(softmax_matches_double_precision)
{
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
        (*k)->softmax(x, 2, 1, 2);
        assert_true(isnan(x[0]) && isnan(x[1]));
    }
}

/* What comes in parts has the same bytes. */
RANDOM_TEST(log_sum_exp_of_a_vocabulary)
{
    enum { n = 58101 };
    float *x = new_floats(n, -15.0f, 12.0f);
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
}

/* Blocks that are masked whole, before and after what is not. */
RANDOM_TEST(masked_blocks_add_nothing)
{
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

/* The largest of every 16 elements, and nothing behind them. */
static void check_panel_maxima(const ferry_kernels *k, const float *x, int32_t n)
{
    const int32_t panels = (n + FERRY_LANES - 1) / FERRY_LANES;
    float maxima[3000 / FERRY_LANES + 2];
    maxima[panels] = GUARD;
    k->panel_maxima(maxima, x, (size_t)n);
    for (int32_t p = 0; p < panels; p++) {
        float most = x[p * FERRY_LANES];
        for (int32_t i = p * FERRY_LANES; i < n && i < (p + 1) * FERRY_LANES; i++) most = x[i] > most ? x[i] : most;
        assert_true(maxima[p] == most);
    }
    assert_true(maxima[panels] == GUARD);
}

RANDOM_TEST(the_largest_come_in_order)
{
    static const int32_t lengths[] = {1, 2, 15, 16, 17, 31, 33, 64, 100, 700, 3000};
    float x[3000];
    EACH_ISA(k)
    {
        for (int32_t l = 0; l < COUNT(lengths); l++) {
            int32_t n = lengths[l];
            for (int32_t count = 1; count <= 40; count += 3) {
                fill_random(x, (size_t)n, -50.0f, 50.0f);
                check_choice(*k, x, n, count);
                check_panel_maxima(*k, x, n);
                for (int32_t i = 0; i < n; i++) x[i] = floorf(x[i] / 10.0f); /* ties */
                check_choice(*k, x, n, count);
                for (int32_t i = 0; i < n; i++) x[i] = i % 5 == 4 ? x[i] : -INFINITY;
                check_choice(*k, x, n, count);
                for (int32_t i = 0; i < n; i++) x[i] = (float)i;
                check_choice(*k, x, n, count);
                fill(x, (size_t)n, -INFINITY);
                check_choice(*k, x, n, count);
                check_panel_maxima(*k, x, n);
            }
        }
        ferry_top none = {0};
        (*k)->add_top(&none, x, 5, 0);
        assert_int_equal(none.count, 0);
    }
}

/* ---- exponential and error function ---- */

/* y(x), and how far off it may be. */
static double activation_oracle(ferry_activation activation, double x, double *tolerance)
{
    double y = x > 0 ? x : 0, exponent = 1.702 * x;
    *tolerance = 0;
    if (activation == FERRY_RELU) return y;
    if (activation == FERRY_GELU) {
        y = 0.5 * x * erfc(-x * sqrt(0.5));
        *tolerance = 3e-8 + 1.2e-7 * fabs(y);
    } else if (activation == FERRY_SWISH) {
        y = x / (1 + exp(-x));
        *tolerance = 2.5e-7 * fabs(y) + 1e-36;
    } else { /* tanh form: 1 + tanh u = 2 sigmoid(2u) */
        if (activation == FERRY_GELU_TANH) exponent = 2 * sqrt(2 / acos(-1.0)) * (x + 0.044715 * x * x * x);
        y = x / (1 + exp(-exponent));
        /* The exponent is rounded, which the exponential turns into a relative error. */
        *tolerance = (x < 0 && exponent > -87 ? 3e-7 + 2.5e-7 * -exponent : 3e-7) * fabs(y) + 1e-35;
    }
    return y;
}

static const ferry_activation activations[] = {FERRY_RELU, FERRY_GELU, FERRY_SWISH, FERRY_GELU_TANH,
                                               FERRY_GELU_SIGMOID};

RANDOM_TEST(activations_match_libm)
{
    enum { n = 40000 };
    float *x = new_memory(n * sizeof *x), *y = new_memory(n * sizeof *y);
    for (int32_t i = 0; i < n; i++) x[i] = (float)(i - n / 2) * (100.0f / (n / 2));
    EACH_ISA(k)
    {
        for (int32_t a = 0; a < COUNT(activations); a++) {
            memcpy(y, x, n * sizeof *x);
            (*k)->activate(activations[a], y, n);
            for (int32_t i = 0; i < n; i++) {
                double tolerance, expected = activation_oracle(activations[a], (double)x[i], &tolerance);
                assert_close((double)y[i], expected, tolerance);
            }
        }
    }
}

/* softmax of {0, x} is {1, e^x}/(1 + e^x): for x below -17 the sum is 1 and e^x comes out untouched; between -17 and 0
 * e^x = y[1]/y[0] up to two roundings. */
RANDOM_TEST(exponential_matches_libm)
{
    EACH_ISA(k)
    {
        for (int32_t i = 0; i < 100000; i++) {
            float y[2] = {0.0f, -(float)i * (88.0f / 100000.0f)};
            double expected = exp((double)y[1]);
            bool alone = y[1] < -17.0f, zero = y[1] < -86.9f;
            (*k)->softmax(y, 2, 1, 2);
            assert_close((double)y[1] / (double)y[0], expected, zero ? expected : expected * (alone ? 1.2e-7 : 2.4e-7));
        }
    }
}

RANDOM_TEST(activations_of_special_values)
{
    EACH_ISA(k)
    {
        for (int32_t a = 0; a < COUNT(activations); a++) {
            float x[20] = {NAN, INFINITY, 0.0f, FLT_MAX, -FLT_MAX, 1e-30f, -1e-30f, -200.0f, 200.0f};
            (*k)->activate(activations[a], x, 20);
            assert_true(isnan(x[0]));
            assert_true(x[1] == INFINITY);
            assert_true(x[2] == 0.0f);
            assert_true(x[3] == FLT_MAX);
            assert_true(x[4] == 0.0f);
            assert_close((double)x[5], activations[a] == FERRY_RELU ? 1e-30 : 5e-31, 1e-36);
            assert_close((double)x[6], activations[a] == FERRY_RELU ? 0 : -5e-31, 1e-36);
            assert_true(x[7] == 0.0f);
            assert_true(x[8] == 200.0f);
        }
    }
}

RANDOM_TEST(sums_products_and_scales)
{
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
