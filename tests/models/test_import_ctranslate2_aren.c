/* Five real CTranslate2 models of the format's first years (Arabic to Latin names; tokens are single letters), against
 * what its authors' tests assert and an independent computation found. */
#include "tests/support/import_support.h"

static const char atzmon[] = "آ ت ز م و ن", achison[] = "آ ت ش ي س و ن", azza[] = "آ ز ا", arbake[] = "آ ر ب ا ك ه",
                  arther[] = "آ ر ث ر";

enum { MOST = 16, V = 43 };

static ferry_model *convert(const char *name, bool widen)
{
    ferry_model *model;
    char *directory = shared_file("models/aren-transliteration/%s", name), *path = scratch_file("aren.gguf");
    const ferry_import_options options = {.type = FERRY_F32, .widen = widen};
    CHECK(ferry_import(directory, path, &options, &error));
    CHECK(ferry_inspect_open(path, NULL, &model, &error));
    return model;
}

/* ---- text to text ---- */

static ferry_result *translate(const ferry_model *model, const char *text, const ferry_options *options)
{
    return translated(model, options, &(ferry_text){text, strlen(text)}, 1);
}

static void check_text(const ferry_model *model, const char *text, const ferry_options *options, const char *expected)
{
    ferry_result *result = translate(model, text, options);
    check_result_text(expected, ferry_result_text(result, 0, 0));
    ferry_result_destroy(result);
}

TEST(test_tokens)
{
    static const char *const names[] = {"v1/aren-transliteration", "v1/aren-transliteration-i16",
                                        "v2/aren-transliteration", "v2/aren-transliteration-i16",
                                        "v2/aren-transliteration-i8"};
    for (size_t i = large_data() ? 0 : 1; i < 5; i++) { /* the first is too large for the tree */
        ferry_options options;
        ferry_model *model = convert(names[i], false);
        ferry_options_default(model, &options, sizeof options);
        assert_int_equal(options.policy, FERRY_POLICY_CTRANSLATE2);
        assert_int_equal(options.beam, 2);
        assert_int_equal(options.min_length, 1);
        assert_int_equal(options.max_length, 256);
        for (options.beam = 1; options.beam <= 4; options.beam *= 2) {
            check_text(model, atzmon, &options, "a t z m o n");
            check_text(model, achison, &options, "a c h i s o n");
            check_text(model, azza, &options, "a z z a");
        }
        ferry_model_close(model);
    }
}

TEST(test_options)
{
    ferry_options options;
    ferry_model *model = convert("v2/aren-transliteration", false);
    ferry_options_default(model, &options, sizeof options);
    options.max_length = 3;
    check_text(model, atzmon, &options, "a t z");
    options.max_length = 2;
    check_text(model, atzmon, &options, "a t");
    /* Cut by the limit: no end of sentence is counted. */
    options.max_length = 6;
    ferry_result *result = translate(model, atzmon, &options);
    assert_float_equal(ferry_result_score(result, 0, 0), (-1.06175 + 0.063463) / 6, 1e-5);
    ferry_result_destroy(result);
    options.max_length = 256;
    result = translate(model, atzmon, &options);
    assert_float_equal(ferry_result_score(result, 0, 0), -1.06175 / 7, 1e-5);
    ferry_result_destroy(result);
    /* The unknown word has no text. */
    options.forced_first_id = V - 1;
    result = translate(model, atzmon, &options);
    assert_int_equal(ferry_inspect_result_ids(result, 0, 0)[0], V - 1);
    assert_int_not_equal(ferry_result_text(result, 0, 0).data[0], '<');
    ferry_result_destroy(result);
    options.forced_first_id = -1;
    options.min_length = 8;
    result = translate(model, atzmon, &options);
    assert_int_equal(ferry_result_tokens(result, 0, 0), 9);
    ferry_result_destroy(result);
    ferry_model_close(model);
}

/* ---- probabilities ---- */

static int32_t find_piece(const ferry_model *model, char letter)
{
    for (int32_t id = 0; id < ferry_inspect_get_sizes(model).target_vocab; id++) {
        const ferry_text piece = ferry_inspect_piece(model, FERRY_INSPECT_DECODER, id);
        if (piece.size == 1 && piece.data[0] == letter) return id;
    }
    fail_msg("no piece '%c'", letter);
    return -1;
}

/* Log-probabilities [letters + 1, V] of each step of a given target. */
static int32_t probabilities(const ferry_model *model, const char *source, const char *letters, double *values)
{
    int32_t inputs[MOST] = {ferry_inspect_get_sizes(model).start_id};
    size_t S;
    const int32_t T = (int32_t)strlen(letters) + 1;
    static float logits[MOST * V];
    assert_int_equal(ferry_inspect_get_sizes(model).target_vocab, V);
    const int32_t *ids = tokenized(model, source, NULL, NULL, &S);
    for (int32_t t = 1; t < T; t++) inputs[t] = find_piece(model, letters[t - 1]);
    CHECK(ferry_inspect_logits(model, ids, (int32_t[]){0, (int32_t)S}, 1, inputs, (int32_t[]){0, T},
                               FERRY_INSPECT_STEP_BY_STEP, logits, &error));
    for (int32_t t = 0; t < T; t++) {
        double sum = 0;
        for (int32_t v = 0; v < V; v++) sum += exp((double)logits[t * V + v]);
        for (int32_t v = 0; v < V; v++) values[t * V + v] = (double)logits[t * V + v] - log(sum);
    }
    return T;
}

