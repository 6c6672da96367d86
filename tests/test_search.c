/* engine/search: hand numbers for every rule, and a comparison with beam search spelled out over whole arrays. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../engine/search/logits.h"
#include "../engine/search/search.h"

enum { MAX_VOCAB = 16, MAX_BEAM = 6, MAX_TOKENS = 16, MAX_CANDIDATES = 4 * MAX_BEAM };

/* ---- kernels ---- */

static float plain_log_sum_exp(const float *x, int32_t n)
{
    float max = -INFINITY;
    for (int32_t i = 0; i < n; i++) max = fmaxf(max, x[i]);
    float sum = 0;
    for (int32_t i = 0; i < n; i++) sum += expf(x[i] - max);
    return max + logf(sum);
}

/* For tables of log-probabilities that stand for rows with many more, negligible, columns. */
static float no_log_sum_exp(const float *x, int32_t n)
{
    (void)x, (void)n;
    return 0;
}

static int32_t plain_argmax(const float *x, int32_t n)
{
    int32_t best = 0;
    for (int32_t i = 1; i < n; i++) {
        if (x[i] > x[best]) best = i;
    }
    return best;
}

static int32_t plain_top(const float *x, int32_t n, int32_t count, float *values, int32_t *indices)
{
    bool taken[MAX_VOCAB] = {false};
    if (count > n) count = n;
    for (int32_t c = 0; c < count; c++) {
        int32_t best = -1;
        for (int32_t i = 0; i < n; i++) {
            if (!taken[i] && (best < 0 || x[i] > x[best])) best = i;
        }
        taken[best] = true;
        values[c] = x[best];
        indices[c] = best;
    }
    return count;
}

static const ferry_kernels normalizing = {
    .isa = "test", .log_sum_exp = plain_log_sum_exp, .argmax = plain_argmax, .top = plain_top};
static const ferry_kernels as_given = {
    .isa = "test", .log_sum_exp = no_log_sum_exp, .argmax = plain_argmax, .top = plain_top};

/* ---- a network made of numbers ---- */

typedef struct scripted {
    /* The row [vocab] that follows prefix [n], without the start token. */
    void (*row)(const struct scripted *network, const int32_t *prefix, int32_t n, float *row);
    int32_t vocab;
    const ferry_kernels *kernels;
    const float *table; /* for table_row */
    uint64_t seed;      /* for random_row */
    bool coarse;        /* few distinct values, so that many are equal */
    uint32_t columns;   /* shortlist: bit i says that token i has a column; 0: all */
} scripted;

typedef struct outcome {
    int32_t steps;
    int32_t count;
    int32_t length[MAX_BEAM];
    int32_t ids[MAX_BEAM][MAX_TOKENS];
    float score[MAX_BEAM];
} outcome;

/* table [steps, vocab]: what follows n tokens, whichever they are. */
static void table_row(const scripted *network, const int32_t *prefix, int32_t n, float *row)
{
    (void)prefix;
    memcpy(row, network->table + (size_t)n * (size_t)network->vocab, (size_t)network->vocab * sizeof *row);
}

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static void random_row(const scripted *network, const int32_t *prefix, int32_t n, float *row)
{
    uint64_t state = network->seed;
    for (int32_t i = 0; i < n; i++) state = mix(state + (uint64_t)prefix[i] + 1);
    for (int32_t v = 0; v < network->vocab; v++) {
        state = mix(state + 0x9e3779b97f4a7c15u);
        float uniform = (float)(state >> 40) / (float)(1 << 24);
        row[v] = network->coarse ? floorf(uniform * 8) / 2 - 2 : uniform * 6 - 3;
    }
}

static ferry_search_rules plain_rules(int32_t beam, int32_t max_length)
{
    static const int32_t eos[] = {0};
    return (ferry_search_rules){
        .decoding =
            {.beam = beam, .length_penalty = 1, .repetition_penalty = 1, .forced_first_id = -1, .forced_last_id = -1},
        .eos_ids = eos,
        .eos_count = 1,
        .start_id = -7,
        .max_length = max_length,
        .nbest = beam,
    };
}

