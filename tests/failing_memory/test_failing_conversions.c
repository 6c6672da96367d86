/* Memory that runs out while a model is converted: an error each time, nothing is lost, no file is left, and one that
 * was there before stays. */
#include "tests/support/ctranslate2_made.h"
#include "failing_memory.h"
#include "tests/support/import_support.h"
#include "tests/support/made_marian.h"
#include "tests/support/make_zip.h"

#include "models/containers/json.h"

#include <unistd.h>

typedef struct conversion {
    const char *source, *output;
    ferry_import_options options;
    ferry_view expected;
} conversion;

static const char before[] = "a file that was there";

static void write_before(void *user)
{
    const conversion *c = user;
    write_bytes(c->output, before, sizeof before);
}

static ferry_status convert(void *user, ferry_error *error)
{
    const conversion *c = user;
    return ferry_import(c->source, c->output, &c->options, error);
}

static void check_output(void *user, ferry_status status)
{
    const conversion *c = user;
    const ferry_view expected = status == FERRY_OK ? c->expected : (ferry_view){before, sizeof before};
    static unsigned char buffer[1 << 24];
    FILE *file = fopen(c->output, "rb");
    assert_non_null(file);
    assert_int_equal(fread(buffer, 1, sizeof buffer, file), expected.size);
    fclose(file);
    assert_memory_equal(buffer, expected.data, expected.size);
    assert_int_equal(unfinished_files(c->output), 0);
}

static void fail_conversion(const char *source, ferry_type type)
{
    conversion c = {.source = source, .options = {.type = type, .name = "model"}};
    c.output = scratch_file("converted.gguf");
    CHECK(ferry_import(source, c.output, &c.options, &error));
    const made_file expected = file_copy(c.output);
    c.expected = (ferry_view){(const char *)expected.data, expected.size};
    fail_each(&(fault){source, &c, write_before, convert, check_output});
}

/* ---- each family ---- */

/* decoder.yml, a vocabulary in YAML, segmenters, a shortlist as compressed text, a license. */
static char *opus_folder(void)
{
    static const char decoder[] = "relative-paths: true\nmodels:\n  - model.bin\nvocabs:\n  - v.yml\n  - v.yml\n"
                                  "beam-size: 4\nnormalize: 0.6\nword-penalty: 0.2\n"
                                  "shortlist: [words.txt, 100, 100, 0]\n";
    static const char vocabulary[] = "\"</s>\": 0\n\"<unk>\": 1\n\">>deu<<\": 3\n\">>fra<<\": 2\nI: 4\nyes: 5\n6: 6\n"
                                     "\"<0x0A>\": 8\n\"<0x20>\": 9\nlast: 10\n";
    char *folder = marian_folder(&(marian_kind){.ties = MARIAN_TIED_ALL});
    made_file words = {.size = 0};
    assert_int_equal(unlink(in_directory(folder, "vocab.txt")), 0);
    write_text(folder, "decoder.yml", decoder);
    write_text(folder, "v.yml", vocabulary);
    put_gzip(&words, &(repeated){"", text_view("last I 0.5\nyes 6 0.25\nI I 0.125\n"), 1, ""});
    write_bytes(in_directory(folder, "words.txt.gz"), words.data, words.size);
    write_text(folder, "LICENSE", "free");
    for (int i = 0; i < 2; i++)
        link_file(data_file("models/marian-separate/source.spm"), folder, i == 0 ? "source.spm" : "target.spm");
    return folder;
}

TEST(test_marian)
{
    const marian_kind kinds[] = {{.ties = MARIAN_TIED_ALL},
                                 {.ties = MARIAN_TIED_TARGET, .ssru = true, .codes = 0x4101},
                                 {.ties = MARIAN_TIED_NONE, .pre_norm = true}};
    for (size_t i = 0; i < COUNT(kinds); i++) fail_conversion(marian_folder(&kinds[i]), FERRY_F32);
    fail_conversion(opus_folder(), FERRY_I8);
}

TEST(test_huggingface)
{
    static const char *const names[] = {"m2m100", "m2m100-bin-legacy", "m2m100-bin-zip", "mbart50", "nllb", "t5",
                                        "t5gated"};
    fail_conversion(data_file("models/marian-separate"), FERRY_I8);
    for (size_t i = 0; i < COUNT(names); i++)
        fail_conversion(small_family(names[i]), i % 2 == 0 ? FERRY_F32 : FERRY_F16);
}

