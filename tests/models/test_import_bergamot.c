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

typedef struct facts {
    int32_t encoder_layers, vocab_size;
    uint32_t text_list; /* entries of the text lexicon, at least */
    size_t lines;       /* golden, with the empty one */
} facts;

static const facts large = {3, 8000, 177000, 65}, small = {2, 1000, 25000, 17};

static const facts *expected_facts(void)
{
    return large_data() ? &large : &small;
}

TEST(test_what_the_files_say)
{
    static const struct {
        const char *name;
        bool codes, multipliers, by_sentence;
    } forms[] = {{"model.ende.npz", false, false, false},
                 {"model.ende.bin", false, false, false},
                 {"model.ende.intgemm8.bin", true, false, true},
                 {"model.ende.intgemm.alphas.bin", true, true, false}};
    for (size_t i = 0; i < COUNT(forms); i++) {
        const ferry_model_file *file = converted(source_path(forms[i].name));
        const ferry_transformer *model = &file->transformer;
        assert_true(has_text(file->origin.kind, "bergamot"));
        assert_true(model->ssru);
        assert_int_equal(model->encoder.layer_count, expected_facts()->encoder_layers);
        assert_int_equal(model->decoder.layer_count, 2);
        assert_int_equal(model->encoder.activation, FERRY_RELU);
        assert_int_equal(file->generation.alignment_layer, 1);
        assert_int_equal(file->generation.decoding.policy, FERRY_POLICY_MARIAN);
        assert_int_equal(file->generation.decoding.beam, 1);
        assert_true(file->generation.decoding.length_penalty == 1);
        assert_true(file->generation.decoding.length_factor == 2 && file->generation.decoding.length_extra == 0);
        assert_true(file->generation.decoding.shortlist && file->generation.shortlist.shared);
        assert_int_equal(file->generation.shortlist.first, 50);
        assert_int_equal(file->generation.decoding.suppressed_count,
                         1); /* trained by 1.9: control characters are not */
        assert_int_equal(model->sentence_inputs, forms[i].by_sentence);
        const ferry_matrix *matrices[] = {&model->output, &model->encoder.layers[0].ffn_up,
                                          &model->decoder.layers[1].ssru.forget};
        for (int k = 0; k < 3; k++) {
            assert_int_equal(matrices[k]->codes != NULL, forms[i].codes);
            assert_int_equal(matrices[k]->multiplier > 0, forms[i].codes);
            assert_int_equal(matrices[k]->input_multiplier > 0, forms[i].multipliers);
        }
        assert_int_equal(file->text.languages.count, 2);
        assert_true(has_text(ferry_texts_at(file->text.languages.names, 0), "en eng") &&
                    has_text(ferry_texts_at(file->text.languages.names, 1), "de deu"));
    }
}

/* Each matrix has the multipliers of its own tensors, the output matrix the one that lies there as an integer. */
TEST(test_multipliers)
{
    json_t *alphas = load_json(source_path("alphas.json"));
    const ferry_model_file *file = converted(source_path("model.ende.intgemm.alphas.bin"));
    const ferry_transformer *model = &file->transformer;
    const struct {
        const char *name;
        const ferry_matrix *matrix;
    } pairs[] = {{"encoder_l1_self_Wq", &model->encoder.layers[0].self.q},
                 {"encoder_l2_self_Wo", &model->encoder.layers[1].self.out},
                 {"encoder_l2_ffn_W1", &model->encoder.layers[1].ffn_up},
                 {"encoder_l2_ffn_W2", &model->encoder.layers[1].ffn_down},
                 {"decoder_l1_rnn_W", &model->decoder.layers[0].ssru.input},
                 {"decoder_l2_rnn_Wf", &model->decoder.layers[1].ssru.forget},
                 {"decoder_l1_context_Wk", &model->decoder.layers[0].cross.k},
                 {"decoder_l2_context_Wv", &model->decoder.layers[1].cross.v},
                 {"Wemb", &model->output}};
    for (size_t i = 0; i < COUNT(pairs); i++) {
        const double expected = json_number_value(json_object_get(alphas, pairs[i].name));
        assert_true(expected > 0);
        assert_float_equal(pairs[i].matrix->input_multiplier, expected, 4e-6);
    }
}

