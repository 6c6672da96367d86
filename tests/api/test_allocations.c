/* Generation with a vocabulary so large that searches take their logits in parts, and that idle threads help with them:
 * the same work again asks the system for nothing, and parts, neighbors, helpers and the room for ids change neither
 * what is chosen nor its score. */
#include "tests/support/jobs.h"
#include "tests/support/small_model.h"

#include "base/pool.h"
#include "engine/lines/model.h"

enum { VOCAB = 5000, SENTENCES = 60, LONGEST = 30, MAX_LENGTH = 40, MOST_BEAM = 3, LISTED = 3 };

static const ferry_type types[] = {FERRY_F32, FERRY_I8};
static int32_t source_ids[SENTENCES][LONGEST];

static void generate(ferry_generator *generator, job *j, int32_t width, int32_t tokens)
{
    generate_job(generator, j, 0, SENTENCES, width, tokens);
    for (int32_t s = 0; s < SENTENCES; s++) {
        const job_sentence *sentence = &j->sentences[s];
        assert_true(sentence->options.scores || sentence->options.beam > 1 || sentence->found[0].score == 0.0f);
    }
}

static ferry_model *open_model(ferry_type type)
{
    static int32_t offsets[VOCAB + 1], ids[LISTED * VOCAB];
    for (int32_t v = 0; v <= VOCAB; v++) offsets[v] = LISTED * v;
    for (int32_t i = 0; i < LISTED * VOCAB; i++)
        ids[i] = i / LISTED % (VOCAB / LISTED - 1) + i % LISTED * (VOCAB / LISTED);
    const small_shortlist shortlist = {.first = 20, .offsets = offsets, .ids = ids, .count = LISTED * VOCAB};
    const small_coarse coarse = type == FERRY_I8 ? SMALL_COARSE : SMALL_NO_COARSE; /* planes, which have a bound */
    const small_model shape = {.vocab = VOCAB, .type = type, .coarse = coarse, .shortlist = &shortlist};
    for (int32_t s = 0; s < SENTENCES; s++)
        for (int32_t i = 0; i < LONGEST; i++) source_ids[s][i] = (s * 577 + i * 131) % VOCAB;
    return open_small_model(&shape, NULL);
}

static job *make_job(const ferry_model *model, int32_t beam, bool skip_scores, bool shortlist)
{
    job *j = new_job(&model->file.generation, SENTENCES);
    for (int32_t s = 0; s < SENTENCES; s++) {
        job_sentence *sentence = &j->sentences[s];
        sentence->length = 1 + s * 11 % LONGEST;
        memcpy(sentence->ids, source_ids[s], sizeof source_ids[s]);
        sentence->options.max_length = MAX_LENGTH - s % 25;
        sentence->options.scores = !skip_scores;
        sentence->options.beam = beam;
        sentence->options.shortlist = shortlist;
        sentence->options.no_repeat_ngram = 2;
    }
    return j;
}

/* NULL for one thread. */
static ferry_pool *make_pool(int32_t threads)
{
    ferry_pool *pool = NULL;
    if (threads > 1) CHECK(ferry_pool_create(threads, &pool, &error));
    return pool;
}

/* Destroyed by ferry_logit_bound_destroy. */
static ferry_logit_bound make_bound(const ferry_model *model)
{
    const ferry_transformer *transformer = &model->file.transformer;
    ferry_logit_bound bound;
    CHECK(ferry_logit_bound_create(&transformer->output, &transformer->output_coarse, &(ferry_context){0}, &bound,
                                   &error));
    return bound;
}

static void check_no_allocation(const ferry_model *model, int32_t beam, bool skip_scores, bool shortlist,
                                int32_t threads)
{
    ferry_generator generator;
    size_t warm = 0;
    job *j = make_job(model, beam, skip_scores, shortlist);
    ferry_logit_bound bound = make_bound(model);
    j->bound = &bound;
    ferry_generator_init(&generator, &model->file.transformer, model->kernels);
    generator.state.context.pool = make_pool(threads);
    for (int round = 0; round < 5; round++) {
        generate(&generator, j, 48, 400);
        if (round == 2) warm = ferry_generator_allocations(&generator);
    }
    assert_true(warm > 0);
    assert_int_equal(ferry_generator_allocations(&generator), warm);
    ferry_pool_destroy(generator.state.context.pool);
    ferry_generator_destroy(&generator);
    ferry_logit_bound_destroy(&bound);
}

static void check_same(const job *found, const job *expected)
{
    for (size_t i = 0; i < SENTENCES; i++) {
        const job_hypothesis *a = &found->sentences[i].found[0], *b = &expected->sentences[i].found[0];
        const ferry_options *options = &found->sentences[i].options;
        assert_int_equal(a->length, b->length);
        assert_memory_equal(a->ids, b->ids, sizeof a->ids);
        if (options->scores || options->beam > 1) assert_memory_equal(&a->score, &b->score, sizeof a->score);
    }
}

