/* The attention weights of all heads, as ferry_inspect.h yields them (states: test_graph_blocks.c), and what it
 * refuses. */
#include "tests/support/small_model.h"

enum { LAYERS = 2 };

static const int32_t source[] = {3, 20, 7, 7, 11, 0}, inputs[] = {0, 4, 9, 12, 2};

TEST(what_cannot_be_computed_is_named)
{
    static const ferry_inspect_shape shape = {
        .d_model = 8, .heads = 2, .ffn_width = 8, .encoder_layers = 1, .decoder_layers = 1, .vocab = 8};
    static int32_t ids[1025];
    static float states[2 * 1025 * 8];
    const int32_t offsets[] = {0, 1025}, bad[] = {8}, one[] = {0, 1}, none[] = {0, 0};
    ferry_model *model;
    CHECK(ferry_inspect_untrained("learned", &shape, NULL, &model, &error));
    const ferry_inspect_sizes sizes = ferry_inspect_get_sizes(model);
    assert_int_equal(sizes.encoder_positions, 1024);
    assert_int_equal(sizes.decoder_positions, 1024);
    REFUSE(ferry_inspect_hidden(model, FERRY_INSPECT_ENCODER, ids, offsets, 1, NULL, NULL, states, &error),
           FERRY_ERROR_LIMIT, "1024");
    REFUSE(ferry_inspect_hidden(model, FERRY_INSPECT_DECODER, ids, one, 1, ids, offsets, states, &error),
           FERRY_ERROR_LIMIT, "1024");
    REFUSE(ferry_inspect_hidden(model, FERRY_INSPECT_ENCODER, bad, one, 1, NULL, NULL, states, &error),
           FERRY_ERROR_ARGUMENT, "id 8 is not below");
    REFUSE(ferry_inspect_hidden(model, FERRY_INSPECT_DECODER, ids, one, 1, ids, none, states, &error),
           FERRY_ERROR_ARGUMENT, "target_offsets: sentence 0 has no ids");
    ferry_model_close(model);
    CHECK(ferry_inspect_untrained("alibi", &shape, NULL, &model, &error));
    assert_int_equal(ferry_inspect_get_sizes(model).encoder_positions, 0);
    ferry_model_close(model);
}

/* ---- attention weights of all layers and heads ---- */

TEST(all_heads_are_the_heads_one_by_one)
{
    enum { S = 6, T = 5, HEADS = 3, MOST = LAYERS * HEADS * S * S };
    float all[MOST], some[MOST], one[S * S];
    ferry_model *model = open_small_model(&(small_model){.pre_norm = true}, NULL);
    for (int kind = 0; kind < 3; kind++) {
        const ferry_inspect_attention_kind k = (ferry_inspect_attention_kind)kind;
        const bool encoder = k == FERRY_INSPECT_ENCODER_SELF;
        const size_t cells = (size_t)((encoder ? S : T) * (k == FERRY_INSPECT_DECODER_SELF ? T : S));
        const int32_t *target = encoder ? NULL : inputs, length = encoder ? 0 : T;
        memset(all, 0xFF, sizeof all); /* NaN */
        CHECK(ferry_inspect_attention(model, k, FERRY_INSPECT_ALL, FERRY_INSPECT_ALL, source, S, target, length, all,
                                      &error));
        for (int32_t layer = 0; layer < LAYERS; layer++) {
            CHECK(ferry_inspect_attention(model, k, layer, FERRY_INSPECT_ALL, source, S, target, length, some, &error));
            assert_memory_equal(some, all + (size_t)layer * HEADS * cells, HEADS * cells * sizeof *all);
            for (int32_t head = 0; head < HEADS; head++) {
                CHECK(ferry_inspect_attention(model, k, layer, head, source, S, target, length, one, &error));
                assert_memory_equal(one, some + (size_t)head * cells, cells * sizeof *one);
            }
        }
        for (int32_t head = 0; head < HEADS; head++) {
            CHECK(ferry_inspect_attention(model, k, FERRY_INSPECT_ALL, head, source, S, target, length, some, &error));
            for (size_t layer = 0; layer < LAYERS; layer++)
                assert_memory_equal(some + layer * cells, all + (layer * HEADS + (size_t)head) * cells,
                                    cells * sizeof *all);
        }
    }
    REFUSE(ferry_inspect_attention(model, FERRY_INSPECT_CROSS, 0, -2, source, S, inputs, T, all, &error),
           FERRY_ERROR_ARGUMENT, "head: expected 0 to 2, found -2");
    REFUSE(ferry_inspect_attention(model, FERRY_INSPECT_CROSS, LAYERS, 0, source, S, inputs, T, all, &error),
           FERRY_ERROR_ARGUMENT, "layer: expected 0 to 1, found 2");
    ferry_model_close(model);
}

/* Of more inputs than attention computes together: each row has its place, which the mask shows, and adds up to 1. */
TEST(weights_are_distributions)
{
    enum { S = 6, T = 150, FEW = 64, HEADS = 3, ALL = LAYERS * HEADS };
    static float self[ALL][T][T], cross[ALL][T][S], few[ALL][FEW][S];
    int32_t ids[T];
    ferry_model *model = open_small_model(&(small_model){0}, NULL);
    for (int32_t t = 0; t < T; t++) ids[t] = t * 5 % 20;
    memset(self, 0xFF, sizeof self); /* NaN */
    const struct {
        ferry_inspect_attention_kind kind;
        int32_t inputs;
        float *weights;
    } calls[] = {{FERRY_INSPECT_DECODER_SELF, T, self[0][0]},
                 {FERRY_INSPECT_CROSS, T, cross[0][0]},
                 {FERRY_INSPECT_CROSS, FEW, few[0][0]}};
    for (int i = 0; i < 3; i++)
        CHECK(ferry_inspect_attention(model, calls[i].kind, FERRY_INSPECT_ALL, FERRY_INSPECT_ALL, source, S, ids,
                                      calls[i].inputs, calls[i].weights, &error));
    for (int32_t head = 0; head < ALL; head++) {
        assert_memory_equal(cross[head], few[head], sizeof few[head]);
        for (int32_t t = 0; t < T; t++) {
            double sum = 0, others = 0;
            for (int32_t j = 0; j < T; j++) {
                const float weight = self[head][t][j];
                assert_true(j > t ? weight == 0.0f : weight > 0.0f);
                sum += (double)weight;
            }
            for (int32_t s = 0; s < S; s++) others += (double)cross[head][t][s];
            assert_true(fabs(sum - 1) < 1e-5 && fabs(others - 1) < 1e-5);
        }
    }
    ferry_model_close(model);
}
