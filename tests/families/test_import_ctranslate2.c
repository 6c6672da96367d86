/* Converted CTranslate2 models and an Argos package against what CTranslate2 itself computed from them, and five real
 * models of the format's first years against what its authors' tests assert and an independent computation found. */
#include "golden.h"
#include "tests/support/make_zip.h"

/* ---- given targets ---- */

/* How well the golden greedy targets have their golden probabilities. */
typedef struct agreement {
    size_t lines, exact, exact_first; /* all of a line's tokens; its first token */
    double largest;
} agreement;

/* Each target's log-probability, given a sentence's ids and the targets before; the end of sentence is the last. */
static void compare_targets(const ferry_model *model, const int32_t *ids, int32_t S, const int32_t *targets,
                            int32_t count, const json_t *expected, agreement *a)
{
    const ferry_inspect_sizes sizes = ferry_inspect_get_sizes(model);
    int32_t *inputs = kept_memory((size_t)count * sizeof *inputs);
    double largest = 0;
    for (int32_t t = 0; t < count; t++) inputs[t] = t == 0 ? sizes.start_id : targets[t - 1];
    const float *logits = logits_of(model, ids, S, inputs, count);
    for (int32_t t = 0; t < count && (size_t)t < json_array_size(expected); t++) {
        const double found = log_probability(logits + (size_t)t * (size_t)sizes.target_vocab, sizes.target_vocab,
                                             t + 1 < count ? targets[t] : sizes.eos_id);
        largest = fmax(largest, fabs(found - json_number_value(json_array_get(expected, (size_t)t))));
        if (t == 0) a->exact_first += largest <= 1e-5;
    }
    a->lines++;
    a->exact += largest <= 1e-5;
    a->largest = fmax(a->largest, largest);
}

/* Everything that was recorded, and then the targets. */
static agreement check_golden(golden g)
{
    agreement a = {.largest = 0};
    size_t index;
    json_t *line;
    g.exact_texts = true;
    golden_check(&g);
    json_array_foreach (json_object_get(g.root, "lines"), index, line) {
        const json_t *tokens = json_object_get(json_object_get(line, "greedy"), "tokens");
        int32_t S, T;
        if (json_string_length(json_object_get(line, "text")) == 0) continue;
        const int32_t *ids = golden_token_ids(g.model, FERRY_INSPECT_ENCODER, json_object_get(line, "tokens"), &S);
        const int32_t *targets = golden_token_ids(g.model, FERRY_INSPECT_DECODER, json_array_get(tokens, 0), &T);
        compare_targets(g.model, ids, S, targets, T + 1, json_object_get(line, "token_log_probs"), &a);
    }
    print_message("given targets: %zu lines, %zu equal, %zu of the first tokens; largest difference %.1e\n", a.lines,
                  a.exact, a.exact_first, a.largest);
    return a;
}

/* ---- the small models ---- */

/* int8: an input that lies within float32 noise of k + 1/2 is rounded to the one or the other code; from that token on
 * log-probabilities differ by up to 0.1, and candidates that were nearly equal change places. Everywhere else they are
 * equal to 1e-5. In the lists of exceptions stand near-equal candidates of that kind. */
static const double flip = 0.15, flipped_score = 0.05;

TEST(test_small_nllb)
{
    const agreement a = check_golden((golden){.folder = shared_file("models/ctranslate2-small/nllb-int8"),
                                              .from = "en",
                                              .to = "de",
                                              .max_length = 40,
                                              .tolerance = flipped_score});
    assert_true(a.exact >= 13 && a.exact_first >= 14 && a.largest < flip);
}

/* Ferry widens int16 weights; CTranslate2 also rounds inputs to 1/1000. */
TEST(test_small_t5)
{
    const agreement a = check_golden((golden){.folder = shared_file("models/ctranslate2-small/t5-int16"),
                                              .prompt = "translate English to German: ",
                                              .max_length = 40,
                                              .tolerance = 1e-2});
    assert_true(a.largest < 5e-3);
}

TEST(test_small_gated_t5)
{
    static const golden_exception near_ties[] = {
        {"greedy", 8},    {"greedy", 11},    {"greedy", 12},  {"beam4", 5},     {"beam4", 6},
        {"beam4", 7},     {"beam4", 8},      {"beam4", 14},   {"beam3_lp0", 1}, {"beam3_lp0", 6},
        {"beam3_lp0", 7}, {"beam3_lp0", 11}, {"norepeat", 7}, {"norepeat", 8},  {"norepeat", 14},
    };
    const agreement a = check_golden((golden){.folder = shared_file("models/ctranslate2-small/t5gated-int8_float16"),
                                              .max_length = 40,
                                              .tolerance = 0.5,
                                              .best_only = true,
                                              .exceptions = near_ties,
                                              .exception_count = COUNT(near_ties)});
    assert_true(a.exact >= 3 && a.exact_first >= 14 && a.largest < flip);
}

