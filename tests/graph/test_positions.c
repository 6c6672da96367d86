/* Golden models of the positional encodings (specs of the export layout; activations by PyTorch): encoder output,
 * teacher-forced logits and greedy ids, on every kernel table, with several sentences in one call, each alone, in one
 * pass and step by step through the cache; and long texts. */
#include "tests/support/support.h"

#include "models/convert.h"
#include "tests/support/kernel_support.h"

/* Agreement that the golden files promise. Measured on AVX-512, AVX2 and plain: below 1e-5. */
static const double tolerance = 2e-4;

/* Each with the norms after its blocks ("-post") and before ("-pre"). */
static const char *const schemes[] = {
    "none",
    "learned",
    "sinusoidal",
    "sinusoidal_split",
    "sinusoidal_marian",
    "shaw",
    "t5",
    "transformer_xl",
    "deberta",
    "deberta_released",
    "rope",
    "rope_interleaved",
    "alibi",
    "kerple",
    "fire",
    "mixed",
};
enum { SCHEMES = sizeof schemes / sizeof schemes[0] };

typedef struct golden_case {
    ferry_safetensors file;
    int32_t *ids; /* ragged */
    int32_t offsets[4];
    int32_t *target_ids; /* ragged: T each */
    int32_t target_offsets[4];
    float *encoder_output; /* ragged [offsets[3], D] */
    const float *logits;   /* [3·T, V] */
    const int32_t *greedy; /* [3, steps] */
    int32_t T, steps, pad_id, eos_id;
    size_t D, V;
} golden_case;

static void load(golden_case *g, const char *golden, const ferry_model *model)
{
    int64_t rows, S, T, D, V, steps, one;
    const ferry_inspect_sizes sizes = ferry_inspect_get_sizes(model);
    CHECK(ferry_safetensors_open(golden, &g->file, &error));
    const int32_t *ids = golden_i32(&g->file, "source_ids", &rows, &S);
    const int32_t *lengths = golden_i32(&g->file, "source_lengths", &one, &rows);
    assert_int_equal(rows, 3);
    const int32_t *target = golden_i32(&g->file, "decoder_input_ids", &rows, &T);
    const float *encoded = golden_f32(&g->file, "encoder_output", &rows, &D);
    g->logits = golden_f32(&g->file, "logits", &rows, &V);
    g->greedy = golden_i32(&g->file, "greedy_ids", &rows, &steps);
    assert_int_equal(D, sizes.d_model);
    assert_int_equal(V, sizes.target_vocab);
    g->D = (size_t)D;
    g->V = (size_t)V;
    g->T = (int32_t)T;
    g->steps = (int32_t)steps;
    g->pad_id = sizes.pad_id;
    g->eos_id = sizes.eos_id;
    g->ids = kept_memory((size_t)(3 * S) * sizeof *g->ids);
    g->target_ids = kept_memory((size_t)(3 * T) * sizeof *g->target_ids);
    g->encoder_output = kept_memory((size_t)(3 * S * D) * sizeof *g->encoder_output);
    memcpy(g->target_ids, target, (size_t)(3 * T) * sizeof *target);
    for (int32_t s = 0; s < 3; s++) {
        memcpy(g->ids + g->offsets[s], ids + s * S, (size_t)lengths[s] * sizeof *ids);
        memcpy(g->encoder_output + (size_t)g->offsets[s] * g->D, encoded + s * S * D,
               (size_t)lengths[s] * g->D * sizeof *encoded);
        g->offsets[s + 1] = g->offsets[s] + lengths[s];
        g->target_offsets[s + 1] = g->target_offsets[s] + g->T;
    }
}

