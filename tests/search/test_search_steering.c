/* engine/search: alternatives and draws, on numbers computed by hand. */
#include "scripted.h"

static const ferry_policy policies[] = {FERRY_POLICY_HUGGINGFACE, FERRY_POLICY_MARIAN, FERRY_POLICY_CTRANSLATE2};

/* ---- alternatives ---- */

/* (eos, 1, 2, 3): 1 is the likeliest first token, and 2 makes the best translation. */
static void row_of_alternatives(const scripted *network, const int32_t *prefix, int32_t n, float *row)
{
    (void)network;
    static const float start[] = {-0.1f, -1, -1.5f, -4}, after_1[] = {-3, -2, -9, -2.5f},
                       after_2[] = {-0.1f, -5, -6, -7}, after_3[] = {-1, -2, -0.5f, -9};
    const float *rows[] = {start, after_1, after_2, after_3};
    memcpy(row, rows[n > 0 ? prefix[n - 1] : 0], sizeof start);
}

TEST(test_alternatives)
{
    const scripted network = {.row = row_of_alternatives, .vocab = 4, .kernels = &as_given};
    for (int i = 0; i < 3; i++) {
        ferry_search_rules rules = plain_rules(1, 4);
        scripted_search.policy = policies[i];
        rules.options.alternatives = 1;
        rules.options.length_penalty = 0;
        rules.options.nbest = 2;
        EXPECT_ALL(&rules, &network, FOUND(-7, 1, 1, 1, 1), FOUND(-1.6, 2, 0));
        rules.options.nbest = 1;
        EXPECT_ALL(&rules, &network, FOUND(-7, 1, 1, 1, 1));
        rules.options.nbest = 5; /* there are three: an end is none */
        EXPECT_ALL(&rules, &network, FOUND(-7, 1, 1, 1, 1), FOUND(-1.6, 2, 0), FOUND(-4.6, 3, 2, 0));
        rules.options.scores = 0;
        EXPECT_ALL(&rules, &network, FOUND(0, 1, 1, 1, 1), FOUND(0, 2, 0), FOUND(0, 3, 2, 0));
    }
}

TEST(test_alternatives_after_a_prefix)
{
    static const int32_t prefix[] = {3};
    const scripted network = {.row = row_of_alternatives, .vocab = 4, .kernels = &as_given};
    ferry_search_rules rules = plain_rules(1, 4);
    scripted_search.policy = FERRY_POLICY_CTRANSLATE2;
    rules.prefix = prefix;
    rules.prefix_count = 1;
    rules.options.alternatives = 1;
    rules.options.nbest = 2;
    EXPECT_ALL(&rules, &network, FOUND(-0.6 / 3, 3, 2, 0), FOUND(-6.0 / 4, 3, 1, 1, 1));
    scripted_search.forced_last_id = 0; /* the last token of both lanes, or before they branch */
    EXPECT_ALL(&rules, &network, FOUND(-0.6 / 3, 3, 2, 0), FOUND(-4.0 / 4, 3, 1, 1, 0));
    rules.options.max_length = 2;
    EXPECT_ALL(&rules, &network, FOUND(0, 3, 0));
}

/* ---- draws ---- */

static ferry_search_rules drawing_rules(int32_t draws, int32_t max_length)
{
    ferry_search_rules rules = plain_rules(1, max_length);
    rules.options.sample = 1;
    rules.options.nbest = draws;
    rules.options.temperature = rules.options.top_p = 1;
    return rules;
}

/* If only the best can be drawn, every draw is greedy search, and has its score. */
TEST(test_draws_of_the_best)
{
    for (uint64_t seed = 0; seed < 300; seed++) {
        const scripted network = {.row = random_row, .vocab = 7, .kernels = &normalizing, .seed = seed};
        ferry_search_rules rules = plain_rules(1, 9);
        scripted_search.policy = policies[seed % 3];
        rules.options.no_repeat_ngram = (int32_t)(seed % 2) * 2;
        rules.options.repetition_penalty = seed % 5 == 0 ? 1.3f : 1;
        const outcome greedy = run_scripted(&rules, &network);
        rules.options.sample = 1;
        rules.options.nbest = 4;
        rules.options.temperature = 1.5f;
        rules.options.top_p = seed % 4 == 0 ? 1e-3f : 1;
        rules.options.top_k = seed % 4 != 0;
        rules.stream = seed;
        const outcome drawn = run_scripted(&rules, &network);
        assert_int_equal(drawn.count, 4);
        for (int32_t i = 0; i < 4; i++) {
            assert_int_equal(drawn.length[i], greedy.length[0]);
            assert_memory_equal(drawn.ids[i], greedy.ids[0], (size_t)greedy.length[0] * sizeof *greedy.ids[0]);
            assert_true(drawn.score[i] == greedy.score[0]);
        }
    }
}

