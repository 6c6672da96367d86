/* Counts of lines, and the cells of a comparison that they give. */
#include "tests/support/files.h"
#include "tests/support/support.h"

#include "tools/lab/line_columns.h"

#define REPEATS(...) ferry_repeats((const int32_t[]){__VA_ARGS__}, COUNT(((const int32_t[]){__VA_ARGS__})))

TEST(test_repeats)
{
    int32_t ids[3 * (FERRY_REPEATED_PIECES + 1)];
    assert_false(ferry_repeats(NULL, 0));
    assert_false(REPEATS(1, 2, 3, 1, 2, 3));
    assert_false(REPEATS(1, 1, 2, 2, 1, 1));
    assert_false(REPEATS(1, 2, 1, 2, 1));
    assert_true(REPEATS(5, 1, 1, 1));
    assert_true(REPEATS(1, 2, 1, 2, 1, 2));
    assert_true(REPEATS(9, 1, 2, 3, 1, 2, 3, 1, 2, 3, 9));
    for (int32_t n = FERRY_REPEATED_PIECES; n <= FERRY_REPEATED_PIECES + 1; n++) {
        for (int32_t i = 0; i < 3 * n; i++) ids[i] = i % n;
        assert_int_equal(ferry_repeats(ids, (size_t)(3 * n)), n == FERRY_REPEATED_PIECES);
        assert_false(ferry_repeats(ids, (size_t)(3 * n) - 1));
    }
}

/* ---- a comparison of two models on some lines ---- */

enum { LINES = 4, POINTS = 2, WIDTH = FERRY_COLUMNS_CURVE + 2 * POINTS, RESAMPLES = 200 };

static const int32_t buckets[LINES] = {0, 0, 2, -1};

typedef struct made {
    ferry_comparison comparison;
    double sums[2][LINES * WIDTH];
    bool failed[2][LINES], unscored[2][LINES];
    double scores[2][FERRY_CELLS * FERRY_METRIC_COUNT * RESAMPLES];
} made;

