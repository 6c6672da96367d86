/* A model file may have the coarse output matrix (ferry_logit_bound): it saves memory, and nothing that is in it
 * changes a translation. */
#include "tests/support/kernel_support.h"
#include "tests/support/small_model.h"

#include "engine/api/model.h"
#include "engine/api/translator.h"

enum { VOCAB = 2003, WIDTH = 66, WIDTH_OF_NIBBLES = 72, SENTENCES = 5, LENGTH = 12 };

static const ferry_type types[] = {FERRY_F32, FERRY_F16, FERRY_I8};

static small_model shape(ferry_type type, bool untied, small_coarse coarse)
{
    const int32_t width = type == FERRY_I8 ? WIDTH_OF_NIBBLES : WIDTH;
    return (small_model){.vocab = VOCAB, .d_model = width, .type = type, .untied = untied, .coarse = coarse};
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

static bool has_screens(const ferry_kernels *kernels, ferry_type type)
{
    return type == FERRY_I8 ? kernels->nibbles_rows > 0 : kernels->fast_i8;
}

/* What is wrong with a file's scales is wrong with floats only. */
static bool exists(small_coarse kind, ferry_type type)
{
    return type != FERRY_I8 || (kind != SMALL_COARSE_LAST_SCALE && kind != SMALL_COARSE_NO_NUMBERS);
}

/* The kinds that can be opened translate as a file without one does; the right one alone is used. */
static void check_kinds(ferry_type type, bool untied, const ferry_kernels *kernels)
{
    const small_model none = shape(type, untied, SMALL_NO_COARSE);
    const bool screened = has_screens(kernels, type);
    ferry_translator *translator, *other;
    ferry_model *model = open_small_model(&none, kernels->isa);
    ferry_result *expected = translate(model, &translator);
    const size_t bytes = translator->bound.bytes;
    const size_t scales = screened && type == FERRY_I8 ? ferry_round_up(VOCAB, FERRY_LANES) * sizeof(float) : 0;
    assert_true((bytes > scales) == screened);
    for (small_coarse kind = SMALL_COARSE; kind < SMALL_COARSE_TYPE; kind++) {
        if (!exists(kind, type)) continue;
        const small_model small = shape(type, untied, kind);
        ferry_model *opened = open_small_model(&small, kernels->isa);
        ferry_result *found = translate(opened, &other);
        const ferry_matrix *stored = &opened->file.transformer.output_coarse, *used = &other->bound.coarse;
        assert_int_equal(opened->file.parameters, model->file.parameters);
        assert_int_equal(opened->file.type, type);
        assert_int_equal(other->bound.bytes, kind == SMALL_COARSE ? scales : bytes);
        if (screened) assert_int_equal(used->weights == stored->weights, kind == SMALL_COARSE);
        for (size_t line = 0; line < SENTENCES; line++) assert_same_line(expected, line, found, line);
        ferry_result_destroy(found);
        ferry_translator_destroy(other);
        ferry_model_close(opened);
    }
    ferry_result_destroy(expected);
    ferry_translator_destroy(translator);
    ferry_model_close(model);
}

TEST(test_wrong_numbers_change_nothing)
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
         [SMALL_COARSE_SCALES_ALONE] = "tensor 'output_coarse.scale' is unknown"},
        {[SMALL_COARSE_TYPE] = "tensor 'output_coarse.weight': expected i8, found f32", /* nibbles */
         [SMALL_COARSE_ROWS] = "tensor 'output_coarse.weight': expected shape [126, 9, 64], found [127, 9, 64]",
         [SMALL_COARSE_COLUMNS] = "tensor 'output_coarse.weight': expected shape [126, 9, 64], found [126, 10, 64]",
         [SMALL_COARSE_SCALES] = "tensor 'output_coarse.scale' is unknown",
         [SMALL_COARSE_SCALES_ALONE] = "tensor 'output_coarse.scale' is unknown"}};
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

/* Nibbles are in pairs of groups. */
TEST(test_some_widths_have_no_nibbles)
{
    small_model small = shape(FERRY_I8, true, SMALL_COARSE);
    const char *path = scratch_file("small.gguf");
    ferry_model *model;
    small.d_model = WIDTH;
    write_small_model(path, &small);
    REFUSE(ferry_model_open(path, 0, &model, &error), FERRY_ERROR_FORMAT, "tensor 'output_coarse.weight' is unknown");
}
