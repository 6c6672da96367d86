/* int8 products of every ISA that runs here: against plain arithmetic, and against each other byte by byte. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "tests/support/quantized.h"

#include "engine/kernels/coarse.h"

#if defined(_WIN32)
#include <windows.h>
#else
#include <sys/mman.h>
#endif

#define MAX_ROWS 70

/* ---- against plain arithmetic ---- */

typedef struct shape {
    int32_t rows, N, K;
} shape;

static void check_shape(shape s, bool with_scales, bool with_bias, float input_multiplier)
{
    quantized w = new_quantized(s.N, s.K, with_scales, with_bias, input_multiplier);
    size_t size = (size_t)s.rows * (size_t)s.N;
    float *x = new_floats((size_t)s.rows * (size_t)s.K, -3.0f, 3.0f), *first = NULL;
    EACH_ISA(k)
    {
        float *y = new_floats(size + 16, GUARD, GUARD);
        run(*k, y, x, s.rows, &w.matrix);
        for (size_t i = size; i < size + 16; i++) assert_true(y[i] == GUARD);
        if (first == NULL) first = y;
        assert_memory_equal(y, first, size * sizeof *y);
    }
    for (int32_t i = 0; i < s.rows; i++) {
        const float *row = x + (size_t)i * (size_t)s.K;
        check_row(&w, first + (size_t)i * (size_t)s.N, row,
                  input_multiplier > 0 ? input_multiplier : factor_of(row, (size_t)s.K));
    }
    release_memory();
}

RANDOM_TEST(products_are_right)
{
    static const int32_t few[] = {2, 9, 33, 50}; /* one to four tiles of rows */
    for (int i = 0; i < 4; i++) {
        for (int32_t K = 1; K <= 70; K += K < 20 ? 1 : 7) check_shape((shape){few[i], 17, K}, true, true, 0);
        for (int32_t N = 1; N <= 70; N++) check_shape((shape){few[i], N, 37}, N % 2 == 0, N % 3 == 0, 0);
    }
    for (int32_t rows = 1; rows <= MAX_ROWS; rows++) check_shape((shape){rows, 33, 22}, rows % 2 == 0, true, 0);
    for (int form = 0; form < 8; form++) {
        check_shape((shape){16, 50, 512}, form & 1, form & 2, form & 4 ? 50.0f : 0.0f);
        check_shape((shape){MAX_ROWS, 130, 515}, form & 1, form & 2, form & 4 ? 31.7f : 0.0f);
    }
    check_shape((shape){600, 40, 2048}, true, true, 0); /* more inputs than are kept near the core at once */
}

/* ---- integers ---- */

/* The largest sums there are: all inputs and codes at an end of their range. */
TEST(nothing_overflows_or_saturates)
{
    enum { N = 20, K = 65536, KINDS = 3, ROWS = 2 * KINDS };
    static const int ends[] = {127, -127, -128}; /* the last is no code that we write, but a file may hold it */
    quantized w = new_quantized(N, K, false, false, 1.0f);
    float *x = new_floats((size_t)ROWS * K, 0, 0);
    float y[KINDS * N], y_twice[ROWS * N];
    w.matrix.multiplier = 1.0f;
    for (size_t k = 0; k < K; k++) {
        x[k] = 127.0f;
        x[K + k] = -1000.0f;
        x[2 * K + k] = k % 2 == 0 ? 127.0f : -127.0f;
    }
    memcpy(x + KINDS * K, x, (size_t)KINDS * K * sizeof *x);
    for (int e = 0; e < 3; e++) {
        memset(w.q, ends[e], (size_t)N * K);
        for (size_t k = 0; k < K; k += 2) w.q[k] = (int8_t)-w.q[k + 1] < 0 ? -127 : 127; /* row 0 alternates */
        pack_quantized(&w);
        EACH_ISA(k)
        {
            run(*k, y, x, KINDS, &w.matrix);
            run(*k, y_twice, x, ROWS, &w.matrix);
            assert_memory_equal(y_twice, y, KINDS * N * sizeof *y);
            assert_memory_equal(y_twice + KINDS * N, y, KINDS * N * sizeof *y);
            for (int32_t i = 0; i < KINDS; i++) {
                for (int32_t n = 0; n < N; n++) {
                    int64_t sum = exact_sum(&w, n, x + i * K, 1.0f);
                    assert_true(llabs(sum) <= INT32_MAX);
                    assert_true(y[i * N + n] == (float)sum);
                }
            }
        }
    }
}

