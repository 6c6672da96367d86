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

/* Log-probabilities of a given target's letters and its end. */
static void check_target(const ferry_model *model, const char *source, const char *letters, const double *expected,
                         double tolerance)
{
    const ferry_inspect_sizes sizes = ferry_inspect_get_sizes(model);
    int32_t inputs[MOST] = {sizes.start_id, 0};
    size_t S;
    const int32_t T = (int32_t)strlen(letters) + 1;
    float logits[MOST * V];
    assert_int_equal(sizes.target_vocab, V);
    const int32_t *ids = tokenized(model, source, NULL, NULL, &S);
    for (int32_t t = 1; t < T; t++) inputs[t] = find_piece(model, letters[t - 1]);
    CHECK(ferry_inspect_logits(model, ids, (int32_t[]){0, (int32_t)S}, 1, inputs, (int32_t[]){0, T},
                               FERRY_INSPECT_STEP_BY_STEP, logits, &error));
    for (int32_t t = 0; t < T; t++) {
        const int32_t id = t + 1 < T ? inputs[t + 1] : sizes.eos_id;
        double sum = 0;
        for (int32_t v = 0; v < V; v++) sum += exp((double)logits[t * V + v]);
        const double found = (double)logits[t * V + id] - log(sum);
        if (!(fabs(found - expected[t]) <= tolerance))
            fail_msg("%s, token %d: expected %.6f, found %.6f", letters, (int)t, expected[t], found);
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
