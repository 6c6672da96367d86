/* Ridge regression against exact arithmetic. */
#include "tests/support/random.h"
#include "tests/support/support.h"

#include "tools/lab/linear_algebra.h"
#include "tools/lab/ridge.h"

enum { D = 3, N = D + 2, ROWS = 7 };

/* x, 1, y */
static const double rows[ROWS * N] = {1, 2, 0, 1, 3, 3, -1, 1, 1, 1,  0, 4, 2, 1,  4, -2, 1, 5,
                                      1, 1, 2, 2, 2, 1, 5,  4, 0, -3, 1, 9, 1, -3, 1, 1,  2};

TEST(solutions_are_those_of_exact_arithmetic)
{
    /* By Gauss's elimination on fractions; numpy's solution of the normal equations agrees. */
    static const struct {
        double strength, solution[N], error;
    } cases[] = {
        {1e-6, {0.1402092335969425, 0.4946808607558905, -0.8540695713190161, 4.013895594914313}, 15.645928309698379},
        {0.1, {0.2358484149971277, 0.4458571886850376, -0.7158196505036181, 3.7678050750899437}, 15.939519308526606},
        {10, {0.055898012312505733, 0.02794167860216162, -0.08510654457312504, 3.5768659789659485}, 40.52614653412339},
    };
    double gram[N * N], solution[N], predicted[ROWS];
    double *scratch = kept_memory(ferry_ridge_scratch(D) * sizeof *scratch);
    CHECK(ferry_linear_algebra_load(&error));
    ferry_gram(rows, ROWS, N, gram);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double error = 0;
        assert_true(ferry_ridge_solve(gram, D, cases[i].strength, scratch, solution));
        for (int d = 0; d < N; d++) assert_true(fabs(solution[d] - cases[i].solution[d]) < 1e-12);
        assert_true(fabs(ferry_ridge_error(gram, D, solution) - cases[i].error) < 1e-11);
        ferry_multiply_vector(rows, ROWS, N, solution, predicted);
        for (int r = 0; r < ROWS; r++) error += pow(predicted[r] - rows[r * N + N - 1], 2);
        assert_true(fabs(error - cases[i].error) < 1e-11);
    }
    assert_true(fabs(ferry_ridge_variation(gram, D) - 334.0 / 7) < 1e-11);
}

static double random_number(uint32_t *random)
{
    return (double)next_random(random) / 8388608.0 - 1;
}

/* y = the first column + noise, among columns of noise. */
static void fill_gram(uint32_t *random, int32_t count, int32_t width, double *gram)
{
    double *z = kept_memory((size_t)(count * (width + 2)) * sizeof *z), *row = z;
    for (int32_t r = 0; r < count; r++, row += width + 2) {
        for (int32_t d = 0; d < width; d++) row[d] = random_number(random);
        row[width] = 1;
        row[width + 1] = row[0] + random_number(random);
    }
    ferry_gram(z, count, width + 2, gram);
}

TEST(the_strength_is_the_one_with_the_least_error)
{
    enum { WIDTH = 20, SIZE = WIDTH + 2 };
    static double train[SIZE * SIZE], test[SIZE * SIZE], both[SIZE * SIZE];
    double solution[SIZE], expected[SIZE], least = INFINITY, best = 0, *scratch;
    uint32_t random = 1;
    fill_gram(&random, 30, WIDTH, train);
    fill_gram(&random, 200, WIDTH, test);
    scratch = kept_memory(ferry_ridge_scratch(WIDTH) * sizeof *scratch);
    for (int exponent = -6; exponent <= 1; exponent++) {
        assert_true(ferry_ridge_solve(train, WIDTH, pow(10, exponent), scratch, solution));
        const double error = ferry_ridge_error(test, WIDTH, solution);
        if (error < least) best = pow(10, exponent);
        least = error < least ? error : least;
    }
    assert_true(best > 1e-6 && best < 10); /* few rows need some strength */
    for (int i = 0; i < SIZE * SIZE; i++) both[i] = train[i] + test[i];
    assert_true(ferry_ridge_solve(both, WIDTH, best, scratch, expected));
    assert_true(ferry_ridge_fit(train, test, WIDTH, scratch, solution));
    assert_memory_equal(solution, expected, sizeof solution);
}

/* Noise alone: no strength is enough, and the greatest is taken. */
TEST(noise_takes_the_greatest_strength)
{
    enum { WIDTH = 20, SIZE = WIDTH + 2 };
    static double train[SIZE * SIZE], test[SIZE * SIZE], both[SIZE * SIZE];
    double solution[SIZE], expected[SIZE], *scratch = kept_memory(ferry_ridge_scratch(WIDTH) * sizeof *scratch);
    uint32_t random = 1;
    for (int side = 0; side < 2; side++) {
        double *z = kept_memory((size_t)(100 * SIZE) * sizeof *z);
        for (int i = 0; i < 100 * SIZE; i++) z[i] = i % SIZE == WIDTH ? 1 : random_number(&random);
        ferry_gram(z, 100, SIZE, side == 0 ? train : test);
    }
    for (int i = 0; i < SIZE * SIZE; i++) both[i] = train[i] + test[i];
    assert_true(ferry_ridge_solve(both, WIDTH, 10, scratch, expected));
    assert_true(ferry_ridge_fit(train, test, WIDTH, scratch, solution));
    assert_memory_equal(solution, expected, sizeof solution);
}

TEST(what_cannot_be_fitted_is_told)
{
    const double constant[] = {5, 5, 5, 1, 1, 5, 5, 5, 1, 3}, nan[] = {NAN, 1, 2, 1, 1};
    double gram[N * N] = {0}, solution[N], *scratch = kept_memory(ferry_ridge_scratch(D) * sizeof *scratch);
    assert_false(ferry_ridge_solve(gram, D, 1, scratch, solution));
    assert_false(ferry_ridge_fit(gram, gram, D, scratch, solution));
    ferry_gram(nan, 1, N, gram);
    assert_false(ferry_ridge_solve(gram, D, 1, scratch, solution));
    assert_false(ferry_ridge_fit(gram, gram, D, scratch, solution));
    ferry_gram(constant, 2, N, gram);
    assert_true(ferry_ridge_fit(gram, gram, D, scratch, solution));
    const double mean[N] = {0, 0, 0, 2, 0};
    assert_memory_equal(solution, mean, sizeof mean);
}