/* ---- planes and nibbles ---- */

/* What the nibble of a code stands for, doubled. */
static int32_t coarse_of(int8_t q)
{
    return 2 * ((q + 128) / 16 * 16 - 128) + 15;
}

/* Σ x̂·q̂ + |x̂|·error rounded up, and no less than the product. */
static void check_nibbles(const quantized *w, const float *x, int32_t rows)
{
    const int32_t N = w->matrix.N, K = w->matrix.K;
    ferry_matrix nibbles = new_planes(w);
    nibbles.kind = FERRY_MATRIX_NIBBLES;
    double most = 0;
    for (int32_t n = 0; n < N; n++) {
        double squares = 0;
        for (int32_t k = 0; k < K; k++)
            squares += pow(w->q[(size_t)n * (size_t)K + (size_t)k] - coarse_of(w->q[n * K + k]) / 2.0, 2);
        most = fmax(most, sqrt(squares));
    }
    assert_true(nibbles.nibbles_error == nextafterf((float)most, INFINITY));
    float *y = new_floats((size_t)rows * (size_t)N, 0, 0), *exact = new_floats((size_t)rows * (size_t)N, 0, 0);
    EACH_ISA(k)
    {
        if (rows > (*k)->nibbles_rows) continue;
        run(*k, y, x, rows, &nibbles);
        run(*k, exact, x, rows, &w->matrix);
        for (int32_t i = 0; i < rows; i++) {
            const float *row = x + (size_t)i * (size_t)K;
            double squares = 0;
            for (int32_t j = 0; j < K; j++) squares += (double)row[j] * (double)row[j];
            for (int32_t n = 0; n < N; n++) {
                const size_t at = (size_t)i * (size_t)N + (size_t)n;
                int64_t sum = 0; /* doubled */
                for (int32_t j = 0; j < K; j++)
                    sum += (int32_t)row[j] * coarse_of(w->q[(size_t)n * (size_t)K + (size_t)j]);
                assert_true(y[at] == (float)ceil((double)nibbles.nibbles_error * sqrt(squares) + (double)sum / 2));
                assert_true(y[at] >= exact[at]);
            }
        }
    }
}

/* Every code, in every place of a line. */
TEST(planes_are_joined)
{
    enum { K = 520, PANEL = 16 * K };
    int8_t *codes = new_memory(PANEL), *joined = new_memory(PANEL + 1);
    uint8_t *upper = new_memory(PANEL / 2), *lower = new_memory(PANEL / 2);
    for (int32_t shift = 0; shift < 256; shift++) {
        for (int32_t i = 0; i < PANEL; i++) codes[i] = (int8_t)(i + i / 128 + shift);
        ferry_planes_from_panel(codes, K, upper, lower);
        for (int32_t k = 0; k < K; k++)
            for (int32_t l = 0; l < FERRY_LANES; l++)
                assert_int_equal(ferry_planes_code(upper + 4 * l, lower + 4 * l, k),
                                 codes[(k / 4 * 16 + l) * 4 + k % 4]);
        EACH_ISA(k)
        {
            memset(joined, 0x55, PANEL + 1);
            (*k)->join_planes(joined, upper, lower, K / FERRY_NIBBLE_GROUP, false);
            assert_memory_equal(joined, codes, PANEL);
            assert_int_equal(joined[PANEL], 0x55);
            (*k)->join_planes(joined, upper, lower, K / FERRY_NIBBLE_GROUP, true);
            for (int32_t i = 0; i < PANEL; i++) assert_int_equal((uint8_t)joined[i], codes[i] + 128);
            assert_int_equal(joined[PANEL], 0x55);
        }
    }
    release_memory();
}

/* Products of planes are those of int8, byte for byte: with tiles of all sizes, and with panels that are joined before,
 * in several parts; with sums in 16 bits that overflow. */
