/* engine/search, Hugging Face's policy: every rule on numbers computed by hand. */
#include "engine/search/logits.h"
#include "tests/support/scripted.h"

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

TEST(test_example)
{
    static const ferry_early_stopping variants[] = {FERRY_EARLY_STOPPING_FALSE, FERRY_EARLY_STOPPING_TRUE,
                                                    FERRY_EARLY_STOPPING_NEVER};
    static const int32_t steps[] = {3, 3, 4};
    for (int i = 0; i < 3; i++) {
        ferry_search_rules rules = plain_rules(2, 7);
        rules.options.early_stopping = variants[i];
        outcome result = EXPECT_FIRST(&rules, &example, FOUND(-1.4 / 3, 1, 1, 0), FOUND(-1.9 / 3, 1, 2, 0));
        assert_int_equal(result.steps, steps[i]);
        assert_int_equal(result.count, 2);
    }
    ferry_search_rules rules = plain_rules(2, 2);
    EXPECT_FIRST(&rules, &example, FOUND(-0.55, 1, 1), FOUND(-0.7, 1, 0));
}

TEST(test_nbest)
{
    ferry_search_rules rules = plain_rules(2, 7);
    rules.options.nbest = 1;
    EXPECT_ALL(&rules, &example, FOUND(-1.4 / 3, 1, 1, 0));
}

/* eos (-0.9) is better than 1 1 eos (-0.5 - 0.5 - 0.05 = -1.05) as a sum and worse as an average. */
TEST(test_length_penalty)
{
    static const float table[] = {-0.9f, -0.5f, -3, -4, -0.5f, -3, -0.05f, -4, -5, -0.05f, -4, -5};
    scripted network = table_of(table, 3);
    ferry_search_rules rules = plain_rules(2, 3);
    rules.options.length_penalty = 1;
    EXPECT_FIRST(&rules, &network, FOUND(-1.05 / 3, 1, 1, 0), FOUND(-0.9, 0));
    rules.options.length_penalty = 0;
    EXPECT_FIRST(&rules, &network, FOUND(-0.9, 0), FOUND(-1.05, 1, 1, 0));
    rules.options.length_penalty = -1;
    EXPECT_FIRST(&rules, &network, FOUND(-0.9, 0), FOUND(-1.05 * 3, 1, 1, 0));
    rules.options.length_penalty = 0.5f;
    EXPECT_FIRST(&rules, &network, FOUND(-1.05 / sqrt(3), 1, 1, 0), FOUND(-0.9, 0));
}

TEST(test_equal_scores)
{
    static const float table[] = {-9, -1, -1, -1, -1, -2, -2, -2};
    scripted network = table_of(table, 4);
    ferry_search_rules rules = plain_rules(3, 2);
    assert_int_equal(EXPECT_FIRST(&rules, &network, FOUND(-1, 1, 0), FOUND(-1, 2, 0), FOUND(-1, 3, 0)).steps, 2);
}

/* Tokens 0 and 3 end. After the first token the four best candidates do; of three for each beam two rows go on. */
TEST(test_several_eos)
{
    static const int32_t eos[] = {0, 3};
    static const float table[] = {-1, -3, -3.1f, -1.5f, -5, -0.25f, -0.7f, -2, -0.5f, -5, -3, -0.5f, -9, -9, -1};
    scripted network = table_of(table, 5);
    ferry_search_rules rules = plain_rules(2, 3);
    rules.eos_ids = eos;
    rules.eos_count = 2;
    rules.options.early_stopping = FERRY_EARLY_STOPPING_NEVER;
    assert_int_equal(EXPECT_FIRST(&rules, &network, FOUND(-1, 0), FOUND(-4.2 / 3, 1, 1, 1)).steps, 3);
    rules.options.early_stopping = FERRY_EARLY_STOPPING_TRUE;
    assert_int_equal(EXPECT_FIRST(&rules, &network, FOUND(-1, 0), FOUND(-1.5, 3)).steps, 1);
    rules.options.min_length = 1; /* neither may end */
    assert_int_equal(EXPECT_FIRST(&rules, &network, FOUND(-3.25 / 2, 1, 0), FOUND(-3.35 / 2, 2, 0)).steps, 2);
}

