/* Model files damaged systematically: refused with the file's name, or opened, and then what they do is safe and stays
 * within bounds; where only the file's form was damaged, it must be the same model. */
#define _GNU_SOURCE /* memfd_create */
#include "failing_memory.h"
#include "tests/support/limited_options.h"
#include "model_variants.h"

#include <sys/mman.h>
#include <unistd.h>

/* More than any of these models needs, intact or not. */
enum { MOST_BYTES = 16 << 20, MOST_VOCAB = 1 << 12, MOST_TEXT = 1000 };

typedef struct trial {
    int file;
    char path[64];
    char intact[MOST_TEXT];
    size_t opened, changed;
    size_t most_bytes;
} trial;

/* ---- what a model is used for ---- */

/* Teacher-forced, both ways, and attention. */
static void inspect(const ferry_model *model)
{
    static const int32_t ids[] = {1, 2, 3, 0}, offsets[] = {0, 4};
    static float logits[4 * MOST_VOCAB], weights[16];
    const ferry_inspect_sizes sizes = ferry_inspect_get_sizes(model);
    const int32_t inputs[] = {sizes.start_id, 0, 2, 1};
    if (sizes.target_vocab > MOST_VOCAB) return;
    for (int pass = 0; pass < 2; pass++)
        (void)ferry_inspect_logits(model, ids, offsets, 1, inputs, offsets, (ferry_inspect_pass)pass, logits, NULL);
    for (int kind = 0; kind < 3; kind++)
        (void)ferry_inspect_attention(model, (ferry_inspect_attention_kind)kind, 0, 0, ids, 4, inputs, 4, weights,
                                      NULL);
}

static void append(char *text, const char *format, ...)
{
    const size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, MOST_TEXT - used, format, arguments);
    va_end(arguments);
}

static void write_result(const ferry_result *result, char *text)
{
    for (size_t i = 0; i < ferry_result_count(result); i++)
        for (size_t h = 0; h < ferry_result_hypothesis_count(result, i); h++) {
            const ferry_text found = ferry_result_text(result, i, h);
            const int32_t *ids = ferry_inspect_result_ids(result, i, h);
            append(text, "%.*s %a:", (int)found.size, found.data, (double)ferry_result_score(result, i, h));
            for (size_t t = 0; t < ferry_result_token_count(result, i, h); t++) append(text, " %d", (int)ids[t]);
        }
}

/* Ids and lines become `text`: the ids and words that come of them. */
static void translate(const ferry_model *model, char *text)
{
    static const int32_t ids[] = {1, 3, 2, 0}, offsets[] = {0, 2, 4};
    static const ferry_text lines[] = {{"a b c", 5}, {"The house, \xC3 7", 14}};
    ferry_options options;
    ferry_translator *translator;
    ferry_result *result;
    text[0] = '\0';
    if (ferry_options_default(model, &options, sizeof options) != FERRY_OK) return;
    options.max_length = 5;
    options.nbest = 1;
    limit_options(model, &options);
    if (ferry_translator_create(model, &options, &translator, NULL) != FERRY_OK) return;
    if (ferry_inspect_generate(translator, ids, offsets, 2, &result, NULL) == FERRY_OK) {
        write_result(result, text);
        ferry_result_destroy(result);
    }
    if (ferry_translate(translator, lines, 2, &result, NULL) == FERRY_OK) {
        write_result(result, text);
        ferry_result_destroy(result);
    }
    ferry_translator_destroy(translator);
}

static void use(const ferry_model *model, char *text)
{
    ferry_text description;
    inspect(model);
    translate(model, text);
    if (ferry_inspect_describe(model, &description, NULL) == FERRY_OK) ferry_inspect_free(description.data);
}

/* ---- one variant ---- */

