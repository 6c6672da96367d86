/* A model file may have the coarse output matrix (ferry_logit_bound), which saves memory and time, or of int8 an output
 * matrix in planes. If these lie, words may be others, and nothing else happens. */
#include "tests/support/kernel_support.h"
#include "tests/support/small_model.h"

#include "engine/api/translator.h"
#include "engine/lines/model.h"

enum { VOCAB = 2003, WIDTH = 66, WIDTH_OF_NIBBLES = 72, SENTENCES = 5, LENGTH = 12 };

static const ferry_type types[] = {FERRY_F32, FERRY_F16, FERRY_I8};

static small_model shape(ferry_type type, bool untied, small_coarse coarse)
{
    const int32_t width = type == FERRY_I8 ? WIDTH_OF_NIBBLES : WIDTH;
    return (small_model){.vocab = VOCAB,
                         .d_model = width,
                         .type = type,
                         .untied = untied,
                         .coarse = coarse,
                         .keys = ferry_gguf_put_hash};
}

/* Greedy translations without scores, and the translator that made them. */
static ferry_result *translate(const ferry_model *model, ferry_translator **translator)
{
    static int32_t ids[SENTENCES * LENGTH], offsets[SENTENCES + 1];
    ferry_options options;
    ferry_result *result;
    for (int32_t i = 0; i < SENTENCES * LENGTH; i++) ids[i] = i * 577 % VOCAB;
    for (int32_t s = 0; s <= SENTENCES; s++) offsets[s] = s * LENGTH;
    CHECK(ferry_options_default(model, &options, sizeof options));
    options.scores = 0;
    CHECK(ferry_translator_create(model, &options, translator, &error));
    CHECK(ferry_inspect_generate(*translator, ids, offsets, SENTENCES, &result, &error));
    return result;
}

static bool has_bounds(const ferry_kernels *kernels, ferry_type type)
{
    return type == FERRY_I8 ? kernels->nibbles_rows > 0 : kernels->fast_i8;
}

static void check_words(const ferry_result *result)
{
    for (size_t line = 0; line < SENTENCES; line++)
        for (size_t i = 0; i < ferry_result_token_count(result, line, 0); i++)
            assert_in_range(ferry_inspect_result_ids(result, line, 0)[i], 0, VOCAB - 1);
}

/* Of planes, what can lie is the bound. */
static bool has_kind(ferry_type type, small_coarse kind)
{
    return type != FERRY_I8 || kind == SMALL_COARSE || kind == SMALL_COARSE_BOUND_LIES;
}

/* A file without the coarse matrix, or what its bound needs, has one made in memory. Planes need none. */
static void check_kinds(ferry_type type, bool untied, const ferry_kernels *kernels)
{
    const small_model none = shape(type, untied, SMALL_NO_COARSE);
    const bool bounded = has_bounds(kernels, type);
    ferry_translator *translator, *other;
    ferry_model *model = open_small_model(&none, kernels->isa);
    ferry_result *expected = translate(model, &translator);
    const size_t bytes = translator->schedule.bound.bytes;
    assert_true((bytes > 0) == (bounded && type != FERRY_I8));
    for (small_coarse kind = SMALL_COARSE_EARLY; kind < SMALL_COARSE_TYPE; kind++) {
        if (!has_kind(type, kind)) continue;
        const small_model small = shape(type, untied, kind);
        ferry_model *opened = open_small_model(&small, kernels->isa);
        ferry_result *found = translate(opened, &other);
        const ferry_transformer *transformer = &opened->file.transformer;
        const ferry_matrix *stored = type == FERRY_I8 ? &transformer->output : &transformer->output_coarse.matrix;
        const ferry_coarse *used = &other->schedule.bound.coarse, *made = &translator->schedule.bound.coarse;
        assert_int_equal(opened->file.parameters, model->file.parameters);
        assert_int_equal(opened->file.type, type);
        assert_true((stored->weights != NULL) == (kind != SMALL_COARSE_EARLY));
        assert_int_equal(other->schedule.bound.bytes, kind == SMALL_COARSE_EARLY ? bytes : 0);
        if (bounded) assert_true((used->matrix.weights == stored->weights) == (kind != SMALL_COARSE_EARLY));
        if (bounded && type != FERRY_I8 && kind <= SMALL_COARSE)
            assert_true(used->error == made->error && used->norm == made->norm);
        for (size_t line = 0; line < SENTENCES && kind <= SMALL_COARSE; line++)
            assert_same_line(expected, line, found, line);
        check_words(found);
        if (kind <= SMALL_COARSE)
            CHECK(ferry_model_verify(opened, &error));
        else
            REFUSE(ferry_model_verify(opened, &error), FERRY_ERROR_FORMAT,
                   type == FERRY_I8
                       ? "error of the planes of the output matrix: expected "
                       : "tensors 'output_coarse': expected what follows from the output matrix, found other numbers");
        ferry_result_destroy(found);
        ferry_translator_destroy(other);
        ferry_model_close(opened);
    }
    ferry_result_destroy(expected);
    ferry_translator_destroy(translator);
    ferry_model_close(model);
}