/* An eos of rank k or lower is neither finished nor continued: 3 (-1.5), third best after 0 and 1. */
TEST(test_low_ranked_eos_is_lost)
{
    static const int32_t eos[] = {0, 3};
    static const float table[] = {-1, -1.2f, -2, -1.5f, -0.5f, -3, -4, -9};
    scripted network = table_of(table, 4);
    ferry_search_rules rules = plain_rules(2, 2);
    rules.eos_ids = eos;
    rules.eos_count = 2;
    rules.options.length_penalty = 0;
    assert_int_equal(EXPECT_FIRST(&rules, &network, FOUND(-1, 0), FOUND(-1.7, 1, 0)).steps, 2);
}

TEST(test_max_length_1)
{
    static const float table[] = {-2, -1, -3, -0.5f};
    scripted network = table_of(table, 4);
    ferry_search_rules rules = plain_rules(2, 1);
    assert_int_equal(EXPECT_FIRST(&rules, &network, FOUND(-0.5, 3), FOUND(-1, 1)).steps, 1);
    rules = plain_rules(1, 1);
    assert_int_equal(EXPECT_FIRST(&rules, &network, FOUND(-0.5, 3)).steps, 1);
}

/* Two tokens and five beams: the hypotheses that exist, and none twice. */
TEST(test_tiny_vocabulary)
{
    static const float table[] = {-1, -0.5f, -1, -0.5f, -1, -0.5f};
    scripted network = table_of(table, 2);
    ferry_search_rules rules = plain_rules(5, 1);
    EXPECT_ALL(&rules, &network, FOUND(-0.5, 1), FOUND(-1, 0));
    rules.options.max_length = 3;
    rules.options.length_penalty = 0;
    EXPECT_ALL(&rules, &network, FOUND(-1, 0), FOUND(-1.5, 1, 0), FOUND(-1.5, 1, 1, 1), FOUND(-2, 1, 1, 0));
}

/* Where nothing may follow, rows end as they are. */
TEST(test_everything_masked)
{
    static const float table[] = {-1, -0.5f, -2, -1, -0.5f, -2, -1, -0.5f, -2, -1, -0.5f, -2};
    scripted network = table_of(table, 3);
    for (int32_t beam = 1; beam <= 2; beam++) {
        ferry_search_rules rules = plain_rules(beam, 4);
        rules.options.no_repeat_ngram = 1;
        rules.options.min_length = 4;
        assert_int_equal(EXPECT_FIRST(&rules, &network, FOUND(-2.5 / 2, 1, 2)).steps, 3);
        static const int32_t all[] = {0, 1, 2};
        rules.options.suppressed_ids = all;
        rules.options.suppressed_count = 3;
        outcome result = run_scripted(&rules, &network);
        assert_int_equal(result.count, 1);
        assert_int_equal(result.length[0], 0);
        assert_float_equal(result.score[0], 0, 0);
    }
}

/* ---- rules ---- */

TEST(test_logits_places)
{
    static const int32_t ids[] = {2, 5, 9};
    ferry_logits shortlist = {.ld = 3, .ids = ids, .count = 3};
    ferry_logits all = {.ld = 3, .count = 3};
    assert_int_equal(ferry_logits_place(&shortlist, 2), 0);
    assert_int_equal(ferry_logits_place(&shortlist, 9), 2);
    assert_int_equal(ferry_logits_place(&shortlist, 4), -1);
    assert_int_equal(ferry_logits_place(&shortlist, 10), -1);
    assert_int_equal(ferry_logits_id(&shortlist, 1), 5);
    assert_int_equal(ferry_logits_place(&all, 2), 2);
    assert_int_equal(ferry_logits_place(&all, 3), -1);
    assert_int_equal(ferry_logits_place(&all, -1), -1);
    assert_int_equal(ferry_logits_id(&all, 1), 1);
    /* Columns 1 and 2 of them. */
    shortlist.first = all.first = 1;
    shortlist.count = all.count = 2;
    assert_int_equal(ferry_logits_place(&shortlist, 2), -1);
    assert_int_equal(ferry_logits_place(&shortlist, 5), 0);
    assert_int_equal(ferry_logits_place(&shortlist, 9), 1);
    assert_int_equal(ferry_logits_id(&shortlist, 2), 9);
    assert_int_equal(ferry_logits_place(&all, 0), -1);
    assert_int_equal(ferry_logits_place(&all, 2), 1);
    assert_int_equal(ferry_logits_id(&all, 2), 2);
}

