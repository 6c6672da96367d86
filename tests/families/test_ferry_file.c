/* Model files converted once more: the same bytes as from their source, whatever the family. */
#include "tests/support/ctranslate2_made.h"
#include "tests/support/made_marian.h"

#include "base/system.h"
#include "engine/kernels/linear.h"
#include "tools/system/folders.h"

static char *convert_to(const char *source, const ferry_import_options *options)
{
    char *path = new_scratch_file("made.gguf");
    CHECK(ferry_import(source, path, options, &error));
    return path;
}

static void check_same_bytes(const char *a, const char *b)
{
    const ferry_view one = mapped_bytes(a), other = mapped_bytes(b);
    assert_int_equal(one.size, other.size);
    assert_memory_equal(one.data, other.data, one.size);
}

static const ferry_import_options as_found = {.type = FERRY_F32}, f32 = {.type = FERRY_F32, .widen = true},
                                  f16 = {.type = FERRY_F16}, i8 = {.type = FERRY_I8},
                                  i4 = {.type = FERRY_I8, .four_bits = true};

/* Without a type, a file is written as it is; to another type, as its source would be. */
static void check_source(const char *source)
{
    static const ferry_import_options *const types[] = {&f32, &f16, &i8, &i4};
    const char *plain = convert_to(source, &as_found);
    check_same_bytes(plain, convert_to(plain, &as_found));
    for (size_t i = 0; i < COUNT(types); i++) {
        const char *typed = convert_to(source, types[i]);
        check_same_bytes(typed, convert_to(plain, types[i]));
        check_same_bytes(typed, convert_to(typed, &as_found));
    }
}

/* As older versions of Ferry wrote them: without hashes of the files that they were made from. */
TEST(test_file_without_hashes)
{
    const char *older = data_file("corpus/fuzz_model/sinusoidal.gguf"), *newer = convert_to(older, &as_found);
    assert_null(find_text(mapped_bytes(older), "ferry.origin.hashes"));
    assert_null(find_text(mapped_bytes(newer), "ferry.origin.hashes"));
    check_source(older);
}

static bool is_model(const char *name)
{
    return name[0] != '.';
}

TEST(test_every_positional_encoding)
{
    size_t count;
    char **names;
    char *folder = data_file("positions");
    assert_true(ferry_folder_names(folder, is_model, &names, &count));
    for (size_t i = 0; i < count; i++) {
        check_source(in_directory(folder, names[i]));
        free(names[i]);
    }
    free(names);
}

TEST(test_marian)
{
    check_source(marian_folder(&(marian_kind){.ties = MARIAN_TIED_NONE}));
    check_source(marian_folder(&(marian_kind){.ties = MARIAN_TIED_ALL, .ssru = true}));
    check_source(marian_folder(&(marian_kind){.ties = MARIAN_TIED_TARGET, .codes = 0x4101}));
}

/* Also int8 with multipliers of activations, a shortlist, and two languages. */
TEST(test_families)
{
    static const char *const names[] = {"bergamot-en-de/model.ende.intgemm.alphas.bin",
                                        "bergamot-en-de/model.ende.intgemm8.bin",
                                        "bergamot-en-de/model.ende.npz",
                                        "huggingface-small/nllb",
                                        "huggingface-small/mbart50",
                                        "huggingface-small/t5gated",
                                        "ctranslate2-small/t5-int16",
                                        "tatoeba-en-de/marian"};
    for (size_t i = 0; i < COUNT(names); i++) check_source(shared_file("models/%s", names[i]));
}

/* CTranslate2's multipliers for each row are scales in a model file, their reciprocals: so numbers that are multiplied
 * by them differ in the last bit from those that are divided. */
TEST(test_scales_of_rows)
{
    made m = made_base();
    made_variable *weight = made_find(&m, "encoder/layer_0/ffn/linear_0/weight");
    weight->type = 1;
    weight->value = NAN;
    made_add(&m, "encoder/layer_0/ffn/linear_0/weight_scale", MADE_F, 0);
    made_find(&m, "encoder/layer_0/ffn/linear_0/weight_scale")->value = 47;
    const char *source = made_write(&m), *plain = convert_to(source, &as_found);
    check_same_bytes(plain, convert_to(plain, &as_found));
    check_same_bytes(convert_to(source, &i8), convert_to(plain, &i8));
    const ferry_matrix *codes = &converted_with(plain, &as_found)->transformer.encoder.layers[0].ffn_up,
                       *wide = &converted_with(plain, &f32)->transformer.encoder.layers[0].ffn_up;
    float row[MADE_D];
    for (int32_t n = 0; n < MADE_F; n++) {
        ferry_matrix_row(wide, n, row);
        for (int32_t k = 0; k < MADE_D; k++)
            assert_true(row[k] == (float)codes->int8[(k / 4 * 16 + n) * 4 + k % 4] * codes->scales[n]);
    }
}

/* f16 and int8 become f32 with the numbers that they have. */
TEST(test_numbers_stay)
{
    const char *source = data_file("positions/rope-post");
    const char *halves = convert_to(source, &f16);
    check_same_bytes(halves, convert_to(convert_to(halves, &f32), &f16));
    const char *codes = convert_to(source, &i8);
    const ferry_matrix *q = &converted_with(codes, &as_found)->transformer.decoder.layers[0].cross.q,
                       *w = &converted_with(codes, &f32)->transformer.decoder.layers[0].cross.q;
    float *expected = kept_memory((size_t)q->K * sizeof *expected), *found = kept_memory((size_t)q->K * sizeof *found);
    for (int32_t n = 0; n < q->N; n++) {
        ferry_matrix_row(q, n, expected);
        ferry_matrix_row(w, n, found);
        assert_memory_equal(found, expected, (size_t)q->K * sizeof *found);
    }
}

/* What is written has a content hash of its own, which would hide the damage. Other GGUF files are named. */
TEST(test_refusals)
{
    const char *plain = convert_to(data_file("positions/none-pre"), &as_found);
    made_file copy = file_copy(plain);
    char *folder = scratch_directory("damaged");
    char *path = in_directory(folder, "damaged.gguf");
    copy.data[copy.size - 100] ^= 1;
    write_bytes(path, copy.data, copy.size);
    refuse_source(path, FERRY_ERROR_FORMAT, "damaged.gguf: damaged: its content hash is ");
    write_bytes(path, copy.data, copy.size / 2);
    refuse_source(path, FERRY_ERROR_FORMAT, "damaged.gguf: ");
    const ferry_view bytes = mapped_bytes(plain);
    memcpy(copy.data + (find_text(bytes, "ferry") - bytes.data), "llama", 5);
    write_bytes(path, copy.data, copy.size);
    refuse_source(path, FERRY_ERROR_UNSUPPORTED, "general.architecture: expected 'ferry', found 'llama'");
    write_text(folder, "letter.gguf", "Dear reader");
    refuse_source(in_directory(folder, "letter.gguf"), FERRY_ERROR_FORMAT, "letter.gguf: ");
}

/* A model file is what the user named: other files of models beside it, and its license, are not its own. */
TEST(test_beside_other_files)
{
    char *folder = scratch_directory("beside"), *path = in_directory(folder, "model.gguf");
    CHECK(ferry_import(data_file("positions/none-pre"), path, &as_found, &error));
    write_text(folder, "config.json", "{\"format\": \"seq2seq-export-1\"}");
    write_text(folder, "LICENSE", "another one");
    check_same_bytes(path, convert_to(path, &as_found));
}
