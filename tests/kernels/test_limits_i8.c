/* The limits of inputs, which int8_pairs.c needs. */
#include "engine/kernels/int8_limits.h"
#include "tests/support/quantized.h"

static input_limits *begin(const ferry_matrix *matrix)
{
    input_limits *limits = new_memory(limits_size(matrix->K));
    begin_limits(limits, matrix);
    return limits;
}

/* The larger Σ q² of some pairs of groups of 16 inputs, from input k on. */
static int64_t largest_squares(const quantized *w, int32_t k, int32_t pair)
{
    int64_t most = 0;
    for (int32_t n = 0; n < w->matrix.N; n++) {
        int64_t squares = 0;
        for (int32_t i = k; i < k + 16 && i < w->matrix.K; i++)
            if (i / 2 % 2 == pair) squares += w->q[n * w->matrix.K + i] * w->q[n * w->matrix.K + i];
        most = squares > most ? squares : most;
    }
    return most;
}

/* Not above (2^15 - 1)² / Σ q², and not much below. */
static void check_limit(int32_t limit, int64_t squares, int64_t inputs)
{
    const int64_t room = 32767 * 32767;
    assert_true(limit * squares <= room);
    assert_true(limit >= room / (squares + 2 * inputs) - 1);
}

RANDOM_TEST(limits_are_the_largest_that_are_safe)
{
    for (int32_t K = 1; K < 200; K = K * 5 / 4 + 1) {
        quantized w = new_quantized(K % 50 + 1, K, true, false, 0);
        memset(w.q, K % 2 == 0 ? -128 : 0, (size_t)K);
        pack_quantized(&w);
        const int32_t *fours = find_limits(begin(&w.matrix), LIMITED_ROWS), *eights = fours + count_limits(K);
        for (int32_t k = 0; k < K; k += 32)
            for (int32_t pair = 0; pair < 2; pair++) {
                const int64_t first = largest_squares(&w, k, pair), second = largest_squares(&w, k + 16, pair);
                check_limit(fours[k / 16 * 2 + pair], first, 8);
                check_limit(fours[k / 16 * 2 + 2 + pair], second, 8);
                check_limit(eights[k / 16 + pair], first + second, 16);
            }
        release_memory();
    }
}

TEST(limits_are_found_when_rows_are_many)
{
    quantized w = new_quantized(20, 40, true, true, 0);
    input_limits *limits = begin(&w.matrix);
    assert_null(find_limits(limits, 1));
    assert_null(find_limits(limits, LIMITED_ROWS - 2));
    assert_ptr_equal(find_limits(limits, 1), limits->values);
    assert_ptr_equal(find_limits(limits, 1), limits->values);
}

RANDOM_TEST(limits_of_planes)
{
    for (int32_t K = 8; K < 300; K += 8) {
        quantized w = new_quantized(K % 50 + 1, K, true, false, 0);
        const ferry_matrix planes = new_planes(&w);
        const int32_t *found = find_limits(begin(&planes), LIMITED_ROWS);
        assert_memory_equal(found, find_limits(begin(&w.matrix), LIMITED_ROWS), count_all_limits(K) * sizeof *found);
        release_memory();
    }
}