static void check_target(const ferry_model *model, const char *source, const char *letters, const double *expected,
                         double tolerance)
{
    double values[MOST * V];
    const int32_t T = probabilities(model, source, letters, values);
    for (int32_t t = 0; t < T; t++) {
        const int32_t id = t + 1 < T ? find_piece(model, letters[t]) : ferry_inspect_get_sizes(model).eos_id;
        if (!(fabs(values[t * V + id] - expected[t]) <= tolerance))
            fail_msg("%s, token %d: expected %.6f, found %.6f", letters, (int)t, expected[t], values[t * V + id]);
    }
}

TEST(test_given_targets)
{
    static const char *const names[] = {"v1/aren-transliteration", "v2/aren-transliteration"};
    static const struct {
        const char *source, *target;
        double values[9];
    } rows[] = {
        {atzmon, "atzmon", {-0.106023, -0.065410, -0.056002, -0.447953, -0.230714, -0.092184, -0.063463}},
        {achison, "achison", {-0.072660, -0.300309, -0.181187, -0.395671, -0.025631, -0.123466, -0.002034, -0.012639}},
        {arbake, "arbake", {-0.103136, -0.089504, -0.063889, -0.007327, -0.452072, -0.060154, -0.016636}},
        {arther, "arther", {-0.076704, -0.036037, -0.029253, -0.030273, -0.149276, -0.002440, -0.003742}},
        {azza, "azza", {-0.047948, -0.026055, -0.652488, -0.023057, -0.005008}},
    };
    for (size_t i = large_data() ? 0 : 1; i < 2; i++) {
        ferry_model *model = convert(names[i], false);
        for (size_t j = 0; j < 5; j++) check_target(model, rows[j].source, rows[j].target, rows[j].values, 2e-6);
        ferry_model_close(model);
    }
}

/* Integers widened to float32; and int8 products of inputs that are rounded by the row, which round otherwise where an
 * input lies near k + 1/2. (CTranslate2 itself cuts the inputs of models of this age.) */
TEST(test_quantized)
{
    static const double i16[] = {-0.10708, -0.06553, -0.05656, -0.44399, -0.22912, -0.09362, -0.06410};
    static const double i8[] = {-0.10888, -0.06701, -0.05611, -0.46548, -0.22879, -0.09757, -0.06384};
    static const double rounded[] = {-0.10848, -0.06822, -0.05575, -0.44985, -0.23540, -0.10093, -0.06618};
    static const struct {
        const char *name;
        bool widen;
        const double *expected;
    } rows[] = {{"v1/aren-transliteration-i16", false, i16},
                {"v2/aren-transliteration-i16", false, i16},
                {"v2/aren-transliteration-i8", true, i8},
                {"v2/aren-transliteration-i8", false, rounded}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        ferry_model *model = convert(rows[i].name, rows[i].widen);
        check_target(model, atzmon, "atzmon", rows[i].expected, 1e-5);
        ferry_model_close(model);
    }
}

TEST(test_first_steps)
{
    static const char first_letters[] = "aeuo", third_letters[] = "zsetiah";
    static const double first[] = {-0.10602, -2.92353, -3.99384, -4.23072};
    static const double third[] = {.94554, .02022, .01322, .0127, .0043, .00214, .00073};
    double values[MOST * V];
    ferry_model *model = convert("v2/aren-transliteration", false);
    probabilities(model, atzmon, "at", values);
    for (size_t i = 0; i < 4; i++) assert_float_equal(values[find_piece(model, first_letters[i])], first[i], 1e-5);
    for (size_t i = 0; i < 7; i++)
        assert_float_equal(exp(values[2 * V + find_piece(model, third_letters[i])]), third[i], 6e-5);
    ferry_model_close(model);
}

TEST(test_encoder_and_attention)
{
    static const float row_0[] = {1.80984F, -1.73409F, -1.78630F, -1.13790F};
    static const float row_5[] = {-1.51862F, -0.35802F, 2.96207F, 1.32014F};
    static const float attention_0[] = {.0934F, .7664F, .1359F, .0028F, .0012F, .0004F};
    static const int32_t largest[] = {1, 2, 2, 2, 3, 5, 5};
    int32_t inputs[7];
    size_t S;
    float output[6 * 32], attention[7 * 6];
    ferry_model *model = convert("v2/aren-transliteration", false);
    const int32_t *ids = tokenized(model, atzmon, NULL, NULL, &S);
    static const int32_t expected_ids[] = {31, 10, 19, 13, 5, 7};
    assert_int_equal(S, 6);
    assert_memory_equal(ids, expected_ids, sizeof expected_ids);
    CHECK(ferry_inspect_encode(model, ids, (int32_t[]){0, 6}, 1, output, &error));
    assert_true(largest_difference(output, row_0, 4) < 1e-5);
    assert_true(largest_difference(output + 5 * 32, row_5, 4) < 1e-5);
    inputs[0] = ferry_inspect_get_sizes(model).start_id;
    assert_int_equal(inputs[0], 1);
    for (size_t i = 0; i < 6; i++) inputs[i + 1] = find_piece(model, "atzmon"[i]);
    CHECK(ferry_inspect_attention(model, FERRY_INSPECT_CROSS, 5, 0, ids, 6, inputs, 7, attention, &error));
    assert_true(largest_difference(attention, attention_0, 6) < 6e-5);
    for (size_t t = 0; t < 7; t++)
        for (size_t s = 0; s < 6; s++) assert_true(attention[6 * t + s] <= attention[6 * t + (size_t)largest[t]]);
    ferry_model_close(model);
}