/* Runs a search as a decoder would: it follows ids and parents, and knows nothing else. */
static outcome run(const ferry_search_rules *rules, const scripted *network)
{
    ferry_arena arena = {0};
    ferry_search *search;
    assert_int_equal(ferry_search_begin(&arena, rules, &search, NULL), FERRY_OK);
    const size_t used = arena.used;

    outcome result = {0};
    int32_t prefixes[MAX_BEAM][MAX_TOKENS] = {0};
    int32_t live = 1;
    while (live > 0) {
        float full[MAX_VOCAB];
        float values[MAX_BEAM][MAX_VOCAB + 3];
        int32_t column_ids[MAX_VOCAB];
        ferry_logits logits = {values[0], MAX_VOCAB + 3, network->columns != 0 ? column_ids : NULL, 0};
        for (int32_t r = 0; r < live; r++) {
            network->row(network, prefixes[r], result.steps, full);
            logits.count = 0;
            for (int32_t v = 0; v < network->vocab; v++) {
                if (network->columns != 0 && (network->columns >> v & 1) == 0) continue;
                column_ids[logits.count] = v;
                values[r][logits.count++] = full[v];
            }
        }
        int32_t ids[MAX_BEAM];
        int32_t parents[MAX_BEAM];
        int32_t next_prefixes[MAX_BEAM][MAX_TOKENS] = {0};
        int32_t next = ferry_search_step(search, network->kernels, &logits, ids, parents);
        assert_in_range(next, 0, rules->decoding.beam);
        for (int32_t r = 0; r < next; r++) {
            assert_in_range(parents[r], 0, live - 1);
            memcpy(next_prefixes[r], prefixes[parents[r]], sizeof next_prefixes[r]);
            next_prefixes[r][result.steps] = ids[r];
        }
        memcpy(prefixes, next_prefixes, sizeof prefixes);
        live = next;
        result.steps++;
        assert_true(result.steps <= rules->max_length);
    }
    assert_int_equal(arena.used, used);
    result.count = ferry_search_count(search);
    for (int32_t i = 0; i < result.count; i++) {
        ferry_hypothesis hypothesis = ferry_search_hypothesis(search, i);
        result.length[i] = hypothesis.length;
        result.score[i] = hypothesis.score;
        memcpy(result.ids[i], hypothesis.ids, (size_t)hypothesis.length * sizeof *hypothesis.ids);
    }
    ferry_arena_destroy(&arena);
    return result;
}

static void check_hypothesis(const outcome *result, int32_t index, int32_t length, const int32_t *ids, double score)
{
    assert_true(index < result->count);
    assert_int_equal(result->length[index], length);
    assert_memory_equal(result->ids[index], ids, (size_t)length * sizeof *ids);
    assert_float_equal(result->score[index], score, 2e-6);
}
#define CHECK(result, index, score, ...)                                                                               \
    check_hypothesis(&(result), index, (int32_t)(sizeof(int32_t[]){__VA_ARGS__} / sizeof(int32_t)),                    \
                     (int32_t[]){__VA_ARGS__}, score)

static scripted table_of(const float *table, int32_t vocab)
{
    return (scripted){.row = table_row, .vocab = vocab, .kernels = &as_given, .table = table};
}

/* ---- beam search by hand ---- */

/* Log-probabilities of (eos, 1, 2, 3); ids 0 = eos. */
static void example_row(const scripted *network, const int32_t *prefix, int32_t n, float *row)
{
    (void)network;
    static const float start[] = {-3.5f, -0.2f, -1.9f, -9}, after_1[] = {-1.2f, -0.9f, -1.3f, -9},
                       after_2[] = {-0.1f, -3, -3.5f, -9}, after_11[] = {-0.3f, -2, -2.5f, -9},
                       after_12[] = {-0.4f, -2, -2.2f, -9}, other[] = {-0.5f, -1.5f, -2, -9};
    const float *source = other;
    if (n == 0) source = start;
    if (n == 1) source = prefix[0] == 1 ? after_1 : prefix[0] == 2 ? after_2 : other;
    if (n == 2 && prefix[0] == 1) source = prefix[1] == 1 ? after_11 : prefix[1] == 2 ? after_12 : other;
    memcpy(row, source, sizeof start);
}
static const scripted example = {.row = example_row, .vocab = 4, .kernels = &as_given};

static void test_example(void **state)
{
    (void)state;
    static const ferry_early_stopping variants[] = {FERRY_EARLY_STOPPING_FALSE, FERRY_EARLY_STOPPING_TRUE,
                                                    FERRY_EARLY_STOPPING_NEVER};
    static const int32_t steps[] = {3, 3, 4};
    for (int i = 0; i < 3; i++) {
        ferry_search_rules rules = plain_rules(2, 7);
        rules.decoding.early_stopping = variants[i];
        outcome result = run(&rules, &example);
        assert_int_equal(result.steps, steps[i]);
        assert_int_equal(result.count, 2);
        CHECK(result, 0, -1.4 / 3, 1, 1, 0);
        CHECK(result, 1, -1.9 / 3, 1, 2, 0);
    }
    ferry_search_rules rules = plain_rules(2, 2);
    outcome result = run(&rules, &example);
    CHECK(result, 0, -0.55, 1, 1);
    CHECK(result, 1, -0.7, 1, 0);
}

static void test_nbest(void **state)
{
    (void)state;
    ferry_search_rules rules = plain_rules(2, 7);
    rules.nbest = 1;
    outcome result = run(&rules, &example);
    assert_int_equal(result.count, 1);
    CHECK(result, 0, -1.4 / 3, 1, 1, 0);
}