RANDOM_TEST(products_of_planes)
{
    static const int32_t shapes[][2] = {{33, 72}, {16, 64}, {20, 8}, {70, 520}, {17, 136}, {130, 2048}, {600, 512}};
    for (size_t s = 0; s < 2 * sizeof shapes / sizeof *shapes; s++) {
        const int32_t N = shapes[s / 2][0], K = shapes[s / 2][1];
        quantized w = new_quantized(N, K, s % 2 == 0, s % 3 == 0, s % 2 == 0 ? 0 : 40.0f);
        memset(w.q, s % 2 == 0 ? 127 : -128, (size_t)K);
        pack_quantized(&w);
        const ferry_matrix planes = new_planes(&w);
        for (int32_t rows = 1; rows <= 49; rows += rows < 17 ? 1 : 16) {
            float *x = new_floats((size_t)rows * (size_t)K, -3.0f, 3.0f);
            float *y = new_floats((size_t)(rows * N), 0, 0), *expected = new_floats((size_t)(rows * N), 0, 0);
            run(ferry_kernels_find("plain"), expected, x, rows, &w.matrix);
            EACH_ISA(k)
            {
                run(*k, y, x, rows, &planes);
                assert_memory_equal(y, expected, (size_t)(rows * N) * sizeof *y);
            }
        }
        release_memory();
    }
}

TEST(nibbles_bound_products)
{
    /* All numbers of rows that tiles have; lines that are not a multiple of four; errors that need more than 16 bits */
    static const int32_t shapes[][2] = {{33, 72}, {16, 64}, {20, 8}, {70, 520}, {17, 136}, {18, 9000}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        const int32_t N = shapes[s][0], K = shapes[s][1];
        quantized w = new_quantized(N, K, false, false, 1.0f);
        w.matrix.multiplier = 1.0f;
        memset(w.q, -128, (size_t)K);
        memset(w.q + K, 0, (size_t)K);
        memset(w.q + (size_t)(N - 1) * (size_t)K, 127, (size_t)K);
        pack_quantized(&w);
        for (int32_t rows = 1; rows <= (K > 1000 ? 5 : 49); rows++) {
            float *x = new_floats((size_t)rows * (size_t)K, -127.49f, 127.49f);
            for (int32_t i = 0; i < rows * K; i++) x[i] = nearbyintf(x[i]);
            for (int32_t i = 0; i < K; i++) x[i] = rows % 2 == 0 ? 127.0f : -127.0f; /* the largest sums */
            check_nibbles(&w, x, rows);
        }
        release_memory();
    }
}

/* ---- steps ---- */

/* The int8 matrix with the same codes gives the same bytes, on every ISA and with any number of rows. */
static void check_steps(shape s, bool with_scales, bool with_bias, bool largest)
{
    quantized w = new_quantized(s.N, s.K, with_scales, with_bias, largest ? 1.0f : 0.0f);
    const ferry_matrix steps = new_steps(&w, largest);
    const size_t size = (size_t)s.rows * (size_t)s.N;
    float *x = new_floats((size_t)s.rows * (size_t)s.K, -3.0f, 3.0f), *expected = new_floats(size, 0, 0);
    for (int32_t i = 0; largest && i < s.rows * s.K; i++) x[i] = i / s.K % 2 == 0 ? 127.0f : -127.0f;
    run(ferry_kernels_find("plain"), expected, x, s.rows, &w.matrix);
    EACH_ISA(k)
    {
        float *y = new_floats(size + 16, GUARD, GUARD);
        run(*k, y, x, s.rows, &steps);
        assert_memory_equal(y, expected, size * sizeof *y);
        for (size_t i = size; i < size + 16; i++) assert_true(y[i] == GUARD);
    }
    release_memory();
}

RANDOM_TEST(steps_are_like_their_codes)
{
    for (int32_t rows = 1; rows <= MAX_ROWS; rows++)
        check_steps((shape){rows, 33, 96}, rows % 2 == 0, rows % 3 == 0, false);
    for (int32_t N = 1; N <= 130; N += N < 20 ? 1 : 11) check_steps((shape){N % 4 + 1, N, 64}, true, true, false);
    for (int32_t K = 32; K <= 1088; K += K < 300 ? 32 : 160) {
        check_steps((shape){1, 70, K}, true, true, false);
        check_steps((shape){4, 70, K}, true, true, false);
        check_steps((shape){23, 50, K}, true, true, false);
    }
    for (int32_t rows = 1; rows <= 20; rows += 3) check_steps((shape){rows, 40, 128}, false, true, true);
    check_steps((shape){2, 20, FERRY_INT8_MAX_K}, false, false, true);
    check_steps((shape){600, 40, 2048}, true, true, false);
}