TEST(test_penalize)
{
    float row[] = {-1.5f, 3, 0, -2, 4};
    float before[4];
    ferry_logits logits = {.values = row, .ld = 5, .count = 5};
    ferry_logits_penalize(&logits, row, 2, (int32_t[]){0, 1, 99, 1}, 4, before);
    const float expected[] = {-3, 1.5f, 0, -2, 4};
    assert_memory_equal(row, expected, sizeof row);
    const float expected_before[] = {-1.5f, 3, 0, 3};
    assert_memory_equal(before, expected_before, sizeof before);
}

/* Which of the 8 columns are masked, as bits. */
static unsigned masked(const ferry_options *decoding, const int32_t *ids, int32_t length)
{
    float row[8] = {0};
    ferry_logits logits = {.values = row, .ld = 8, .count = 8};
    ferry_logits_mask(&logits, row, decoding, (int32_t[]){0, 7}, 2, ids, length);
    unsigned bits = 0;
    for (unsigned i = 0; i < 8; i++)
        if (row[i] == -INFINITY) bits |= 1u << i;
    return bits;
}

TEST(test_mask)
{
    const int32_t ids[] = {4, 1, 2, 3, 1, 2, 5, 4, 1, 2};
    assert_int_equal(masked(&(ferry_options){.no_repeat_ngram = 1}, ids, 10), 0x3e);
    assert_int_equal(masked(&(ferry_options){.no_repeat_ngram = 2}, ids, 10), 1 << 3 | 1 << 5);
    assert_int_equal(masked(&(ferry_options){.no_repeat_ngram = 3}, ids, 10), 1 << 3 | 1 << 5);
    assert_int_equal(masked(&(ferry_options){.no_repeat_ngram = 4}, ids, 10), 1 << 3);
    assert_int_equal(masked(&(ferry_options){.no_repeat_ngram = 1}, ids, 1), 1 << 4); /* the start token counts */
    assert_int_equal(masked(&(ferry_options){.no_repeat_ngram = 2}, ids, 1), 0);
    assert_int_equal(masked(&(ferry_options){.no_repeat_ngram = 3}, ids, 2), 0);
    assert_int_equal(masked(&(ferry_options){.no_repeat_ngram = 2}, (int32_t[]){6, 6}, 2), 1 << 6);

    const int32_t suppressed[] = {5, 100, -1};
    ferry_options suppress = {.suppressed_ids = suppressed, .suppressed_count = 3};
    assert_int_equal(masked(&suppress, ids, 10), 1 << 5);

    ferry_options minimum = {.min_length = 3};
    assert_int_equal(masked(&minimum, ids, 3), 1 << 0 | 1 << 7); /* two tokens generated */
    assert_int_equal(masked(&minimum, ids, 4), 0);
}

TEST(test_forced)
{
    static const float table[] = {-1, -2, -3, -9, -4, -0.5f, -1, -9, -2, -1, -1.5f, -9};
    scripted network = table_of(table, 4);
    for (int32_t beam = 1; beam <= 2; beam++) {
        ferry_search_rules rules = plain_rules(beam, 3);
        rules.options.forced_first_id = 3;
        rules.options.forced_last_id = 0;
        rules.options.min_length = 3; /* a forced token overrides the masks */
        expect_first(&rules, &network, (const finding[]){FOUND(-0.5 / 3, 3, 1, 0), FOUND(-1.0 / 3, 3, 2, 0)}, beam);
        rules.options.max_length = 1; /* the last rule wins */
        EXPECT_ALL(&rules, &network, FOUND(0, 0));
        rules.options.forced_last_id = -1;
        EXPECT_FIRST(&rules, &network, FOUND(0, 3));
    }
}

/* A token without a column can be forced. */
TEST(test_forced_outside_shortlist)
{
    static const float table[] = {-1, -2, -3, -9, -0.5f, -1, -1.5f, -9};
    scripted network = table_of(table, 4);
    network.columns = 1 << 0 | 1 << 2;
    ferry_search_rules rules = plain_rules(2, 2);
    rules.options.forced_first_id = 3;
    EXPECT_FIRST(&rules, &network, FOUND(-0.25, 3, 0), FOUND(-0.75, 3, 2));
}