/* eos (-0.9) is better than 1 1 eos (-0.5 - 0.5 - 0.05 = -1.05) as a sum and worse as an average. */
static void test_length_penalty(void **state)
{
    (void)state;
    static const float table[] = {-0.9f, -0.5f, -3, -4, -0.5f, -3, -0.05f, -4, -5, -0.05f, -4, -5};
    scripted network = table_of(table, 3);
    ferry_search_rules rules = plain_rules(2, 3);
    rules.decoding.length_penalty = 1;
    outcome average = run(&rules, &network);
    CHECK(average, 0, -1.05 / 3, 1, 1, 0);
    CHECK(average, 1, -0.9, 0);
    rules.decoding.length_penalty = 0;
    outcome sum = run(&rules, &network);
    CHECK(sum, 0, -0.9, 0);
    CHECK(sum, 1, -1.05, 1, 1, 0);
    rules.decoding.length_penalty = -1;
    outcome product = run(&rules, &network);
    CHECK(product, 0, -0.9, 0);
    CHECK(product, 1, -1.05 * 3, 1, 1, 0);
    rules.decoding.length_penalty = 0.5f;
    outcome root = run(&rules, &network);
    CHECK(root, 0, -1.05 / sqrt(3), 1, 1, 0);
    CHECK(root, 1, -0.9, 0);
}

static void test_equal_scores(void **state)
{
    (void)state;
    static const float table[] = {-9, -1, -1, -1, -1, -2, -2, -2};
    scripted network = table_of(table, 4);
    ferry_search_rules rules = plain_rules(3, 2);
    outcome result = run(&rules, &network);
    assert_int_equal(result.steps, 2);
    CHECK(result, 0, -1, 1, 0);
    CHECK(result, 1, -1, 2, 0);
    CHECK(result, 2, -1, 3, 0);
}

/* Tokens 0 and 3 end. After the first token the four best candidates do; of three for each beam two rows go on. */
static void test_several_eos(void **state)
{
    (void)state;
    static const int32_t eos[] = {0, 3};
    static const float table[] = {-1, -3, -3.1f, -1.5f, -5, -0.25f, -0.7f, -2, -0.5f, -5, -3, -0.5f, -9, -9, -1};
    scripted network = table_of(table, 5);
    ferry_search_rules rules = plain_rules(2, 3);
    rules.eos_ids = eos;
    rules.eos_count = 2;
    rules.decoding.early_stopping = FERRY_EARLY_STOPPING_NEVER;
    outcome result = run(&rules, &network);
    assert_int_equal(result.steps, 3);
    CHECK(result, 0, -1, 0);
    CHECK(result, 1, -4.2 / 3, 1, 1, 1);
    rules.decoding.early_stopping = FERRY_EARLY_STOPPING_TRUE;
    result = run(&rules, &network);
    assert_int_equal(result.steps, 1);
    CHECK(result, 0, -1, 0);
    CHECK(result, 1, -1.5, 3);
    rules.decoding.min_length = 1; /* neither may end */
    result = run(&rules, &network);
    assert_int_equal(result.steps, 2);
    CHECK(result, 0, -3.25 / 2, 1, 0);
    CHECK(result, 1, -3.35 / 2, 2, 0);
}

/* An eos of rank k or lower is neither finished nor continued: 3 (-1.5), third best after 0 and 1. */
static void test_low_ranked_eos_is_lost(void **state)
{
    (void)state;
    static const int32_t eos[] = {0, 3};
    static const float table[] = {-1, -1.2f, -2, -1.5f, -0.5f, -3, -4, -9};
    scripted network = table_of(table, 4);
    ferry_search_rules rules = plain_rules(2, 2);
    rules.eos_ids = eos;
    rules.eos_count = 2;
    rules.decoding.length_penalty = 0;
    outcome result = run(&rules, &network);
    assert_int_equal(result.steps, 2);
    CHECK(result, 0, -1, 0);
    CHECK(result, 1, -1.7, 1, 0);
}

static void test_max_length_1(void **state)
{
    (void)state;
    static const float table[] = {-2, -1, -3, -0.5f};
    scripted network = table_of(table, 4);
    ferry_search_rules rules = plain_rules(2, 1);
    outcome beams = run(&rules, &network);
    assert_int_equal(beams.steps, 1);
    CHECK(beams, 0, -0.5, 3);
    CHECK(beams, 1, -1, 1);
    rules = plain_rules(1, 1);
    outcome greedy = run(&rules, &network);
    assert_int_equal(greedy.steps, 1);
    CHECK(greedy, 0, -0.5, 3);
}

/* Two tokens and five beams: the hypotheses that exist, and none twice. */
static void test_tiny_vocabulary(void **state)
{
    (void)state;
    static const float table[] = {-1, -0.5f, -1, -0.5f, -1, -0.5f};
    scripted network = table_of(table, 2);
    ferry_search_rules rules = plain_rules(5, 1);
    outcome result = run(&rules, &network);
    assert_int_equal(result.count, 2);
    CHECK(result, 0, -0.5, 1);
    CHECK(result, 1, -1, 0);
    rules.max_length = 3;
    rules.decoding.length_penalty = 0;
    result = run(&rules, &network);
    assert_int_equal(result.count, 4);
    CHECK(result, 0, -1, 0);
    CHECK(result, 1, -1.5, 1, 0);
    CHECK(result, 2, -1.5, 1, 1, 1);
    CHECK(result, 3, -2, 1, 1, 0);
}

