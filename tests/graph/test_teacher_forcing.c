/* Forced decoding: the scores and weights of given ids are, bit for bit, those of a search that finds these ids step by
 * step, whatever is forced with them. */
#include "tests/support/files.h"
#include "tests/support/small_model.h"

#include "engine/api/opening.h"
#include "engine/lines/model.h"
#include "engine/graph/pass.h"
#include "engine/graph/state.h"
#include "engine/search/teacher_forcing.h"
#include "engine/search/generate.h"

enum { SENTENCES = 12, LONGEST = 30, MOST = 300, VOCAB = 21, AGAIN = 3 };

typedef struct forcing {
    const ferry_generation *generation;
    ferry_state state; /* of another thread, as it were */
    ferry_alignment alignment;
    int32_t lengths[SENTENCES], taken, finished;
} forcing;

static int32_t ids[LONGEST];

static int32_t length_of(int32_t sentence)
{
    return 1 + sentence * 7 % LONGEST;
}

/* Of one sentence, more than a pass takes. */
static bool next(void *user, int32_t priority, ferry_generate_sentence *sentence)
{
    (void)priority;
    forcing *f = user;
    if (f->taken == SENTENCES) return false;
    for (int32_t i = 0; i < LONGEST; i++) ids[i] = 3 + i % (VOCAB - 3);
    *sentence = (ferry_generate_sentence){.ids = ids,
                                          .length = length_of(f->taken),
                                          .tag = &f->lengths[f->taken],
                                          .rules = {.options = f->generation->decoding.options,
                                                    .eos_ids = f->generation->eos_ids,
                                                    .eos_count = f->generation->eos_count,
                                                    .start_id = f->generation->start_id}};
    f->lengths[f->taken] = sentence->length;
    sentence->rules.options.search = &f->generation->decoding.search;
    sentence->rules.options.max_length = f->taken == 5 ? MOST : 12;
    sentence->rules.options.min_length = f->taken == 5 ? MOST - 3 : 2;
    sentence->rules.options.beam = sentence->rules.options.nbest = 1;
    sentence->rules.options.scores = 1;
    f->taken++;
    return true;
}

/* The weights of the steps, one row at a time: [T, S]. */
static void step_by_step(forcing *f, ferry_kv_sequence *source, const ferry_hypothesis *hypothesis, float *weights)
{
    ferry_state *state = &f->state;
    ferry_kv_sequence past;
    const int32_t S = source->length, heads = state->model->decoder.heads;
    const ferry_alignment *alignment = &f->alignment;
    const ferry_attention_span cross = {.rows = 1};
    float *hidden = kept_memory((size_t)state->model->d_model * sizeof *hidden);
    float *probed = kept_memory((size_t)(heads * S) * sizeof *probed);
    const ferry_attention_probe probe = {.kind = FERRY_ATTENTION_CROSS,
                                         .layer = alignment->layer,
                                         .head = -1,
                                         .weights = probed,
                                         .rows = 1,
                                         .ld = (size_t)S};
    const ferry_arena_mark mark = ferry_arena_begin(&state->context.arena);
    CHECK(ferry_kv_begin(&state->context.arena, hypothesis->length, &past, &error));
    state->probe = &probe;
    for (int32_t t = 0; t < hypothesis->length; t++) {
        const ferry_attention_span self = {.rows = 1, .first = t};
        const ferry_decoder_rows row = {.ids = t > 0 ? &hypothesis->ids[t - 1] : &f->generation->start_id,
                                        .rows = 1,
                                        .self = {.sequences = &past, .spans = &self, .span_count = 1},
                                        .cross = {.sequences = source, .spans = &cross, .span_count = 1}};
        CHECK(ferry_decode(state, &row, hidden, &error));
        for (int32_t s = 0; s < S; s++) {
            float sum = 0;
            for (int32_t h = 0; h < alignment->heads; h++) sum += probed[(alignment->head + h) * S + s];
            weights[t * S + s] = alignment->heads > 1 ? sum / (float)alignment->heads : sum;
        }
    }
    state->probe = NULL;
    ferry_kv_release(ferry_state_hypothesis_cache(state), &past);
    ferry_arena_end(&state->context.arena, mark);
}

static void give_back(void *user, void *tag)
{
    forcing *f = user;
    assert_ptr_equal(tag, &f->lengths[--f->taken]);
}