/* Steps that no importer writes: any bytes may be multiplied, with any result. */
RANDOM_TEST(steps_of_any_bytes)
{
    enum { N = 70, K = 4096 };
    quantized w = new_quantized(N, K, true, false, 1.0f);
    const ferry_matrix steps = new_steps(&w, true);
    float *x = new_floats(30 * K, 127.0f, 127.0f), *y = new_floats(30 * N, 0, 0);
    for (int byte = 0; byte < 256; byte += 85) {
        memset((void *)(uintptr_t)steps.steps, byte, ferry_steps_size(N, K));
        EACH_ISA(k) for (int32_t rows = 1; rows <= 30; rows += 29) run(*k, y, x, rows, &steps);
    }
}

/* ---- sums of 16 bits ---- */

/* Rows x [127, K] of ±1, ±2, …, or from the largest on: in all places, in the first pairs of groups, or the second. */
static void fill_rows(float *x, int32_t K, bool ascending, int pairs)
{
    for (int32_t r = 0; r < 127; r++)
        for (int32_t k = 0; k < K; k++) {
            const float size = (float)(ascending ? r + 1 : 127 - r);
            x[r * K + k] = pairs == 2 || k / 2 % 2 == pairs ? (r % 3 == 0 ? -size : size) : 0;
        }
}

/* With codes that are all as large as they can be, inputs are so large that their sums just fit, or just do not. The
 * first row decides how many are added together. */
TEST(sums_fit_in_16_bits)
{
    enum { N = 20, ROWS = 127, ENDS = 4 };
    static const int32_t widths[] = {3, 64, 87, 515};
    static const int8_t ends[ENDS] = {127, -127, -128, 0};
    for (size_t i = 0; i < 6 * sizeof widths / sizeof *widths; i++) {
        const int32_t K = widths[i / 6];
        quantized w = new_quantized(N, K, false, false, 1.0f);
        float *x = new_floats((size_t)ROWS * (size_t)K, 0, 0), *y = new_floats(ROWS * N, 0, 0);
        w.matrix.multiplier = 1.0f;
        const int32_t from = K > 64 ? 32 : 0; /* other limits before than after */
        for (int32_t n = 0; n < ENDS; n++) memset(w.q + n * K + from, ends[n], (size_t)(K - from));
        pack_quantized(&w);
        fill_rows(x, K, i % 2 == 0, (int)(i / 2 % 3));
        EACH_ISA(k)
        {
            run(*k, y, x, ROWS, &w.matrix);
            for (int32_t r = 0; r < ROWS; r++)
                for (int32_t n = 0; n < N; n++) assert_true(y[r * N + n] == (float)exact_sum(&w, n, x + r * K, 1.0f));
        }
        release_memory();
    }
}

/* Every pair of an input and a code, in every place of a group. */
TEST(every_product_of_bytes)
{
    enum { N = 256, K = 5, ROWS = 255 };
    quantized w = new_quantized(N, K, true, false, 1.0f);
    float *x = new_floats(ROWS * K, 0, 0), *y = new_floats(ROWS * N, 0, 0);
    for (int32_t n = 0; n < N; n++) w.scales[n] = 1.0f;
    for (int32_t place = 0; place < K; place++) {
        memset(w.q, 0, N * K);
        memset(x, 0, ROWS * K * sizeof *x);
        for (int32_t n = 0; n < N; n++) w.q[n * K + place] = (int8_t)(n - 128);
        for (int32_t i = 0; i < ROWS; i++) x[i * K + place] = (float)(i - 127);
        pack_quantized(&w);
        EACH_ISA(k)
        {
            run(*k, y, x, ROWS, &w.matrix);
            for (int32_t i = 0; i < ROWS; i++)
                for (int32_t n = 0; n < N; n++) assert_true(y[i * N + n] == (float)((i - 127) * (n - 128)));
        }
    }
}