/* Where nothing may follow, rows end as they are. */
static void test_everything_masked(void **state)
{
    (void)state;
    static const float table[] = {-1, -0.5f, -2, -1, -0.5f, -2, -1, -0.5f, -2, -1, -0.5f, -2};
    scripted network = table_of(table, 3);
    for (int32_t beam = 1; beam <= 2; beam++) {
        ferry_search_rules rules = plain_rules(beam, 4);
        rules.decoding.no_repeat_ngram = 1;
        rules.decoding.min_length = 4;
        outcome result = run(&rules, &network);
        assert_int_equal(result.steps, 3);
        CHECK(result, 0, -2.5 / 2, 1, 2);
        static const int32_t all[] = {0, 1, 2};
        rules.decoding.suppressed_ids = all;
        rules.decoding.suppressed_count = 3;
        result = run(&rules, &network);
        assert_int_equal(result.count, 1);
        assert_int_equal(result.length[0], 0);
        assert_float_equal(result.score[0], 0, 0);
    }
}

/* ---- rules ---- */

static void test_logits_columns(void **state)
{
    (void)state;
    static const int32_t ids[] = {2, 5, 9};
    ferry_logits shortlist = {NULL, 3, ids, 3};
    ferry_logits all = {NULL, 3, NULL, 3};
    assert_int_equal(ferry_logits_column(&shortlist, 2), 0);
    assert_int_equal(ferry_logits_column(&shortlist, 9), 2);
    assert_int_equal(ferry_logits_column(&shortlist, 4), -1);
    assert_int_equal(ferry_logits_column(&shortlist, 10), -1);
    assert_int_equal(ferry_logits_id(&shortlist, 1), 5);
    assert_int_equal(ferry_logits_column(&all, 2), 2);
    assert_int_equal(ferry_logits_column(&all, 3), -1);
    assert_int_equal(ferry_logits_column(&all, -1), -1);
    assert_int_equal(ferry_logits_id(&all, 1), 1);
}

static void test_penalize(void **state)
{
    (void)state;
    float row[] = {-1.5f, 3, 0, -2, 4};
    float before[4];
    ferry_logits logits = {row, 5, NULL, 5};
    ferry_logits_penalize(&logits, row, 2, (int32_t[]){0, 1, 99, 1}, 4, before);
    const float expected[] = {-3, 1.5f, 0, -2, 4};
    assert_memory_equal(row, expected, sizeof row);
    const float expected_before[] = {-1.5f, 3, 0, 3};
    assert_memory_equal(before, expected_before, sizeof before);
}

/* Which of the 8 columns are masked, as bits. */
static unsigned masked(const ferry_decoding *decoding, const int32_t *ids, int32_t length)
{
    float row[8] = {0};
    ferry_logits logits = {row, 8, NULL, 8};
    ferry_logits_mask(&logits, row, decoding, (int32_t[]){0, 7}, 2, ids, length);
    unsigned bits = 0;
    for (unsigned i = 0; i < 8; i++) {
        if (row[i] == -INFINITY) bits |= 1u << i;
    }
    return bits;
}

static void test_mask(void **state)
{
    (void)state;
    const int32_t ids[] = {4, 1, 2, 3, 1, 2, 5, 4, 1, 2};
    assert_int_equal(masked(&(ferry_decoding){.no_repeat_ngram = 1}, ids, 10), 0x3e);
    assert_int_equal(masked(&(ferry_decoding){.no_repeat_ngram = 2}, ids, 10), 1 << 3 | 1 << 5);
    assert_int_equal(masked(&(ferry_decoding){.no_repeat_ngram = 3}, ids, 10), 1 << 3 | 1 << 5);
    assert_int_equal(masked(&(ferry_decoding){.no_repeat_ngram = 4}, ids, 10), 1 << 3);
    assert_int_equal(masked(&(ferry_decoding){.no_repeat_ngram = 1}, ids, 1), 1 << 4); /* the start token counts */
    assert_int_equal(masked(&(ferry_decoding){.no_repeat_ngram = 2}, ids, 1), 0);
    assert_int_equal(masked(&(ferry_decoding){.no_repeat_ngram = 3}, ids, 2), 0);
    assert_int_equal(masked(&(ferry_decoding){.no_repeat_ngram = 2}, (int32_t[]){6, 6}, 2), 1 << 6);

    const int32_t suppressed[] = {5, 100, -1};
    ferry_decoding suppress = {.suppressed_ids = suppressed, .suppressed_count = 3};
    assert_int_equal(masked(&suppress, ids, 10), 1 << 5);

    ferry_decoding minimum = {.min_length = 3};
    assert_int_equal(masked(&minimum, ids, 3), 1 << 0 | 1 << 7); /* two tokens generated */
    assert_int_equal(masked(&minimum, ids, 4), 0);
}

static void test_forced(void **state)
{
    (void)state;
    static const float table[] = {-1, -2, -3, -9, -4, -0.5f, -1, -9, -2, -1, -1.5f, -9};
    scripted network = table_of(table, 4);
    for (int32_t beam = 1; beam <= 2; beam++) {
        ferry_search_rules rules = plain_rules(beam, 3);
        rules.decoding.forced_first_id = 3;
        rules.decoding.forced_last_id = 0;
        rules.decoding.min_length = 3; /* a forced token overrides the masks */
        outcome result = run(&rules, &network);
        CHECK(result, 0, -0.5 / 3, 3, 1, 0);
        if (beam == 2) CHECK(result, 1, -1.0 / 3, 3, 2, 0);
        rules.max_length = 1; /* the last rule wins */
        result = run(&rules, &network);
        assert_int_equal(result.count, 1);
        CHECK(result, 0, 0, 0);
        rules.decoding.forced_last_id = -1;
        result = run(&rules, &network);
        CHECK(result, 0, 0, 3);
    }
}

