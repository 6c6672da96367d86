/* Cancelling: what is in progress ends, nothing stays behind, and the next call computes as if nothing had happened. */
#define _POSIX_C_SOURCE 200809L /* nanosleep */
#include "tests/support/jobs.h"
#include "tests/support/small_model.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "engine/lines/model.h"
#include "engine/graph/pass.h"
#include "engine/graph/state.h"
#include "tests/support/random.h"

enum { VOCAB = 2000, SENTENCES = 40, LONGEST = 30, MANY = 4000 };

static ferry_model *open_model(bool ssru, ferry_type type)
{
    return open_small_model(&(small_model){.vocab = VOCAB, .ssru = ssru, .type = type}, NULL);
}

/* ---- a generator, stopped at its callbacks and at any other time ---- */

static job *make_job(const ferry_model *model)
{
    job *j = new_job(&model->file.generation, SENTENCES);
    for (int32_t s = 0; s < SENTENCES; s++) {
        job_sentence *sentence = &j->sentences[s];
        sentence->length = 1 + s * 7 % LONGEST;
        for (int32_t i = 0; i < LONGEST; i++) sentence->ids[i] = (s * 577 + i * 131) % VOCAB;
        sentence->options.max_length = 10 + s % 25;
        sentence->options.beam = 1 + s % 3;
        sentence->options.nbest = 1;
    }
    return j;
}

/* The stopped generator is as good as a new one: it holds nothing, and its results and requests are the same. */
static void check_usable(const ferry_model *model, ferry_generator *generator, const job *expected)
{
    job *j = make_job(model);
    assert_int_equal(generator->state.context.arena.used, 0);
    generate_job(generator, j, 0, SENTENCES, 16, 200);
    for (int32_t i = 0; i < SENTENCES; i++)
        assert_memory_equal(&j->sentences[i].found[0], &expected->sentences[i].found[0], sizeof(job_hypothesis));
}

static void stop_at_callbacks(const ferry_model *model)
{
    ferry_generator generator;
    job *expected = make_job(model);
    ferry_generator_init(&generator, &model->file.transformer, model->kernels);
    generate_job(&generator, expected, 0, SENTENCES, 16, 200);
    for (int32_t at = 0; at < SENTENCES - 1; at += 3) {
        for (int32_t which = 0; which < 2; which++) {
            job *j = make_job(model);
            *(which == 0 ? &j->stop_at_taken : &j->stop_at_finished) = at + 1;
            REFUSE_SAYING(try_job(&generator, j, 16, 200, &error), FERRY_ERROR_CANCELLED, "cancelled");
            assert_in_range(j->finished, which == 1 ? at + 1 : 0, SENTENCES - 1);
        }
        check_usable(model, &generator, expected);
    }
    ferry_generator_destroy(&generator);
}

TEST(test_stopping_at_callbacks)
{
    for (int i = 0; i < 4; i++) {
        ferry_model *model = open_model(i % 2 == 1, i < 2 ? FERRY_F32 : FERRY_I8);
        stop_at_callbacks(model);
        ferry_model_close(model);
    }
}

static int32_t delay; /* in 20 µs */

static void *stop_later(void *user)
{
    nanosleep(&(struct timespec){.tv_nsec = delay * 20000L}, NULL);
    ferry_stop_now(&((job *)user)->stop);
    return NULL;
}

/* All blocks of keys and values are free again: more calls need no more of them. */
TEST(test_stopping_at_any_time)
{
    ferry_model *model = open_model(false, FERRY_F32);
    ferry_generator generator;
    job *expected = make_job(model);
    ferry_generator_init(&generator, &model->file.transformer, model->kernels);
    for (int i = 0; i < 3; i++) generate_job(&generator, expected, 0, SENTENCES, 16, 200);
    const size_t before = ferry_generator_allocations(&generator);
    int32_t cancelled = 0;
    for (int32_t round = 0; round < 100; round++) {
        pthread_t thread;
        job *j = make_job(model);
        delay = 1000 + round;
        assert_int_equal(pthread_create(&thread, NULL, stop_later, j), 0);
        ferry_status status = FERRY_OK;
        while (status == FERRY_OK) status = try_job(&generator, j, 16, 200, NULL);
        cancelled += status == FERRY_ERROR_CANCELLED;
        pthread_join(thread, NULL);
    }
    assert_int_equal(cancelled, 100);
    check_usable(model, &generator, expected);
    assert_int_equal(ferry_generator_allocations(&generator), before);
    ferry_generator_destroy(&generator);
    ferry_model_close(model);
}

