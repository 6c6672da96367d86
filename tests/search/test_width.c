/* engine/search/generate.h under a limit of memory: the width that fits is found once, and no sentence is lost. */
#include "engine/api/opening.h"
#include "engine/lines/model.h"
#include "engine/search/decoding.h"
#include "engine/search/generate.h"
#include "tests/support/random.h"
#include "tests/support/sanitized.h"
#include "tests/support/small_model.h"

enum {
    SENTENCES = 384,
    LONGEST = 400,
    SHORT = 30,
    MOST = 500, /* steps */
    VOCAB = 600,
    WIDTH = 32,
    POSITIONS = 2000,
    PRIORITIES = 3,
#ifdef SANITIZED
    ROUNDS = 20
#else
    ROUNDS = 60
#endif
};

typedef enum sentence_state { WAITING, IN_PROGRESS, FINISHED, REFUSED, CANCELLED } sentence_state;

typedef struct sentence {
    int32_t length, steps, priority; /* steps: exactly the number of them, because there is no end token */
    sentence_state state;
    ferry_stop stop;
    int32_t found[MOST], found_length;
} sentence;

/* Sentences of a source, and the generator that translates them under a limit. */
typedef struct work {
    ferry_model *model;
    ferry_generator generator;
    ferry_memory memory;
    sentence sentences[SENTENCES];
    int32_t count, arrived, arriving; /* the first `arrived` may be taken; with each request come `arriving` more */
    int32_t handed_out, returned, stop_every;
} work;

static int32_t ids[LONGEST];

static bool next(void *user, int32_t priority, ferry_generate_sentence *taken)
{
    (void)priority;
    work *w = user;
    sentence *best = NULL;
    w->arrived = w->arrived + w->arriving < w->count ? w->arrived + w->arriving : w->count;
    for (int32_t i = 0; i < w->arrived; i++) {
        sentence *s = &w->sentences[i];
        if (s->state == WAITING && (best == NULL || s->priority > best->priority)) best = s;
    }
    if (best == NULL) return false;
    best->state = IN_PROGRESS;
    *taken = (ferry_generate_sentence){
        .ids = ids,
        .length = best->length,
        .rules = {.options = w->model->file.generation.decoding.options,
                  .start_id = w->model->file.generation.start_id},
        .priority = best->priority,
        .stop = &best->stop,
        .tag = best,
    };
    taken->rules.options.search = &w->model->file.generation.decoding.search;
    taken->rules.options.beam = taken->rules.options.nbest = 1;
    taken->rules.options.max_length = best->steps;
    w->handed_out++;
    if (w->stop_every > 0 && w->handed_out % w->stop_every == 0) ferry_stop_now(&w->sentences[w->arrived - 1].stop);
    return true;
}

static void end(work *w, sentence *s, sentence_state state)
{
    assert_int_equal(s->state, IN_PROGRESS);
    s->state = state;
    w->returned++;
}

static void give_back(void *user, void *tag)
{
    end(user, tag, WAITING);
}

static void finished(void *user, void *tag, const ferry_generate_finished *outcome)
{
    sentence *s = tag;
    const ferry_hypothesis found = ferry_search_hypothesis(outcome->search, 0);
    assert_in_range(found.length, 1, s->steps);
    memcpy(s->found, found.ids, (size_t)found.length * sizeof *found.ids);
    s->found_length = found.length;
    end(user, s, FINISHED);
}

static void failed(void *user, void *tag, const ferry_error *why)
{
    if (why->status != FERRY_ERROR_CANCELLED) assert_int_equal(why->status, FERRY_ERROR_LIMIT);
    end(user, tag, why->status == FERRY_ERROR_LIMIT ? REFUSED : CANCELLED);
}

static void generate(work *w, int32_t width)
{
    const ferry_generate_source source = {.width = width,
                                          .ranked = true,
                                          .positions = POSITIONS,
                                          .beam = 1,
                                          .max_length = MOST,
                                          .next = next,
                                          .give_back = give_back,
                                          .finished = finished,
                                          .failed = failed,
                                          .user = w};
    w->memory.peak = w->memory.held;
    ferry_generate(&w->generator, &source);
    assert_int_equal(w->handed_out, w->returned);
    if (w->memory.limit > 0) assert_in_range(w->memory.peak, 1, w->memory.limit);
}

static work *open_work(size_t limit)
{
    work *w = kept_memory(sizeof *w);
    memset(w, 0, sizeof *w);
    w->model =
        open_small_model(&(small_model){.vocab = VOCAB, .d_model = 32, .heads = 2, .head_width = 16, .ffn_width = 64},
                         NULL);
    ferry_model_widen(w->model);
    ferry_generator_init(&w->generator, &w->model->file.transformer, w->model->kernels);
    w->generator.state.account.memory = &w->memory;
    w->memory.limit = limit;
    w->generator.state.profile.on = true;
    for (int32_t i = 0; i < LONGEST; i++) ids[i] = 3 + i * 131 % (VOCAB - 3);
    return w;
}

static void close_work(work *w)
{
    ferry_generator_destroy(&w->generator);
    assert_int_equal(w->memory.held, 0);
    ferry_model_close(w->model);
}

/* All sentences anew, of one length. */
static void begin(work *w, int32_t count, int32_t length, int32_t steps)
{
    memset(w->sentences, 0, sizeof w->sentences);
    for (int32_t i = 0; i < count; i++) w->sentences[i] = (sentence){.length = length, .steps = steps};
    w->count = w->arrived = count;
    w->arriving = w->handed_out = w->returned = w->stop_every = 0;
}

