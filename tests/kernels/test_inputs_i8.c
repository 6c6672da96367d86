/* What int8 products read: inputs as every ISA quantizes them, codes, and rows of matrices. */
#include "tests/support/quantized.h"

/* ---- inputs ---- */

/* The unit matrix [K, K] shows how its inputs are quantized. */
static quantized new_unit(int32_t K, float input_multiplier)
{
    quantized w = new_quantized(K, K, false, false, input_multiplier);
    w.matrix.multiplier = 1.0f;
    memset(w.q, 0, (size_t)K * (size_t)K);
    for (int32_t k = 0; k < K; k++) w.q[k * K + k] = 1;
    pack_quantized(&w);
    return w;
}

TEST(inputs_are_rounded_and_clamped)
{
    static const float x[] = {0.5f,   1.5f,    2.5f,   -0.5f, -1.5f,   -2.5f,    0.49999997f, 126.5f, 125.5f,
                              127.5f, 126.51f, 128.0f, 1e30f, -127.5f, -126.5f,  -128.0f,     -1e30f, 0.0f,
                              -0.0f,  1e-30f,  3.7f,   -3.7f, 42.0f,   INFINITY, -INFINITY};
    static const float expected[] = {0,    2,    2,    0,    -2, -2, 0, 126, 126, 127, 127, 127, 127,
                                     -127, -126, -127, -127, 0,  0,  0, 4,   -4,  42,  127, -127};
    enum { K = sizeof x / sizeof *x, ROWS = 20 };
    float repeated[ROWS][K], y[ROWS][K];
    for (int i = 0; i < ROWS; i++) memcpy(repeated[i], x, sizeof x);
    quantized once = new_unit(K, 1.0f), twice = new_unit(K, 2.0f);
    EACH_ISA(k)
    {
        for (int32_t rows = 1; rows <= ROWS; rows++) {
            run(*k, &y[0][0], &repeated[0][0], rows, &once.matrix);
            for (int32_t i = 0; i < rows * K; i++) assert_true(y[i / K][i % K] == expected[i % K]);
        }
        run(*k, y[0], (const float[K]){63.25f, 63.75f, -63.25f, 100.0f}, 1, &twice.matrix);
        assert_true(y[0][0] == 63.0f && y[0][1] == 63.5f && y[0][2] == -63.0f && y[0][3] == 63.5f && y[0][4] == 0.0f);
    }
}

RANDOM_TEST(largest_sees_every_number)
{
    EACH_ISA(k)
    {
        assert_true((*k)->largest(NULL, 0) == 0.0f);
        for (size_t n = 1; n < 70; n++) {
            float *x = new_floats(n, -1.0f, 1.0f);
            for (size_t i = 0; i < n; i++) {
                float kept = x[i];
                x[i] = i % 2 == 0 ? -2.5f : 2.5f;
                assert_true((*k)->largest(x, n) == 2.5f);
                x[i] = NAN;
                assert_true(isnan((*k)->largest(x, n)));
                x[i] = kept;
            }
        }
    }
}

/* ---- rows of matrices ---- */

/* What a panel has no row for is 0. */
static void check_filling(const ferry_matrix *matrix)
{
    const size_t last = (size_t)(matrix->N - 1) / 16 * (size_t)matrix->K * 16;
    const size_t last_codes = (size_t)(matrix->N - 1) / 16 * ferry_int8_size(16, matrix->K);
    for (int32_t l = matrix->N % 16; l > 0 && l < 16; l++) {
        for (int32_t k = 0; k < matrix->K; k++)
            if (matrix->kind == FERRY_MATRIX_INT8)
                assert_int_equal(matrix->int8[last_codes + (size_t)(k / 4 * 64 + l * 4 + k % 4)], 0);
            else if (matrix->kind == FERRY_MATRIX_FLOATS)
                assert_true(matrix->panels[last + (size_t)(k * 16 + l)] == 0.0f);
    }
}

/* An arena whose memory has been used. */
static ferry_arena new_arena(void)
{
    ferry_arena arena = {0};
    const ferry_arena_mark mark = ferry_arena_begin(&arena);
    void *memory = ferry_arena_alloc(&arena, 1, 1 << 14);
    assert_non_null(memory);
    memset(memory, 0x55, 1 << 14);
    ferry_arena_end(&arena, mark);
    return arena;
}