/* ---- a computation that is stopped before it begins does not begin ---- */

TEST(test_each_computation_ends)
{
    static float x[8 * 64], y[8 * VOCAB];
    static const int32_t ids[] = {1, 2, 3}, offsets[] = {0, 3};
    ferry_model *model = open_model(false, FERRY_F32);
    const ferry_matrix *output = &model->file.transformer.output;
    const ferry_stop stopped = {.word = 1}, *const stop = &stopped;
    ferry_state s;
    ferry_logit_bound bound;
    ferry_state_init(&s, &model->file.transformer, model->kernels);
    s.context.stops = &stop;
    s.context.stop_count = 1;
    y[0] = 123;
    REFUSE(ferry_linear(&s.context, y, &(ferry_rows){x, 8, NULL}, output, &error), FERRY_ERROR_CANCELLED, "");
    assert_true(y[0] == 123);
    ferry_arena_destroy(&s.context.arena);
    REFUSE(ferry_encode(&s, ids, offsets, 1, y, &error), FERRY_ERROR_CANCELLED, "");
    const ferry_coarse none = {.error = 0};
    REFUSE(ferry_logit_bound_create(output, &none, &s.context, &bound, &error), FERRY_ERROR_CANCELLED, "");
    assert_null(bound.coarse.matrix.int8);
    assert_null(bound.exact);
    ferry_state_destroy(&s);
    ferry_model_close(model);
}

/* ---- a translator ---- */

typedef struct canceller {
    ferry_translator *translator;
    uint32_t job;
    atomic_bool done;
} canceller;

static void *cancel_until_done(void *user)
{
    canceller *c = user;
    while (!atomic_load(&c->done)) {
        ferry_translator_cancel(c->translator, c->job);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return NULL;
}

static void cancel_and_go_on(const ferry_model *model, int32_t threads)
{
    int32_t *ids = kept_memory(MANY * LONGEST * sizeof *ids), *offsets = kept_memory((MANY + 1) * sizeof *offsets);
    for (int32_t i = 0; i < MANY * LONGEST; i++) ids[i] = i * 131 % VOCAB;
    for (int32_t s = 0; s <= MANY; s++) offsets[s] = s * LONGEST;
    canceller c = {.done = false};
    ferry_options options = default_options(model);
    options.threads = threads;
    options.beam = 2;
    options.max_length = 40;
    CHECK(ferry_translator_create(model, &options, &c.translator, &error));
    c.job = ferry_translator_job(c.translator);
    ferry_result *before, *unfinished, *after;
    CHECK(ferry_inspect_generate(c.translator, ids, offsets, SENTENCES, &before, &error));
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, cancel_until_done, &c), 0);
    for (int round = 0; round < 5; round++) {
        ferry_error error;
        assert_int_equal(ferry_inspect_generate(c.translator, ids, offsets, MANY, &unfinished, &error),
                         FERRY_ERROR_CANCELLED);
        ferry_result_destroy(unfinished);
    }
    atomic_store(&c.done, true);
    pthread_join(thread, NULL);
    assert_int_equal(ferry_inspect_generate(c.translator, ids, offsets, 1, &unfinished, NULL), FERRY_ERROR_CANCELLED);
    ferry_result_destroy(unfinished);
    assert_int_equal(ferry_translator_job(c.translator), c.job + 1);
    ferry_translator_cancel(c.translator, c.job);
    ferry_translator_cancel(c.translator, 0);
    CHECK(ferry_inspect_generate(c.translator, ids, offsets, SENTENCES, &after, &error));
    for (size_t i = 0; i < SENTENCES; i++) assert_same_line(before, i, after, i);
    ferry_result_destroy(before);
    ferry_result_destroy(after);
    ferry_translator_destroy(c.translator);
}

TEST(test_cancelling_a_translator)
{
    ferry_model *model = open_model(false, FERRY_F32);
    for (int32_t threads = 1; threads <= 3; threads += 2) cancel_and_go_on(model, threads);
    ferry_translator_cancel(NULL, 1);
    ferry_model_close(model);
}