/* Encoder output and logits of sentences first … first + count - 1 in one call. The bytes go to `encoded`, `logits`. */
static void compute(const golden_case *g, const ferry_model *model, int32_t first, int32_t count,
                    ferry_inspect_pass pass, float *encoded, float *logits)
{
    int32_t offsets[4], target_offsets[4];
    for (int32_t s = 0; s <= count; s++) {
        offsets[s] = g->offsets[first + s] - g->offsets[first];
        target_offsets[s] = g->target_offsets[first + s] - g->target_offsets[first];
    }
    const int32_t *ids = g->ids + g->offsets[first], *target = g->target_ids + g->target_offsets[first];
    CHECK(ferry_inspect_encode(model, ids, offsets, count, encoded, &error));
    CHECK(ferry_inspect_logits(model, ids, offsets, count, target, target_offsets, pass, logits, &error));
}

/* The golden ids: those that follow the best logit, a near-tie apart. */
static void check_greedy(const golden_case *g, const ferry_model *model)
{
    ferry_options options;
    ferry_options_default(model, &options, sizeof options);
    options.beam = 1;
    options.max_length = g->steps;
    ferry_result *result = generated(model, &options, g->ids, g->offsets, 3);
    for (size_t s = 0; s < 3; s++) {
        const int32_t *expected = g->greedy + s * (size_t)g->steps;
        const int32_t *found = ferry_inspect_result_ids(result, s, 0);
        const size_t length = ferry_result_token_count(result, s, 0);
        for (size_t i = 0; i < (size_t)g->steps; i++) /* eos fills the rest */
            assert_int_equal(i < length ? found[i] : g->eos_id, expected[i]);
    }
    ferry_result_destroy(result);
}

/* The same bytes, from kernels that promise them. */
static void check_same(const ferry_kernels *kernels, const float *found, const float *expected, size_t n)
{
    if (has_exact_rows(kernels))
        assert_same_bytes(found, expected, n);
    else
        assert_true(largest_difference(found, expected, n) <= 1e-4);
}

/* Closes the model. */
static void check_golden(const char *name, const char *golden, ferry_model *model, const ferry_kernels *kernels)
{
    const char *isa = kernels->isa;
    golden_case g = {0};
    load(&g, golden, model);
    const size_t encoded_floats = (size_t)g.offsets[3] * g.D, logits_floats = (size_t)(3 * g.T) * g.V;
    float *encoded = kept_memory(encoded_floats * sizeof *encoded),
          *alone = kept_memory(encoded_floats * sizeof *alone);
    float *logits = kept_memory(logits_floats * sizeof *logits), *other = kept_memory(logits_floats * sizeof *other);

    compute(&g, model, 0, 3, FERRY_INSPECT_ONE_PASS, encoded, logits);
    const double encoder_difference = largest_difference(encoded, g.encoder_output, encoded_floats);
    const double logits_difference = largest_difference(logits, g.logits, logits_floats);
    if (encoder_difference > tolerance || logits_difference > tolerance)
        fail_msg("%s on %s: encoder output differs by %g, logits by %g", name, isa, encoder_difference,
                 logits_difference);
    /* Steps through the cache, and sentences alone. */
    compute(&g, model, 0, 3, FERRY_INSPECT_STEP_BY_STEP, alone, other);
    check_same(kernels, other, logits, logits_floats);
    for (int32_t s = 0; s < 3; s++) {
        compute(&g, model, s, 1, FERRY_INSPECT_STEP_BY_STEP, alone + (size_t)g.offsets[s] * g.D,
                other + (size_t)(s * g.T) * g.V);
    }
    check_same(kernels, alone, encoded, encoded_floats);
    check_same(kernels, other, logits, logits_floats);
    check_greedy(&g, model);
    print_message("%-22s %-7s encoder %.1e  logits %.1e\n", name, isa, encoder_difference, logits_difference);

    ferry_safetensors_close(&g.file);
    ferry_model_close(model);
}

TEST(test_schemes_agree_with_golden_activations)
{
    EACH_ISA(kernels)
    {
        for (size_t i = 0; i < 2 * SCHEMES; i++) {
            const ferry_name name = ferry_name_format("%s-%s", schemes[i / 2], i % 2 == 0 ? "post" : "pre");
            const char *directory = data_file("positions/%s", name.text);
            check_golden(name.text, in_directory(directory, "golden.safetensors"),
                         convert_and_open(directory, (*kernels)->isa), *kernels);
        }
    }
}