static void check_selection(const ferry_matrix *matrix, int32_t count)
{
    ferry_arena arena = new_arena();
    ferry_error error = {0};
    ferry_matrix selected;
    int32_t ids[40];
    float *row = new_floats((size_t)matrix->K, 0, 0), *expected = new_floats((size_t)matrix->K, 0, 0);
    float *x = new_floats((size_t)matrix->K * 3, -1.0f, 1.0f);
    float *y = new_floats((size_t)matrix->N * 3, 0, 0), *y_selected = new_floats((size_t)count * 3, 0, 0);
    for (int32_t i = 0; i < count; i++) ids[i] = (i * 7 + 3) % matrix->N;
    assert_int_equal(ferry_matrix_select(matrix, ids, count, &arena, &selected, &error), FERRY_OK);
    assert_int_equal(selected.N, count);
    check_filling(&selected);
    for (int32_t i = 0; i < count; i++) {
        ferry_matrix_row(&selected, i, row);
        ferry_matrix_row(matrix, ids[i], expected);
        assert_memory_equal(row, expected, (size_t)matrix->K * sizeof *row);
    }
    EACH_ISA(k)
    {
        run(*k, y, x, 3, matrix);
        run(*k, y_selected, x, 3, &selected);
        for (int32_t i = 0; i < 3; i++)
            for (int32_t n = 0; n < count; n++)
                assert_memory_equal(y_selected + i * count + n, y + i * matrix->N + ids[n], sizeof *y);
    }
    ferry_arena_destroy(&arena);
}

RANDOM_TEST(rows_are_read_and_selected)
{
    enum { N = 45, K = 13 };
    quantized scaled = new_quantized(N, K, true, true, 0), whole = new_quantized(N, K, false, false, 33.0f);
    float *weight = new_floats(N * K, -1.0f, 1.0f), *panels = new_floats(ferry_panels_count(N, K), 0, 0);
    ferry_panels_pack(panels, weight, N, K);
    ferry_matrix floats = {.N = N, .K = K, .panels = panels, .bias = scaled.bias};
    for (int32_t n = 0; n < N; n++) {
        float row[K];
        ferry_matrix_row(&scaled.matrix, n, row);
        for (int32_t k = 0; k < K; k++) assert_true(row[k] == (float)scaled.q[n * K + k] * scaled.scales[n]);
        ferry_matrix_row(&whole.matrix, n, row);
        for (int32_t k = 0; k < K; k++) assert_true(row[k] == (float)whole.q[n * K + k] * (1.0f / 97.3f));
        ferry_matrix_row(&floats, n, row);
        assert_memory_equal(row, weight + n * K, sizeof row);
    }
    quantized wide = new_quantized(N, 3 * FERRY_NIBBLE_GROUP, true, true, 0);
    const ferry_matrix planes = new_planes(&wide);
    for (int32_t n = 0; n < N; n++) {
        float row[3 * FERRY_NIBBLE_GROUP], expected[3 * FERRY_NIBBLE_GROUP];
        ferry_matrix_row(&planes, n, row);
        ferry_matrix_row(&wide.matrix, n, expected);
        assert_memory_equal(row, expected, sizeof row);
    }
    for (int32_t count = 1; count <= 40; count++) {
        check_selection(&planes, count);
        check_selection(&scaled.matrix, count);
        check_selection(&whole.matrix, count);
        check_selection(&floats, count);
    }
}

TEST(codes_of_a_row)
{
    static const struct {
        float x[4], scale;
        int8_t codes[4];
    } rows[] = {
        {{127.0f, -63.5f, 0.5f, 1.5f}, 1.0f, {127, -64, 0, 2}},
        {{0.0f, -0.0f, 0.0f, 0.0f}, 1.0f, {0, 0, 0, 0}},
        {{-254.0f, 254.0f, 1.0f, 3.0f}, 2.0f, {-127, 127, 0, 2}},
        {{1e-45f, 0.0f, 0.0f, 0.0f}, 1.0f, {0, 0, 0, 0}},               /* 1e-45 / 127 is 0 */
        {{190e-45f, -190e-45f, 0.0f, 0.0f}, 1e-45f, {127, -127, 0, 0}}, /* 1.07 of the smallest float is rounded */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int8_t codes[4];
        float scale;
        ferry_int8_quantize(rows[i].x, 4, codes, &scale);
        assert_true(scale == rows[i].scale);
        assert_memory_equal(codes, rows[i].codes, 4);
    }
}

/* The definition, number by number. */
RANDOM_TEST(codes_are_rounded_quotients)
{
    for (int32_t K = 1; K < 200; K++) {
        float *x = new_floats((size_t)K, -1.0f, 1.0f), largest = 0, scale;
        int8_t *codes = new_memory((size_t)K);
        for (int32_t k = 0; k < K; k++) x[k] *= ldexpf(1.0f, K - 100);
        for (int32_t k = 0; k < K; k++) largest = fmaxf(largest, fabsf(x[k]));
        ferry_int8_quantize(x, K, codes, &scale);
        assert_true(scale == largest / 127);
        for (int32_t k = 0; k < K; k++) assert_true((float)codes[k] == nearbyintf(x[k] / scale));
    }
}