/* A token without a column can be forced. */
static void test_forced_outside_shortlist(void **state)
{
    (void)state;
    static const float table[] = {-1, -2, -3, -9, -0.5f, -1, -1.5f, -9};
    scripted network = table_of(table, 4);
    network.columns = 1 << 0 | 1 << 2;
    ferry_search_rules rules = plain_rules(2, 2);
    rules.decoding.forced_first_id = 3;
    outcome result = run(&rules, &network);
    CHECK(result, 0, -0.25, 3, 0);
    CHECK(result, 1, -0.75, 3, 2);
}

static void test_min_length(void **state)
{
    (void)state;
    static const float table[] = {-0.1f, -2, -3, -0.1f, -2, -3, -0.1f, -2, -3, -0.1f, -2, -3};
    scripted network = table_of(table, 3);
    for (int32_t beam = 1; beam <= 2; beam++) {
        ferry_search_rules rules = plain_rules(beam, 4);
        rules.decoding.min_length = 2;
        rules.decoding.length_penalty = 0;
        outcome result = run(&rules, &network);
        CHECK(result, 0, -4.1, 1, 1, 0);
    }
}

/* Log-probabilities keep the share of suppressed tokens unless they are renormalised. Probabilities ½, ¼, ⅛, ⅛. */
static void test_suppressed_share(void **state)
{
    (void)state;
    static const float table[] = {3, 2, 1, 1};
    static float logits[4];
    for (int i = 0; i < 4; i++) logits[i] = table[i] * logf(2) + 5;
    static const int32_t suppressed[] = {0};
    scripted network = table_of(logits, 4);
    network.kernels = &normalizing;
    for (int32_t beam = 1; beam <= 2; beam++) {
        ferry_search_rules rules = plain_rules(beam, 1);
        rules.decoding.suppressed_ids = suppressed;
        rules.decoding.suppressed_count = 1;
        outcome result = run(&rules, &network);
        CHECK(result, 0, log(0.25), 1);
        if (beam == 2) CHECK(result, 1, log(0.125), 2);
        rules.decoding.renormalize = true;
        result = run(&rules, &network);
        CHECK(result, 0, log(0.5), 1);
        if (beam == 2) CHECK(result, 1, log(0.25), 2);
    }
}

/* Start token 3 has been seen. Greedy search halves its positive logit; beam search doubles its log-probability,
 * which is negative whatever the logit. Probabilities: ¼, ⅛, ⅛, ½. */
static void test_repetition_penalty(void **state)
{
    (void)state;
    static float logits[4];
    static const float shift = 1.5f;
    for (int i = 0; i < 4; i++) logits[i] = (float[]){2, 1, 1, 3}[i] * logf(2) + shift;
    scripted network = table_of(logits, 4);
    network.kernels = &normalizing;

    ferry_search_rules rules = plain_rules(1, 1);
    rules.start_id = 3;
    rules.decoding.repetition_penalty = 2;
    outcome greedy = run(&rules, &network); /* 3 ln 2 + 1.5 → 1.79 < 2 ln 2 + 1.5 = 2.89 */
    CHECK(greedy, 0, log(0.25), 0);
    rules.decoding.repetition_penalty = 1.2f; /* 2.98 > 2.89: chosen, and scored as the network saw it */
    greedy = run(&rules, &network);
    CHECK(greedy, 0, log(0.5), 3);
    rules.decoding.renormalize = true;
    greedy = run(&rules, &network);
    double changed = (3 * log(2) + 1.5) / 1.2;
    CHECK(greedy, 0, changed - log(exp(changed) + 8 * exp(1.5)), 3);

    rules = plain_rules(4, 1);
    rules.start_id = 3;
    rules.decoding.repetition_penalty = 1.5f;
    outcome beams = run(&rules, &network); /* ln ½ · 1.5 = -1.04 > ln ¼ */
    CHECK(beams, 0, 1.5 * log(0.5), 3);
    CHECK(beams, 1, log(0.25), 0);
    rules.decoding.repetition_penalty = 4; /* ln ½ · 4 = -2.77 */
    beams = run(&rules, &network);
    CHECK(beams, 0, log(0.25), 0);
    CHECK(beams, 1, log(0.125), 1);
    CHECK(beams, 2, log(0.125), 2);
    CHECK(beams, 3, 4 * log(0.5), 3);
    rules.decoding.renormalize = true; /* ¼ + ⅛ + ⅛ + 1/16 = 9/16 */
    beams = run(&rules, &network);
    CHECK(beams, 0, log(4.0 / 9), 0);
    CHECK(beams, 3, log(1.0 / 9), 3);
}

