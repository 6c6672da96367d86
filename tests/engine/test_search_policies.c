/* engine/search, Marian's and CTranslate2's policies on numbers computed by hand, and the length limit. */
#include "tests/support/scripted.h"

static ferry_search_rules policy_rules(ferry_policy policy, int32_t beam, int32_t max_length)
{
    ferry_search_rules rules = plain_rules(beam, max_length);
    rules.options.policy = policy;
    rules.start_id = -1;
    return rules;
}

/* ---- the length limit ---- */

TEST(test_limit)
{
    static const struct {
        int32_t max_length;
        float factor;
        int32_t extra, source, limit;
    } rows[] = {
        {7, 3, 50, 100, 7},
        {0, 3, 50, 1, 53},
        {0, 3, 50, 0, 50},
        {0, 2, 0, 6, 12},
        {0, 1.5f, 0, 5, 8},
        {0, 1.2f, 0, 5, 6},
        {0, 0.1f, 0, 5, 1},
        {0, 0, 0, 5, 1},
        {0, 0, 256, 5, 256},
        {0, -3, 10, 100, 1},
        {0, 3, 50, INT32_MAX, INT32_MAX},
        {0, 0, INT32_MAX, 1, INT32_MAX},
        {0, 1e30f, INT32_MAX, INT32_MAX, INT32_MAX},
        {0, INFINITY, 0, 1, INT32_MAX},
        {0, NAN, 0, 1, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const ferry_options decoding = {.max_length = rows[i].max_length,
                                        .length_factor = rows[i].factor,
                                        .length_extra = rows[i].extra};
        assert_int_equal(ferry_decoding_limit(&decoding, rows[i].source), rows[i].limit);
    }
}

/* ---- Marian by hand ---- */

/* Beam 2; a hypothesis ends at step 1, so that step 2 keeps exactly one continuation, and step 3 one. */
TEST(test_marian_beam_shrinks)
{
    static const float table[] = {-9, -0.5f, -1.1f, -9, -0.2f, -0.7f, -3, -9, -2, -0.1f, -0.2f, -9, -0.06f, -4, -5, -9};
    scripted network = table_of(table, 4);
    ferry_search_rules rules = policy_rules(FERRY_POLICY_MARIAN, 2, 10);
    /* Step 1: 1 eos (-0.7) and 1 1 (-1.2); 2 eos (-1.3) is the third. Then 1 (-0.1), not the near 2, and eos (-0.06).
     */
    outcome result = EXPECT_FIRST(&rules, &network, FOUND(-1.36 / 4, 1, 1, 1, 0), FOUND(-0.7 / 2, 1, 0));
    static const int32_t live[] = {2, 1, 1, 0};
    assert_int_equal(result.steps, 4);
    assert_memory_equal(result.live, live, sizeof live);
    assert_int_equal(result.count, 2);
}

/* ---- CTranslate2 by hand ---- */

/* Log-probabilities of (eos, 1, 2, 3). Beam 2: one eos at each of steps 1 and 2. The place of the first is taken again,
 * so that step 2 has two rows, and the second one ends the search though 1 1 1 … would be better. */
TEST(test_ctranslate2_refills_and_stops)
{
    static const float table[] = {-9, -0.5f, -1, -9, -0.2f, -0.7f, -3, -9, -0.9f, -0.1f, -5, -9, -0.01f, -4, -5, -9};
    scripted network = table_of(table, 4);
    ferry_search_rules rules = policy_rules(FERRY_POLICY_CTRANSLATE2, 2, 10);
    outcome result = EXPECT_FIRST(&rules, &network, FOUND(-1.31 / 4, 1, 1, 1, 0), FOUND(-0.7 / 2, 1, 0));
    static const int32_t live[] = {2, 2, 2, 0};
    assert_int_equal(result.steps, 4);
    assert_memory_equal(result.live, live, sizeof live);
    /* Sums: the best candidate ends at step 1 (-0.7) and one hypothesis is enough, or two are asked for. */
    rules.options.length_penalty = 0;
    rules.options.nbest = 1;
    assert_int_equal(EXPECT_FIRST(&rules, &network, FOUND(-0.7, 1, 0)).steps, 2);
    rules.options.nbest = 2;
    assert_int_equal(EXPECT_FIRST(&rules, &network, FOUND(-0.7, 1, 0), FOUND(-1.31, 1, 1, 1, 0)).steps, 4);
}
