/* The states of each layer, and the attention weights of all heads, as ferry_inspect.h yields them. */
#include "tests/support/plain_graph.h"
#include "tests/support/small_model.h"

#include "engine/api/model.h"

enum { D = 24, LAYERS = 2, STATES = LAYERS + 1 };

static const int32_t source[] = {3, 20, 7, 7, 11, 0, 5, 19, 0}, source_offsets[] = {0, 6, 9};
static const int32_t inputs[] = {0, 4, 9, 12, 2, 0, 8}, input_offsets[] = {0, 5, 7};

/* Rows first … end - 1 of states [STATES, rows, D] are those of the sentence alone. */
static double differs(const float *states, int32_t rows, int32_t first, int32_t end, const float *alone)
{
    double most = 0;
    for (int32_t n = 0; n < STATES; n++) {
        const size_t floats = (size_t)(end - first) * D;
        const double difference =
            largest_difference(states + (size_t)(n * rows + first) * D, alone + (size_t)n * floats, floats);
        most = difference > most ? difference : most;
    }
    return most;
}

static void check_states(const small_model *small, const char *what)
{
    float encoder[STATES * 9 * D], decoder[STATES * 7 * D], plain_encoder[STATES * 6 * D],
        plain_decoder[STATES * 5 * D];
    ferry_model *model = open_small_model(small, NULL);
    CHECK(ferry_inspect_hidden(model, FERRY_INSPECT_ENCODER, source, source_offsets, 2, NULL, NULL, encoder, &error));
    CHECK(ferry_inspect_hidden(model, FERRY_INSPECT_DECODER, source, source_offsets, 2, inputs, input_offsets, decoder,
                               &error));
    for (int32_t s = 0; s < 2; s++) {
        const int32_t first = source_offsets[s], end = source_offsets[s + 1];
        const int32_t input = input_offsets[s], input_end = input_offsets[s + 1];
        plain_hidden(&model->file.transformer, source + first, end - first, inputs + input, input_end - input,
                     plain_encoder, plain_decoder);
        const double e = differs(encoder, 9, first, end, plain_encoder);
        const double d = differs(decoder, 7, input, input_end, plain_decoder);
        if (!(e <= 2e-5) || !(d <= 2e-5)) fail_msg("%s: states differ by %g (encoder), %g (decoder)", what, e, d);
    }
    ferry_model_close(model);
}

TEST(states_are_those_of_plain_arithmetic)
{
    check_states(&(small_model){0}, "post-norm");
    check_states(&(small_model){.pre_norm = true, .linear_bias = true}, "pre-norm");
    check_states(&(small_model){.pre_norm = true, .final_norm = -1}, "pre-norm without a norm at the end");
    check_states(&(small_model){.embedding_norm = true}, "embedding norm");
    check_states(&(small_model){.ssru = true}, "ssru");
    check_states(&(small_model){.output_scale = 0.5f}, "output scale");
}

/* Against the recorded output of another implementation, and byte for byte against ferry_inspect_encode. */
TEST(the_last_state_is_the_output_of_the_encoder)
{
    static const char *const names[] = {"sinusoidal-post", "sinusoidal-pre", "shaw-pre", "mixed-post"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        int64_t count, S, width, one;
        const char *directory = data_file("positions/%s", names[i]);
        ferry_model *model = convert_and_open(directory, NULL);
        const int32_t layers = ferry_inspect_get_sizes(model).encoder_layers;
        ferry_safetensors golden;
        CHECK(ferry_safetensors_open(in_directory(directory, "golden.safetensors"), &golden, &error));
        const int32_t *ids = golden_i32(&golden, "source_ids", &count, &S);
        const int32_t offsets[] = {0, golden_i32(&golden, "source_lengths", &one, &count)[0]};
        const float *encoded = golden_f32(&golden, "encoder_output", &count, &width);
        const size_t floats = (size_t)(offsets[1] * width);
        float *states = kept_memory((size_t)(layers + 1) * floats * sizeof *states);
        float *output = kept_memory(floats * sizeof *output), *last = states + (size_t)layers * floats;
        CHECK(ferry_inspect_hidden(model, FERRY_INSPECT_ENCODER, ids, offsets, 1, NULL, NULL, states, &error));
        CHECK(ferry_inspect_encode(model, ids, offsets, 1, output, &error));
        assert_memory_equal(last, output, floats * sizeof *output);
        assert_true(largest_difference(last, encoded, floats) <= 2e-4);
        assert_true(largest_difference(last - floats, encoded, floats) > 1e-2);
        ferry_safetensors_close(&golden);
        ferry_model_close(model);
    }
}

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
           FERRY_ERROR_ARGUMENT, "decoder inputs: sentence 0 has no ids");
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
    ferry_model_close(model);
}

/* More inputs than attention computes together. */
TEST(what_is_masked_has_no_weight)
{
    enum { T = 70, HEADS = 3 };
    static float weights[LAYERS * HEADS * T * T];
    int32_t long_inputs[T];
    ferry_model *model = open_small_model(&(small_model){0}, NULL);
    for (int32_t i = 0; i < T; i++) long_inputs[i] = i % 20;
    memset(weights, 0xFF, sizeof weights); /* NaN */
    CHECK(ferry_inspect_attention(model, FERRY_INSPECT_DECODER_SELF, FERRY_INSPECT_ALL, FERRY_INSPECT_ALL, source, 6,
                                  long_inputs, T, weights, &error));
    for (int32_t row = 0; row < LAYERS * HEADS * T; row++)
        for (int32_t j = 0; j < T; j++) {
            const float weight = weights[row * T + j];
            assert_true(j > row % T ? weight == 0.0f : weight > 0.0f);
        }
    ferry_model_close(model);
}
