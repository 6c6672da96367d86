/* Ridge regression against exact arithmetic. */
#include "tests/support/random.h"
#include "tests/support/support.h"

#include "tools/lab/linear_algebra.h"
#include "tools/lab/ridge.h"

enum { D = 3, N = D + 2, ROWS = 7 };

/* x, 1, y */
static const double rows[ROWS * N] = {1, 2, 0, 1, 3, 3, -1, 1, 1, 1,  0, 4, 2, 1,  4, -2, 1, 5,
                                      1, 1, 2, 2, 2, 1, 5,  4, 0, -3, 1, 9, 1, -3, 1, 1,  2};

/* For the first call of a test, too. */
static double *new_scratch(int32_t width)
{
    CHECK(ferry_linear_algebra_load(&error));
    return kept_memory(ferry_ridge_scratch(width) * sizeof(double));
}

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
    double *scratch = new_scratch(D);
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

enum { WIDTH = 20, SIZE = WIDTH + 2 };

/* y = `share` of the first column + noise, among columns of noise. */
static void fill_gram(uint32_t *random, double share, int32_t count, double *gram)
{
    double *z = kept_memory((size_t)(count * SIZE) * sizeof *z), *row = z;
    for (int32_t r = 0; r < count; r++, row += SIZE) {
        for (int32_t d = 0; d < WIDTH; d++) row[d] = random_number(random);
        row[WIDTH] = 1;
        row[WIDTH + 1] = share * row[0] + random_number(random);
    }
    ferry_gram(z, count, SIZE, gram);
}

/* Of the powers of 10. Noise alone: no strength is enough, and the greatest is taken. */
TEST(the_strength_is_the_one_with_the_least_error)
{
    static double train[SIZE * SIZE], test[SIZE * SIZE], both[SIZE * SIZE];
    double solution[SIZE], expected[SIZE], *scratch = new_scratch(WIDTH);
    for (int noise = 0; noise < 2; noise++) {
        double least = INFINITY, best = 0;
        uint32_t random = 1;
        fill_gram(&random, 1 - noise, noise == 0 ? 30 : 100, train);
        fill_gram(&random, 1 - noise, noise == 0 ? 200 : 100, test);
        for (int exponent = -6; exponent <= 1; exponent++) {
            assert_true(ferry_ridge_solve(train, WIDTH, pow(10, exponent), scratch, solution));
            const double error = ferry_ridge_error(test, WIDTH, solution);
            if (error < least) best = pow(10, exponent);
            least = error < least ? error : least;
        }
        assert_true(noise == 0 ? best > 1e-6 && best < 10 : best == 10); /* few rows need some strength */
        for (int i = 0; i < SIZE * SIZE; i++) both[i] = train[i] + test[i];
        assert_true(ferry_ridge_solve(both, WIDTH, best, scratch, expected));
        assert_true(ferry_ridge_fit(train, test, WIDTH, scratch, solution));
        assert_memory_equal(solution, expected, sizeof solution);
    }
}

TEST(what_cannot_be_fitted_is_told)
{
    const double constant[] = {5, 5, 5, 1, 1, 5, 5, 5, 1, 3}, nan[] = {NAN, 1, 2, 1, 1};
    double gram[N * N] = {0}, solution[N], *scratch = new_scratch(D);
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
