/* A Bergamot student, the larger one or its small twin, in all its forms: float32 as .npz and .bin against Marian, int8
 * with and without the file's own activation multipliers against exact integer arithmetic, the shortlist on and off. */
#include "tests/support/marian_golden.h"

#include <zlib.h>

/* Below this distance between the two best logits, a rounding of an int8 input that goes the other way in the last bit
 * of a float32 number can change the ids. */
#define SMALLEST_GAP 0.1

static char *source_path(const char *name)
{
    return shared_file("models/bergamot-en-de/%s", name);
}

/* Each matrix has the multipliers of its own tensors, the output matrix the one that lies there as an integer. */
TEST(test_multipliers)
{
    const json_t *alphas = load_json(source_path("alphas.json"));
    const ferry_transformer *model = &converted(source_path("model.ende.intgemm.alphas.bin"))->transformer;
    const struct {
        const char *name;
        const ferry_matrix *matrix;
    } pairs[] = {{"encoder_l1_self_Wq", &model->encoder.layers[0].self.q},
                 {"encoder_l2_ffn_W2", &model->encoder.layers[1].ffn_down},
                 {"decoder_l1_rnn_W", &model->decoder.layers[0].ssru.input},
                 {"decoder_l2_context_Wv", &model->decoder.layers[1].cross.v},
                 {"Wemb", &model->output}};
    for (size_t i = 0; i < COUNT(pairs); i++) {
        const double expected = json_number_value(json_object_get(alphas, pairs[i].name));
        assert_true(expected > 0);
        assert_float_equal(pairs[i].matrix->input_multiplier, expected, 4e-6);
    }
}

/* ---- Marian, float32 ---- */

static ferry_options set_options(const golden_model *model, int32_t beam, float factor, int32_t shortlist)
{
    ferry_options options;
    ferry_options_default(model->model, &options, sizeof options);
    options.beam = options.nbest = beam;
    options.length_factor = factor;
    options.shortlist = shortlist;
    options.alignment = 1;
    return options;
}

static size_t line_count(void)
{
    return large_data() ? 65 : 17;
}

TEST(test_marian)
{
    static const char *const forms[] = {"model.ende.npz", "model.ende.bin"};
    const json_t *lines = json_object_get(load_json(source_path("golden.json")), "lines");
    for (int i = 0; i < 2; i++) {
        const golden_model model = golden_open(source_path(forms[i]));
        const ferry_options greedy = set_options(&model, 1, 3, 0), beam = set_options(&model, 6, 3, 0);
        assert_int_equal(golden_check_run(&model, &greedy, lines, "marian_greedy"), line_count());
        assert_int_equal(golden_check_run(&model, &beam, lines, "marian_beam6"), line_count());
    }
}

/* ---- int8 ---- */

/* Whether ids, without the end of sentence, are as recorded. */
static bool same_ids(const json_t *golden, const ferry_result *result, int32_t eos)
{
    int32_t count;
    const int32_t *expected = json_ids(json_object_get(golden, "ids"), &count);
    const int32_t *ids = ferry_inspect_result_ids(result, 0, 0);
    size_t found = ferry_result_token_count(result, 0, 0);
    if (found > 0 && ids[found - 1] == eos) found--;
    return found == (size_t)count && memcmp(ids, expected, found * sizeof *ids) == 0;
}

static void check_int8(const char *form, const char *run, int32_t shortlist)
{
    const json_t *lines = json_object_get(load_json(source_path("golden.json")), "lines");
    const golden_model model = golden_open(source_path(form));
    const ferry_options options = set_options(&model, 1, 2, shortlist);
    size_t others = 0, empty = 0;
    for (size_t i = 0; i < json_array_size(lines); i++) {
        const json_t *line = json_array_get(lines, i), *golden = json_object_get(line, run);
        const ferry_text text = as_text(json_string_value(json_object_get(line, "text")));
        empty += text.size == 0; /* stays empty */
        if (text.size == 0) continue;
        const double gap = json_number_value(json_object_get(golden, "smallest_gap"));
        ferry_result *result = translated(model.model, &options, &text, 1);
        if (!same_ids(golden, result, model.file->generation.eos_ids[0])) {
            print_message("%s: line %zu differs, its two best logits come as close as %g\n", run, i, gap);
            if (gap > SMALLEST_GAP) fail_msg("%s: line %zu: gap %g", run, i, gap);
            others++;
        }
        ferry_result_destroy(result);
    }
    assert_int_equal(json_array_size(lines), line_count());
    assert_true(others <= 3 && empty == 1);
}

TEST(test_int8)
{
    check_int8("model.ende.intgemm.alphas.bin", "alphas_shortlist", 1);
    check_int8("model.ende.intgemm.alphas.bin", "alphas_full", 0);
    check_int8("model.ende.intgemm8.bin", "dynamic_shortlist", 1);
}