TEST(test_what_a_file_has)
{
    EACH_ISA(k)
    for (size_t i = 0; i < 6; i++) check_kinds(types[i / 2], i % 2 == 1, *k);
}

TEST(test_wrong_tensors_are_refused)
{
    static const char *const messages[2][SMALL_COARSE_KINDS] = {
        {[SMALL_COARSE_TYPE] = "tensor 'output_coarse.weight': expected i8, found f32",
         [SMALL_COARSE_ROWS] = "tensor 'output_coarse.weight': expected shape [126, 17, 64], found [127, 17, 64]",
         [SMALL_COARSE_COLUMNS] = "tensor 'output_coarse.weight': expected shape [126, 17, 64], found [126, 18, 64]",
         [SMALL_COARSE_SCALES] = "tensor 'output_coarse.scale': expected shape [2003], found [2004]",
         [SMALL_COARSE_WITHOUT_SCALES] = "tensor 'output_coarse.scale' is missing",
         [SMALL_COARSE_SCALES_ALONE] = "tensor 'output_coarse.scale' is unknown",
         [SMALL_COARSE_WITHOUT_NORM] = "tensor 'output_coarse.norm' is missing",
         [SMALL_COARSE_NO_NUMBER] =
             "'output_coarse.scale': expected finite numbers from 0 to 3.40282e+38, found nan at 2002",
         [SMALL_COARSE_NEGATIVE] =
             "'output_coarse.scale': expected finite numbers from 0 to 3.40282e+38, found -1 at 0",
         [SMALL_COARSE_ERROR] = "'output_coarse.error': expected finite numbers from 0 to 3.40282e+38, found inf at 0",
         [SMALL_COARSE_NORM] = "'output_coarse.norm': expected finite numbers from 0 to 3.40282e+38, found nan at 0"},
        {[SMALL_COARSE_TYPE] = ".lower': expected i8, found f32", /* planes */
         [SMALL_COARSE_ROWS] = ".lower': expected shape [126, 9, 64], found [127, 9, 64]",
         [SMALL_COARSE_COLUMNS] = ".lower': expected shape [126, 9, 64], found [126, 10, 64]",
         [SMALL_COARSE_SCALES_ALONE] = ".weight': expected shape [126, 18, 64], found [126, 9, 64]",
         [SMALL_COARSE_WITHOUT_NORM] = ".error' is missing",
         [SMALL_COARSE_NEGATIVE] = ".scale': expected finite numbers from 0 to 3.40282e+38, found -1 at 0",
         [SMALL_COARSE_ERROR] = ".error': expected finite numbers from 0 to 63.6396, found 64 at 0"}};
    for (small_coarse kind = SMALL_COARSE_TYPE; kind < SMALL_COARSE_KINDS; kind++)
        for (size_t i = 0; i < 6; i++) {
            const small_model small = shape(types[i / 2], i % 2 == 1, kind);
            const char *path = scratch_file("small.gguf"), *message = messages[i / 4][kind];
            ferry_model *model;
            if (message == NULL) continue;
            write_small_model(path, &small);
            REFUSE(ferry_model_open(path, 0, &model, &error), FERRY_ERROR_FORMAT, message);
        }
}

/* Nibbles are in pairs of groups; without them there is no bound. */
TEST(test_some_widths_have_no_planes)
{
    small_model small = shape(FERRY_I8, true, SMALL_COARSE);
    const char *path = scratch_file("small.gguf");
    ferry_model *model;
    small.d_model = WIDTH;
    write_small_model(path, &small);
    REFUSE(ferry_model_open(path, 0, &model, &error), FERRY_ERROR_FORMAT,
           "tensor 'output.weight': expected shape [126, 17, 64], found [126, 9, 64]");
}