static const int32_t sentence[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, repeated[] = {1, 1, 1, 4};
static const double nats[] = {1, 2, 3, 4, 5, 0.5};

/* Line 0: as long as the reference; line 1: too short, repeated; line 2: at the limit, with no likelihoods. */
static void count_lines(double *sums)
{
    const ferry_line_pieces lines[] = {
        {sentence, sentence, 5, 5, false, nats},
        {repeated, sentence, 4, 6, false, NULL},
        {sentence, sentence, 10, 0, true, nats + 5}, /* only the end of sentence */
    };
    for (size_t i = 0; i < COUNT(lines); i++) ferry_count_pieces(&lines[i], false, sums + i * WIDTH);
}

static void count_words(double *sums, const char *hypothesis, const char *reference)
{
    const ferry_text a = {hypothesis, strlen(hypothesis)}, b = {reference, strlen(reference)};
    CHECK(ferry_bleu_count(a, b, sums + FERRY_COLUMNS_BLEU, &error));
    CHECK(ferry_chrf_count(a, b, sums + FERRY_COLUMNS_CHRF, &error));
}

static made *make(void)
{
    made *m = kept_memory(sizeof *m);
    ferry_comparison *c = &m->comparison;
    c->text.count = LINES;
    c->text.buckets = buckets;
    c->text.curve_count = POINTS;
    c->resamples = RESAMPLES;
    c->seed = 3;
    c->count = 2;
    c->models = kept_memory(2 * sizeof *c->models);
    c->differences = kept_memory(FERRY_CELLS * FERRY_METRIC_COUNT * 4 * sizeof *c->differences);
    count_lines(m->sums[0]);
    memcpy(m->sums[1], m->sums[0], sizeof m->sums[1]);
    for (int32_t i = 0; i < LINES; i++) {
        count_words(m->sums[0] + i * WIDTH, "a b c d e f", "a b c d e f");
        count_words(m->sums[1] + i * WIDTH, i == 0 ? "a b c d e f" : "a b c x e f", "a b c d e f");
    }
    return m;
}

static void score(made *m)
{
    ferry_comparison *c = &m->comparison;
    for (size_t i = 0; i < 2; i++) {
        const ferry_line_columns columns = {m->sums[i], WIDTH, m->failed[i], m->unscored[i]};
        CHECK(ferry_score_model(c, &c->models[i], &columns, m->scores[i], &error));
    }
    CHECK(ferry_score_difference(c, 0, m->scores[0], 1, m->scores[1], &error));
}

static void expect(const made *m, size_t cell, ferry_metric metric, double value)
{
    const ferry_interval *found = &m->comparison.models[0].cells[cell].metrics[metric];
    if (!(fabs(found->value - value) < 1e-12) || !(found->low <= value) || !(found->high >= value))
        fail_msg("cell %zu, %s: expected %g, found %g (%g to %g)", cell, ferry_metrics[metric].key, value, found->value,
                 found->low, found->high);
}

TEST(test_cells)
{
    made *m = make();
    score(m);
    expect(m, 0, FERRY_METRIC_BLEU, 100);
    expect(m, 0, FERRY_METRIC_CHRF, 100);
    expect(m, 0, FERRY_METRIC_LIKELIHOOD, 3);
    expect(m, 0, FERRY_METRIC_END, (0.5 + 0.5) / 2);
    expect(m, 0, FERRY_METRIC_LENGTH_RATIO, (5.0 + 4 + 10) / (5 + 6 + 0));
    expect(m, 0, FERRY_METRIC_EARLY_STOP, 1.0 / 3); /* 4 < 0.7 · 6 */
    expect(m, 0, FERRY_METRIC_REPETITION, 2.0 / 3); /* line 1, and line 2, which is at the limit */
    expect(m, 1, FERRY_METRIC_LENGTH_RATIO, 9.0 / 11);
    expect(m, 1, FERRY_METRIC_REPETITION, 0.5);
    expect(m, 3, FERRY_METRIC_REPETITION, 1);
    assert_true(isnan(m->comparison.models[0].cells[2].metrics[FERRY_METRIC_BLEU].value));
    assert_true(isnan(m->comparison.models[0].cells[3].metrics[FERRY_METRIC_LIKELIHOOD].value));
    const ferry_curve_point *curve = m->comparison.models[0].cells[0].curve;
    assert_int_equal(curve[0].pieces, 4);
    assert_true(fabs(curve[0].nats.value - 2.5) < 1e-12);
    assert_int_equal(curve[1].pieces, 1);
    assert_true(fabs(curve[1].nats.value - 5) < 1e-12 && curve[1].nats.low == 5 && curve[1].nats.high == 5);
    assert_int_equal(m->comparison.models[0].cells[3].curve[0].pieces, 0);
    ferry_comparison_destroy(&m->comparison);
}

TEST(test_differences)
{
    made *m = make();
    score(m);
    const ferry_difference *forth = ferry_comparison_difference(&m->comparison, 0, FERRY_METRIC_BLEU, 0, 1),
                           *back = ferry_comparison_difference(&m->comparison, 0, FERRY_METRIC_BLEU, 1, 0),
                           *same = ferry_comparison_difference(&m->comparison, 0, FERRY_METRIC_END, 0, 1);
    assert_true(forth->difference.value > 10 && forth->p < 0.05);
    assert_true(back->difference.value == -forth->difference.value && back->p == forth->p);
    assert_true(back->difference.low == -forth->difference.high && back->difference.high == -forth->difference.low);
    assert_true(same->difference.value == 0 && same->p == 1);
    assert_int_equal(ferry_comparison_best(&m->comparison, 0, FERRY_METRIC_BLEU), 0);
    assert_int_equal(ferry_comparison_best(&m->comparison, 2, FERRY_METRIC_BLEU), 2);
    assert_int_equal(ferry_comparison_best(&m->comparison, 0, FERRY_METRIC_LENGTH_RATIO), 2);
    ferry_comparison_destroy(&m->comparison);
}

/* The same lines are drawn for both models: where the second is worse on every line, it is worse in every resample. */
TEST(test_pairing)
{
    made *m = make();
    for (int32_t i = 0; i < LINES; i++) m->sums[1][i * WIDTH + FERRY_COLUMNS_LENGTH_RATIO] += 0.001;
    score(m);
    const ferry_difference *found = ferry_comparison_difference(&m->comparison, 0, FERRY_METRIC_LENGTH_RATIO, 1, 0);
    assert_true(found->difference.low > 0 && found->p < 2.5 / RESAMPLES);
    ferry_comparison_destroy(&m->comparison);
}

/* Lines left out of one model forbid a comparison of what they are left out of. */
TEST(test_left_out)
{
    made *m = make();
    m->failed[1][0] = m->unscored[0][2] = true;
    score(m);
    const ferry_comparison *c = &m->comparison;
    assert_int_equal(c->models[1].cells[0].failed, 1);
    assert_int_equal(c->models[1].cells[3].failed, 0);
    assert_int_equal(c->models[0].cells[3].unscored, 1);
    assert_true(isnan(ferry_comparison_difference(c, 0, FERRY_METRIC_LENGTH_RATIO, 0, 1)->p));
    assert_true(!isnan(ferry_comparison_difference(c, 0, FERRY_METRIC_BLEU, 0, 1)->p));
    assert_true(!isnan(ferry_comparison_difference(c, 3, FERRY_METRIC_REPETITION, 0, 1)->p));
    assert_true(isnan(ferry_comparison_difference(c, 3, FERRY_METRIC_END, 0, 1)->p));
    ferry_comparison_destroy(&m->comparison);
}

/* What a line counts, apart from its likelihood; where it was not translated, nothing of this. */
TEST(test_counts_of_a_line)
{
    static const struct {
        const int32_t *pieces, *reference;
        size_t count, expected;
        bool limited, failed;
        double early, repeated;
    } rows[] = {{sentence, sentence, 6, 10, false, false, 1, 0}, {sentence, sentence, 7, 10, false, false, 0, 0},
                {sentence, sentence, 6, 10, true, false, 0, 1},  {sentence, sentence, 0, 0, false, false, 0, 0},
                {sentence, sentence, 0, 1, false, false, 1, 0},  {repeated, sentence, 4, 4, false, false, 0, 1},
                {repeated, repeated, 4, 4, false, false, 0, 0}, /* what the reference repeats, too, is no repetition */
                {NULL, sentence, 0, 5, false, true, 0, 0}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        double columns[WIDTH] = {0};
        const ferry_line_pieces line = {rows[i].pieces,   rows[i].reference, rows[i].count,
                                        rows[i].expected, rows[i].limited,   rows[i].failed ? nats : NULL};
        ferry_count_pieces(&line, rows[i].failed, columns);
        assert_true(columns[FERRY_COLUMNS_EARLY_STOP] == rows[i].early);
        assert_true(columns[FERRY_COLUMNS_REPETITION] == rows[i].repeated);
        assert_true(columns[FERRY_COLUMNS_REPETITION + 1] == !rows[i].failed);
        if (!rows[i].failed) continue;
        assert_true(columns[FERRY_COLUMNS_LIKELIHOOD] == 15 && columns[FERRY_COLUMNS_LIKELIHOOD + 1] == 5);
        for (int32_t c = FERRY_COLUMNS_LENGTH_RATIO; c < FERRY_COLUMNS_CURVE; c++) assert_true(columns[c] == 0);
    }
}