/* ---- packages ---- */

/* A scratch directory called `name` with links to files of the student under other names: pairs, NULL at the end. */
static char *make_package(const char *name, const char *const *pairs)
{
    char *directory = scratch_directory(name);
    for (; *pairs != NULL; pairs += 2) link_file(source_path(pairs[0]), directory, pairs[1]);
    return directory;
}

static void compress_into(const char *directory, const char *from, const char *name)
{
    const ferry_view bytes = mapped_bytes(source_path(from));
    gzFile file = gzopen(in_directory(directory, name), "wb1");
    assert_non_null(file);
    assert_int_equal(gzwrite(file, bytes.data, (unsigned)bytes.size), bytes.size);
    assert_int_equal(gzclose(file), Z_OK);
}

/* As Firefox has them: each file compressed, two vocabularies, a quality model beside. */
TEST(test_packages)
{
    static const char *const plain[] = {"model.ende.intgemm.alphas.bin",
                                        "model.ende.intgemm.alphas.bin",
                                        "vocab.ende.spm",
                                        "srcvocab.ende.spm",
                                        "vocab.ende.spm",
                                        "trgvocab.ende.spm",
                                        "lex.50.50.ende.s2t.bin",
                                        "lex.50.50.ende.s2t.bin",
                                        NULL};
    static const char *const nothing[] = {NULL};
    char *separate = make_package("separate", plain), *compressed = make_package("compressed", nothing);
    write_bytes(in_directory(separate, "qualityModel.ende.bin"), "\xd5\x83\x4d\x1f\x33\xc2\x8c\x77", 8);
    compress_into(compressed, "model.ende.intgemm.alphas.bin", "model.ende.intgemm.alphas.bin.gz");
    compress_into(compressed, "vocab.ende.spm", "vocab.ende.spm.gz");
    compress_into(compressed, "lex.50.50.ende.s2t.bin", "lex.50.50.ende.s2t.bin.gz");
    const ferry_model_file *expected = converted(source_path("model.ende.intgemm.alphas.bin"));
    const ferry_model_file *const files[] = {converted(separate), converted(compressed)};
    for (int i = 0; i < 2; i++) {
        check_same_tensors(expected, files[i]);
        check_file_keys(
            files[i],
            "origin.kind bergamot; languages.names en eng|de deu; decoding.beam 1; decoding.length_penalty 1; "
            "decoding.length_factor 2; decoding.length_extra 0; decoding.shortlist true; "
            "shortlist.first 50; decoding.suppressed_ids 1");
        check_file_keys(files[i], i == 0 ? "shortlist.shared false" : "shortlist.shared true");
        assert_int_equal(files[i]->origin.file_count, i == 0 ? 4 : 3);
    }
}

/* The output matrix has the multiplier under its own name; from an older exporter, that of the matrix without a name;
 * where neither is there, its inputs are quantized by the sentence. */
TEST(test_older_multiplier)
{
    static const char *const absent[] = {"Wemb_QuantMultA", "none_QuantMultA"};
    static const char *const names[] = {"vocab.ende.spm", "vocab.spm", NULL};
    const double alpha = json_number_value(json_object_get(load_json(source_path("alphas.json")), "Wemb"));
    char *folder = make_package("older", names);
    made_file file = file_copy(source_path("model.ende.intgemm.alphas.bin"));
    for (int i = 0; i < 2; i++) {
        const char *found = find_text((ferry_view){(const char *)file.data, file.size}, absent[i]);
        file.data[found - (const char *)file.data] = 'X';
        write_bytes(in_directory(folder, "model.bin"), file.data, file.size);
        const ferry_transformer *model = &converted(folder)->transformer;
        assert_float_equal(model->output.input_multiplier, i == 0 ? (float)alpha : 0, 4e-6);
        assert_int_equal(model->sentence_inputs, i == 1);
    }
}

/* A text lexicon allows 100 words where the binary one has 50. */
TEST(test_text_lexicon)
{
    static const char *const names[] = {
        "model.ende.intgemm8.bin", "model.bin", "vocab.ende.spm", "vocab.spm", "lex.s2t.gz", "lex.s2t.gz", NULL};
    const ferry_model_file *file = converted(make_package("text-lexicon", names));
    check_file_keys(file, "shortlist.first 100; languages.names absent; origin.kind bergamot");
    assert_true(file->generation.shortlist.offsets[file->text.source_count] > (large_data() ? 177000 : 25000));
}

TEST(test_several)
{
    refuse_source(source_path("."), FERRY_ERROR_UNSUPPORTED, "model.ende.intgemm.alphas.bin");
}