/* ---- Marian, float32 ---- */

static ferry_translator *create_translator(const golden_model *model, int32_t beam, float factor, int32_t shortlist)
{
    ferry_options options;
    ferry_translator *translator;
    ferry_options_default(model->model, &options, sizeof options);
    options.beam = options.nbest = beam;
    options.length_factor = factor;
    options.shortlist = shortlist;
    options.alignment = 1;
    CHECK(ferry_translator_create(model->model, &options, &translator, &error));
    return translator;
}

/* The line's ids, as recorded. */
static const int32_t *check_ids(const golden_model *model, const json_t *line, int32_t *count)
{
    size_t found;
    int32_t *expected = json_ids(json_object_get(line, "ids"), count);
    const int32_t *ids = tokenized(model->model, json_string_value(json_object_get(line, "text")), NULL, NULL, &found);
    assert_int_equal(found, *count);
    assert_memory_equal(ids, expected, found * sizeof *ids);
    return ids;
}

/* A last piece "▁" is a blank to Marian, and nothing to Ferry. */
static void check_text(const char *expected, ferry_text found)
{
    char *text = kept_memory(strlen(expected) + 1);
    size_t size = strlen(expected);
    while (size > 0 && expected[size - 1] == ' ') size--;
    check_result_text(memcpy(text, expected, size), found);
}

static void check_marian_line(const golden_model *model, ferry_translator *translator, const json_t *line,
                              const json_t *golden, golden_figures *figures)
{
    ferry_result *result, *texts;
    int32_t count;
    const char *text = json_string_value(json_object_get(line, "text"));
    const int32_t *ids = check_ids(model, line, &count);
    const int32_t offsets[] = {0, count};
    CHECK(ferry_inspect_generate(translator, ids, offsets, 1, &result, &error));
    CHECK(ferry_translate(translator, &(ferry_text){text, strlen(text)}, 1, &texts, &error));
    assert_int_equal(ferry_result_hypotheses(result, 0), json_array_size(golden));
    for (size_t h = 0; h < json_array_size(golden); h++) {
        golden_hypothesis expected = golden_parse(json_string_value(json_array_get(golden, h)));
        check_text(expected.text, ferry_result_text(texts, 0, h));
        golden_check_scores(&expected, result, h, figures);
        golden_check_alignment(&expected, result, h, figures);
    }
    ferry_result_destroy(texts);
    ferry_result_destroy(result);
}

static void check_marian(const golden_model *model, const json_t *lines, const char *run, int32_t beam)
{
    ferry_translator *translator = create_translator(model, beam, 3, 0);
    golden_figures sum = {.lines = 0};
    for (size_t i = 0; i < json_array_size(lines); i++) {
        const json_t *line = json_array_get(lines, i), *golden = json_object_get(line, run);
        if (json_array_size(json_object_get(line, "ids")) == 1) {
            golden_hypothesis expected = golden_parse(json_string_value(json_array_get(golden, 0)));
            golden_check_empty(&expected, model, 0, &sum);
        } else {
            check_marian_line(model, translator, line, golden, &sum);
        }
        sum.lines++;
    }
    assert_int_equal(sum.lines, expected_facts()->lines);
    golden_print(run, &sum);
    ferry_translator_destroy(translator);
}

TEST(test_marian)
{
    static const char *const forms[] = {"model.ende.npz", "model.ende.bin"};
    json_t *root = load_json(source_path("golden.json"));
    for (int i = 0; i < 2; i++) {
        golden_model model = golden_open(source_path(forms[i]));
        check_marian(&model, json_object_get(root, "lines"), "marian_greedy", 1);
        check_marian(&model, json_object_get(root, "lines"), "marian_beam6", 6);
    }
}

/* ---- int8 ---- */

typedef struct tally {
    int equal, other;
} tally;