TEST(test_min_length)
{
    static const float table[] = {-0.1f, -2, -3, -0.1f, -2, -3, -0.1f, -2, -3, -0.1f, -2, -3};
    scripted network = table_of(table, 3);
    for (int32_t beam = 1; beam <= 2; beam++) {
        ferry_search_rules rules = plain_rules(beam, 4);
        rules.options.min_length = 2;
        rules.options.length_penalty = 0;
        EXPECT_FIRST(&rules, &network, FOUND(-4.1, 1, 1, 0));
    }
}

/* Log-probabilities keep the share of suppressed tokens unless they are renormalized. Probabilities ½, ¼, ⅛, ⅛. */
TEST(test_suppressed_share)
{
    static const float table[] = {3, 2, 1, 1};
    static float logits[4];
    for (int i = 0; i < 4; i++) logits[i] = table[i] * logf(2) + 5;
    static const int32_t suppressed[] = {0};
    scripted network = table_of(logits, 4);
    network.kernels = &normalizing;
    for (int32_t beam = 1; beam <= 2; beam++) {
        ferry_search_rules rules = plain_rules(beam, 1);
        rules.options.suppressed_ids = suppressed;
        rules.options.suppressed_count = 1;
        expect_first(&rules, &network, (const finding[]){FOUND(log(0.25), 1), FOUND(log(0.125), 2)}, beam);
        rules.options.renormalize = true;
        expect_first(&rules, &network, (const finding[]){FOUND(log(0.5), 1), FOUND(log(0.25), 2)}, beam);
    }
}

/* Start token 3 has been seen. Greedy search halves its positive logit; beam search doubles its log-probability,
 * which is negative whatever the logit. Probabilities: ¼, ⅛, ⅛, ½. */
TEST(test_repetition_penalty)
{
    static float logits[4];
    static const float shift = 1.5f;
    for (int i = 0; i < 4; i++) logits[i] = (float[]){2, 1, 1, 3}[i] * logf(2) + shift;
    scripted network = table_of(logits, 4);
    network.kernels = &normalizing;

    ferry_search_rules rules = plain_rules(1, 1);
    rules.start_id = 3;
    rules.options.repetition_penalty = 2;
    /* 3 ln 2 + 1.5 → 1.79 < 2 ln 2 + 1.5 = 2.89 */
    EXPECT_FIRST(&rules, &network, FOUND(log(0.25), 0));
    rules.options.repetition_penalty = 1.2f; /* 2.98 > 2.89: chosen, and scored as the network saw it */
    EXPECT_FIRST(&rules, &network, FOUND(log(0.5), 3));
    rules.options.renormalize = true;
    double changed = (3 * log(2) + 1.5) / 1.2;
    EXPECT_FIRST(&rules, &network, FOUND(changed - log(exp(changed) + 8 * exp(1.5)), 3));

    rules = plain_rules(4, 1);
    rules.start_id = 3;
    rules.options.repetition_penalty = 1.5f;
    /* ln ½ · 1.5 = -1.04 > ln ¼ */
    EXPECT_FIRST(&rules, &network, FOUND(1.5 * log(0.5), 3), FOUND(log(0.25), 0));
    rules.options.repetition_penalty = 4; /* ln ½ · 4 = -2.77 */
    EXPECT_FIRST(&rules, &network, FOUND(log(0.25), 0), FOUND(log(0.125), 1), FOUND(log(0.125), 2),
                 FOUND(4 * log(0.5), 3));
    rules.options.renormalize = true; /* ¼ + ⅛ + ⅛ + 1/16 = 9/16 */
    EXPECT_ALL(&rules, &network, FOUND(log(4.0 / 9), 0), FOUND(log(2.0 / 9), 1), FOUND(log(2.0 / 9), 2),
               FOUND(log(1.0 / 9), 3));
}

TEST(test_greedy)
{
    static const float table[] = {-2, -1, -1, -2, -1, -0.25f, -0.5f, -1, -1, -9, -9, -9};
    scripted network = table_of(table, 4);
    ferry_search_rules rules = plain_rules(1, 3);
    /* lowest id among equals; eos ends */
    outcome result = EXPECT_FIRST(&rules, &network, FOUND(-2.25 / 3, 1, 1, 0));
    assert_int_equal(result.count, 1);
    assert_int_equal(result.steps, 3);
    rules.options.max_length = 2;
    EXPECT_FIRST(&rules, &network, FOUND(-1.25 / 2, 1, 1));
}

TEST(test_begin_errors)
{
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
