/* Models with int8 matrices give the same bytes on every ISA. */
#include "tests/support/support.h"

#include <unistd.h>

#include "engine/kernels/kernels.h"
#include "models/convert.h"

enum { SENTENCES = 23, LONGEST = 40, TARGET = 21, LIMIT = 32 };

typedef struct family {
    const char *name, *from, *to;
    bool four_bits;
} family;

static const family families[] = {{"marian-separate", NULL, NULL, false},
                                  {"huggingface-small/m2m100", "en", "de", false},
                                  {"huggingface-small/t5", "en", "de", false},
                                  {"huggingface-small/m2m100", "en", "de", true},
                                  {"huggingface-small/t5", "en", "de", true}};

/* The family's int8 model file. */
static char *convert(const family *f)
{
    char *path = new_scratch_file("int8.gguf");
    const ferry_import_options options = {.type = FERRY_I8, .four_bits = f->four_bits};
    CHECK(ferry_import(shared_file("models/%s", f->name), path, &options, &error));
    return path;
}

/* ---- material ---- */

typedef struct batch {
    int32_t ids[SENTENCES * LONGEST], offsets[SENTENCES + 1];
    int32_t target_ids[SENTENCES * TARGET], target_offsets[SENTENCES + 1];
} batch;

/* Sentences of 1 to LONGEST ids, with 1 to TARGET inputs of the decoder. */
static batch make_batch(const ferry_model *model)
{
    const ferry_inspect_sizes sizes = ferry_inspect_get_sizes(model);
    batch b = {.offsets = {0}};
    for (int s = 0; s < SENTENCES; s++) {
        int32_t end = b.offsets[s], target_end = b.target_offsets[s];
        for (int i = s * 17 % LONGEST; i >= 0; i--) b.ids[end++] = (s * 577 + i * 131) % sizes.source_vocab;
        for (int i = s * 13 % TARGET; i >= 0; i--) b.target_ids[target_end++] = (s * 31 + i * 577) % sizes.target_vocab;
        b.offsets[s + 1] = end;
        b.target_offsets[s + 1] = target_end;
    }
    return b;
}

/* ---- results ---- */

static float *find_logits(const ferry_model *model, const batch *b, ferry_inspect_pass pass, size_t *count)
{
    *count = (size_t)b->target_offsets[SENTENCES] * (size_t)ferry_inspect_get_sizes(model).target_vocab;
    float *logits = kept_memory(*count * sizeof *logits);
    CHECK(ferry_inspect_logits(model, b->ids, b->offsets, SENTENCES, b->target_ids, b->target_offsets, pass, logits,
                               &error));
    return logits;
}

static ferry_result *search(const ferry_model *model, const family *f, const batch *b, int32_t beam)
{
    ferry_options options;
    ferry_options_default(model, &options, sizeof options);
    options.from = f->from;
    options.to = f->to;
    options.beam = options.nbest = beam;
    options.max_length = LIMIT;
    options.scores = beam > 1; /* greedy search without scores may compute few logits only (ferry_logit_bound) */
    return generated(model, &options, b->ids, b->offsets, SENTENCES);
}

/* ---- the tests ---- */

static void check_isas(const family *f, const char *path)
{
    ferry_model *plain, *model;
    size_t count;
    CHECK(ferry_inspect_open(path, "plain", NULL, &plain, &error));
    const batch b = make_batch(plain);
    const float *expected = find_logits(plain, &b, FERRY_INSPECT_ONE_PASS, &count);
    ferry_result *beams = search(plain, f, &b, 4), *greedy = search(plain, f, &b, 1);
    for (const ferry_kernels *const *k = ferry_kernels_available(); *k != NULL; k++) {
        CHECK(ferry_inspect_open(path, (*k)->isa, NULL, &model, &error));
        assert_string_equal(ferry_inspect_isa(model), (*k)->isa);
        for (int pass = 0; pass < 2; pass++)
            assert_memory_equal(find_logits(model, &b, (ferry_inspect_pass)pass, &count), expected,
                                count * sizeof *expected);
        for (int beam = 1; beam <= 4; beam += 3) {
            ferry_result *found = search(model, f, &b, beam);
            for (size_t s = 0; s < SENTENCES; s++) assert_same_line(found, s, beam == 1 ? greedy : beams, s);
            ferry_result_destroy(found);
        }
        ferry_model_close(model);
    }
    ferry_result_destroy(beams);
    ferry_result_destroy(greedy);
    ferry_model_close(plain);
}

TEST(test_every_isa_gives_the_same_bytes)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        const char *path = convert(&families[i]);
        check_isas(&families[i], path);
        unlink(path);
    }
}
