/* What ferry_inspect.h says about positions alone: rows, and scores by distance, through the hooks of every kind. */
#include "tests/support/support.h"

enum { D = 64, HEADS = 4, K = D / HEADS, COUNT = 50, KEYS = 2 * COUNT - 1 };

static const ferry_inspect_shape shape = {
    .d_model = D, .heads = HEADS, .ffn_width = 32, .encoder_layers = 2, .decoder_layers = 1, .vocab = 16};

static ferry_model *make(const char *encoding)
{
    ferry_model *model;
    CHECK(ferry_inspect_untrained(encoding, &shape, NULL, &model, &error));
    return model;
}

TEST(test_rows_are_those_of_the_formula)
{
    static float rows[COUNT * D];
    ferry_model *model = make("sinusoidal");
    memset(rows, 0x41, sizeof rows); /* what is there before does not count */
    CHECK(ferry_inspect_position_rows(model, FERRY_INSPECT_DECODER, COUNT, rows, &error));
    for (int32_t p = 0; p < COUNT; p++)
        for (int32_t k = 0; k < D / 2; k++) {
            const double angle = p / pow(10000, (double)k / (D / 2));
            assert_true(fabs((double)rows[p * D + 2 * k] - sin(angle)) < 1e-6);
            assert_true(fabs((double)rows[p * D + 2 * k + 1] - cos(angle)) < 1e-6);
        }
    ferry_model_close(model);
    model = make("rope");
    REFUSE(ferry_inspect_position_rows(model, FERRY_INSPECT_ENCODER, COUNT, rows, &error), FERRY_ERROR_UNSUPPORTED, "");
    ferry_model_close(model);
}

/* Without positions every key gets the scaled product, with a rotation the one of the rotated pair (Su et al. 2021). */
TEST(test_scores_by_distance)
{
    float q[K], k[K], scores[KEYS];
    double product = 0;
    ferry_model *none = make("none"), *rope = make("rope");
    for (int32_t d = 0; d < K; d++) {
        q[d] = (float)cos(d);
        k[d] = (float)sin(3 * d) + 0.5f;
        product += (double)(q[d] * k[d]) / sqrt(K);
    }
    for (int32_t head = 0; head < HEADS; head++) {
        CHECK(ferry_inspect_position_scores(none, FERRY_INSPECT_ENCODER, 1, head, COUNT, q, k, scores, &error));
        for (int32_t j = 0; j < KEYS; j++) assert_true(fabs((double)scores[j] - product) < 1e-5);
        CHECK(ferry_inspect_position_scores(rope, FERRY_INSPECT_ENCODER, 0, head, COUNT, q, k, scores, &error));
        for (int32_t j = 0; j < KEYS; j++) {
            double expected = 0;
            for (int32_t p = 0; p < K / 2; p++) {
                const double angle = (COUNT - 1 - j) * pow(10000, -2.0 * p / K), a = (double)q[p], c = (double)k[p];
                const double b = (double)q[p + K / 2], d = (double)k[p + K / 2];
                expected += ((a * c + b * d) * cos(angle) + (a * d - b * c) * sin(angle)) / sqrt(K);
            }
            assert_true(fabs((double)scores[j] - expected) < 1e-4);
        }
    }
    ferry_model_close(none);
    ferry_model_close(rope);
}

/* In the order of the declaration, numbers as they are, choices by name. */
TEST(test_schemes_are_described)
{
    ferry_model *rope = make("rope"), *mixed = convert_data("positions/mixed-post", NULL), *shaw = make("shaw");
    const ferry_inspect_scheme encoder = ferry_inspect_get_scheme(rope, FERRY_INSPECT_ENCODER);
    const ferry_inspect_scheme decoder = ferry_inspect_get_scheme(mixed, FERRY_INSPECT_DECODER);
    const ferry_inspect_scheme values = ferry_inspect_get_scheme(shaw, FERRY_INSPECT_DECODER);
    assert_string_equal(encoder.name, "rope");
    assert_string_equal(encoder.parameters, "theta 10000, layout half, dims 16");
    assert_false(encoder.has_weights || encoder.has_values || encoder.limit);
    assert_string_equal(decoder.name, "alibi");
    assert_string_equal(decoder.parameters, "slopes formula");
    assert_false(decoder.has_weights);
    assert_string_equal(values.parameters, "clip 16");
    assert_true(values.has_weights && values.has_values);
    const ferry_text name = ferry_inspect_name(mixed);
    assert_true(name.size == 10 && memcmp(name.data, "mixed-post", 10) == 0);
    assert_int_equal(ferry_inspect_get_sizes(rope).encoder_head_width, K);
    ferry_model_close(rope);
    ferry_model_close(mixed);
    ferry_model_close(shaw);
}