static void try_variant(void *user, const variant *damaged)
{
    trial *t = user;
    char text[MOST_TEXT];
    ferry_model *model;
    ferry_error error = {0};
    assert_int_equal(ftruncate(t->file, (off_t)damaged->size), 0);
    assert_int_equal(pwrite(t->file, damaged->data, damaged->size, 0), (ssize_t)damaged->size);
    memory_watch();
    const ferry_status status = ferry_model_open(t->path, 0, &model, &error);
    if (status != FERRY_OK) {
        assert_null(model);
        if (error.status != status || strlen(error.message) < 10)
            fail_msg("%s: %d '%s'", damaged->what, (int)error.status, error.message);
        if (status != FERRY_ERROR_FORMAT && status != FERRY_ERROR_UNSUPPORTED)
            fail_msg("%s: %s", damaged->what, error.message);
    } else {
        t->opened++;
        use(model, text);
        ferry_model_close(model);
        const bool same = strcmp(text, t->intact) == 0;
        t->changed += !same;
        if (damaged->permitted == NO_MODEL) fail_msg("%s: opens", damaged->what);
        if (damaged->permitted == SAME_MODEL && !same)
            fail_msg("%s: opens and is another model: %s", damaged->what, text);
    }
    const size_t bytes = memory_peak();
    if (bytes > t->most_bytes) t->most_bytes = bytes;
    if (bytes > damaged->size + MOST_BYTES) fail_msg("%s: %zu bytes were held", damaged->what, bytes);
}

static size_t try_variants(const char *name, const sample *intact, const char *part)
{
    trial t = {.file = memfd_create("model", 0)};
    ferry_model *model;
    assert_true(t.file >= 0);
    snprintf(t.path, sizeof t.path, "/proc/self/fd/%d", t.file);
    CHECK(ferry_model_open(intact->path, 0, &model, &error));
    use(model, t.intact);
    ferry_model_close(model);
    assert_true(strlen(t.intact) > 10);
    const size_t count = visit_variants(intact, part, try_variant, &t);
    close(t.file);
    print_message("%s: %zu variants, %zu opened, %zu of them other models, at most %zu kB held\n", name, count,
                  t.opened, t.changed, t.most_bytes / 1000);
    return count;
}

/* ---- models ---- */

static void put_text_keys(ferry_gguf_writer *writer)
{
    static const ferry_view file = {"weights.bin", 11};
    static const ferry_view hash = {"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", 64};
    static const uint64_t size = 42;
    put_small_languages(writer);
    ferry_gguf_put_string(writer, "ferry.origin.kind", "a test");
    ferry_gguf_put_texts(writer, "ferry.origin.files", &file, 1);
    ferry_gguf_put_array(writer, "ferry.origin.sizes", FERRY_GGUF_U64, &size, 1);
    ferry_gguf_put_texts(writer, "ferry.origin.hashes", &hash, 1);
}

#define TINY .layers = 1, .d_model = 8, .heads = 2, .head_width = 4, .ffn_width = 8, .tokenizer = "pieces"

TEST(test_small_models)
{
    static int32_t offsets[22], ids[42];
    for (int32_t i = 0; i < 22; i++) offsets[i] = 2 * i;
    for (int32_t i = 0; i < 42; i++) ids[i] = i / 2 % 10 + i % 2 * 10;
    const small_shortlist list = {.first = 3, .offsets = offsets, .ids = ids, .count = 42};
    const struct {
        const char *name;
        small_model model;
    } rows[] = {
        {"floats, languages, origin", {TINY, .keys = put_text_keys, .pre_norm = true, .linear_bias = true}},
        {"codes, an SSRU, a shortlist",
         {TINY, .type = FERRY_I8, .ssru = true, .scales = SMALL_INPUT_MULTIPLIER, .shortlist = &list, .gated = true,
          .rms = true, .output_scale = 0.5f, .policy = "marian", .zero_start = true, .sentence_inputs = true}},
        {"several types", {TINY, .type = FERRY_I8, .untied = true, .mixed = true, .embedding_norm = true}},
    };
    size_t count = 0;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const sample model = make_small_sample(&rows[i].model);
        count += try_variants(rows[i].name, &model, NULL);
    }
    assert_true(count > 20000);
}

TEST(test_positional_encodings)
{
    static const char *const names[] = {"alibi", "deberta", "fire", "kerple",     "learned",
                                        "rope",  "shaw",    "t5",   "sinusoidal", "transformer_xl"};
    for (size_t i = 0; i < COUNT(names); i++) {
        char folder[64];
        snprintf(folder, sizeof folder, "positions/%s-post", names[i]);
        const sample model = make_sample(folder);
        assert_true(try_variants(names[i], &model, ".position.") > 100);
    }
}

TEST(test_sentencepiece)
{
    const sample model = make_sample("models/marian-separate");
    assert_true(try_variants("SentencePiece", &model, "ferry.tokenizer.") > 100);
}
