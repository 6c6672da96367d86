/* BLEU and chrF against sacrebleu, as tests/data/scores/record.py recorded it. */
#include "tests/support/files.h"
#include "tests/support/support.h"

#include "tools/lab/bleu.h"
#include "tools/lab/chrf.h"

typedef struct metric {
    const char *score, *counts; /* keys of the file */
    size_t width;
    ferry_status (*count)(ferry_text hypothesis, ferry_text reference, double *counts, ferry_error *error);
    double (*value)(const double *sums);
} metric;
static const metric metrics[] = {
    {"bleu", "bleu_counts", FERRY_BLEU_COUNTS, ferry_bleu_count, ferry_bleu_score},
    {"chrf", "chrf_counts", FERRY_CHRF_COUNTS, ferry_chrf_count, ferry_chrf_score},
};
enum { MOST_COUNTS = FERRY_CHRF_COUNTS };

static ferry_text text_at(const json_t *pair, size_t side)
{
    const json_t *text = json_array_get(pair, side);
    return (ferry_text){json_string_value(text), json_string_length(text)};
}

/* Compares the counts of pair `i` with the recorded ones, if there are any, and adds them to `sums`. */
static void count_pair(const metric *m, const json_t *corpus, size_t i, double *sums)
{
    double counts[MOST_COUNTS];
    const json_t *pair = json_array_get(json_object_get(corpus, "pairs"), i);
    const json_t *recorded = json_array_get(json_object_get(corpus, m->counts), i);
    CHECK(m->count(text_at(pair, 0), text_at(pair, 1), counts, &error));
    for (size_t k = 0; k < m->width; k++) {
        const json_int_t expected = json_integer_value(json_array_get(recorded, k));
        if (recorded != NULL && (double)expected != counts[k])
            fail_msg("%s: pair %zu '%s' '%s': %s[%zu]: expected %lld, found %g",
                     json_string_value(json_object_get(corpus, "name")), i, text_at(pair, 0).data,
                     text_at(pair, 1).data, m->counts, k, (long long)expected, counts[k]);
        sums[k] += counts[k];
    }
}

static void check_metric(const metric *m)
{
    const json_t *corpora = json_object_get(load_json(data_file("scores/scores.json")), "corpora"), *corpus;
    size_t index;
    assert_true(json_array_size(corpora) > 40);
    json_array_foreach (corpora, index, corpus) {
        double sums[MOST_COUNTS] = {0};
        const double expected = json_real_value(json_object_get(corpus, m->score));
        const size_t pairs = json_array_size(json_object_get(corpus, "pairs"));
        assert_true(pairs > 0);
        for (size_t i = 0; i < pairs; i++) count_pair(m, corpus, i, sums);
        if (!(fabs(m->value(sums) - expected) < 1e-9))
            fail_msg("%s: %s: expected %.12g, found %.12g", json_string_value(json_object_get(corpus, "name")),
                     m->score, expected, m->value(sums));
    }
}

TEST(test_recorded_scores)
{
    for (size_t i = 0; i < COUNT(metrics); i++) check_metric(&metrics[i]);
}

/* Ferry reads what is not UTF-8 as U+FFFD, also when it compares. NUL is an ordinary character. */
TEST(test_invalid_text)
{
    static const char invalid[] = "a\xFF b", replaced[] = "a\xEF\xBF\xBD b";
    for (size_t i = 0; i < COUNT(metrics); i++) {
        double counts[MOST_COUNTS];
        CHECK(metrics[i].count((ferry_text){invalid, 4}, (ferry_text){replaced, 6}, counts, &error));
        assert_true(counts[2] == (i == 0 ? 2 : 3)); /* words; characters */
        CHECK(metrics[i].count((ferry_text){"a\0b", 3}, (ferry_text){"a\0c", 3}, counts, &error));
        assert_true(counts[2] == (i == 0 ? 0 : 2)); /* the one word differs; of characters, two are equal */
        CHECK(metrics[i].count((ferry_text){NULL, 0}, (ferry_text){replaced, 6}, counts, &error));
        assert_true(metrics[i].value(counts) == 0);
    }
}
