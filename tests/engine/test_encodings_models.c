/* What holds for every positional encoding in a model: the scores that beam search adds up are those of its ids
 * computed from scratch, other sentences in the batch change nothing, and length has no limit. */
#include "tests/support/support.h"

static const char *const models[] = {
    "none-post",
    "learned-post",
    "sinusoidal-post",
    "sinusoidal_split-post",
    "sinusoidal_marian-post",
    "shaw-post",
    "t5-post",
    "transformer_xl-post",
    "deberta-post",
    "deberta_released-post",
    "rope-post",
    "rope_interleaved-post",
    "alibi-post",
    "kerple-post",
    "fire-post",
    "mixed-post",
};
enum { MODELS = sizeof models / sizeof models[0] };

static ferry_model *open_model(const char *name)
{
    return convert_and_open(data_file("positions/%s", name), NULL);
}

/* Beyond the clip, a distance more changes nothing; before it, it does. */
TEST(test_clipped_distances_are_constant)
{
    enum { AT = 40, K = 16, CLIP = 4 };
    float q[K], k[K], scores[2 * AT + 1];
    ferry_model *model = open_model("shaw-post");
    for (int n = 0; n < K; n++) {
        q[n] = sinf((float)n);
        k[n] = cosf((float)n);
    }
    CHECK(ferry_inspect_position_scores(model, FERRY_INSPECT_ENCODER, 1, 2, AT + 1, q, k, scores, &error));
    for (int j = 0; j <= AT - CLIP; j++) assert_true(scores[j] == scores[0]);
    for (int j = AT + CLIP; j <= 2 * AT; j++) assert_true(scores[j] == scores[2 * AT]);
    for (int j = AT - CLIP; j < AT + CLIP; j++) assert_true(fabsf(scores[j] - scores[j + 1]) > 1e-5f);
    ferry_model_close(model);
}

enum { SENTENCES = 3, MOST = 24 };
static const int32_t offsets[] = {0, 9, 26, 56};

static void fill_ids(int32_t *ids, int32_t count)
{
    for (int32_t i = 0; i < count; i++) ids[i] = 1 + i * 37 % 95;
}

static ferry_result *generate(const ferry_model *model, const int32_t *ids, int32_t beam, int32_t batch)
{
    ferry_options options;
    ferry_options_default(model, &options, sizeof options);
    options.beam = options.nbest = beam;
    options.batch = batch;
    options.max_length = MOST;
    return generated(model, &options, ids, offsets, SENTENCES);
}

/* log P(id) at every position, summed, from the logits of one pass; pad is never generated. */
static double score_from_scratch(const ferry_model *model, const int32_t *ids, int32_t count, const int32_t *target,
                                 int32_t length)
{
    const ferry_inspect_sizes sizes = ferry_inspect_get_sizes(model);
    const int32_t V = sizes.target_vocab, source_offsets[] = {0, count}, target_offsets[] = {0, length};
    int32_t inputs[MOST] = {sizes.start_id};
    double total = 0;
    float *logits = kept_memory((size_t)length * (size_t)V * sizeof *logits);
    memcpy(inputs + 1, target, (size_t)(length - 1) * sizeof *target);
    CHECK(ferry_inspect_logits(model, ids, source_offsets, 1, inputs, target_offsets, FERRY_INSPECT_ONE_PASS, logits,
                               &error));
    for (int32_t t = 0; t < length; t++) {
        const float *row = logits + (size_t)t * (size_t)V;
        double sum = 0;
        for (int32_t v = 0; v < V; v++) sum += v == sizes.pad_id ? 0 : exp((double)row[v]);
        total += (double)row[target[t]] - log(sum);
    }
    return total;
}

/* Hypotheses that changed rows many times have the scores of their ids, as if computed in one go. */
TEST(test_beam_scores_are_those_of_the_ids)
{
    int32_t ids[56];
    fill_ids(ids, offsets[SENTENCES]);
    for (int m = 0; m < MODELS; m++) {
        ferry_model *model = open_model(models[m]);
        ferry_result *result = generate(model, ids, 4, SENTENCES);
        double worst = 0;
        for (size_t s = 0; s < SENTENCES; s++)
            for (size_t h = 0; h < 4; h++) {
                const int32_t length = (int32_t)ferry_result_tokens(result, s, h);
                const double expected = score_from_scratch(model, ids + offsets[s], offsets[s + 1] - offsets[s],
                                                           ferry_inspect_result_ids(result, s, h), length) /
                                        length;
                worst = fmax(worst, fabs(expected - (double)ferry_result_score(result, s, h)));
            }
        if (worst > 1e-5) fail_msg("%s: a score differs by %g", models[m], worst);
        ferry_result_destroy(result);
        ferry_model_close(model);
    }
}

TEST(test_neighbors_change_no_byte)
{
    int32_t ids[56];
    fill_ids(ids, offsets[SENTENCES]);
    for (int m = 0; m < MODELS; m++) {
        ferry_model *model = open_model(models[m]);
        ferry_result *alone = generate(model, ids, 3, 1), *together = generate(model, ids, 3, SENTENCES);
        for (size_t s = 0; s < SENTENCES; s++)
            for (size_t h = 0; h < 3; h++) {
                const size_t length = ferry_result_tokens(alone, s, h);
                const float one = ferry_result_score(alone, s, h), other = ferry_result_score(together, s, h);
                assert_int_equal(ferry_result_tokens(together, s, h), length);
                assert_memory_equal(ferry_inspect_result_ids(together, s, h), ferry_inspect_result_ids(alone, s, h),
                                    length * sizeof(int32_t));
                assert_memory_equal(&one, &other, sizeof one);
            }
        ferry_result_destroy(alone);
        ferry_result_destroy(together);
        ferry_model_close(model);
    }
}

/* A source of 2,000 tokens, and a target that needs many tiles and blocks, in one pass and through the cache. */
TEST(test_long_texts)
{
    enum { S = 2000, T = 150 };
    int32_t ids[S], target[T];
    const int32_t source_offsets[] = {0, S}, target_offsets[] = {0, T};
    fill_ids(ids, S);
    fill_ids(target, T);
    for (int m = 0; m < MODELS; m++) {
        ferry_model *model = open_model(models[m]);
        const size_t V = (size_t)ferry_inspect_get_sizes(model).target_vocab;
        float *logits = kept_memory(T * V * sizeof *logits), *steps = kept_memory(T * V * sizeof *steps);
        if (strcmp(models[m], "learned-post") == 0) {
            static const char *const messages[] = {"2000 tokens", "positions end at 64"};
            for (int i = 0; i < 2; i++)
                REFUSE(ferry_inspect_logits(model, ids, source_offsets, 1, target, target_offsets,
                                            FERRY_INSPECT_ONE_PASS, logits, &error),
                       FERRY_ERROR_LIMIT, messages[i]);
        } else {
            CHECK(ferry_inspect_logits(model, ids, source_offsets, 1, target, target_offsets, FERRY_INSPECT_ONE_PASS,
                                       logits, &error));
            CHECK(ferry_inspect_logits(model, ids, source_offsets, 1, target, target_offsets,
                                       FERRY_INSPECT_STEP_BY_STEP, steps, &error));
            assert_memory_equal(steps, logits, T * V * sizeof *steps);
            for (size_t i = 0; i < T * V; i++) assert_true(isfinite(logits[i]));
        }
        ferry_model_close(model);
    }
}