RANDOM_TEST(groups_share_a_factor)
{
    enum { ROWS = 40, N = 35, K = 19 };
    static const int32_t ends[] = {1, 4, 4, 25, ROWS};
    quantized w = new_quantized(N, K, true, true, 0), fixed = new_quantized(N, K, false, true, 12.5f);
    float *x = new_floats(ROWS * K, -3.0f, 3.0f), *y = new_floats(ROWS * N, 0, 0), *alone = new_floats(ROWS * N, 0, 0);
    const ferry_matrix *matrix = &w.matrix, *with_factor = &fixed.matrix;
    for (int32_t i = 0; i < K; i++) x[10 * K + i] *= 50.0f; /* rounds the rest of its group coarsely */
    EACH_ISA(k)
    {
        run_many(*k, &y, &(ferry_rows){x, ROWS, ends}, &matrix, 1);
        for (int32_t g = 0, row = 0; g < 5; row = ends[g++]) {
            float a = factor_of(x + row * K, (size_t)(ends[g] - row) * K);
            for (int32_t i = row; i < ends[g]; i++) check_row(&w, y + i * N, x + i * K, a);
        }
        run_many(*k, &y, &(ferry_rows){x, ROWS, ends}, &with_factor, 1); /* groups do not matter */
        run(*k, alone, x, ROWS, with_factor);
        assert_memory_equal(y, alone, ROWS * N * sizeof *y);
    }
}

RANDOM_TEST(odd_rows)
{
    enum { N = 18, K = 21, ROWS = 4 };
    quantized w = new_quantized(N, K, true, true, 0);
    float x[ROWS * K] = {0}, y[ROWS * N], zeros[ROWS * N], first[ROWS * N];
    x[K] = 1e-40f; /* so small that its factor is infinite */
    x[2 * K + 3] = INFINITY;
    x[3 * K + 3] = NAN;
    EACH_ISA(k)
    {
        w.matrix.bias = w.bias;
        run(*k, y, x, ROWS, &w.matrix);
        assert_memory_equal(y, w.bias, N * sizeof *y);
        assert_memory_equal(y + N, w.bias, N * sizeof *y);
        for (int32_t i = 2 * N; i < ROWS * N; i++) assert_true(isnan(y[i]) || isinf(y[i]));
        w.matrix.bias = NULL;
        w.matrix.input_multiplier = 4; /* a row's NaN is not in its factor then */
        run(*k, y, x + 3 * K, 1, &w.matrix);
        for (int32_t n = 0; n < N; n++) assert_true(isnan(y[n]));
        w.matrix.input_multiplier = 0;
        run(*k, zeros, x, 2, &w.matrix);
        if (*k == ferry_kernels_available()[0]) memcpy(first, zeros, sizeof first);
        assert_memory_equal(zeros, first, 2 * N * sizeof *zeros); /* the signs of zeros, too */
    }
}

/* ---- several matrices, rows of matrices ---- */

RANDOM_TEST(many_are_like_one_by_one)
{
    enum { ROWS = 20, K = 37 };
    quantized a = new_quantized(16, K, true, true, 0), b = new_quantized(40, K, false, false, 20.0f),
              c = new_quantized(5, K, false, true, 0);
    for (int32_t i = 0; i < 16 * K; i++) a.q[i] /= 16; /* whose sums allow larger inputs than those of c */
    memset(c.q, 127, K);
    pack_quantized(&a);
    pack_quantized(&c);
    float *x = new_floats(ROWS * K, -3.0f, 3.0f), *weight = new_floats(30 * K, -1.0f, 1.0f);
    float *panels = new_floats(ferry_panels_count(30, K), 0, 0);
    ferry_panels_pack(panels, weight, 30, K);
    ferry_matrix floats = {.N = 30, .K = K, .panels = panels};
    const ferry_matrix *matrices[FERRY_LINEAR_MAX] = {&a.matrix, &c.matrix, &floats, &b.matrix};
    for (int32_t k = 0; k < K; k++) x[k] = 3;
    for (int order = 0; order < 2; order++) {
        EACH_ISA(k)
        {
            float *y[FERRY_LINEAR_MAX];
            for (int m = 0; m < FERRY_LINEAR_MAX; m++) y[m] = new_floats((size_t)ROWS * 40, 0, 0);
            run_many(*k, y, &(ferry_rows){x, ROWS, NULL}, matrices, FERRY_LINEAR_MAX);
            for (int m = 0; m < FERRY_LINEAR_MAX; m++) {
                float *alone = new_floats((size_t)ROWS * 40, 0, 0);
                run(*k, alone, x, ROWS, matrices[m]);
                assert_memory_equal(y[m], alone, (size_t)ROWS * (size_t)matrices[m]->N * sizeof *alone);
            }
        }
        matrices[0] = &b.matrix; /* then: 20, 0, none, 20 */
    }
}