static int32_t count_of(const work *w, sentence_state state)
{
    int32_t count = 0;
    for (int32_t i = 0; i < w->count; i++) count += w->sentences[i].state == state;
    return count;
}

/* Decoder steps for all sentences, in runs of `burst`. */
static int64_t steps_of(work *w, int32_t burst)
{
    const int64_t before = w->generator.state.profile.calls[FERRY_PHASE_DECODER_REST];
    begin(w, SENTENCES, 20, 24);
    for (w->arrived = burst; w->arrived <= SENTENCES; w->arrived += burst) generate(w, WIDTH);
    assert_int_equal(count_of(w, FINISHED), SENTENCES);
    return w->generator.state.profile.calls[FERRY_PHASE_DECODER_REST] - before;
}

/* A service's runs are short. They find the width that fits once, as one run does, and lose little by trying. */
TEST(test_runs_keep_the_width_that_fits)
{
    work *w = open_work(0);
    const int64_t whole = steps_of(w, SENTENCES);
    const size_t peak = w->memory.peak;
    close_work(w);
    for (size_t eighths = 4; eighths <= 7; eighths++) {
        w = open_work(peak / 8 * eighths);
        const int64_t once = steps_of(w, SENTENCES);
        assert_in_range(once, whole + 1, 4 * whole);
        close_work(w);
        w = open_work(peak / 8 * eighths);
        assert_in_range(steps_of(w, 2 * WIDTH), whole + 1, once + once / 5);
        assert_in_range(w->generator.width, 1, WIDTH - 1);
        close_work(w);
    }
}

/* Releasing all memory, as before a sentence that needs it, is no reason to begin with the full width again. */
TEST(test_the_width_grows_when_there_is_memory)
{
    work *w = open_work(0);
    const int64_t whole = steps_of(w, SENTENCES);
    w->memory.limit = w->memory.peak / 4;
    ferry_generator_destroy(&w->generator);
    steps_of(w, SENTENCES);
    const int32_t width = w->generator.width;
    assert_in_range(width, 1, WIDTH / 2);
    ferry_generator_destroy(&w->generator);
    assert_int_equal(w->generator.width, width);
    w->memory.limit = 0;
    for (int i = 0; i < 8; i++) steps_of(w, SENTENCES);
    assert_int_equal(steps_of(w, SENTENCES), whole);
    close_work(w);
}

/* ---- no sentence is lost, none comes twice ---- */

static uint32_t random_state = 1;

static int32_t random_below(int32_t n)
{
    return (int32_t)(next_random(&random_state) % (uint32_t)n);
}

/* Sentences of all lengths and priorities; every 40th is long. They arrive while others are in progress. */
static void begin_random(work *w, uint32_t seed)
{
    random_state = seed;
    begin(w, 60 + random_below(60), 0, 0);
    for (int32_t i = 0; i < w->count; i++) {
        sentence *s = &w->sentences[i];
        s->length = i % 40 == 39 ? LONGEST - random_below(LONGEST / 2) : 1 + random_below(SHORT);
        s->steps = i % 40 == 39 ? MOST - random_below(MOST / 2) : 1 + random_below(SHORT);
        s->priority = random_below(PRIORITIES);
    }
    w->arrived = 1 + random_below(w->count);
    w->arriving = 1 + random_below(3);
    w->stop_every = seed % 3 == 0 ? 7 + random_below(20) : 0;
}

/* Each sentence that was refused once more, as the only one. */
static void generate_refused(work *w)
{
    w->stop_every = 0;
    for (int32_t i = 0; i < w->count; i++)
        if (w->sentences[i].state == REFUSED) {
            w->sentences[i].state = WAITING;
            ferry_generator_destroy(&w->generator);
            generate(w, 1);
        }
}

static void check_against(const work *w, const work *expected)
{
    for (int32_t i = 0; i < w->count; i++) {
        const sentence *s = &w->sentences[i], *whole = &expected->sentences[i];
        assert_true(s->state != WAITING && s->state != IN_PROGRESS);
        if (s->state == REFUSED) assert_in_range(s->length, SHORT + 1, LONGEST); /* too long alone */
        if (s->state != FINISHED || whole->state != FINISHED) continue;
        assert_int_equal(s->found_length, whole->found_length);
        assert_memory_equal(s->found, whole->found, (size_t)s->found_length * sizeof *s->found);
    }
}

TEST(test_each_sentence_ends_once)
{
    work *expected = open_work(0), *w = open_work(0);
    begin_random(expected, 1);
    generate(expected, WIDTH);
    const size_t peak = expected->memory.peak;
    int32_t refused = 0;
    for (uint32_t seed = 1; seed <= ROUNDS; seed++) {
        begin_random(expected, seed);
        expected->stop_every = 0;
        generate(expected, WIDTH);
        assert_int_equal(count_of(expected, FINISHED), expected->count);
        if (seed % 5 == 0) ferry_generator_destroy(&w->generator);
        w->memory.limit = peak / 16 * (4 + seed % 10);
        if (w->memory.held > w->memory.limit) ferry_generator_destroy(&w->generator);
        begin_random(w, seed);
        generate(w, 1 + random_below(WIDTH));
        refused += count_of(w, REFUSED);
        generate_refused(w);
        check_against(w, expected);
    }
    assert_in_range(refused, 1, 200);
    close_work(expected);
    close_work(w);
}
