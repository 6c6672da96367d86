/* The OPUS-MT form of a model, the real one or its small twin: what its files say, and Marian's own n-best lists with
 * scores and alignments. */
#include "tests/support/marian_golden.h"

#include "tests/support/make_zip.h"

static char *source_path(void)
{
    return shared_file("models/tatoeba-en-de/marian");
}

typedef struct facts {
    int32_t d_model, layers, heads, ffn_width, vocab_size;
    float scale;
    size_t segmenter; /* bytes */
    const char *third_piece;
    size_t lines; /* golden */
} facts;

static const facts real = {256, 3, 8, 1024, 8000, 16, 379885, "\xe2\x96\x81Monate", 60}, small = {64,
                                                                                                  2,
                                                                                                  4,
                                                                                                  160,
                                                                                                  1000,
                                                                                                  8,
                                                                                                  15381,
                                                                                                  "\xe2\x96\x81"
                                                                                                  "every",
                                                                                                  17};

static const facts *expected_facts(void)
{
    return large_data() ? &real : &small;
}

TEST(test_what_the_files_say)
{
    const facts *expected = expected_facts();
    const ferry_model_file *file = converted(source_path());
    const ferry_transformer *model = &file->transformer;
    const ferry_options *decoding = &file->generation.decoding;
    assert_true(has_text(file->origin.kind, "opus-mt"));
    assert_int_equal(model->d_model, expected->d_model);
    assert_true(model->embedding_scale == expected->scale);
    assert_int_equal(file->generation.start_id, -1);
    assert_int_equal(file->generation.pad_id, -1);
    assert_int_equal(file->generation.eos_ids[0], 0);
    assert_int_equal(file->generation.alignment_layer, expected->layers - 1);
    assert_int_equal(file->generation.alignment_head, 0);
    assert_false(model->ssru);
    for (int i = 0; i < 2; i++) {
        const ferry_stack *stack = i == 0 ? &model->encoder : &model->decoder;
        assert_int_equal(stack->layer_count, expected->layers);
        assert_int_equal(stack->heads, expected->heads);
        assert_int_equal(stack->ffn_width, expected->ffn_width);
        assert_int_equal(stack->vocab_size, expected->vocab_size);
        assert_int_equal(stack->activation, FERRY_SWISH);
        assert_false(stack->pre_norm);
        assert_true(stack->norm_eps == 1e-6f);
        assert_null(stack->final_norm.weight);
    }
    assert_ptr_equal(model->output.panels, model->decoder.embedding.panels);
    assert_ptr_equal(model->encoder.embedding.panels, model->decoder.embedding.panels);
    assert_non_null(model->output.bias);
    assert_true(text_key(file, "ferry.encoder.position.layout", "split"));
    assert_true(text_key(file, "ferry.decoder.position.exponent_divisor", "half_minus_one"));
    assert_int_equal(decoding->policy, FERRY_POLICY_MARIAN);
    assert_int_equal(decoding->beam, 6);
    assert_true(decoding->length_penalty == 1 && decoding->word_penalty == 0);
    assert_int_equal(decoding->max_length, 0);
    assert_true(decoding->length_factor == 3 && decoding->length_extra == 0);
    assert_int_equal(decoding->suppressed_count, 1);
    assert_int_equal(decoding->suppressed_ids[0], 1); /* <unk> */
    assert_int_equal(file->text.source_unk_id, 1);
    assert_int_equal(file->text.suffix_count, 1);
    assert_int_equal(file->text.source_model.size, expected->segmenter);
    assert_true(has_text(ferry_texts_at(file->text.target_pieces, 2), expected->third_piece));
    assert_false(file->text.opus_punctuation || file->text.leading_tag);
    assert_int_equal(file->text.languages.count, 0);
}

/* ---- golden runs ---- */

typedef struct run_options {
    int32_t beam;
    float normalize, word_penalty;
    bool allow_unk;
} run_options;

static double number_after(const char *command, const char *option)
{
    const char *at = strstr(command, option);
    assert_non_null(at);
    return strtod(at + strlen(option), NULL);
}

static run_options read_options(const char *command)
{
    assert_true(number_after(command, "--max-length-factor") == 3);
    return (run_options){.beam = (int32_t)number_after(command, "--beam-size"),
                         .normalize = (float)number_after(command, "--normalize"),
                         .word_penalty = (float)number_after(command, "--word-penalty"),
                         .allow_unk = strstr(command, "--allow-unk") != NULL};
}

static ferry_translator *create_translator(const golden_model *model, const run_options *run)
{
    ferry_options options;
    ferry_translator *translator;
    ferry_options_default(model->model, &options, sizeof options);
    options.beam = options.nbest = run->beam;
    options.length_penalty = run->normalize;
    options.word_penalty = run->word_penalty;
    options.alignment = 1;
    if (run->allow_unk) options.suppressed_count = 0;
    CHECK(ferry_translator_create(model->model, &options, &translator, &error));
    return translator;
}

/* Pieces with one blank between them, without the end of sentence. */
static void check_pieces(const char *expected, const golden_model *model, const int32_t *ids, size_t count)
{
    const char *at = expected;
    const int32_t eos = model->file->generation.eos_ids[0];
    for (size_t i = 0; i < count && ids[i] != eos; i++) {
        const ferry_view piece = ferry_texts_at(model->file->text.target_pieces, (size_t)ids[i]);
        if (strncmp(at, piece.data, piece.size) != 0)
            fail_msg("expected '%s', found '%.*s' at '%s'", expected, (int)piece.size, piece.data, at);
        at += piece.size;
        if (*at == ' ') at++;
    }
    assert_int_equal(*at, 0);
}

