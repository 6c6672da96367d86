/* Likelihoods of given translations against logits that PyTorch computed. */
#include "tests/support/files.h"
#include "tests/support/support.h"

#include "tools/lab/likelihood.h"

enum { SENTENCES = 3, EOS = 0 };

typedef struct golden {
    ferry_safetensors file;
    const float *logits; /* [SENTENCES, T, V] */
    const int32_t *sources, *targets, *lengths;
    int32_t S, T, V;
    int32_t ids[SENTENCES * 64], offsets[SENTENCES + 1], target_offsets[SENTENCES + 1];
} golden;

static void load(golden *g, const char *name)
{
    int64_t rows, columns;
    CHECK(
        ferry_safetensors_open(in_directory(data_file("positions/%s", name), "golden.safetensors"), &g->file, &error));
    g->sources = golden_i32(&g->file, "source_ids", &rows, &columns);
    assert_int_equal(rows, SENTENCES);
    g->S = (int32_t)columns;
    g->lengths = golden_i32(&g->file, "source_lengths", &rows, &columns);
    g->targets = golden_i32(&g->file, "decoder_input_ids", &rows, &columns);
    g->T = (int32_t)columns;
    g->logits = golden_f32(&g->file, "logits", &rows, &columns);
    g->V = (int32_t)columns;
    for (int32_t s = 0; s < SENTENCES; s++) {
        memcpy(g->ids + g->offsets[s], g->sources + s * g->S, (size_t)g->lengths[s] * sizeof *g->ids);
        g->offsets[s + 1] = g->offsets[s] + g->lengths[s];
        g->target_offsets[s + 1] = g->target_offsets[s] + g->T;
    }
}

/* By the definition, in double precision. */
static double expected(const golden *g, int32_t s, int32_t t)
{
    const float *row = g->logits + (size_t)(s * g->T + t) * (size_t)g->V;
    const int32_t next = t + 1 < g->T ? g->targets[s * g->T + t + 1] : EOS;
    double sum = 0;
    for (int32_t v = 0; v < g->V; v++) sum += exp((double)row[v]);
    return -log(exp((double)row[next]) / sum);
}

static void check(const char *name, int32_t threads)
{
    golden g = {.S = 0};
    double nats[SENTENCES * 64], largest = 0;
    bool unscored[SENTENCES] = {true, true, true};
    load(&g, name);
    ferry_model *model = convert_and_open(data_file("positions/%s", name), NULL);
    CHECK(ferry_likelihoods(model, g.ids, g.offsets, g.targets, g.target_offsets, SENTENCES, threads, nats, unscored,
                            &error));
    for (int32_t s = 0; s < SENTENCES; s++) {
        assert_false(unscored[s]);
        for (int32_t t = 0; t < g.T; t++) largest = fmax(largest, fabs(nats[s * g.T + t] - expected(&g, s, t)));
    }
    print_message("%s: largest difference %.2g\n", name, largest);
    assert_true(largest < 2e-4);
    ferry_safetensors_close(&g.file);
    ferry_model_close(model);
}

TEST(test_likelihoods)
{
    check("none-pre", 1);
    check("alibi-post", 2);
    check("mixed-pre", 4);
}

/* A sentence beyond the table of positions, or without ids, leaves the others alone. */
TEST(test_unscored)
{
    enum { LIMIT = 40, LONG = LIMIT + 1 };
    int32_t ids[LONG + 2], offsets[] = {0, 1, LONG + 1, LONG + 1, LONG + 2}, targets[] = {60, 5, 60, 5, 60, 5, 60, 5},
                           target_offsets[] = {0, 2, 4, 6, 8};
    double nats[8];
    bool unscored[4];
    for (int32_t i = 0; i < LONG + 2; i++) ids[i] = 7;
    ferry_model *model = convert_data("positions/learned-pre", NULL);
    CHECK(ferry_likelihoods(model, ids, offsets, targets, target_offsets, 4, 2, nats, unscored, &error));
    assert_true(!unscored[0] && unscored[1] && unscored[2] && !unscored[3]);
    for (int32_t i = 0; i < 2; i++) assert_true(nats[i] > 0 && nats[i] == nats[6 + i]);
    ids[LONG + 1] = 61;
    REFUSE(ferry_likelihoods(model, ids, offsets, targets, target_offsets, 4, 2, nats, unscored, &error),
           FERRY_ERROR_ARGUMENT, "source: id 61 is not below the vocabulary's 61");
    ferry_model_close(model);
}
