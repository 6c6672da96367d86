/* Models with int8 matrices give the same bytes on every ISA. */
#include "tests/support/support.h"

#include <unistd.h>

#include "engine/kernels/kernels.h"
#include "models/convert.h"
#include "tests/support/random.h"

enum { SENTENCES = 23, LONGEST = 40, TARGET = 21, LIMIT = 32 };

typedef struct family {
    const char *name, *from, *to;
} family;

static const family families[] = {{"marian-separate", NULL, NULL},
                                  {"huggingface-small/m2m100", "en", "de"},
                                  {"huggingface-small/t5", "en", "de"}};

/* The family's int8 model file. */
static char *convert(const family *f)
{
    char *path = new_scratch_file("int8.gguf");
    const ferry_import_options options = {.type = FERRY_I8};
    CHECK(ferry_import(shared_file("models/%s", f->name), path, &options, &error));
    return path;
}

/* ---- material ---- */

typedef struct batch {
    int32_t ids[SENTENCES * LONGEST], offsets[SENTENCES + 1];
    int32_t target_ids[SENTENCES * TARGET], target_offsets[SENTENCES + 1];
} batch;

static int32_t random_below(uint32_t *random, int32_t limit)
{
    return (int32_t)(next_random(random) % (uint32_t)limit);
}

/* Sentences of 1 to LONGEST ids, with 1 to TARGET inputs of the decoder. */
static void make_batch(const ferry_model *model, uint32_t random, batch *b)
{
    const ferry_inspect_sizes sizes = ferry_inspect_get_sizes(model);
    int32_t at = 0, target_at = 0;
    for (int s = 0; s < SENTENCES; s++) {
        b->offsets[s] = at;
        b->target_offsets[s] = target_at;
        for (int32_t i = random_below(&random, LONGEST); i >= 0; i--)
            b->ids[at++] = random_below(&random, sizes.source_vocab);
        for (int32_t i = random_below(&random, TARGET); i >= 0; i--)
            b->target_ids[target_at++] = random_below(&random, sizes.target_vocab);
    }
    b->offsets[SENTENCES] = at;
    b->target_offsets[SENTENCES] = target_at;
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
    options.scores = beam > 1; /* greedy search without scores may compute few logits only (screen.h) */
    return generated(model, &options, b->ids, b->offsets, SENTENCES);
}

/* Ids, scores, and what each id added to them, to the byte. Returns how many ids. */
static size_t check_same(const ferry_result *a, const ferry_result *b)
{
    size_t compared = 0;
    for (size_t s = 0; s < SENTENCES; s++) {
        assert_same_line(a, s, b, s);
        for (size_t h = 0; h < ferry_result_hypotheses(a, s); h++) {
            const size_t tokens = ferry_result_tokens(a, s, h);
            assert_memory_equal(ferry_inspect_result_token_scores(a, s, h), ferry_inspect_result_token_scores(b, s, h),
                                tokens * sizeof(float));
            compared += tokens;
        }
    }
    return compared;
}

/* ---- the tests ---- */

static void check_isas(const family *f, const char *path)
{
    batch b;
    ferry_model *plain, *model;
    size_t count, same;
    CHECK(ferry_inspect_open(path, "plain", &plain, &error));
    make_batch(plain, 5, &b);
    float *expected = find_logits(plain, &b, FERRY_INSPECT_ONE_PASS, &count);
    ferry_result *found = search(plain, f, &b, 4), *greedy = search(plain, f, &b, 1);
    for (const ferry_kernels *const *k = ferry_kernels_available(); *k != NULL; k++) {
        CHECK(ferry_inspect_open(path, (*k)->isa, &model, &error));
        assert_string_equal(ferry_inspect_isa(model), (*k)->isa);
        for (int pass = 0; pass < 2; pass++) {
            float *logits =
                find_logits(model, &b, pass == 0 ? FERRY_INSPECT_ONE_PASS : FERRY_INSPECT_STEP_BY_STEP, &same);
            assert_int_equal(same, count);
            assert_memory_equal(logits, expected, count * sizeof *logits);
        }
        ferry_result *result = search(model, f, &b, 4);
        print_message("%s on %s: %zu logits and %zu ids are plain C's\n", f->name, (*k)->isa, count,
                      check_same(result, found));
        ferry_result_destroy(result);
        result = search(model, f, &b, 1);
        check_same(result, greedy);
        ferry_result_destroy(result);
        ferry_model_close(model);
    }
    ferry_result_destroy(found);
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