/* Wrong coarse logits, and a bound that knows; or logits that are not numbers, of which no bound can know. */
static void confuse(ferry_logit_bound *bound, bool numbers)
{
    static float bias[VOCAB];
    for (int32_t v = 0; v < VOCAB; v++) bias[v] = !numbers && v % 3 == 0 ? NAN : (float)(v % 7) * 100;
    bound->coarse.matrix.bias = bias;
    if (numbers) bound->coarse.norm = 1e6f;
}

/* Alone a row's logits are one part, among many others several; with helpers a product is several pieces; a bound can
 * tell, or cannot. */
static void check_parts_and_neighbors(const ferry_model *model, int32_t beam, bool shortlist)
{
    enum { NONE, TELLS, DOES_NOT_TELL, NO_NUMBERS };
    static const struct {
        bool skip_scores;
        int32_t width, tokens, threads, bound;
    } cases[] = {{false, 60, 10000, 1, TELLS}, {true, 60, 10000, 2, NONE},    {true, 60, 10000, 1, TELLS},
                 {true, 1, 1, 1, NONE},        {true, 1, 1, 3, TELLS},        {true, 48, 200, 1, DOES_NOT_TELL},
                 {true, 48, 200, 4, TELLS},    {true, 48, 200, 1, NONE},      {false, 7, 1, 1, NONE},
                 {false, 1, 1, 2, NONE},       {true, 48, 200, 1, NO_NUMBERS}};
    job *expected = make_job(model, beam, false, shortlist);
    ferry_generator generator;
    ferry_generator_init(&generator, &model->file.transformer, model->kernels);
    generate(&generator, expected, 1, 10000);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        job *j = make_job(model, beam, cases[c].skip_scores, shortlist);
        ferry_logit_bound bound = make_bound(model);
        if (cases[c].bound != NONE) j->bound = &bound;
        if (cases[c].bound >= DOES_NOT_TELL) confuse(&bound, cases[c].bound == DOES_NOT_TELL);
        generator.state.context.pool = make_pool(cases[c].threads);
        generate(&generator, j, cases[c].width, cases[c].tokens);
        ferry_pool_destroy(generator.state.context.pool);
        check_same(j, expected);
        ferry_logit_bound_destroy(&bound);
    }
    ferry_generator_destroy(&generator);
}

TEST(test_allocations_parts_and_neighbors)
{
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        ferry_model *model = open_model(types[t]);
        for (int shortlist = 0; shortlist < 2; shortlist++) {
            check_no_allocation(model, 1, true, shortlist != 0, 1);
            check_no_allocation(model, 1, false, shortlist != 0, 2);
            check_no_allocation(model, MOST_BEAM, true, shortlist != 0, 1 + shortlist);
            check_parts_and_neighbors(model, 1, shortlist != 0);
            check_parts_and_neighbors(model, MOST_BEAM, shortlist != 0);
        }
        ferry_model_close(model);
    }
}

static ferry_translator *make_translator(const ferry_model *model, int32_t beam, int32_t threads, bool scores)
{
    ferry_options options = default_options(model);
    options.beam = beam;
    options.threads = threads;
    options.scores = scores;
    options.shortlist = 0;
    options.max_length = MAX_LENGTH;
    ferry_translator *translator = new_translator(model, &options);
    return translator;
}

/* A translator's only sentence has all its threads. Without scores the ids are the same, by shorter ways. */
TEST(test_one_sentence_on_many_threads)
{
    for (size_t t = 0; t < 2 * sizeof types / sizeof *types; t++) {
        ferry_model *model = open_model(types[t / 2]);
        ferry_translator *translators[4];
        for (int32_t i = 0; i < 4; i++)
            translators[i] = make_translator(model, t % 2 == 0 ? 1 : MOST_BEAM, 1 + i, i % 2 == 0);
        for (int32_t s = 0; s < SENTENCES; s += 7) {
            const int32_t offsets[] = {0, 1 + s * 11 % LONGEST};
            ferry_result *results[4];
            for (int32_t i = 0; i < 4; i++) {
                CHECK(ferry_inspect_generate(translators[i], source_ids[s], offsets, 1, &results[i], &error));
                const size_t length = ferry_result_token_count(results[0], 0, 0);
                const float scores[] = {ferry_result_score(results[0], 0, 0), ferry_result_score(results[i], 0, 0)};
                assert_int_equal(ferry_result_token_count(results[i], 0, 0), length);
                assert_memory_equal(ferry_inspect_result_ids(results[i], 0, 0),
                                    ferry_inspect_result_ids(results[0], 0, 0), length * sizeof(int32_t));
                if (i % 2 == 0) assert_memory_equal(&scores[0], &scores[1], sizeof scores[0]);
            }
            for (int32_t i = 0; i < 4; i++) ferry_result_destroy(results[i]);
        }
        for (int32_t i = 0; i < 4; i++) ferry_translator_destroy(translators[i]);
        ferry_model_close(model);
    }
}
