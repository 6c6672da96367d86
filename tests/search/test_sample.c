/* engine/search/search.h: random numbers against the published ones, what the filters leave against transformers'
 * warpers, and how often tokens are drawn. */
#include <math.h>

#include "engine/search/logits.h"
#include "engine/search/search.h"
#include "tests/support/files.h"

/* Known answers of Random123's Philox4x32-10. */
TEST(test_philox)
{
    static const uint32_t rows[][10] = {
        {0, 0, 0, 0, 0, 0, 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
        {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0x408f276d, 0x41c83b0e, 0xa20bc7c6,
         0x6d5451fd},
        {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0, 0xd16cfe09, 0x94fdcceb, 0x5001e420,
         0x24126ea1},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint32_t numbers[4];
        ferry_philox(rows[i], rows[i] + 4, numbers);
        assert_memory_equal(numbers, rows[i] + 6, sizeof numbers);
    }
}

/* Every coordinate counts. */
TEST(test_draws_differ)
{
    static const int32_t ids[] = {1, 2}, other[] = {2, 1};
    const uint64_t stream = ferry_sample_stream(ids, 2, NULL, 0);
    const double u = ferry_sample_uniform(1, stream, 0, 0);
    assert_true(u >= 0 && u < 1);
    assert_true(u == ferry_sample_uniform(1, ferry_sample_stream(ids, 2, ids, 0), 0, 0));
    assert_true(u != ferry_sample_uniform(2, stream, 0, 0));
    assert_true(u != ferry_sample_uniform(1 + (UINT64_C(1) << 32), stream, 0, 0));
    assert_true(u != ferry_sample_uniform(1, stream, 1, 0));
    assert_true(u != ferry_sample_uniform(1, stream, 0, 1));
    assert_true(stream != ferry_sample_stream(other, 2, NULL, 0));
    assert_true(stream != ferry_sample_stream(ids, 1, ids + 1, 1));
    assert_true(stream != ferry_sample_stream(ids, 2, ids, 1));
}

enum { MOST = 64 };

static ferry_options options_of(double temperature, int64_t top_k, double top_p)
{
    return (ferry_options){.temperature = (float)temperature, .top_k = (int32_t)top_k, .top_p = (float)top_p};
}

static int compare_places(const void *a, const void *b)
{
    return *(const int32_t *)a - *(const int32_t *)b;
}

/* How often each place is drawn, less what is expected, as Pearson's chi-square. */
static double chi_square(const ferry_options *options, const float *values, const int32_t *places, int32_t kept,
                         const double *probabilities)
{
    enum { DRAWS = 20000 };
    int32_t counts[MOST] = {0};
    double sum = 0;
    for (uint32_t draw = 0; draw < DRAWS; draw++) {
        const double uniform = ferry_sample_uniform(15, 8, draw, 3);
        counts[ferry_sample_choose(options, values, places, kept, uniform)]++;
    }
    for (int32_t i = 0; i < kept; i++) {
        const double expected = probabilities[i] * DRAWS, difference = counts[places[i]] - expected;
        sum += difference * difference / expected;
        counts[places[i]] = 0;
    }
    for (int32_t i = 0; i < MOST; i++) assert_int_equal(counts[i], 0);
    return sum;
}

/* The quantile 0.9999 of the chi-square distribution, by Wilson and Hilferty (1931). */
static double most_chi_square(int32_t degrees)
{
    const double n = degrees, root = 1 - 2 / (9 * n) + 3.719 * sqrt(2 / (9 * n));
    return n * root * root * root;
}

TEST(test_transformers_warpers)
{
    size_t index, filtered = 0;
    const json_t *recorded;
    json_array_foreach (json_object_get(load_json(data_file("steering/warpers.json")), "cases"), index, recorded) {
        const json_t *logits = json_object_get(recorded, "logits"), *kept = json_object_get(recorded, "kept");
        const ferry_options options = options_of(json_number_value(json_object_get(recorded, "temperature")),
                                                 json_integer_value(json_object_get(recorded, "top_k")),
                                                 json_number_value(json_object_get(recorded, "top_p")));
        const int32_t count = (int32_t)json_array_size(logits);
        float values[MOST];
        int32_t places[MOST];
        double probabilities[MOST];
        for (int32_t i = 0; i < count; i++) {
            const json_t *logit = json_array_get(logits, (size_t)i);
            values[i] = json_is_null(logit) ? -INFINITY : (float)json_number_value(logit);
        }
        const int32_t found = ferry_sample_keep(&options, values, count, places);
        assert_int_equal(found, json_array_size(kept));
        qsort(places, (size_t)found, sizeof *places, compare_places);
        for (int32_t i = 0; i < found; i++) {
            assert_int_equal(places[i], json_integer_value(json_array_get(kept, (size_t)i)));
            probabilities[i] = json_number_value(json_array_get(json_object_get(recorded, "probabilities"), (size_t)i));
        }
        filtered += found < count;
        if (found > 1)
            assert_true(chi_square(&options, values, places, found, probabilities) < most_chi_square(found - 1));
    }
    assert_int_equal(index, 60);
    assert_true(filtered > 40);
}

/* Of equal probabilities those of the lower ids are kept; of top_k's all that equal the last. */
TEST(test_equal_logits)
{
    static const float values[] = {0, 1, 0, 1, 0, -INFINITY};
    static const struct {
        int64_t top_k;
        double top_p;
        int32_t kept, places[5];
    } rows[] = {
        {0, 1, 5, {0, 1, 2, 3, 4}},
        {9, 1, 5, {0, 1, 2, 3, 4}},
        {1, 1, 2, {1, 3}},
        {2, 1, 2, {1, 3}},
        {3, 1, 5, {0, 1, 2, 3, 4}},
        {0, 0.3, 1, {1}},
        {0, 0.66, 3, {0, 1, 3}},
        {2, 0.5, 1, {1}},
        {2, 0.51, 2, {1, 3}},
        {0, 1e-6, 1, {1}},
        {0, 0.999, 5, {0, 1, 2, 3, 4}},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const ferry_options options = options_of(1, rows[i].top_k, rows[i].top_p);
        int32_t places[6];
        assert_int_equal(ferry_sample_keep(&options, values, 6, places), rows[i].kept);
        qsort(places, (size_t)rows[i].kept, sizeof *places, compare_places);
        assert_memory_equal(places, rows[i].places, (size_t)rows[i].kept * sizeof *places);
    }
}

/* The whole range of the number is used, and extreme temperatures are numbers. */
TEST(test_ends_of_the_range)
{
    static const float values[] = {2, 1, -3};
    int32_t places[3];
    ferry_options options = options_of(1, 0, 1);
    const int32_t kept = ferry_sample_keep(&options, values, 3, places);
    assert_int_equal(kept, 3);
    assert_int_equal(ferry_sample_choose(&options, values, places, kept, 0), 0);
    assert_int_equal(ferry_sample_choose(&options, values, places, kept, 1 - 0x1p-53), 2);
    options.temperature = 1e-30f;
    assert_int_equal(ferry_sample_choose(&options, values, places, kept, 0.999), 0);
    options.temperature = 1000;
    assert_int_equal(ferry_sample_choose(&options, values, places, kept, 0.34), 1);
}
