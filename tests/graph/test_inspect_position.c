/* What ferry_inspect.h says about positions alone: rows, and scores by distance, through the hooks of every kind. */
#include "tests/support/small_model.h"

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

static void put_rotations(ferry_gguf_writer *writer)
{
    ferry_gguf_put_string(writer, "ferry.decoder.position.layout", "half");
    ferry_gguf_put_f32(writer, "ferry.decoder.position.theta", 10000);
}

static void put_slower_rotations(ferry_gguf_writer *writer)
{
    ferry_gguf_put_string(writer, "ferry.decoder.position.layout", "half");
    ferry_gguf_put_f32(writer, "ferry.decoder.position.theta", 40000);
    ferry_gguf_put_string(writer, "ferry.decoder.position.scaling", "linear");
    ferry_gguf_put_f32(writer, "ferry.decoder.position.factor", 2.5f);
}

static void score(const ferry_model *model, float scores[COUNT])
{
    static float q[256], k[256];
    for (int d = 0; d < 256; d++) q[d] = k[d] = (float)cos(d);
    CHECK(ferry_inspect_position_scores(model, FERRY_INSPECT_DECODER, 0, 0, COUNT, q, k, scores, &error));
}

/* Parameters that are given at opening do what those of a file do, and what no encoding takes is refused. */
TEST(test_other_parameters_than_the_file)
{
    static const char *const wrong[][2] = {
        {"theta=0", "position: 'theta=0': position.theta: expected a real number above 1, up to 1e12"},
        {"theta=4x", "position.theta: expected a real number"},
        {"theta=", "position.theta: expected a real number"},
        {"dims=2.5", "position.dims: expected an even number"},
        {"layout=whole", "position.layout: expected 'half' or 'interleaved', found 'whole'"},
        {"scaling=yarn factor=2", "position.original_length: expected a number"},
        {"factor=2", "no parameter that 'factor=2' could change"},
        {"theta=40000 thetas=2", "no parameter that 'thetas=2' could change"},
        {"theta", "no parameter that 'theta' could change"},
        {"theta=2  layout=half", "no parameter that '' could change"},
    };
    float own[COUNT], other[COUNT], expected[COUNT];
    ferry_model *model = open_small_model(
        &(small_model){.d_model = 16, .heads = 2, .head_width = 8, .position = "rope", .keys = put_slower_rotations},
        NULL);
    score(model, expected);
    const ferry_short_text words = ferry_format("%s", ferry_model_info(model, "decoder.position"));
    ferry_model_close(model);
    model = open_small_model(
        &(small_model){.d_model = 16, .heads = 2, .head_width = 8, .position = "rope", .keys = put_rotations}, NULL);
    score(model, own);
    ferry_model_close(model);
    CHECK(
        ferry_inspect_open(scratch_file("small.gguf"), NULL, "theta=40000 scaling=linear factor=2.5", &model, &error));
    score(model, other);
    assert_memory_equal(other, expected, sizeof other);
    assert_memory_not_equal(other, own, sizeof other);
    assert_string_equal(ferry_model_info(model, "decoder.position"), words.text);
    ferry_model_close(model);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        REFUSE(ferry_inspect_open(scratch_file("small.gguf"), NULL, wrong[i][0], &model, &error), FERRY_ERROR_ARGUMENT,
               wrong[i][1]);
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

/* What an encoding does makes its kind; untrained models have the usual parameters of the papers. */
TEST(test_usual_schemes)
{
    static const struct {
        const char *name, *title, *paper, *parameters;
        ferry_inspect_scheme_kind kind;
        bool for_long_texts, has_weights, has_values;
    } rows[] = {
        {"none", "none", "", "", FERRY_INSPECT_NO_POSITIONS, false, false, false},
        {"learned", "learned", "Gehring et al. 2017", "max_positions 1024", FERRY_INSPECT_ABSOLUTE, false, true, false},
        {"sinusoidal", "sinusoidal", "Vaswani et al. 2017", "layout interleaved, exponent_divisor half, first 0",
         FERRY_INSPECT_ABSOLUTE, false, false, false},
        {"shaw", "Shaw", "Shaw et al. 2018", "clip 16", FERRY_INSPECT_RELATIVE, false, true, true},
        {"t5", "T5", "Raffel et al. 2020", "num_buckets 32, max_distance 128, tables stack", FERRY_INSPECT_RELATIVE,
         false, true, false},
        {"transformer_xl", "Transformer-XL", "Dai et al. 2019", "", FERRY_INSPECT_RELATIVE, false, true, false},
        {"deberta", "DeBERTa", "He et al. 2021", "clip 512, p2c paper", FERRY_INSPECT_RELATIVE, false, true, false},
        {"rope", "RoPE", "Su et al. 2021", "theta 10000, layout half, dims 16", FERRY_INSPECT_RELATIVE, true, false,
         false},
        {"alibi", "ALiBi", "Press et al. 2022", "slopes formula", FERRY_INSPECT_RELATIVE, true, false, false},
        {"kerple", "KERPLE", "Chi et al. 2022", "", FERRY_INSPECT_RELATIVE, true, true, false},
        {"fire", "FIRE", "Li et al. 2023", "width 32", FERRY_INSPECT_RELATIVE, true, true, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ferry_model *model = make(rows[i].name);
        for (int stack = 0; stack < 2; stack++) {
            const ferry_inspect_scheme scheme = ferry_inspect_get_scheme(model, (ferry_inspect_stack)stack);
            assert_string_equal(scheme.name, rows[i].name);
            assert_string_equal(scheme.title, rows[i].title);
            assert_string_equal(scheme.paper, rows[i].paper);
            assert_string_equal(scheme.parameters, rows[i].parameters);
            assert_int_equal(scheme.kind, rows[i].kind);
            assert_int_equal(scheme.for_long_texts, rows[i].for_long_texts);
            assert_int_equal(scheme.has_weights, rows[i].has_weights);
            assert_int_equal(scheme.has_values, rows[i].has_values);
            assert_int_equal(scheme.limit, strcmp(rows[i].name, "learned") == 0 ? 1024 : 0);
        }
        ferry_model_close(model);
    }
    ferry_model *mixed = convert_data("positions/mixed-pre", NULL);
    assert_string_equal(ferry_inspect_get_scheme(mixed, FERRY_INSPECT_ENCODER).name, "rope");
    assert_string_equal(ferry_inspect_get_scheme(mixed, FERRY_INSPECT_DECODER).name, "alibi");
    const ferry_text name = ferry_inspect_name(mixed);
    assert_true(name.size == 9 && memcmp(name.data, "mixed-pre", 9) == 0);
    ferry_model_close(mixed);
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