static void add_two_tokens(const outcome *drawn, int32_t counts[5][5])
{
    for (int32_t i = 0; i < drawn->count; i++) counts[drawn->ids[i][0]][drawn->ids[i][1]]++;
}

/* Pairs of tokens have the frequency of the product of their probabilities; token scores are the network's. */
TEST(test_frequencies_of_draws)
{
    enum { RUNS = 4000, LANES = 3 };
    static const float rows[] = {-9, 0.5f, 1, -1, 0, -9, 2, 0, 1.5f, 1};
    const scripted network = {.row = table_row, .vocab = 5, .kernels = &normalizing, .table = rows};
    int32_t counts[5][5] = {{0}};
    double sum = 0;
    ferry_search_rules rules = drawing_rules(LANES, 2);
    rules.options.temperature = 0.8f;
    rules.options.seed = 15;
    rules.options.min_length = 2; /* no eos */
    for (rules.stream = 0; rules.stream < RUNS; rules.stream++) {
        const outcome drawn = run_scripted(&rules, &network);
        assert_int_equal(drawn.count, LANES);
        for (int32_t i = 0; i < LANES; i++)
            for (int32_t t = 0; t < 2; t++) {
                const float logit = rows[5 * t + drawn.ids[i][t]];
                assert_float_equal(drawn.token_scores[i][t], logit - plain_log_sum_exp(rows + 5 * t, 5), 1e-6);
            }
        add_two_tokens(&drawn, counts);
    }
    double weights[2] = {0};
    for (int32_t t = 0; t < 2; t++)
        for (int32_t v = 1; v < 5; v++) weights[t] += exp((double)rows[5 * t + v] / 0.8);
    for (int32_t a = 1; a < 5; a++)
        for (int32_t b = 1; b < 5; b++) {
            const double expected =
                RUNS * LANES * exp((double)rows[a] / 0.8) * exp((double)rows[5 + b] / 0.8) / (weights[0] * weights[1]);
            sum += (counts[a][b] - expected) * (counts[a][b] - expected) / expected;
        }
    assert_true(sum < 43); /* 15 degrees of freedom: exceeded with probability 1e-4 */
}

/* Draw i does not depend on how many there are. */
TEST(test_number_of_draws)
{
    for (uint64_t seed = 0; seed < 50; seed++) {
        const scripted network = {.row = random_row, .vocab = 9, .kernels = &normalizing, .seed = seed};
        ferry_search_rules rules = drawing_rules(5, 8);
        const outcome five = run_scripted(&rules, &network);
        rules.options.nbest = 2;
        const outcome two = run_scripted(&rules, &network);
        for (int32_t i = 0; i < 2; i++) {
            assert_int_equal(two.length[i], five.length[i]);
            assert_memory_equal(two.ids[i], five.ids[i], sizeof two.ids[i]);
        }
        rules.options.seed = 1;
        const outcome other = run_scripted(&rules, &network);
        rules.options.seed = 0;
        if (seed < 10) assert_true(memcmp(other.ids, two.ids, sizeof two.ids) != 0);
    }
}

/* Where nothing may follow, each lane ends as it is. */
TEST(test_draws_of_nothing)
{
    static const int32_t all[] = {0, 1, 2};
    static const float table[9] = {0};
    const scripted network = {.row = table_row, .vocab = 3, .kernels = &as_given, .table = table};
    ferry_search_rules rules = drawing_rules(2, 3);
    scripted_search.suppressed_ids = all;
    scripted_search.suppressed_count = 3;
    const outcome none = run_scripted(&rules, &network);
    assert_int_equal(none.count, 2);
    assert_int_equal(none.length[0] + none.length[1], 0);
    rules.options.sample = 0;
    rules.options.alternatives = 1;
    assert_int_equal(run_scripted(&rules, &network).count, 1);
}