/* Ids, without the end of sentence, and text. */
static bool same_line(const json_t *golden, const ferry_result *result, const ferry_result *texts, int32_t eos)
{
    int32_t count;
    int32_t *expected = json_ids(json_object_get(golden, "ids"), &count);
    const int32_t *ids = ferry_inspect_result_ids(result, 0, 0);
    size_t found = ferry_result_tokens(result, 0, 0);
    if (found > 0 && ids[found - 1] == eos) found--;
    const bool same = found == (size_t)count && memcmp(ids, expected, found * sizeof *ids) == 0;
    if (same) check_text(json_string_value(json_object_get(golden, "text")), ferry_result_text(texts, 0, 0));
    return same;
}

static void check_int8_line(const golden_model *model, ferry_translator *translator, const json_t *line,
                            const char *run, size_t number, tally *sum)
{
    ferry_result *result, *texts;
    int32_t count;
    const char *text = json_string_value(json_object_get(line, "text"));
    const json_t *golden = json_object_get(line, run);
    const double gap = json_number_value(json_object_get(golden, "smallest_gap"));
    const int32_t *ids = check_ids(model, line, &count);
    const int32_t offsets[] = {0, count};
    CHECK(ferry_inspect_generate(translator, ids, offsets, 1, &result, &error));
    CHECK(ferry_translate(translator, &(ferry_text){text, strlen(text)}, 1, &texts, &error));
    if (same_line(golden, result, texts, model->file->generation.eos_ids[0])) {
        sum->equal++;
    } else {
        const ferry_text found = ferry_result_text(texts, 0, 0);
        print_message("%s: line %zu differs, its two best logits come as close as %g: '%.*s'\n", run, number, gap,
                      (int)found.size, found.data);
        if (gap > SMALLEST_GAP) fail_msg("%s: line %zu: gap %g", run, number, gap);
        sum->other++;
    }
    ferry_result_destroy(texts);
    ferry_result_destroy(result);
}

static void check_int8(const char *form, const char *run, int32_t shortlist, json_t *root)
{
    const json_t *lines = json_object_get(root, "lines");
    golden_model model = golden_open(source_path(form));
    ferry_translator *translator = create_translator(&model, 1, 2, shortlist);
    tally sum = {0, 0};
    for (size_t i = 0; i < json_array_size(lines); i++) {
        const json_t *line = json_array_get(lines, i);
        if (json_array_size(json_object_get(line, "ids")) == 1) continue; /* the empty line stays empty */
        check_int8_line(&model, translator, line, run, i, &sum);
    }
    print_message("%s: %d lines equal, %d not\n", run, sum.equal, sum.other);
    assert_int_equal(sum.equal + sum.other, expected_facts()->lines - 1);
    assert_true(sum.other <= 3);
    ferry_translator_destroy(translator);
}

TEST(test_int8)
{
    json_t *root = load_json(source_path("golden.json"));
    check_int8("model.ende.intgemm.alphas.bin", "alphas_shortlist", 1, root);
    check_int8("model.ende.intgemm.alphas.bin", "alphas_full", 0, root);
    check_int8("model.ende.intgemm8.bin", "dynamic_shortlist", 1, root);
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
        assert_true(has_text(files[i]->origin.kind, "bergamot"));
        assert_int_equal(files[i]->origin.file_count, i == 0 ? 4 : 3);
        assert_int_equal(files[i]->text.languages.count, 2);
        assert_int_equal(files[i]->generation.decoding.beam, 1);
    }
}

/* A text lexicon allows 100 words where the binary one has 50. */
TEST(test_text_lexicon)
{
    static const char *const names[] = {
        "model.ende.intgemm8.bin", "model.bin", "vocab.ende.spm", "vocab.spm", "lex.s2t.gz", "lex.s2t.gz", NULL};
    const facts *expected = expected_facts();
    const ferry_model_file *file = converted(make_package("text-lexicon", names));
    assert_int_equal(file->generation.shortlist.first, 100);
    assert_true(file->generation.shortlist.offsets[expected->vocab_size] > expected->text_list);
    assert_int_equal(file->text.languages.count, 0);
}

TEST(test_several)
{
    refuse_source(source_path("."), FERRY_ERROR_UNSUPPORTED, "model.ende.intgemm.alphas.bin");
}