/* With transformers' own rotations (tests/data/rotations/activations.py), beyond the original length. */
TEST(test_scaled_rotations_agree_with_golden_activations)
{
    static const char *const rows[][2] = {
        {"linear", "scaling=linear factor=4"},
        {"llama3", "scaling=llama3 factor=4 original_length=8 fast=2 slow=0.25"},
        {"yarn", "scaling=yarn factor=4 original_length=8 fast=2 slow=0.25 attention_factor=1.1386294"},
    };
    const ferry_import_options options = {.type = FERRY_F32};
    const char *path = scratch_file("rope.gguf");
    CHECK(ferry_import(data_file("positions/rope-post"), path, &options, &error));
    EACH_ISA(kernels)
    {
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
            ferry_model *model;
            CHECK(ferry_inspect_open(path, (*kernels)->isa, rows[i][1], &model, &error));
            check_golden(rows[i][0], data_file("rotations/%s.safetensors", rows[i][0]), model, *kernels);
        }
    }
}

TEST(test_learned_positions_refuse_what_they_cannot_represent)
{
    ferry_model *model = convert_data("positions/learned-post", NULL);
    int32_t ids[65], offsets[] = {0, 64};
    for (int32_t i = 0; i < 65; i++) ids[i] = i;
    /* The target stops at the table's end, whatever was asked for. */
    ferry_options options;
    ferry_translator *translator;
    ferry_result *result;
    ferry_options_default(model, &options, sizeof options);
    options.min_length = options.max_length = 100;
    CHECK(ferry_translator_create(model, &options, &translator, &error));
    CHECK(ferry_inspect_generate(translator, ids, offsets, 1, &result, &error));
    assert_int_equal(ferry_result_token_count(result, 0, 0), 64);
    ferry_result_destroy(result);
    offsets[1] = 65;
    REFUSE(ferry_inspect_generate(translator, ids, offsets, 1, &result, &error), FERRY_ERROR_LIMIT,
           "a sentence of 65 tokens: the model's positions end at 64");
    ferry_translator_destroy(translator);
    ferry_model_close(model);
}

/* ---- what holds for every encoding in a model ---- */

static void fill_ids(int32_t *ids, int32_t count)
{
    for (int32_t i = 0; i < count; i++) ids[i] = 1 + i * 37 % 95;
}

/* A source of 2,000 tokens, and a target that needs many tiles and blocks, in one pass and through the cache. */
TEST(test_long_texts)
{
    enum { S = 2000, T = 150 };
    int32_t ids[S], target[T];
    const int32_t offsets[] = {0, S}, target_offsets[] = {0, T};
    fill_ids(ids, S);
    fill_ids(target, T);
    for (int m = 0; m < SCHEMES; m++) {
        if (strcmp(schemes[m], "learned") == 0) continue; /* its positions end at 64 */
        ferry_model *model = convert_and_open(data_file("positions/%s-post", schemes[m]), NULL);
        const size_t V = (size_t)ferry_inspect_get_sizes(model).target_vocab;
        float *logits = kept_memory(T * V * sizeof *logits), *steps = kept_memory(T * V * sizeof *steps);
        CHECK(ferry_inspect_logits(model, ids, offsets, 1, target, target_offsets, FERRY_INSPECT_ONE_PASS, logits,
                                   &error));
        CHECK(ferry_inspect_logits(model, ids, offsets, 1, target, target_offsets, FERRY_INSPECT_STEP_BY_STEP, steps,
                                   &error));
        assert_memory_equal(steps, logits, T * V * sizeof *steps);
        for (size_t i = 0; i < T * V; i++) assert_true(isfinite(logits[i]));
        ferry_model_close(model);
    }
}