static void test_greedy(void **state)
{
    (void)state;
    static const float table[] = {-2, -1, -1, -2, -1, -0.25f, -0.5f, -1, -1, -9, -9, -9};
    scripted network = table_of(table, 4);
    ferry_search_rules rules = plain_rules(1, 3);
    outcome result = run(&rules, &network); /* lowest id among equals; eos ends */
    assert_int_equal(result.count, 1);
    assert_int_equal(result.steps, 3);
    CHECK(result, 0, -2.25 / 3, 1, 1, 0);
    rules.max_length = 2;
    result = run(&rules, &network);
    CHECK(result, 0, -1.25 / 2, 1, 1);
}

static void test_begin_errors(void **state)
{
    (void)state;
    ferry_arena arena = {0};
    ferry_error error;
    ferry_search *search;
    ferry_search_rules rules = plain_rules(INT32_MAX / 2 + 1, 10);
    assert_int_equal(ferry_search_begin(&arena, &rules, &search, &error), FERRY_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "beam"));
    assert_null(search);
    rules = plain_rules(INT32_MAX / 2, INT32_MAX);
    assert_int_equal(ferry_search_begin(&arena, &rules, &search, &error), FERRY_ERROR_MEMORY);
    assert_null(search);
    ferry_arena_destroy(&arena);
}

/* ---- comparison with the definition ---- */

static bool contains(const int32_t *ids, int32_t count, int32_t id)
{
    for (int32_t i = 0; i < count; i++) {
        if (ids[i] == id) return true;
    }
    return false;
}

/* Whether the last g tokens of ids [length] with `id` behind occur in ids. */
static bool repeats(const int32_t *ids, int32_t length, int32_t g, int32_t id)
{
    if (g == 0 || length + 1 < g) return false;
    int32_t extended[MAX_TOKENS];
    memcpy(extended, ids, (size_t)length * sizeof *ids);
    extended[length] = id;
    for (int32_t i = 0; i + g <= length; i++) {
        if (memcmp(ids + i, extended + length + 1 - g, (size_t)g * sizeof *ids) == 0) return true;
    }
    return false;
}

static void log_softmax(float *row, int32_t vocab)
{
    const float max = row[plain_argmax(row, vocab)];
    if (max == -INFINITY) return;
    const float log_sum = plain_log_sum_exp(row, vocab);
    for (int32_t v = 0; v < vocab; v++) row[v] -= log_sum;
}

/* Processors in their order on row [vocab] behind ids [cur], which begin with the start token. */
static void process(const ferry_search_rules *rules, int32_t vocab, const int32_t *ids, int32_t cur, float *row)
{
    const ferry_decoding *decoding = &rules->decoding;
    int32_t forced = cur == 1 ? decoding->forced_first_id : -1;
    if (cur == rules->max_length && decoding->forced_last_id >= 0) forced = decoding->forced_last_id;
    for (int32_t v = 0; v < vocab; v++) {
        float penalty = decoding->repetition_penalty;
        if (contains(ids, cur, v)) row[v] = row[v] < 0 ? row[v] * penalty : row[v] / penalty;
        if (repeats(ids, cur, decoding->no_repeat_ngram, v)) row[v] = -INFINITY;
        if (contains(decoding->suppressed_ids, decoding->suppressed_count, v)) row[v] = -INFINITY;
        if (contains(rules->eos_ids, rules->eos_count, v) && cur - 1 < decoding->min_length) row[v] = -INFINITY;
        if (forced >= 0) row[v] = v == forced ? 0 : -INFINITY;
    }
    if (decoding->renormalize) log_softmax(row, vocab);
}

static void network_row(const scripted *network, const int32_t *ids, int32_t cur, float *row)
{
    network->row(network, ids + 1, cur - 1, row);
    for (int32_t v = 0; v < network->vocab; v++) {
        if (network->columns != 0 && (network->columns >> v & 1) == 0) row[v] = -INFINITY;
    }
}

static float power(int32_t n, float exponent)
{
    return (float)pow(n, exponent);
}

typedef struct reference_row {
    float sum;
    bool finished;
    int32_t n; /* without the start token */
    int32_t ids[MAX_TOKENS];
} reference_row;

/* Stable selection of the best `keep` of rows [count]. */
static void keep_best(reference_row *rows, int32_t count, int32_t keep, reference_row *kept)
{
    bool taken[MAX_BEAM + MAX_CANDIDATES] = {false};
    for (int32_t k = 0; k < keep; k++) {
        int32_t best = -1;
        for (int32_t i = 0; i < count; i++) {
            if (!taken[i] && (best < 0 || rows[i].sum > rows[best].sum)) best = i;
        }
        taken[best] = true;
        kept[k] = rows[best];
    }
}