/* ---- division by a multiplier ---- */

/* Every sum by every unit: one row [ROWS] of outputs has one unit, a·multiplier. */
static void check_unit(quantized *w, const float *x, float a, float multiplier)
{
    enum { ROWS = 8 };
    const int32_t N = w->matrix.N;
    float *y = new_floats((size_t)(ROWS * N), 0, 0);
    w->matrix.input_multiplier = a;
    w->matrix.multiplier = multiplier;
    EACH_ISA(k)
    {
        run(*k, y, x, ROWS, &w->matrix);
        for (int32_t i = 0; i < ROWS; i++) {
            for (int32_t n = 0; n < N; n++) {
                const float sum = (float)exact_sum(w, n, x + i * w->matrix.K, a);
                const float expected = sum / (a * multiplier), found = y[i * N + n];
                assert_true(isnan(expected) ? isnan(found) : memcmp(&expected, &found, sizeof found) == 0);
            }
        }
    }
}

RANDOM_TEST(quotients_are_rounded_once)
{
    static const float multipliers[] = {1.0f,
                                        0x1.fffffep0f,
                                        0x1.000002p0f,
                                        0x1p60f,
                                        0x1.fffffep59f,
                                        0x1p-60f,
                                        0x1.000002p-60f,
                                        0x1p127f,
                                        0x1.fffffep127f,
                                        0x1p-126f,
                                        0x1p-149f,
                                        0.0f,
                                        -3.0f,
                                        INFINITY,
                                        0x1.234568p-140f};
    enum { N = 48, K = 40, ROWS = 8 };
    quantized w = new_quantized(N, K, false, false, 0);
    float *x = new_floats((size_t)ROWS * K, -90.0f, 90.0f);
    for (size_t i = 0; i < sizeof multipliers / sizeof *multipliers; i++) check_unit(&w, x, 1.0f, multipliers[i]);
    for (int i = 0; i < 300; i++) check_unit(&w, x, random_between(0.5f, 2.0f), random_between(0.01f, 3000.0f));
}

/* ---- memory ---- */

enum { BUFFER = 1 << 18, WALL = 1 << 16, BUFFERS = 10 }; /* enough for each of them; whole pages */

