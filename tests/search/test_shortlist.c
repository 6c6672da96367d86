/* Lexical shortlists: which words a sentence may become, and generation restricted to them. */
#include "engine/lines/model.h"
#include "engine/search/decoding.h"
#include "engine/search/output_columns.h"
#include "tests/support/files.h"
#include "tests/support/jobs.h"
#include "tests/support/random.h"

/* ---- the words ---- */

enum { MAX_WORDS = 512, MAX_SOURCE = 24 };

static uint32_t random_state = 1;
static int32_t random_below(int32_t n)
{
    return (int32_t)(next_random(&random_state) % (uint32_t)n);
}

/* With the first `prefix_count` of `source` as what the translation has to begin with. */
static int32_t words_of(const ferry_shortlist *shortlist, int32_t vocab, const int32_t *source, int32_t length,
                        int32_t prefix_count, int32_t *words)
{
    ferry_arena arena = {0};
    const int32_t *found;
    int32_t count;
    CHECK(
        ferry_shortlist_words(shortlist, vocab, source, length, source, prefix_count, &arena, &found, &count, &error));
    assert_in_range(count, 1, vocab);
    memcpy(words, found, (size_t)count * sizeof *words);
    ferry_arena_destroy(&arena);
    return count;
}

/* The definition, over an array of marks. */
static int32_t naive_words(const ferry_shortlist *shortlist, int32_t vocab, const int32_t *source, int32_t length,
                           int32_t prefix_count, int32_t *words)
{
    bool in[MAX_WORDS] = {false};
    int32_t count = 0;
    for (int32_t v = 0; v < vocab; v++) {
        in[v] = v < shortlist->first;
        for (int32_t s = 0; s < length; s++) {
            if ((shortlist->shared || s < prefix_count) && source[s] == v) in[v] = true;
            for (uint32_t i = shortlist->offsets[source[s]]; i < shortlist->offsets[source[s] + 1]; i++)
                if (shortlist->ids[i] == v) in[v] = true;
        }
        count += in[v];
    }
    for (int32_t v = shortlist->first; v < vocab && (count == 0 || count % 8 != 0); v++) {
        count += !in[v];
        in[v] = true;
    }
    int32_t written = 0;
    for (int32_t v = 0; v < vocab; v++)
        if (in[v]) words[written++] = v;
    return count;
}

/* A random shortlist of `vocab` source and target words, lists ascending without repetitions. */
typedef struct random_shortlist {
    ferry_shortlist shortlist;
    uint32_t offsets[MAX_WORDS + 1];
    int32_t ids[8 * MAX_WORDS];
} random_shortlist;

static void make_shortlist(random_shortlist *made, int32_t vocab, int32_t first, bool shared)
{
    uint32_t count = 0;
    for (int32_t s = 0; s < vocab; s++) {
        made->offsets[s] = count;
        int32_t id = random_below(vocab);
        for (int32_t i = random_below(8); i > 0 && id < vocab; i--, id += 1 + random_below(vocab / 4))
            made->ids[count++] = id;
    }
    made->offsets[vocab] = count;
    made->shortlist = (ferry_shortlist){.first = first, .shared = shared, .offsets = made->offsets, .ids = made->ids};
}

TEST(test_against_definition)
{
    static random_shortlist made;
    for (int32_t i = 0; i < 2000; i++) {
        const int32_t vocab = 8 + random_below(i % 5 == 0 ? 20 : MAX_WORDS - 8), length = 1 + random_below(i % 7 + 1);
        const int32_t prefix_count = random_below(length + 1);
        const int32_t most_first = i % 2 == 0 && vocab > 10 ? 10 : vocab;
        make_shortlist(&made, vocab, i % 4 == 0 ? 0 : 1 + random_below(most_first), i % 3 == 0);
        int32_t source[MAX_SOURCE], words[MAX_WORDS], expected[MAX_WORDS];
        for (int32_t s = 0; s < length; s++) source[s] = random_below(vocab);
        const int32_t count = words_of(&made.shortlist, vocab, source, length, prefix_count, words);
        assert_int_equal(count, naive_words(&made.shortlist, vocab, source, length, prefix_count, expected));
        assert_memory_equal(words, expected, (size_t)count * sizeof *words);
        assert_true(count % 8 == 0 || count == vocab);
    }
}

/* ---- generation ---- */

enum { VOCAB = 300, SENTENCES = 9, MAX_LENGTH = 12 };

static job *make_job(const ferry_generation *generation)
{
    job *j = new_job(generation, SENTENCES);
    for (int32_t s = 0; s < SENTENCES; s++) {
        job_sentence *sentence = &j->sentences[s];
        sentence->length = 1 + s * 5 % MAX_SOURCE;
        for (int32_t i = 0; i < sentence->length; i++) sentence->ids[i] = random_below(VOCAB);
        sentence->options.max_length = MAX_LENGTH - s % 3;
        sentence->options.beam = sentence->options.nbest = 1;
        sentence->options.shortlist = s % 3 != 2;
    }
    return j;
}

/* Greedy search with a list, against the logits over all words: its columns, a softmax over them alone. To the byte. */
TEST(test_softmax_over_the_list)
{
    static const ferry_inspect_shape shape = {
        .d_model = 32, .heads = 2, .ffn_width = 64, .encoder_layers = 1, .decoder_layers = 2, .vocab = VOCAB};
    static random_shortlist made;
    ferry_model *model;
    ferry_generator generator;
    CHECK(ferry_inspect_untrained("sinusoidal", &shape, NULL, &model, &error));
    ferry_generation generation = model->file.generation;
    make_shortlist(&made, VOCAB, 4, true);
    generation.shortlist = made.shortlist;
    job *j = make_job(&generation);
    ferry_generator_init(&generator, &model->file.transformer, model->kernels);
    generate_job(&generator, j, 0, SENTENCES, 4, 3 * MAX_SOURCE);
    static float logits[MAX_LENGTH * VOCAB];
    for (int32_t s = 0; s < SENTENCES; s++) {
        const job_sentence *sentence = &j->sentences[s];
        const job_hypothesis *found = &sentence->found[0];
        const int32_t offsets[] = {0, sentence->length}, target_offsets[] = {0, found->length};
        int32_t words[MAX_WORDS], inputs[MAX_LENGTH] = {generation.start_id};
        int32_t count = naive_words(&generation.shortlist, VOCAB, sentence->ids, sentence->length, 0, words);
        for (int32_t v = 0; v < VOCAB && !sentence->options.shortlist; v++) words[v] = v;
        if (!sentence->options.shortlist) count = VOCAB;
        memcpy(inputs + 1, found->ids, (size_t)(found->length - 1) * sizeof *inputs);
        CHECK(ferry_inspect_logits(model, sentence->ids, offsets, 1, inputs, target_offsets, FERRY_INSPECT_STEP_BY_STEP,
                                   logits, &error));
        for (int32_t i = 0; i < found->length; i++) {
            float listed[VOCAB];
            for (int32_t w = 0; w < count; w++) listed[w] = logits[i * VOCAB + words[w]];
            ferry_log_sum total = FERRY_LOG_SUM_ZERO;
            model->kernels->add_exp(&total, listed, count);
            const float expected = logits[i * VOCAB + found->ids[i]] - ferry_log_of_sum(&total);
            assert_memory_equal(&found->token_scores[i], &expected, sizeof expected);
        }
    }
    ferry_generator_destroy(&generator);
    ferry_model_close(model);
}
