/* Forced decoding: the scores and weights of given ids are, bit for bit, those of a search that finds these ids step by
 * step, whatever is forced with them. */
#include "tests/support/files.h"
#include "tests/support/small_model.h"

#include "engine/api/model.h"
#include "engine/graph/decoder.h"
#include "engine/search/force.h"
#include "engine/search/generate.h"

enum { SENTENCES = 12, LONGEST = 30, MOST = 300, VOCAB = 21 };

typedef struct forcing {
    const ferry_generation *generation;
    ferry_alignment alignment;
    int32_t taken, finished;
} forcing;

/* Of one sentence, more than a pass takes. */
static bool next(void *user, ferry_generate_sentence *sentence)
{
    static int32_t ids[LONGEST];
    forcing *f = user;
    if (f->taken == SENTENCES) return false;
    for (int32_t i = 0; i < LONGEST; i++) ids[i] = 3 + i % (VOCAB - 3);
    *sentence = (ferry_generate_sentence){.ids = ids,
                                          .length = 1 + f->taken * 7 % LONGEST,
                                          .rules = {.options = f->generation->decoding,
                                                    .eos_ids = f->generation->eos_ids,
                                                    .eos_count = f->generation->eos_count,
                                                    .start_id = f->generation->start_id}};
    sentence->rules.options.max_length = f->taken == 5 ? MOST : 12;
    sentence->rules.options.min_length = f->taken == 5 ? MOST - 3 : 2;
    sentence->rules.options.beam = sentence->rules.options.nbest = 1;
    sentence->rules.options.scores = 1;
    f->taken++;
    return true;
}

/* The weights of the steps, one row at a time: [T, S]. */
static void step_by_step(const forcing *f, const ferry_generate_finished *sentence, const ferry_hypothesis *hypothesis,
                         float *weights)
{
    ferry_state *state = sentence->state;
    ferry_sequence past;
    const int32_t S = sentence->source->length, heads = state->model->decoder.heads;
    const ferry_alignment *alignment = &f->alignment;
    const ferry_attention_span cross = {.rows = 1};
    float *hidden = kept_memory((size_t)state->model->d_model * sizeof *hidden);
    float *probed = kept_memory((size_t)(heads * S) * sizeof *probed);
    const ferry_attention_probe probe = {FERRY_ATTENTION_CROSS, alignment->layer, -1, probed, 1, (size_t)S};
    const ferry_arena_mark mark = ferry_arena_begin(&state->context.arena);
    CHECK(ferry_sequence_begin(&state->context.arena, hypothesis->length, &past, &error));
    state->probe = &probe;
    for (int32_t t = 0; t < hypothesis->length; t++) {
        const ferry_attention_span self = {.rows = 1, .first = t};
        const ferry_decoder_rows row = {.ids = t > 0 ? &hypothesis->ids[t - 1] : &f->generation->start_id,
                                        .rows = 1,
                                        .self = {.sequences = &past, .spans = &self, .span_count = 1},
                                        .cross = {.sequences = sentence->source, .spans = &cross, .span_count = 1}};
        CHECK(ferry_decode(state, &row, hidden, &error));
        for (int32_t s = 0; s < S; s++) {
            float sum = 0;
            for (int32_t h = 0; h < alignment->heads; h++) sum += probed[(alignment->head + h) * S + s];
            weights[t * S + s] = alignment->heads > 1 ? sum / (float)alignment->heads : sum;
        }
    }
    state->probe = NULL;
    ferry_sequence_release(ferry_state_hypothesis_cache(state), &past);
    ferry_arena_end(&state->context.arena, mark);
}

static ferry_status finished(void *user, size_t tag, const ferry_generate_finished *sentence, ferry_error *error)
{
    enum { AGAIN = 3 };
    forcing *f = user;
    (void)tag;
    const ferry_hypothesis found = ferry_search_hypothesis(sentence->search, 0);
    const size_t T = (size_t)found.length, floats = T * (size_t)sentence->source->length;
    float *expected = kept_memory(floats * sizeof *expected);
    ferry_forced targets[AGAIN];
    const ferry_force_rules rules = {.start_id = f->generation->start_id, .alignment = f->alignment};
    step_by_step(f, sentence, &found, expected);
    for (int i = 0; i < AGAIN; i++)
        targets[i] = (ferry_forced){.ids = found.ids,
                                    .length = found.length,
                                    .weights = kept_memory(floats * sizeof(float)),
                                    .scores = kept_memory(T * sizeof(float))};
    targets[1].length = found.length / 2; /* perhaps 0 */
    FERRY_TRY(ferry_force(sentence->state, &rules, sentence->source, targets, AGAIN, error));
    assert_null(sentence->state->probe);
    for (int i = 0; i < AGAIN; i++) {
        const size_t length = (size_t)targets[i].length, S = (size_t)sentence->source->length;
        assert_memory_equal(targets[i].scores, found.token_scores, length * sizeof(float));
        assert_memory_equal(targets[i].weights, expected, length * S * sizeof(float));
        for (size_t t = 0; t < length; t++) {
            double sum = 0;
            for (size_t s = 0; s < S; s++) sum += (double)targets[i].weights[t * S + s];
            assert_true(fabs(sum - 1) < 1e-5);
        }
    }
    f->finished++;
    return FERRY_OK;
}

static ferry_status failed(void *user, size_t tag, const ferry_error *why, ferry_error *error)
{
    (void)user, (void)tag;
    return ferry_fail(error, why->status, "%s", why->message);
}

static void check_model(const small_model *shape, const ferry_alignment *alignment)
{
    char *path = scratch_file("force.gguf");
    ferry_generator generator;
    write_small_model(path, shape);
    ferry_model *model;
    CHECK(ferry_model_open(path, 0, &model, &error));
    forcing f = {.generation = &model->file.generation, .alignment = *alignment};
    const ferry_generate_source source = {.width = 5,
                                          .tokens = 100,
                                          .beam = 1,
                                          .max_length = MOST,
                                          .next = next,
                                          .finished = finished,
                                          .failed = failed,
                                          .user = &f};
    ferry_model_widen(model);
    ferry_generator_init(&generator, &model->file.transformer, model->kernels);
    CHECK(ferry_generate(&generator, &source, &error));
    assert_int_equal(f.finished, SENTENCES);
    assert_int_equal(generator.state.context.arena.used, 0);
    ferry_generator_destroy(&generator);
    ferry_model_close(model);
}

TEST(test_scores_and_weights_of_a_search)
{
    static const small_model shapes[] = {
        {.type = FERRY_F32},
        {.type = FERRY_F16, .pre_norm = true, .gated = true},
        {.type = FERRY_I8, .position = "none"},
        {.type = FERRY_I8, .ssru = true, .scales = SMALL_INPUT_MULTIPLIER, .zero_start = true},
        {.type = FERRY_I8, .sentence_inputs = true, .scales = SMALL_MULTIPLIER},
        {.type = FERRY_I8, .sentence_inputs = true, .ssru = true},
        {.type = FERRY_F32, .vocab = 1500},
    };
    static const ferry_alignment alignments[] = {{0, 0, 1}, {0, 0, 2}, {0, 1, 1}};
    for (size_t i = 0; i < COUNT(shapes); i++)
        for (size_t a = 0; a < COUNT(alignments); a++) check_model(&shapes[i], &alignments[a]);
}
