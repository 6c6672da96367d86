/* Synthetic models: every encoding builds, runs in both stacks, and decodes the same in one pass and step
 * by step. */
#include "tests/support/support.h"

#include "engine/position/position.h"

enum { S = 37, T = 21, D = 64, V = 100 };

static const ferry_inspect_shape small = {
    .d_model = D, .heads = 4, .ffn_width = 96, .encoder_layers = 2, .decoder_layers = 3, .vocab = V};

static ferry_model *make(const char *encoding)
{
    ferry_model *model;
    CHECK(ferry_inspect_untrained(encoding, &small, NULL, &model, &error));
    return model;
}

static void fill_ids(int32_t *ids, int32_t count)
{
    for (int32_t i = 0; i < count; i++) ids[i] = 2 + i * 31 % (V - 2);
}

/* logits [T, V] of the same sentence and decoder inputs for every model. */
static void compute_logits(const ferry_model *model, ferry_inspect_pass pass, float *logits)
{
    int32_t ids[S], target[T];
    const int32_t offsets[] = {0, S}, target_offsets[] = {0, T};
    fill_ids(ids, S);
    fill_ids(target, T);
    CHECK(ferry_inspect_logits(model, ids, offsets, 1, target, target_offsets, pass, logits, &error));
}

TEST(every_encoding_decodes_through_its_cache)
{
    static float whole[T * V], steps[T * V];
    const char *encoding;
    for (size_t e = 0; (encoding = ferry_inspect_encoding(e)) != NULL; e++) {
        ferry_model *model = make(encoding);
        compute_logits(model, FERRY_INSPECT_ONE_PASS, whole);
        compute_logits(model, FERRY_INSPECT_STEP_BY_STEP, steps);
        double sum = 0;
        for (size_t i = 0; i < T * V; i++) sum += (double)(whole[i] * whole[i]);
        assert_true(isfinite(sum) && sum > 0);
        if (memcmp(whole, steps, sizeof whole) != 0) fail_msg("%s: a step gives other bytes than a pass", encoding);
        ferry_model_close(model);
    }
}

/* Weights do not depend on chance, and all but the positions' are those of every encoding. */
TEST(models_differ_by_their_positions_alone)
{
    static float first[T * V], again[T * V];
    const char *encoding;
    for (size_t e = 0; (encoding = ferry_inspect_encoding(e)) != NULL; e++) {
        ferry_model *model = make(encoding), *none = make("none");
        compute_logits(model, FERRY_INSPECT_ONE_PASS, first);
        ferry_model_close(model);
        model = make(encoding);
        compute_logits(model, FERRY_INSPECT_ONE_PASS, again);
        assert_memory_equal(first, again, sizeof first);
        compute_logits(none, FERRY_INSPECT_ONE_PASS, again);
        if (e > 0 && memcmp(first, again, sizeof first) == 0) fail_msg("%s acts like none", encoding);
        ferry_model_close(model);
        ferry_model_close(none);
    }
}

TEST(it_is_described)
{
    ferry_model *model = make("learned");
    ferry_text text;
    CHECK(ferry_inspect_describe(model, &text, &error));
    assert_non_null(strstr(text.data, "untrained: encoder-decoder"));
    assert_non_null(strstr(text.data, "positions: learned"));
    assert_non_null(strstr(text.data, "no tokenizer"));
    ferry_inspect_free(text.data);
    ferry_model_close(model);
}

TEST(it_can_be_measured)
{
    static const int32_t targets[] = {0, 1, 19}; /* encoder, first step, a later one */
    const char *encoding;
    for (size_t e = 0; (encoding = ferry_inspect_encoding(e)) != NULL; e++) {
        ferry_model *model = make(encoding);
        for (size_t t = 0; t < sizeof targets / sizeof *targets; t++) {
            ferry_inspect_timer *timer;
            CHECK(ferry_inspect_timer_create(model, S, targets[t], &timer, &error));
            const ferry_inspect_memory memory = ferry_inspect_timer_memory(timer);
            for (int run = 0; run < 3; run++) {
                double seconds = -1;
                CHECK(ferry_inspect_timer_run(timer, &seconds, &error));
                assert_true(seconds > 0 && seconds < 60);
            }
            /* Measuring again takes no more memory. */
            assert_int_equal(ferry_inspect_timer_memory(timer).thread, memory.thread);
            assert_int_equal(memory.token, 3 * 2 * D * (int)sizeof(float));
            assert_true(memory.thread >= S * D * sizeof(float));
            assert_int_equal(memory.tables + memory.row > 0, e > 0);
            if (strcmp(encoding, "sinusoidal") == 0) /* rows of both stacks */
                assert_true(memory.tables == 0 && memory.row == 2 * D * sizeof(float));
            if (strcmp(encoding, "learned") == 0) assert_int_equal(memory.tables, 2 * 1024 * D * sizeof(float));
            ferry_inspect_timer_destroy(timer);
        }
        ferry_model_close(model);
    }
}

TEST(what_cannot_be_measured_is_named)
{
    ferry_model *model = make("learned");
    ferry_inspect_timer *timer = (ferry_inspect_timer *)model;
    REFUSE(ferry_inspect_timer_create(model, 0, 0, &timer, &error), FERRY_ERROR_ARGUMENT, "");
    assert_null(timer);
    REFUSE(ferry_inspect_timer_create(model, 5000, 0, &timer, &error), FERRY_ERROR_LIMIT, "");
    assert_null(timer);
    ferry_model_close(model);
}

static void expect_failure(const char *encoding, ferry_inspect_shape shape, const char *isa, ferry_status status,
                           const char *message)
{
    ferry_model *model = (ferry_model *)&shape;
    REFUSE(ferry_inspect_untrained(encoding, &shape, isa, &model, &error), status, message);
    assert_null(model);
}

TEST(what_cannot_be_made_is_named)
{
    ferry_inspect_shape shape = small;
    expect_failure("nope", shape, NULL, FERRY_ERROR_UNSUPPORTED, "'nope'");
    expect_failure("none", shape, "z80", FERRY_ERROR_ARGUMENT, "found 'z80'");
    shape.heads = 5;
    expect_failure("none", shape, NULL, FERRY_ERROR_ARGUMENT, "heads: expected a divisor of d_model 64, found 5");
    shape = small;
    shape.vocab = 2;
    expect_failure("none", shape, NULL, FERRY_ERROR_ARGUMENT, "vocab: expected 3 to");
    shape = small;
    shape.encoder_layers = 0;
    expect_failure("none", shape, NULL, FERRY_ERROR_ARGUMENT, "encoder_layers: expected 1 to");
    shape = small;
    shape.d_model = 63;
    shape.heads = 3;
    expect_failure("sinusoidal", shape, NULL, FERRY_ERROR_ARGUMENT, "d_model 63");
}