/* The best K of all k·V sums, in descending order; equal ones by row, then id. */
static int32_t reference_candidates(const ferry_search_rules *rules, const scripted *network, int32_t cur,
                                    const reference_row *running, reference_row *candidates)
{
    const int32_t beam = rules->decoding.beam;
    const int32_t vocab = network->vocab;
    static float sums[MAX_BEAM * MAX_VOCAB];
    for (int32_t b = 0; b < beam; b++) {
        float *row = sums + b * vocab;
        network_row(network, running[b].ids, cur, row);
        log_softmax(row, vocab);
        process(rules, vocab, running[b].ids, cur, row);
        for (int32_t v = 0; v < vocab; v++) row[v] += running[b].sum;
    }
    int32_t limit = beam * (rules->eos_count > 1 ? 1 + rules->eos_count : 2);
    if (limit > beam * vocab) limit = beam * vocab;
    bool taken[MAX_BEAM * MAX_VOCAB] = {false};
    for (int32_t c = 0; c < limit; c++) {
        int32_t best = -1;
        for (int32_t i = 0; i < beam * vocab; i++) {
            if (!taken[i] && (best < 0 || sums[i] > sums[best])) best = i;
        }
        taken[best] = true;
        candidates[c] = running[best / vocab];
        candidates[c].sum = sums[best];
        candidates[c].ids[cur] = best % vocab;
        candidates[c].n = cur;
    }
    return limit;
}

/* Beam search over whole arrays. `phantoms`: with the rows of sum -1e9 that fill empty places, as Hugging Face has
 * them; returns whether one of them became a hypothesis. Without: they are dropped. */
static bool reference_beam(const ferry_search_rules *rules, const scripted *network, bool phantoms, outcome *result)
{
    const ferry_decoding *decoding = &rules->decoding;
    const int32_t k = decoding->beam;
    const float empty = -1e9f;
    const float dead = phantoms ? empty : -INFINITY;
    bool phantom_finished = false;
    reference_row running[MAX_BEAM];
    reference_row merged[MAX_BEAM + MAX_CANDIDATES];
    reference_row finished[MAX_BEAM];
    for (int32_t b = 0; b < k; b++) {
        running[b] = (reference_row){.sum = b == 0 ? 0 : dead, .ids = {rules->start_id}};
        finished[b] = (reference_row){.sum = empty};
    }
    for (int32_t n = 1;; n++) {
        result->steps = n;
        reference_row c[MAX_CANDIDATES] = {0};
        const int32_t count = reference_candidates(rules, network, n, running, c);
        bool hit[MAX_CANDIDATES];
        bool all_hit = true;
        memcpy(merged, finished, sizeof finished);
        int32_t merged_count = k;
        if (c[0].sum == -INFINITY && !finished[0].finished && !phantoms) {
            for (int32_t b = 0; b < k; b++) {
                if (running[b].sum == -INFINITY) continue;
                merged[merged_count] = running[b];
                merged[merged_count].finished = true;
                merged[merged_count++].sum /= n > 1 ? power(n - 1, decoding->length_penalty) : 1;
            }
            keep_best(merged, merged_count, k, finished);
            break;
        }
        for (int32_t i = 0; i < count; i++) {
            hit[i] = contains(rules->eos_ids, rules->eos_count, c[i].ids[n]) || n == rules->max_length;
            if (i < k && hit[i]) {
                merged[merged_count] = c[i];
                merged[merged_count].finished = true;
                merged[merged_count++].sum /= power(n, decoding->length_penalty);
            }
            if (hit[i]) c[i].sum = phantoms ? c[i].sum - 1e9f : -INFINITY;
            if (!hit[i] && (phantoms || c[i].sum > -INFINITY)) all_hit = false;
        }
        keep_best(c, count, k, running);
        keep_best(merged, merged_count, k, finished);

        bool full = true;
        for (int32_t i = 0; i < k; i++) {
            if (!finished[i].finished) full = false;
            if (finished[i].finished && finished[i].sum < -1e7f) phantom_finished = true;
        }
        bool to_the_end = decoding->early_stopping == FERRY_EARLY_STOPPING_NEVER && decoding->length_penalty > 0;
        float best = running[0].sum / power(to_the_end ? rules->max_length : n, decoding->length_penalty);
        bool open = best > (full ? finished[k - 1].sum : -1e9f);
        if (!open || (decoding->early_stopping == FERRY_EARLY_STOPPING_TRUE && full) || all_hit) break;
    }
    result->count = 0;
    for (int32_t i = 0; i < k && finished[i].finished; i++) {
        result->length[i] = finished[i].n;
        result->score[i] = finished[i].sum;
        memcpy(result->ids[i], finished[i].ids + 1, (size_t)finished[i].n * sizeof(int32_t));
        result->count++;
    }
    return phantom_finished || result->count == 0;
}

static void reference_greedy(const ferry_search_rules *rules, const scripted *network, outcome *result)
{
    int32_t ids[MAX_TOKENS] = {rules->start_id};
    float sum = 0;
    int32_t cur = 1;
    for (bool done = false; !done;) {
        float raw[MAX_VOCAB];
        float row[MAX_VOCAB];
        network_row(network, ids, cur, raw);
        memcpy(row, raw, sizeof row);
        process(rules, network->vocab, ids, cur, row);
        log_softmax(raw, network->vocab);
        result->steps = cur;
        int32_t id = plain_argmax(row, network->vocab);
        if (row[id] == -INFINITY) break;
        bool forced = (cur == 1 && rules->decoding.forced_first_id >= 0) ||
                      (cur == rules->max_length && rules->decoding.forced_last_id >= 0);
        sum += rules->decoding.renormalize || forced ? row[id] : raw[id];
        ids[cur++] = id;
        done = contains(rules->eos_ids, rules->eos_count, id) || cur - 1 == rules->max_length;
    }
    result->count = 1;
    result->length[0] = cur - 1;
    result->score[0] = cur > 1 ? sum / power(cur - 1, rules->decoding.length_penalty) : 0;
    memcpy(result->ids[0], ids + 1, (size_t)(cur - 1) * sizeof *ids);
}

