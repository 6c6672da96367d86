/* Threads that share one model, each with a translator of its own, while others open and close models: every line comes
 * out as in one thread. */
#include "tests/support/small_model.h"

#include <pthread.h>
#include <stdatomic.h>

enum { THREADS = 8, LINES = 250, ROUNDS = 5, MOST_TEXT = 48 }; /* 8 · 5 · 250 = 10,000 sentences */

static char texts[LINES][MOST_TEXT];
static ferry_text lines[LINES];
static const char *path;
static const ferry_model *model;
static ferry_result *expected[2]; /* greedy; beam search */
static atomic_int failures;       /* cmocka's own assertions are for one thread */

/* Pieces "a" … "t" and unknown ones. */
static void make_lines(void)
{
    for (int i = 0; i < LINES; i++) {
        size_t at = 0;
        const int words = 1 + i * 7 % 20;
        for (int w = 0; w < words; w++) {
            texts[i][at++] = (char)('a' + (i * 31 + w * (i % 5 + 3)) % 22);
            texts[i][at++] = ' ';
        }
        lines[i] = (ferry_text){texts[i], at};
    }
}

static void expect(bool holds)
{
    if (!holds) atomic_fetch_add(&failures, 1);
}

static void choose(ferry_options *options, int kind)
{
    const bool beam = kind % 2 == 1;
    expect(ferry_options_default(model, options, sizeof *options) == FERRY_OK);
    options->beam = beam ? 3 : 1;
    options->nbest = beam ? 2 : 1;
    options->scores = options->alignment = beam;
    options->min_length = 4;
    options->max_length = 12;
    options->batch = 3 + kind;
}

static bool same_line(const ferry_result *found, const ferry_result *wanted, size_t line)
{
    const size_t count = ferry_result_hypothesis_count(wanted, line);
    if (ferry_result_outcome(found, line)->status != FERRY_OK || ferry_result_hypothesis_count(found, line) != count)
        return false;
    for (size_t h = 0; h < count; h++) {
        const float scores[] = {ferry_result_score(found, line, h), ferry_result_score(wanted, line, h)};
        if (!is_same_text(ferry_result_text(found, line, h), ferry_result_text(wanted, line, h))) return false;
        if (memcmp(&scores[0], &scores[1], sizeof scores[0]) != 0) return false;
    }
    return true;
}

/* What only reads a model. */
static void read_model(void)
{
    ferry_text description = {NULL, 0};
    expect(ferry_model_language_count(model) == 0 && ferry_model_language(model, 0) == NULL);
    expect(ferry_inspect_describe(model, &description, NULL) == FERRY_OK && description.size > 0);
    ferry_inspect_free(description.data);
}

typedef struct user {
    pthread_t thread;
    int number;
    int32_t threads; /* of its translator */
} user;

static void translate_all(const user *self, ferry_translator *translator, int kind)
{
    ferry_result *result;
    if (ferry_translate(translator, lines, LINES, &result, NULL) != FERRY_OK) {
        atomic_fetch_add(&failures, 1);
        return;
    }
    for (size_t i = 0; i < LINES; i++) expect(same_line(result, expected[kind % 2], i));
    ferry_result_destroy(result);
    if (self->number % 2 == 0) read_model();
}

/* One translator for all rounds, or a new one, and now and then a model of its own, for each. */
static void *translate_rounds(void *argument)
{
    const user *self = argument;
    const int kind = self->number;
    const bool renew = self->number >= THREADS / 2;
    ferry_translator *translator = NULL;
    ferry_options options;
    choose(&options, kind);
    options.threads = self->threads;
    for (int round = 0; round < ROUNDS; round++) {
        ferry_model *own = NULL;
        if (renew && round % 2 == 1) expect(ferry_model_open(path, 0, &own, NULL) == FERRY_OK);
        if (translator == NULL &&
            ferry_translator_create(own != NULL ? own : model, &options, &translator, NULL) != FERRY_OK) {
            atomic_fetch_add(&failures, 1);
            return NULL;
        }
        translate_all(self, translator, kind);
        if (!renew && round + 1 < ROUNDS) continue;
        ferry_translator_destroy(translator);
        translator = NULL;
        ferry_model_close(own);
    }
    return NULL;
}

static void run_threads(int32_t threads)
{
    user users[THREADS];
    for (int i = 0; i < THREADS; i++) {
        users[i] = (user){.number = i, .threads = threads};
        assert_int_equal(pthread_create(&users[i].thread, NULL, translate_rounds, &users[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_join(users[i].thread, NULL), 0);
    assert_int_equal(atomic_load(&failures), 0);
}

static void test_kind(const small_model *small)
{
    ferry_model *opened;
    path = scratch_file("shared.gguf");
    write_small_model(path, small);
    CHECK(ferry_model_open(path, 0, &opened, &error));
    model = opened;
    make_lines();
    for (int kind = 0; kind < 2; kind++) {
        ferry_options options;
        choose(&options, kind);
        expected[kind] = translated(model, &options, lines, LINES);
        assert_true(ferry_result_text(expected[kind], 0, 0).size > 0);
    }
    ferry_model_close(opened);
    CHECK(ferry_model_open(path, 0, &opened, &error)); /* now several threads are the first to need its weights */
    model = opened;
    run_threads(1);
    run_threads(2);
    for (int kind = 0; kind < 2; kind++) ferry_result_destroy(expected[kind]);
    ferry_model_close(opened);
}

TEST(test_every_type)
{
    test_kind(&(small_model){.layers = 1, .tokenizer = "pieces"});
    test_kind(&(small_model){.layers = 1, .tokenizer = "pieces", .type = FERRY_I8, .ssru = true});
    test_kind(&(small_model){.layers = 1, .tokenizer = "pieces", .type = FERRY_F16});
}