TEST(test_mistakes_are_named)
{
    float *values = kept_memory(100000 * sizeof *values);
    ferry_model *model = make("learned");
    const struct {
        int32_t layer, head, count;
        ferry_status status;
        const char *message;
    } wrong[] = {{2, 0, 4, FERRY_ERROR_ARGUMENT, "layer: expected 0 to 1, found 2"},
                 {-1, 0, 4, FERRY_ERROR_ARGUMENT, "layer: expected 0 to 1, found -1"},
                 {0, HEADS, 4, FERRY_ERROR_ARGUMENT, "head: expected 0 to 3, found 4"},
                 {0, 0, 0, FERRY_ERROR_ARGUMENT, "count: expected 1 to "},
                 {0, 0, 50000, FERRY_ERROR_LIMIT, "positions end at"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        REFUSE(ferry_inspect_position_scores(model, FERRY_INSPECT_ENCODER, wrong[i].layer, wrong[i].head,
                                             wrong[i].count, NULL, NULL, values, &error),
               wrong[i].status, wrong[i].message);
    }
    REFUSE(ferry_inspect_position_rows(model, FERRY_INSPECT_ENCODER, 0, values, &error), FERRY_ERROR_ARGUMENT, "");
    REFUSE(ferry_inspect_position_rows(model, FERRY_INSPECT_ENCODER, 50000, values, &error), FERRY_ERROR_LIMIT, "");
    assert_int_equal(ferry_inspect_piece(model, FERRY_INSPECT_ENCODER, 3).size, 0);
    ferry_model_close(model);
}

TEST(test_pieces)
{
    ferry_model *model = open_shipped();
    int32_t *ids;
    size_t count;
    CHECK(ferry_inspect_tokenize(model, (ferry_text){"Hello", 5}, NULL, NULL, &ids, &count, &error));
    assert_true(count >= 2);
    const ferry_text first = ferry_inspect_piece(model, FERRY_INSPECT_ENCODER, ids[0]);
    const ferry_text last = ferry_inspect_piece(model, FERRY_INSPECT_ENCODER, ids[count - 1]);
    assert_true(first.size > 3 && memcmp(first.data, "\xE2\x96\x81H", 4) == 0);
    assert_true(last.size == 4 && memcmp(last.data, "</s>", 4) == 0);
    assert_int_equal(ferry_inspect_piece(model, FERRY_INSPECT_DECODER, -1).size, 0);
    assert_int_equal(ferry_inspect_piece(model, FERRY_INSPECT_DECODER, 1 << 30).size, 0);
    ferry_inspect_free(ids);
    ferry_model_close(model);
}

TEST(test_names)
{
    for (size_t i = 0; ferry_inspect_encoding(i) != NULL; i++) {
        ferry_model *model = make(ferry_inspect_encoding(i));
        assert_string_equal(ferry_inspect_get_scheme(model, FERRY_INSPECT_ENCODER).name, ferry_inspect_encoding(i));
        assert_string_equal(ferry_inspect_get_scheme(model, FERRY_INSPECT_DECODER).name, ferry_inspect_encoding(i));
        ferry_model_close(model);
    }
    ferry_model *mixed = convert_data("positions/mixed-pre", NULL);
    assert_string_not_equal(ferry_inspect_get_scheme(mixed, FERRY_INSPECT_ENCODER).name,
                            ferry_inspect_get_scheme(mixed, FERRY_INSPECT_DECODER).name);
    ferry_model_close(mixed);
}

/* What an encoding does makes its kind. */
TEST(test_kinds)
{
    for (size_t i = 0; ferry_inspect_encoding(i) != NULL; i++) {
        ferry_model *model = make(ferry_inspect_encoding(i));
        const ferry_inspect_scheme scheme = ferry_inspect_get_scheme(model, FERRY_INSPECT_DECODER);
        const bool none = strcmp(scheme.name, "none") == 0,
                   added = strcmp(scheme.name, "learned") == 0 || strcmp(scheme.name, "sinusoidal") == 0;
        assert_int_equal(scheme.kind, none    ? FERRY_INSPECT_NO_POSITIONS
                                      : added ? FERRY_INSPECT_ABSOLUTE
                                              : FERRY_INSPECT_RELATIVE);
        assert_true(strlen(scheme.title) > 1 && (strlen(scheme.paper) > 4) == !none);
        if (strcmp(scheme.name, "rope") == 0) {
            assert_string_equal(scheme.title, "RoPE");
            assert_string_equal(scheme.paper, "Su et al. 2021");
        }
        if (strcmp(scheme.name, "alibi") == 0) assert_int_equal(scheme.for_long_texts, 1);
        if (none || added || strcmp(scheme.name, "shaw") == 0) assert_int_equal(scheme.for_long_texts, 0);
        ferry_model_close(model);
    }
}

/* The most tokens of a translation: what the options say, unless the decoder's positions end before. */
TEST(test_target_limit)
{
    ferry_model *models[] = {make("none"), make("learned")};
    for (size_t i = 0; i < 2; i++) {
        const int32_t limits[2][2] = {{26, 5000}, {26, 1024}};
        ferry_options options;
        ferry_translator *translator;
        ferry_options_default(models[i], &options, sizeof options);
        options.max_length = 0;
        options.length_factor = 1.2f;
        options.length_extra = 20;
        CHECK(ferry_translator_create(models[i], &options, &translator, &error));
        assert_int_equal(ferry_inspect_target_limit(translator, 5), limits[i][0]);
        ferry_translator_destroy(translator);
        options.max_length = 5000;
        CHECK(ferry_translator_create(models[i], &options, &translator, &error));
        assert_int_equal(ferry_inspect_target_limit(translator, 5), limits[i][1]);
        ferry_translator_destroy(translator);
        ferry_model_close(models[i]);
    }
}