/* ---- the real English-German model, or its small twin ---- */

static const char tatoeba_runs[] =
    "{\"greedy\": {\"beam_size\": 1, \"length_penalty\": 1}, "
    "\"beam4\": {\"beam_size\": 4, \"num_hypotheses\": 4, \"length_penalty\": 1}, "
    "\"beam4_lp2\": {\"beam_size\": 4, \"num_hypotheses\": 2, \"length_penalty\": 2, \"patience\": 2}, "
    "\"beam4_cov\": {\"beam_size\": 4, \"length_penalty\": 0.6, \"coverage_penalty\": 0.2}}";

/* Weights are equal; but positions are the formula's, not the table's 16-bit roundings of it. */
TEST(test_tatoeba_float16)
{
    const agreement a = check_golden((golden){
        .folder = shared_file("models/tatoeba-en-de/ctranslate2-float16"), .runs = tatoeba_runs, .tolerance = 1.5e-4});
    assert_true(a.largest < 2e-3);
}

TEST(test_tatoeba_int8)
{
    static const golden_exception near_ties[] = {
        {"greedy", 3},     {"greedy", 5},     {"greedy", 16},    {"greedy", 51},   {"greedy", 55},    {"greedy", 57},
        {"beam4", 0},      {"beam4", 3},      {"beam4", 4},      {"beam4", 5},     {"beam4", 51},     {"beam4", 57},
        {"beam4_lp2", 0},  {"beam4_lp2", 3},  {"beam4_lp2", 4},  {"beam4_lp2", 5}, {"beam4_lp2", 16}, {"beam4_lp2", 51},
        {"beam4_lp2", 57}, {"beam4_cov", 0},  {"beam4_cov", 3},  {"beam4_cov", 4}, {"beam4_cov", 5},  {"beam4_cov", 16},
        {"beam4_cov", 48}, {"beam4_cov", 51}, {"beam4_cov", 57},
    };
    static const golden_exception of_small_twin[] = {{"beam4", 14}};
    const bool large = large_data();
    const agreement a = check_golden((golden){.folder = shared_file("models/tatoeba-en-de/ctranslate2-int8"),
                                              .runs = tatoeba_runs,
                                              .tolerance = flipped_score,
                                              .best_only = true,
                                              .exceptions = large ? near_ties : of_small_twin,
                                              .exception_count = large ? COUNT(near_ties) : COUNT(of_small_twin)});
    assert_true(a.exact >= (large ? 24 : 12) && a.exact_first >= (large ? 35 : 14) && a.largest < flip);
}

/* ---- Arabic to Latin names; tokens are single letters ---- */

/* Log-probabilities of a given target's letters and its end. */
static void check_target(const ferry_model *model, const char *source, const char *letters, const double *expected,
                         double tolerance)
{
    const ferry_inspect_sizes sizes = ferry_inspect_get_sizes(model);
    int32_t inputs[16] = {sizes.start_id};
    size_t S;
    const int32_t T = (int32_t)strlen(letters) + 1, *ids = tokenized(model, source, NULL, NULL, &S);
    for (int32_t t = 1; t < T; t++)
        inputs[t] = find_piece(model, FERRY_INSPECT_DECODER, ferry_name_format("%c", letters[t - 1]).text);
    const float *logits = logits_of(model, ids, (int32_t)S, inputs, T);
    for (int32_t t = 0; t < T; t++) {
        const double found = log_probability(logits + t * sizes.target_vocab, sizes.target_vocab,
                                             t + 1 < T ? inputs[t + 1] : sizes.eos_id);
        if (!(fabs(found - expected[t]) <= tolerance))
            fail_msg("%s, token %d: expected %.6f, found %.6f", letters, (int)t, expected[t], found);
    }
}

static const struct {
    const char *source, *text, *target;
    double values[9];
} letters[] = {
    {"آ ت ز م و ن",
     "a t z m o n",
     "atzmon",
     {-0.106023, -0.065410, -0.056002, -0.447953, -0.230714, -0.092184, -0.063463}},
    {"آ ت ش ي س و ن",
     "a c h i s o n",
     "achison",
     {-0.072660, -0.300309, -0.181187, -0.395671, -0.025631, -0.123466, -0.002034, -0.012639}},
    {"آ ز ا", "a z z a", "azza", {-0.047948, -0.026055, -0.652488, -0.023057, -0.005008}},
    {"آ ر ب ا ك ه", NULL, "arbake", {-0.103136, -0.089504, -0.063889, -0.007327, -0.452072, -0.060154, -0.016636}},
    {"آ ر ث ر", NULL, "arther", {-0.076704, -0.036037, -0.029253, -0.030273, -0.149276, -0.002440, -0.003742}},
};

/* Integers widened to float32; and int8 products of inputs that are rounded by the row, which round otherwise where an
 * input lies near k + 1/2. (CTranslate2 itself cuts the inputs of models of this age.) */