/* What postprocess.sh makes of pieces: blanks go, "▁" becomes a blank, leading blanks go. */
static void check_text(const char *pieces, ferry_text found)
{
    char text[4000];
    size_t size = 0;
    assert_true(strlen(pieces) < sizeof text);
    for (const char *at = pieces; *at != 0; at++) {
        if (*at == ' ') continue;
        const bool blank = strncmp(at, "\xe2\x96\x81", 3) == 0;
        if (!blank || size > 0) text[size++] = blank ? ' ' : *at;
        if (blank) at += 2;
    }
    if (found.size != size || memcmp(found.data, text, size) != 0)
        fail_msg("expected '%.*s', found '%.*s'", (int)size, text, (int)found.size, found.data);
}

static void check_hypotheses(const golden_model *model, ferry_translator *translator, const char *text,
                             const json_t *golden, golden_figures *figures)
{
    ferry_result *result, *texts;
    size_t count;
    const ferry_text line = {text, strlen(text)};
    const int32_t *ids = tokenized(model->model, text, NULL, NULL, &count);
    const int32_t offsets[] = {0, (int32_t)count};
    CHECK(ferry_inspect_generate(translator, ids, offsets, 1, &result, &error));
    CHECK(ferry_translate(translator, &line, 1, &texts, &error));
    assert_int_equal(ferry_result_hypotheses(result, 0), json_array_size(golden));
    for (size_t h = 0; h < json_array_size(golden); h++) {
        golden_hypothesis expected = golden_parse(json_string_value(json_array_get(golden, h)));
        check_pieces(expected.text, model, ferry_inspect_result_ids(result, 0, h), ferry_result_tokens(result, 0, h));
        check_text(expected.text, ferry_result_text(texts, 0, h));
        golden_check_scores(&expected, result, h, figures);
        golden_check_alignment(&expected, result, h, figures);
    }
    ferry_result_destroy(texts);
    ferry_result_destroy(result);
}

static void check_source(const golden_model *model, const json_t *line)
{
    const char *text = json_string_value(json_object_get(line, "text"));
    const char *at = json_string_value(json_object_get(line, "pieces"));
    const ferry_model_text *tables = &model->file->text;
    size_t count;
    const int32_t *ids = tokenized(model->model, text, NULL, NULL, &count);
    for (size_t i = 0; i + 1 < count; i++) {
        const ferry_view piece = ferry_texts_at(tables->source_pieces, (size_t)ids[i]);
        const size_t size = strcspn(at, " ");
        const bool same = piece.size == size && memcmp(at, piece.data, size) == 0;
        if (!same && ids[i] != tables->source_unk_id) fail_msg("'%s': expected piece '%.*s'", text, (int)size, at);
        at += size + (at[size] == ' ');
    }
    assert_int_equal(*at, 0);
    assert_int_equal(ids[count - 1], model->file->generation.eos_ids[0]);
}

static void check_run(const golden_model *model, const json_t *root, const char *name)
{
    const json_t *runs = json_object_get(root, "runs"), *lines = json_object_get(root, "lines");
    const run_options run = read_options(json_string_value(json_object_get(runs, name)));
    ferry_translator *translator = create_translator(model, &run);
    golden_figures sum = {.lines = 0};
    for (size_t i = 0; i < json_array_size(lines); i++) {
        const json_t *line = json_array_get(lines, i), *golden = json_object_get(line, name);
        const char *text = json_string_value(json_object_get(line, "text"));
        check_source(model, line);
        if (text[0] == 0) {
            golden_hypothesis expected = golden_parse(json_string_value(json_array_get(golden, 0)));
            golden_check_empty(&expected, model, 0, &sum);
        } else {
            check_hypotheses(model, translator, text, golden, &sum);
        }
        sum.lines++;
    }
    assert_int_equal(sum.lines, expected_facts()->lines);
    golden_print(name, &sum);
    ferry_translator_destroy(translator);
}

TEST(test_golden)
{
    const char *name;
    json_t *command;
    char *path = source_path();
    json_t *root = load_json(in_directory(path, "golden.json"));
    golden_model model = golden_open(path);
    assert_int_equal(json_object_size(json_object_get(root, "runs")), 5);
    json_object_foreach (json_object_get(root, "runs"), name, command) check_run(&model, root, name);
}

/* ---- the archive ---- */

static ferry_view converted_bytes(const char *source, const char *name)
{
    char *path = scratch_file(name);
    const ferry_import_options options = {.type = FERRY_F32, .name = "one"};
    CHECK(ferry_import(source, path, &options, &error));
    return mapped_bytes(path);
}

/* A zip of the directory, called as the directory is, becomes the same bytes. */
TEST(test_archive)
{
    static const char *const names[] = {"decoder.yml", "model.npz", "source.spm", "target.spm", "vocab.yml"};
    enum { COUNT = COUNT(names) };
    zip_part parts[COUNT];
    char *path = source_path(), *archive = scratch_file("marian");
    for (size_t i = 0; i < COUNT; i++) {
        const ferry_view bytes = mapped_bytes(in_directory(path, names[i]));
        parts[i] = (zip_part){names[i], bytes.data, bytes.size};
    }
    write_zip(archive, parts, COUNT);
    const ferry_view a = converted_bytes(path, "directory.gguf"), b = converted_bytes(archive, "archive.gguf");
    assert_int_equal(a.size, b.size);
    assert_memory_equal(a.data, b.data, a.size);
}