/* The last token may be one of several: only the one that was found, all others, or all. */
static void see_last_tokens(forcing *f, ferry_kv_sequence *source, const ferry_hypothesis *found,
                            ferry_teacher_target targets[AGAIN])
{
    const ferry_teacher_force_rules rules = {.start_id = f->generation->start_id, .alignment = f->alignment};
    const size_t before = (size_t)found->length - 1;
    const int32_t last = found->ids[before];
    uint64_t bits[AGAIN][1500 / 64 + 1];
    memset(bits[0], 0, sizeof bits[0]);
    memset(bits + 1, 0xFF, sizeof bits - sizeof bits[0]);
    bits[0][last / 64] ^= UINT64_C(1) << last % 64;
    bits[1][last / 64] ^= UINT64_C(1) << last % 64;
    for (int i = 0; i < AGAIN; i++) targets[i].length = found->length;
    for (int i = 0; i < AGAIN; i++) targets[i].last = bits[i];
    CHECK(ferry_teacher_force(&f->state, &rules, source, targets, AGAIN, &error));
    for (int i = 0; i < AGAIN; i++) assert_memory_equal(targets[i].scores, found->token_scores, before * sizeof(float));
    assert_true(targets[0].scores[before] == found->token_scores[before]);
    assert_true(fabs(exp((double)targets[0].scores[before]) + exp((double)targets[1].scores[before]) - 1) < 1e-5);
    assert_true(targets[2].scores[before] == 0);
}

static void finished(void *user, void *tag, const ferry_generate_finished *sentence)
{
    forcing *f = user;
    ferry_arena *arena = &f->state.context.arena;
    const ferry_arena_mark mark = ferry_arena_begin(arena);
    const ferry_hypothesis found = ferry_search_hypothesis(sentence->search, 0);
    const int32_t S = *(const int32_t *)tag, offsets[] = {0, S};
    const size_t T = (size_t)found.length, floats = T * (size_t)S;
    float *expected = kept_memory(floats * sizeof *expected);
    float *encoded = kept_memory((size_t)S * (size_t)f->state.model->d_model * sizeof *encoded);
    ferry_kv_sequence source;
    ferry_teacher_target targets[AGAIN];
    const ferry_teacher_force_rules rules = {.start_id = f->generation->start_id, .alignment = f->alignment};
    CHECK(ferry_kv_begin(arena, S, &source, &error));
    CHECK(ferry_encode(&f->state, ids, offsets, 1, encoded, &error));
    CHECK(ferry_decoder_begin(&f->state, encoded, offsets, 1, &source, &error));
    step_by_step(f, &source, &found, expected);
    assert_memory_equal(sentence->weights[0], expected, floats * sizeof(float));
    for (int i = 0; i < AGAIN; i++)
        targets[i] = (ferry_teacher_target){.ids = found.ids,
                                            .length = found.length,
                                            .weights = kept_memory(floats * sizeof(float)),
                                            .scores = kept_memory(T * sizeof(float))};
    targets[1].length = found.length / 2; /* perhaps 0 */
    CHECK(ferry_teacher_force(&f->state, &rules, &source, targets, AGAIN, &error));
    assert_null(f->state.probe);
    for (int i = 0; i < AGAIN; i++) {
        const size_t length = (size_t)targets[i].length;
        assert_memory_equal(targets[i].scores, found.token_scores, length * sizeof(float));
        assert_memory_equal(targets[i].weights, expected, length * (size_t)S * sizeof(float));
        for (size_t t = 0; t < length; t++) {
            double sum = 0;
            for (size_t s = 0; s < (size_t)S; s++) sum += (double)targets[i].weights[t * (size_t)S + s];
            assert_true(fabs(sum - 1) < 1e-5);
        }
    }
    see_last_tokens(f, &source, &found, targets);
    ferry_kv_release(&f->state.decoder_cache, &source);
    ferry_arena_end(arena, mark);
    f->finished++;
}

static void failed(void *user, void *tag, const ferry_error *why)
{
    (void)user, (void)tag;
    fail_msg("%s", why->message);
}

static bool wants_weights(void *user, void *tag, const ferry_search *search)
{
    (void)user, (void)tag, (void)search;
    return true;
}

static void check_model(const small_model *shape, const ferry_alignment *alignment)
{
    char *path = scratch_file("force.gguf");
    ferry_generator generator;
    write_small_model(path, shape);
    ferry_model *model;
    CHECK(ferry_model_open(path, 0, &model, &error));
    forcing f = {.generation = &model->file.generation, .alignment = *alignment};
    const ferry_teacher_force_rules force = {.start_id = f.generation->start_id, .alignment = *alignment};
    const ferry_generate_source source = {.width = 5,
                                          .positions = 100,
                                          .beam = 1,
                                          .max_length = MOST,
                                          .force = &force,
                                          .next = next,
                                          .give_back = give_back,
                                          .wants_weights = wants_weights,
                                          .finished = finished,
                                          .failed = failed,
                                          .user = &f};
    ferry_model_widen(model);
    ferry_state_init(&f.state, &model->file.transformer, model->kernels);
    ferry_generator_init(&generator, &model->file.transformer, model->kernels);
    ferry_generate(&generator, &source);
    assert_int_equal(f.finished, SENTENCES);
    assert_int_equal(generator.state.context.arena.used, 0);
    ferry_generator_destroy(&generator);
    ferry_state_destroy(&f.state);
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
    static const ferry_alignment alignments[] = {{0, 0, 1}, {1, 0, 3}, {1, 2, 1}};
    for (size_t i = 0; i < COUNT(shapes); i++)
        for (size_t a = 0; a < COUNT(alignments); a++) check_model(&shapes[i], &alignments[a]);
}