TEST(test_letters)
{
    static const struct {
        const char *name;
        bool widen;
        double first[7]; /* of the first row, if they are others */
    } rows[] = {
        {"v1/aren-transliteration", false, {0}}, /* too large for the tree */
        {"v2/aren-transliteration", false, {0}},
        {"v1/aren-transliteration-i16", false, {-0.10708, -0.06553, -0.05656, -0.44399, -0.22912, -0.09362, -0.06410}},
        {"v2/aren-transliteration-i16", false, {-0.10708, -0.06553, -0.05656, -0.44399, -0.22912, -0.09362, -0.06410}},
        {"v2/aren-transliteration-i8", true, {-0.10888, -0.06701, -0.05611, -0.46548, -0.22879, -0.09757, -0.06384}},
        {"v2/aren-transliteration-i8", false, {-0.10848, -0.06822, -0.05575, -0.44985, -0.23540, -0.10093, -0.06618}}};
    for (size_t i = large_data() ? 0 : 1; i < COUNT(rows); i++) {
        ferry_model *model;
        ferry_options options;
        char *path = new_scratch_file("letters.gguf");
        CHECK(ferry_import(shared_file("models/aren-transliteration/%s", rows[i].name), path,
                           &(ferry_import_options){.type = FERRY_F32, .widen = rows[i].widen}, &error));
        CHECK(ferry_inspect_open(path, NULL, NULL, &model, &error));
        ferry_options_default(model, &options, sizeof options);
        for (size_t j = 0; j < COUNT(letters); j++) {
            const ferry_text source = as_text(letters[j].source);
            for (options.beam = 1; options.beam <= 4 && letters[j].text != NULL; options.beam *= 2) {
                ferry_result *result = translated(model, &options, &source, 1);
                check_result_text(letters[j].text, ferry_result_text(result, 0, 0));
                ferry_result_destroy(result);
            }
            if (rows[i].first[0] == 0) check_target(model, source.data, letters[j].target, letters[j].values, 2e-6);
        }
        if (rows[i].first[0] != 0) check_target(model, letters[0].source, letters[0].target, rows[i].first, 1e-5);
        ferry_model_close(model);
    }
}

/* ---- Argos ---- */

/* A package as Argos Translate publishes them: a zip archive of one folder. */
static char *write_package(const char *metadata, const char *segmenter)
{
    static const char *const files[][2] = {{"package/model/model.bin", "model.bin"},
                                           {"package/model/config.json", "config.json"},
                                           {"package/model/shared_vocabulary.json", "shared_vocabulary.json"},
                                           {NULL, "spiece.model"}};
    zip_part parts[5] = {{"package/metadata.json", metadata, strlen(metadata)}};
    for (size_t i = 0; i < 4; i++) {
        const ferry_view bytes = mapped_bytes(shared_file("models/ctranslate2-small/t5-int16/%s", files[i][1]));
        parts[i + 1] = (zip_part){files[i][0] != NULL ? files[i][0] : segmenter, bytes.data, bytes.size};
    }
    char *path = scratch_file("translate-en_de.argosmodel");
    write_zip(path, parts, 5);
    return path;
}

TEST(test_argos_package)
{
    char *path = write_package("{\"from_code\": \"en\", \"to_code\": \"de\", \"target_prefix\": \"\u2581Er\"}",
                               "package/sentencepiece.model");
    const ferry_model *model = opened(path);
    const int32_t forced = find_piece(model, FERRY_INSPECT_DECODER, "\u2581Er");
    check_file_keys(converted(path), "origin.kind argos; decoding.policy ctranslate2; decoding.beam 4; "
                                     "decoding.length_penalty 0.2; languages.names en eng|de deu");
    check_file_keys(converted(path), ferry_name_format("decoding.forced_first_id %d", (int)forced).text);
    size_t count;
    const int32_t *ids = tokenized(model, "Hello, world!", NULL, NULL, &count);
    assert_int_equal(ids[count - 1], find_piece(model, FERRY_INSPECT_ENCODER, "!")); /* no end of sentence */
    static const char *const rows[][3] = {
        {"{\"from_code\": \"en\", \"to_code\": \"de\"}", "package/bpe.model", "bpe.model, line 1: expected two texts"},
        {"{\"from_code\": \"en\"}", "package/sentencepiece.model", "to_code"},
        {"{\"from_code\": \"en\", \"to_code\": \"de\", \"target_prefix\": \"__de__\"}", "package/sentencepiece.model",
         "the target prefix '__de__' is not in the vocabulary"},
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        refuse_source(write_package(rows[i][0], rows[i][1]), ANY_ERROR, rows[i][2]);
    path = write_package("{\"from_code\": \"en\", \"to_code\": \"de\", \"target_prefix\": \"\"}",
                         "package/sentencepiece.model");
    check_file_keys(converted(path), "decoding.forced_first_id -1");
}