TEST(test_ctranslate2_and_the_export_layout)
{
    static const char *const names[] = {"nllb-int8", "t5-int16", "t5gated-int8_float16"};
    static const char *const positions[] = {"deberta", "fire", "learned", "mixed", "shaw", "transformer_xl"};
    static const char *const segmenters[] = {"sentencepiece.bpe.model", "tokenizer.json"};
    const made m = made_base();
    fail_conversion(made_write(&m), FERRY_F32);
    for (size_t i = 0; i < 2; i++) { /* found by content */
        char *source =
            variant(shared_file("models/ctranslate2-small/nllb-int8"), &(edit){segmenters[0], NULL, NULL}, 1);
        link_file(shared_file("models/huggingface-small/nllb/%s", segmenters[i]), source, i == 0 ? "x" : segmenters[1]);
        fail_conversion(source, FERRY_F32);
    }
    for (size_t i = 0; i < COUNT(names); i++)
        fail_conversion(shared_file("models/ctranslate2-small/%s", names[i]), FERRY_F32);
    for (size_t i = 0; i < COUNT(positions); i++)
        fail_conversion(data_file("positions/%s-pre", positions[i]), FERRY_F32);
}

TEST(test_archives)
{
    const char *folder = opus_folder(), *path = scratch_file("opus.zip");
    static const char *const names[] = {"model.bin",    "decoder.yml", "v.yml",
                                        "words.txt.gz", "source.spm",  "target.spm"};
    zip_part parts[COUNT(names)];
    for (size_t i = 0; i < COUNT(names); i++) {
        const ferry_view bytes = mapped_bytes(in_directory(folder, names[i]));
        parts[i] = (zip_part){names[i], bytes.data, bytes.size};
    }
    write_zip(path, parts, COUNT(names));
    fail_conversion(path, FERRY_F32);
}

/* ---- containers ---- */

static ferry_status read_npz(void *user, ferry_error *error)
{
    ferry_weights weights;
    FERRY_TRY(ferry_weights_read(ferry_npz_read, *(ferry_view *)user, "one.npz", NULL, &weights, error));
    ferry_weights_close(&weights);
    return FERRY_OK;
}

static void nothing(void *user, ferry_status status)
{
    (void)user;
    (void)status;
}

TEST(test_npz)
{
    ferry_view bytes = mapped_bytes(data_file("corpus/fuzz_npz/deflated.npz"));
    fail_each(&(fault){"deflated.npz", &bytes, NULL, read_npz, nothing});
}

typedef struct parsing {
    ferry_view text;
    json_t *expected, *root;
} parsing;

static ferry_status parse(void *user, ferry_error *error)
{
    parsing *p = user;
    return ferry_json_parse(p->text, "some.json", JSON_OBJECT, NULL, &p->root, error);
}

static void check_tree(void *user, ferry_status status)
{
    parsing *p = user;
    assert_int_equal(p->root != NULL, status == FERRY_OK);
    if (status == FERRY_OK) assert_true(json_equal(p->root, p->expected));
    json_decref(p->root);
}

/* The buffer for a token grows with byte 16: the end of a text, what follows a number, a part of a character. */
TEST(test_json)
{
    static const char *const texts[] = {
        "{\"x\":\"fourteen bytes\",\"y\":[0,{}]}",
        "{\"x\":0.1234567890123}",
        "{\"x\":\"0123456789 13\xE2\x82\xAC, \\u20ac\"}",
        "{\"x\":1000000000000000019884624838656,\"a longer text, and a longer one\":[1,2,3,4,5,6,7,8,9,true,null,1.5]}",
        "{\"a\":1,\"b\":2,\"c\":3,\"d\":4,\"e\":5,\"f\":6,\"g\":7,\"h\":8,\"i\":{\"j\":[[],\"\"]},\"k\":10}",
    };
    for (size_t i = 0; i < COUNT(texts); i++) {
        parsing p = {.text = text_view(texts[i])};
        CHECK(ferry_json_parse(p.text, "some.json", JSON_OBJECT, NULL, &p.expected, &error));
        fail_every(&(fault){texts[i], &p, NULL, parse, check_tree});
        json_decref(p.expected);
    }
}