static uint64_t random_state;
static int32_t random_below(int32_t n)
{
    random_state = mix(random_state + 0x9e3779b97f4a7c15u);
    return (int32_t)(random_state % (uint64_t)n);
}

static void compare(const outcome *a, const outcome *b)
{
    assert_int_equal(a->count, b->count);
    for (int32_t i = 0; i < a->count; i++) {
        assert_int_equal(a->length[i], b->length[i]);
        assert_memory_equal(a->ids[i], b->ids[i], (size_t)a->length[i] * sizeof a->ids[i][0]);
        assert_float_equal(a->score[i], b->score[i], 2e-6 * (1 + fabsf(a->score[i])));
    }
}

static void test_against_definition(void **state)
{
    (void)state;
    static const float penalties[] = {-1, -0.5f, 0, 0.6f, 1, 1, 2};
    static const float repetition[] = {1, 1, 1, 1.3f, 0.8f};
    enum { MODELS = 6000 };
    int32_t with_phantoms = 0;
    int32_t several = 0;
    for (int32_t i = 0; i < MODELS; i++) {
        random_state = (uint64_t)i * 1000003;
        scripted network = {.row = random_row, .vocab = 5 + random_below(8), .kernels = &normalizing};
        network.seed = mix((uint64_t)i + 77);
        const int32_t vocab = network.vocab;
        if (random_below(4) == 0) network.columns = 3u | (uint32_t)random_below(1 << vocab);
        int32_t eos[2] = {random_below(vocab), 0};
        eos[1] = (eos[0] + 1 + random_below(vocab - 1)) % vocab;
        const int32_t suppressed[2] = {random_below(vocab), random_below(vocab)};
        ferry_search_rules rules = plain_rules(1 + random_below(5), 1 + random_below(8));
        rules.eos_ids = eos;
        rules.eos_count = 1 + random_below(2);
        rules.start_id = random_below(vocab);
        ferry_decoding *decoding = &rules.decoding;
        decoding->length_penalty = penalties[random_below(7)];
        decoding->early_stopping = (ferry_early_stopping)random_below(3);
        decoding->repetition_penalty = repetition[random_below(5)];
        decoding->renormalize = random_below(2) == 0;
        /* The definition takes a second log-softmax where the search takes one of the masked logits. Sums that are
         * equal in exact arithmetic may then differ in their last bit: equal ones are left to the other models. */
        network.coarse = random_below(2) == 0 && (!decoding->renormalize || decoding->repetition_penalty != 1);
        decoding->suppressed_ids = suppressed;
        decoding->suppressed_count = random_below(3);
        if (random_below(3) == 0) decoding->no_repeat_ngram = random_below(4);
        if (random_below(3) == 0) decoding->min_length = random_below(4);
        if (random_below(4) == 0 && network.columns == 0) decoding->forced_first_id = random_below(vocab);
        if (random_below(4) == 0 && network.columns == 0) decoding->forced_last_id = eos[0];

        outcome expected = {0};
        outcome found = run(&rules, &network);
        if (decoding->beam == 1) {
            reference_greedy(&rules, &network, &expected);
            compare(&found, &expected);
            continue;
        }
        reference_beam(&rules, &network, false, &expected);
        compare(&found, &expected);
        assert_int_equal(found.steps, expected.steps);
        if (reference_beam(&rules, &network, true, &expected)) {
            with_phantoms++;
        } else {
            compare(&found, &expected);
        }
        if (found.count > 1) several++;
    }
    /* The comparison means something only if most models are ordinary ones. */
    assert_true(with_phantoms < MODELS / 8);
    assert_true(several > MODELS / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_example),
        cmocka_unit_test(test_nbest),
        cmocka_unit_test(test_length_penalty),
        cmocka_unit_test(test_equal_scores),
        cmocka_unit_test(test_several_eos),
        cmocka_unit_test(test_low_ranked_eos_is_lost),
        cmocka_unit_test(test_max_length_1),
        cmocka_unit_test(test_tiny_vocabulary),
        cmocka_unit_test(test_everything_masked),
        cmocka_unit_test(test_logits_columns),
        cmocka_unit_test(test_penalize),
        cmocka_unit_test(test_mask),
        cmocka_unit_test(test_forced),
        cmocka_unit_test(test_forced_outside_shortlist),
        cmocka_unit_test(test_min_length),
        cmocka_unit_test(test_suppressed_share),
        cmocka_unit_test(test_repetition_penalty),
        cmocka_unit_test(test_greedy),
        cmocka_unit_test(test_begin_errors),
        cmocka_unit_test(test_against_definition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