/* Where buffer i of n bytes is, right before inaccessible memory: reading or writing past its end ends the program. */
static void *before_a_wall(int i, const void *data, size_t n)
{
    static unsigned char *walls[BUFFERS];
    assert_true(n <= BUFFER);
    if (walls[i] == NULL) {
#if defined(_WIN32)
        DWORD before;
        unsigned char *memory = VirtualAlloc(NULL, BUFFER + WALL, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
        assert_non_null(memory);
        assert_true(VirtualProtect(memory + BUFFER, WALL, PAGE_NOACCESS, &before));
#else
        const int flags = MAP_PRIVATE | MAP_ANONYMOUS;
        unsigned char *memory = mmap(NULL, BUFFER + WALL, PROT_READ | PROT_WRITE, flags, -1, 0);
        assert_true((void *)memory != MAP_FAILED);
        assert_int_equal(mprotect(memory + BUFFER, WALL, PROT_NONE), 0);
#endif
        walls[i] = memory + BUFFER;
    }
    unsigned char *at = walls[i] - n;
    if (data != NULL) memcpy(at, data, n);
    if (data == NULL) memset(at, 0x55, n);
    return at;
}

/* The kernels themselves, with every one of their buffers at a wall. */
static void check_walls(shape s, bool with_scales, bool with_extra)
{
    quantized w = new_quantized(s.N, s.K, with_scales, true, 0);
    const size_t rows = (size_t)s.rows, N = (size_t)s.N, K = (size_t)s.K;
    const size_t y_size = rows * N * sizeof(float), column_size = N * sizeof(float), row_size = rows * sizeof(float);
    float *x = new_floats(rows * K, -3.0f, 3.0f), *expected = new_floats(rows * N, 0, 0);
    float *x_at = before_a_wall(0, x, rows * K * sizeof(float));
    float *scales = before_a_wall(1, w.scales, column_size), *bias = before_a_wall(2, w.bias, column_size);
    int8_t *codes = before_a_wall(3, w.codes, ferry_int8_size(s.N, s.K));
    ferry_matrix matrix = w.matrix;
    const ferry_matrix *all = &matrix;
    matrix.int8 = codes;
    matrix.scales = with_scales ? scales : NULL;
    matrix.bias = bias;
    run(ferry_kernels_find("plain"), expected, x, s.rows, &w.matrix);
    EACH_ISA(k)
    {
        matrix.extra = NULL;
        if (with_extra && (*k)->extra != NULL) {
            matrix.extra = before_a_wall(4, NULL, (*k)->extra->matrix_size(s.K));
            begin_extra(*k, &matrix);
        }
        ferry_rows_i8 inputs =
            ferry_rows_i8_begin(*k, s.rows, &all, 1, before_a_wall(8, NULL, ferry_rows_i8_size(*k, s.rows, s.K)));
        inputs.inverse_scales = before_a_wall(5, NULL, row_size);
        inputs.scales = before_a_wall(6, NULL, row_size);
        inputs.sums = before_a_wall(7, NULL, row_size);
        for (int32_t i = 0; i < s.rows; i++) {
            inputs.inverse_scales[i] = 127.0f / (*k)->largest(x_at + (size_t)i * K, K);
            (*k)->quantize(&inputs, x_at + (size_t)i * K, i);
        }
        float *y = before_a_wall(9, NULL, y_size);
        (*k)->product_i8(y, N, &inputs, &matrix);
        assert_memory_equal(y, expected, y_size);
    }
    release_memory();
}

RANDOM_TEST(nothing_past_the_buffers_is_touched)
{
    static const int32_t rows[] = {1, 2, 3, 4, 5, 15, 16, 17, 31, 33, 47, 49, 64, 70, 97},
                         N[] = {1, 16, 31, 33, 65, 96};
    static const int32_t K[] = {1, 16, 63, 64, 65, 130, 192};
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        for (size_t n = 0; n < sizeof N / sizeof *N; n++)
            for (size_t k = 0; k < sizeof K / sizeof *K; k++)
                check_walls((shape){rows[r], N[n], K[k]}, n % 2 == 0, n % 3 == 0);
    }
}

/* ---- tables ---- */

/* Which is the best one: test_kernels.c. */
TEST(tables_for_int8_are_found)
{
    static const struct {
        const char *isa, *base;
    } rows[] = {{"neon_dotprod", "neon"},
                {"neon_i8mm", "neon_dotprod"},
                {"avxvnni", "avx2"},
                {"avx512vnni", "avx512"},
                {"amx", "avx512vnni"}};
    for (int32_t i = 0; i < COUNT(rows); i++) {
        const ferry_kernels *kernels = ferry_kernels_find(rows[i].isa), *base = ferry_kernels_find(rows[i].base);
        if (kernels == NULL) continue;
        assert_ptr_equal(kernels->product, base->product);
        assert_ptr_not_equal(kernels->product_i8, base->product_i8);
    }
#if defined(FERRY_KNOWN_FEATURES)
    assert_int_equal(ferry_kernels_find("avx512vnni") != NULL,
                     ferry_kernels_find("avx512") != NULL && __builtin_cpu_supports("avx512vnni"));
#endif
#if defined(FERRY_EMULATED_TILES)
    assert_int_equal(ferry_kernels_find("amx") != NULL, ferry_kernels_find("avx512vnni") != NULL);
#endif
}
