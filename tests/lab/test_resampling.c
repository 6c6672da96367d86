/* Intervals and significance against scores that sacrebleu gave to texts put together from the same drawn lines
 * (tests/data/scores/record.py). */
#include "tests/support/files.h"
#include "tests/support/support.h"

#include "tools/lab/bleu.h"
#include "tools/lab/chrf.h"
#include "tools/lab/resampling.h"
#include "tools/lab/statistics.h"

enum { LINES = 60, RESAMPLES = 1000, MOST_COUNTS = FERRY_CHRF_COUNTS };

static void expect_near(double found, double expected, double tolerance)
{
    if (!(fabs(found - expected) <= tolerance)) fail_msg("expected %.12g, found %.12g", expected, found);
}

typedef struct contender {
    double counts[LINES][MOST_COUNTS], scores[RESAMPLES];
} contender;

static const json_t *recorded(const char *key)
{
    return json_object_get(json_object_get(load_json(data_file("scores/scores.json")), "resampled"), key);
}

static void read_counts(contender *s, size_t corpus, const char *key)
{
    const json_t *corpora = json_object_get(load_json(data_file("scores/scores.json")), "corpora");
    const json_t *lines = json_object_get(json_array_get(corpora, corpus), key);
    assert_int_equal(json_array_size(lines), LINES);
    for (size_t i = 0; i < LINES; i++)
        for (size_t k = 0; k < json_array_size(json_array_get(lines, i)); k++)
            s->counts[i][k] = (double)json_integer_value(json_array_get(json_array_get(lines, i), k));
}

static void score(contender *s, size_t r, const uint32_t *times, double (*value)(const double *sums))
{
    double sums[MOST_COUNTS] = {0};
    for (size_t i = 0; i < LINES; i++)
        for (size_t k = 0; k < MOST_COUNTS; k++) sums[k] += times[i] * s->counts[i][k];
    s->scores[r] = value(sums);
}

static void check_interval(const json_t *expected, double *scores)
{
    const ferry_interval found = ferry_resampled_interval(42, scores, RESAMPLES);
    expect_near(found.value, 42, 0);
    expect_near(found.low, json_number_value(json_array_get(expected, 0)), 1e-9);
    expect_near(found.high, json_number_value(json_array_get(expected, 1)), 1e-9);
}

static void check(const char *key, const char *counts_key, double (*value)(const double *sums))
{
    static contender contenders[2];
    static double differences[RESAMPLES];
    const json_t *expected = recorded(key);
    uint64_t seed = (uint64_t)json_integer_value(recorded("seed"));
    uint32_t times[LINES];
    for (size_t i = 0; i < 2; i++) read_counts(&contenders[i], 1 + i, counts_key);
    for (size_t r = 0; r < RESAMPLES; r++) {
        ferry_resample(&seed, LINES, times);
        for (size_t i = 0; i < 2; i++) score(&contenders[i], r, times, value);
        differences[r] = contenders[0].scores[r] - contenders[1].scores[r];
    }
    expect_near(ferry_resampled_p(differences, RESAMPLES), json_real_value(json_object_get(expected, "p")), 1e-12);
    check_interval(json_object_get(expected, "a"), contenders[0].scores);
    check_interval(json_object_get(expected, "b"), contenders[1].scores);
    check_interval(json_object_get(expected, "difference"), differences);
}

TEST(test_resampled_scores)
{
    check("bleu", "bleu_counts", ferry_bleu_score);
    check("chrf", "chrf_counts", ferry_chrf_score);
}

TEST(test_draw)
{
    uint64_t seed = (uint64_t)json_integer_value(recorded("seed"));
    const json_t *draw = recorded("first_draw");
    uint32_t times[LINES], expected[LINES] = {0};
    for (size_t i = 0; i < LINES; i++) expected[json_integer_value(json_array_get(draw, i))]++;
    ferry_resample(&seed, LINES, times);
    assert_memory_equal(times, expected, sizeof times);
}

TEST(test_p)
{
    static const double ties[] = {0, 0, 0, 0}, mixed[] = {1, 2, -1, 0}, clear[] = {-1, -2, -3, -4},
                        unknown[] = {NAN, NAN}, partial[] = {-1, NAN, -2, -1, 1};
    expect_near(ferry_resampled_p(ties, 4), 1, 0);
    expect_near(ferry_resampled_p(mixed, 4), 1, 0); /* 2·(2 + 1)/5, at most 1 */
    expect_near(ferry_resampled_p(clear, 4), 2.0 / 5, 1e-15);
    expect_near(ferry_resampled_p(partial, 5), 4.0 / 5, 1e-15);
    assert_true(isnan(ferry_resampled_p(unknown, 2)));
}

TEST(test_interval_of_little)
{
    double unknown[] = {NAN, NAN}, some[] = {NAN, 3, 1, NAN, 2};
    const ferry_interval none = ferry_resampled_interval(1, unknown, 2), found = ferry_resampled_interval(2, some, 5);
    assert_true(isnan(none.low) && isnan(none.high));
    expect_near(found.low, 1, 0);
    expect_near(found.high, 3, 0);
}

/* Ranks of the table of exact intervals of a median (Conover, Practical Nonparametric Statistics): n = 6: 1 and 6,
 * n = 9: 2 and 8, n = 15: 4 and 12, n = 21: 6 and 16. */
TEST(test_median_interval)
{
    static const size_t rows[][3] = {{1, 1, 1}, {3, 1, 3}, {5, 1, 5}, {6, 1, 6}, {9, 2, 8}, {15, 4, 12}, {21, 6, 16}};
    double numbers[21];
    for (size_t i = 0; i < COUNT(rows); i++) {
        const size_t n = rows[i][0];
        for (size_t k = 0; k < n; k++) numbers[k] = (double)(n - k);
        const ferry_interval found = ferry_median_interval(numbers, n);
        expect_near(found.low, (double)rows[i][1], 0);
        expect_near(found.high, (double)rows[i][2], 0);
        expect_near(found.value, (double)(n / 2 + 1), 0);
    }
    assert_true(isnan(ferry_median_interval(numbers, 0).value));
}
