/* engine/search, Marian's and CTranslate2's policies: hand numbers, and a comparison with each policy spelled out over
 * whole arrays from its description (docs/decoding.md). */
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

/* A finished hypothesis that nothing can beat does not stop the others, whatever early_stopping says. */
TEST(test_marian_goes_on)
{
    static const float table[] = {-0.1f, -3, -9, -4, -3, -3.5f, -4, -3, -3.5f, -4, -3, -3.5f};
    scripted network = table_of(table, 3);
    ferry_search_rules rules = policy_rules(FERRY_POLICY_MARIAN, 2, 4);
    rules.options.early_stopping = FERRY_EARLY_STOPPING_TRUE;
    rules.options.length_penalty = 0;
    /* cut at the limit as it is */
    assert_int_equal(EXPECT_FIRST(&rules, &network, FOUND(-0.1, 0), FOUND(-12, 1, 1, 1, 1)).steps, 4);
}

TEST(test_marian_word_penalty)
{
    static const float table[] = {-0.9f, -0.5f, -3, -4, -0.5f, -3, -0.05f, -4, -5};
    scripted network = table_of(table, 3);
    ferry_search_rules rules = policy_rules(FERRY_POLICY_MARIAN, 2, 3);
    rules.options.length_penalty = 0;
    rules.options.word_penalty = 0.25f;
    EXPECT_FIRST(&rules, &network, FOUND(-0.9 - 0.25, 0), FOUND(-1.05 - 0.75, 1, 1, 0));
    rules.options.length_penalty = 1;
    EXPECT_FIRST(&rules, &network, FOUND(-1.05 / 3 - 0.25, 1, 1, 0), FOUND(-0.9 - 0.25, 0));
    rules.options.word_penalty = -1; /* a reward turns the sums round */
    rules.options.length_penalty = 0.5f;
    EXPECT_FIRST(&rules, &network, FOUND(1.95 / sqrt(3), 1, 1, 0), FOUND(0.1, 0));
}

/* A suppressed word is never chosen and keeps its share. Probabilities ½, ¼, ⅛, ⅛. */
TEST(test_share_of_suppressed)
{
    static float logits[4];
    for (int i = 0; i < 4; i++) logits[i] = (float[]){3, 2, 1, 1}[i] * logf(2) - 4;
    static const int32_t suppressed[] = {0};
    scripted network = table_of(logits, 4);
    network.kernels = &normalizing;
    for (int32_t beam = 1; beam <= 2; beam++) {
        ferry_search_rules rules = policy_rules(FERRY_POLICY_MARIAN, beam, 1);
        rules.options.suppressed_ids = suppressed;
        rules.options.suppressed_count = 1;
        expect_first(&rules, &network, (const finding[]){FOUND(log(0.25), 1), FOUND(log(0.125), 2)}, beam);
        rules.options.policy = FERRY_POLICY_CTRANSLATE2;
        expect_first(&rules, &network, (const finding[]){FOUND(log(0.5), 1), FOUND(log(0.25), 2)}, beam);
    }
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

/* Sums: hypotheses that were second best when they ended do not stop the search. */
TEST(test_ctranslate2_best_must_end)
{
    static const float table[] = {-1, -0.1f, -9, -1, -0.1f, -9, -1, -0.1f, -9, -0.5f, -1, -9, -0.1f, -2, -9};
    scripted network = table_of(table, 3);
    ferry_search_rules rules = policy_rules(FERRY_POLICY_CTRANSLATE2, 2, 5);
    rules.options.length_penalty = 0;
    rules.options.nbest = 1;
    assert_int_equal(EXPECT_FIRST(&rules, &network, FOUND(-0.8, 1, 1, 1, 0)).steps, 4);
    rules.options.length_penalty = 1e-30f; /* almost sums, but two hypotheses stop */
    assert_int_equal(EXPECT_FIRST(&rules, &network, FOUND(-1, 0)).steps, 2);
}

/* As in the test of refills, where two hypotheses end at step 4, and two at step 5. */
TEST(test_patience)
{
    static const float table[] = {-9,     -0.5f, -1, -9, -0.2f,  -0.7f, -3, -9, -0.9f, -0.1f, -5, -9,
                                  -0.01f, -4,    -5, -9, -0.01f, -9,    -9, -9, -9,    -9,    -9, -9};
    scripted network = table_of(table, 4);
    ferry_search_rules rules = policy_rules(FERRY_POLICY_CTRANSLATE2, 2, 6);
    static const struct {
        float patience;
        int32_t steps;
    } rows[] = {{1, 4}, {1.74f, 4}, {1.75f, 5}, {2.2f, 5}, {3, 6}, {0.5f, 2}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        rules.options.patience = rows[i].patience;
        rules.options.nbest = 1;
        assert_int_equal(run_scripted(&rules, &network).steps, rows[i].steps);
        rules.options.length_penalty = 0; /* the best one of all has ended: nothing is waited for */
        assert_int_equal(run_scripted(&rules, &network).steps, 2);
        rules.options.length_penalty = 1;
    }
}

/* Token 1 is chosen where the first source token was read, token 2 where the others were; eos reads a little of all but
 * the last one, which nothing reads unless token 2 comes. Sums of both hypotheses, -0.7 and -1.1. */
TEST(test_coverage_penalty)
{
    static const float table[] = {-9, -0.5f, -0.9f, -0.2f, -9, -9}, read[] = {0.25f, 0.25f, 0, 0.5f, 0, 0, 0, 0.25f, 2};
    const double first = log(0.75) + log(0.25), second = log(0.25) + log(0.5);
    scripted network = table_of(table, 3);
    network.attention = read;
    ferry_search_rules rules = policy_rules(FERRY_POLICY_CTRANSLATE2, 2, 10);
    rules.options.coverage_penalty = 0.5f;
    EXPECT_FIRST(&rules, &network, FOUND(-0.35 + first / 2, 1, 0), FOUND(-0.55 + second / 2, 2, 0));
    rules.options.coverage_penalty = -2; /* the other one is the better one */
    EXPECT_ALL(&rules, &network, FOUND(-0.55 - 2 * second, 2, 0), FOUND(-0.35 - 2 * first, 1, 0));
    rules.options.nbest = 1;
    EXPECT_ALL(&rules, &network, FOUND(-0.55 - 2 * second, 2, 0));
    rules.options.length_penalty = 0; /* the best one ends first, and does not stop the search */
    EXPECT_ALL(&rules, &network, FOUND(-1.1 - 2 * second, 2, 0));
}

/* Two hypotheses end in the step that has one already: all three compete. */
TEST(test_ctranslate2_more_than_beam)
{
    static const float table[] = {-1.5f, -0.5f, -1.6f, -9, -9, -0.2f, -0.4f, -9, -0.1f, -9, -9, -9};
    scripted network = table_of(table, 4);
    ferry_search_rules rules = policy_rules(FERRY_POLICY_CTRANSLATE2, 2, 5);
    outcome result = EXPECT_FIRST(&rules, &network, FOUND(-0.8 / 3, 1, 1, 0), FOUND(-1.0 / 3, 1, 2, 0));
    assert_int_equal(result.steps, 3);
    assert_int_equal(result.count, 2);
}

/* Probabilities ½, ¼, ⅛, ⅛; token 3 was forced and is penalized as a logit, then all are normalized. A start token does
 * not count, though the same one counts for Hugging Face. */
TEST(test_ctranslate2_penalty)
{
    static float table[8];
    for (int i = 0; i < 4; i++) table[4 + i] = (float[]){2, 1, 1, 3}[i] * logf(2);
    scripted network = table_of(table, 4);
    network.kernels = &normalizing;
    for (int32_t beam = 1; beam <= 2; beam++) {
        ferry_search_rules rules = policy_rules(FERRY_POLICY_CTRANSLATE2, beam, 2);
        rules.options.length_penalty = 0;
        rules.options.forced_first_id = 3;
        rules.options.repetition_penalty = 3; /* 8 → 2 */
        expect_first(&rules, &network, (const finding[]){FOUND(log(0.4), 3, 0), FOUND(log(0.2), 3, 1)}, beam);
        rules.options.forced_first_id = -1;
        rules.start_id = 3;
        rules.options.max_length = 1;
        scripted second = table_of(table + 4, 4);
        second.kernels = &normalizing;
        EXPECT_FIRST(&rules, &second, FOUND(log(0.5), 3));
    }
}

/* A forced end of sentence is a token like any other: it adds 0, counts in the length and lifts the minimum. */
TEST(test_ctranslate2_forced)
{
    static const float table[] = {-1, -2, -3, -0.5f, -1, -9, -0.5f, -1, -9};
    scripted network = table_of(table, 3);
    for (int32_t beam = 1; beam <= 2; beam++) {
        ferry_search_rules rules = policy_rules(FERRY_POLICY_CTRANSLATE2, beam, 3);
        rules.options.forced_first_id = 0;
        rules.options.min_length = 1;
        outcome result = EXPECT_FIRST(&rules, &network, FOUND(-0.25, 0, 0));
        assert_true(result.token_scores[0][0] == 0);
        assert_true(result.token_scores[0][1] == -0.5f);
        rules.options.policy = FERRY_POLICY_HUGGINGFACE;
        EXPECT_FIRST(&rules, &network, FOUND(0, 0));
        rules.options.policy = FERRY_POLICY_CTRANSLATE2;
        rules.options.max_length = 1; /* a prefix that is cut */
        EXPECT_FIRST(&rules, &network, FOUND(0, 0));
    }
}

/* ---- a start without a token ---- */

/* -1 repeats nothing: nothing is penalized or masked at the first step, with columns for all tokens or for some. */
TEST(test_zero_start)
{
    static const float table[] = {-1, -0.5f, -2, -0.2f, -3, -0.1f, -1.5f, -2};
    static const ferry_policy policies[] = {FERRY_POLICY_HUGGINGFACE, FERRY_POLICY_MARIAN, FERRY_POLICY_CTRANSLATE2};
    for (int i = 0; i < 12; i++) {
        scripted network = table_of(table, 4);
        if (i % 2 == 1) network.columns = 1 << 1 | 1 << 2 | 1 << 3;
        ferry_search_rules rules = policy_rules(policies[i / 4], 1 + i / 2 % 2, 2);
        rules.options.length_penalty = 0;
        rules.options.repetition_penalty = 100;
        rules.options.no_repeat_ngram = 1;
        EXPECT_FIRST(&rules, &network, FOUND(-0.3, 3, 1));
    }
}

/* ---- the policies spelled out ---- */

typedef struct path {
    float sum, score;
    int32_t n, ids[MAX_TOKENS]; /* generated */
} path;

/* What may not follow. */
static bool forbidden(const ferry_search_rules *rules, const path *p, int32_t id)
{
    const ferry_options *decoding = &rules->options;
    return occurs(decoding->suppressed_ids, (int32_t)decoding->suppressed_count, id) ||
           repeats(p->ids, p->n, decoding->no_repeat_ngram, id) ||
           (occurs(rules->eos_ids, rules->eos_count, id) && p->n < decoding->min_length);
}

/* log P(v | p), -INFINITY for what may not follow. */
static void row_of(const ferry_search_rules *rules, const scripted *network, const path *p, float *row)
{
    const ferry_options *decoding = &rules->options;
    const int32_t vocab = network->vocab;
    network->row(network, p->ids, p->n, row);
    for (int32_t v = 0; v < vocab; v++)
        if (network->columns != 0 && (network->columns >> v & 1) == 0) row[v] = -INFINITY;
    if (decoding->policy == FERRY_POLICY_MARIAN) log_softmax(row, vocab);
    for (int32_t v = 0; v < vocab; v++) {
        if (decoding->repetition_penalty != 1 && occurs(p->ids, p->n, v))
            row[v] = row[v] < 0 ? row[v] * decoding->repetition_penalty : row[v] / decoding->repetition_penalty;
        if (forbidden(rules, p, v)) row[v] = -INFINITY;
    }
    if (decoding->policy == FERRY_POLICY_CTRANSLATE2) log_softmax(row, vocab);
}

static path continued(const path *p, int32_t id, float log_probability)
{
    path next = *p;
    next.sum = p->sum + log_probability;
    next.ids[next.n++] = id;
    return next;
}

/* The best `limit` continuations of all paths, best first. */
static int32_t best_continuations(const ferry_search_rules *rules, const scripted *network, const path *paths,
                                  int32_t count, int32_t limit, path *best)
{
    static path all[MAX_BEAM * MAX_VOCAB];
    int32_t found = 0, kept = 0;
    for (int32_t p = 0; p < count; p++) {
        const int32_t forced = paths[p].n == 0 ? rules->options.forced_first_id : -1;
        float row[MAX_VOCAB];
        row_of(rules, network, &paths[p], row);
        if (forced >= 0) all[found++] = continued(&paths[p], forced, 0);
        for (int32_t v = 0; forced < 0 && v < network->vocab; v++)
            if (row[v] > -INFINITY) all[found++] = continued(&paths[p], v, row[v]);
    }
    for (; kept < limit; kept++) {
        int32_t at = -1;
        for (int32_t i = 0; i < found; i++)
            if (all[i].n >= 0 && (at < 0 || all[i].sum > all[at].sum)) at = i;
        if (at < 0) break;
        best[kept] = all[at];
        all[at].n = -1;
    }
    return kept;
}

static bool ends_with_eos(const ferry_search_rules *rules, const path *p)
{
    return occurs(rules->eos_ids, rules->eos_count, p->ids[p->n - 1]);
}

/* Marian: every path among the best k that ends leaves, and k falls; the rest stops at the limit. Returns how many
 * paths are in `finished`. */
static int32_t marian(const ferry_search_rules *rules, const scripted *network, path *finished, outcome *result)
{
    path live[MAX_BEAM] = {{0}}, best[MAX_BEAM];
    int32_t live_count = 1, k = rules->options.beam, count = 0;
    while (k > 0) {
        const int32_t found = best_continuations(rules, network, live, live_count, k, best);
        if (found == 0 && count == 0)
            for (int32_t i = 0; i < live_count; i++) finished[count++] = live[i];
        live_count = 0;
        result->steps++;
        for (int32_t i = 0; i < found; i++)
            if (ends_with_eos(rules, &best[i]) || result->steps == rules->options.max_length)
                finished[count++] = best[i];
            else
                live[live_count++] = best[i];
        k = live_count;
    }
    return count;
}

/* CTranslate2: 2k candidates; a place whose path ends is taken by the best candidate after the first k that does not
 * end and is not used yet. */
static int32_t ctranslate2(const ferry_search_rules *rules, const scripted *network, path *finished, outcome *result)
{
    const ferry_options *decoding = &rules->options;
    const int32_t k = decoding->beam;
    path live[MAX_BEAM] = {{0}}, best[MAX_CANDIDATES];
    int32_t live_count = 1, count = 0;
    bool best_ended = false;
    for (int32_t t = 0; live_count > 0; t++) {
        const int32_t found = best_continuations(rules, network, live, live_count, 2 * k, best);
        const bool last = t == rules->options.max_length - 1, prefix = t == 0 && decoding->forced_first_id >= 0;
        int32_t reserve = k;
        if (found == 0 && count == 0)
            for (int32_t i = 0; i < live_count; i++) finished[count++] = live[i];
        live_count = 0;
        for (int32_t i = 0; i < k && i < found; i++) {
            const bool eos = !prefix && ends_with_eos(rules, &best[i]);
            if (!last && !eos) {
                live[live_count++] = best[i];
                continue;
            }
            finished[count++] = best[i];
            if (i == 0) best_ended = true;
            while (reserve < found && ends_with_eos(rules, &best[reserve])) reserve++;
            if (!last && reserve < found) live[live_count++] = best[reserve++];
        }
        result->steps++;
        if (last) break;
        const bool waits = decoding->length_penalty != 0 || decoding->coverage_penalty != 0;
        const int32_t awaited = (int32_t)roundf((float)k * decoding->patience);
        if (waits ? count >= awaited : best_ended && count >= decoding->nbest) break;
    }
    return count;
}

/* Of all tokens' weights, each source token's sum up to 1. */
static float coverage(const scripted *network, const path *p)
{
    float total = 0;
    for (int32_t s = 0; s < SOURCE_IDS; s++) {
        float sum = 0;
        for (int32_t t = 0; t < p->n; t++) sum += network->attention[p->ids[t] * SOURCE_IDS + s];
        if (sum > 0) total += logf(fminf(sum, 1));
    }
    return total;
}

static void spell_out(const ferry_search_rules *rules, const scripted *network, outcome *result)
{
    const ferry_options *decoding = &rules->options;
    path finished[MAX_BEAM * MAX_TOKENS];
    const int32_t count = decoding->policy == FERRY_POLICY_MARIAN ? marian(rules, network, finished, result)
                                                                  : ctranslate2(rules, network, finished, result);
    for (int32_t i = 0; i < count; i++) {
        path *p = &finished[i];
        const float length = (float)pow(p->n, decoding->length_penalty);
        p->score = p->n > 0 ? (p->sum - decoding->word_penalty * (float)p->n) / length : 0;
        if (decoding->coverage_penalty != 0) p->score += decoding->coverage_penalty * coverage(network, p);
    }
    for (; result->count < rules->options.nbest && result->count < count; result->count++) {
        path *best = NULL;
        for (int32_t i = 0; i < count; i++)
            if (finished[i].n >= 0 && (best == NULL || finished[i].score > best->score)) best = &finished[i];
        result->score[result->count] = best->score;
        result->length[result->count] = best->n;
        memcpy(result->ids[result->count], best->ids, (size_t)best->n * sizeof best->ids[0]);
        best->n = -1;
    }
}

/* Random rules. Coarse networks, where sums are equal, only where the order of equal ones is the same by definition. */
static void compare_with_definition(ferry_policy policy, uint64_t seed)
{
    static const float penalties[] = {-0.5f, 0, 0, 0.6f, 1, 1, 2};
    static const float repetition[] = {1, 1, 1, 1.3f, 0.8f};
    static const float patience[] = {1, 1, 0.5f, 1.3f, 2, 3}, coverage_penalties[] = {0, 0, 0.3f, -0.5f};
    static float attention[MAX_VOCAB * SOURCE_IDS];
    enum { MODELS = 6000 };
    int32_t several = 0, greedy = 0, covered = 0;
    for (int32_t i = 0; i < MODELS; i++) {
        seed_random(seed + (uint64_t)i * 1000003);
        scripted network = {.row = random_row, .vocab = 4 + random_below(9), .kernels = &normalizing};
        network.seed = mix(seed + (uint64_t)i);
        const int32_t vocab = network.vocab, eos[] = {random_below(vocab), random_below(vocab)};
        const int32_t suppressed[] = {random_below(vocab), random_below(vocab)};
        if (random_below(4) == 0) network.columns = 3u | (uint32_t)random_below(1 << vocab);
        ferry_search_rules rules = policy_rules(policy, 1 + random_below(5), 1 + random_below(8));
        ferry_options *decoding = &rules.options;
        rules.eos_ids = eos;
        if (policy == FERRY_POLICY_MARIAN) rules.eos_count = 1 + random_below(2);
        if (policy == FERRY_POLICY_CTRANSLATE2) rules.start_id = random_below(vocab);
        rules.options.nbest = 1 + random_below(decoding->beam);
        decoding->length_penalty = penalties[random_below(7)];
        decoding->early_stopping = (ferry_early_stopping)random_below(3);
        decoding->suppressed_ids = suppressed;
        decoding->suppressed_count = (size_t)random_below(3);
        if (policy == FERRY_POLICY_MARIAN) decoding->word_penalty = (float)random_below(3) * 0.25f;
        if (random_below(3) == 0) decoding->no_repeat_ngram = random_below(4);
        if (random_below(2) == 0) decoding->min_length = random_below(4);
        if (random_below(4) == 0) decoding->forced_first_id = random_below(vocab);
        /* Marian has no repetition penalty: greedy search's is tested with Hugging Face's policy. */
        if (policy == FERRY_POLICY_CTRANSLATE2) decoding->repetition_penalty = repetition[random_below(5)];
        if (policy == FERRY_POLICY_CTRANSLATE2 && decoding->beam > 1) {
            decoding->patience = patience[random_below(6)];
            decoding->coverage_penalty = coverage_penalties[random_below(4)];
            if (decoding->nbest > ferry_search_awaited(decoding)) decoding->nbest = ferry_search_awaited(decoding);
            for (int32_t w = 0; w < vocab * SOURCE_IDS; w++)
                attention[w] = fmaxf(0, (float)random_below(1000) / 1000 - 0.5f);
            network.attention = attention;
            covered += decoding->coverage_penalty != 0;
        }
        if (policy == FERRY_POLICY_MARIAN) network.coarse = random_below(2) == 0 && decoding->word_penalty == 0;

        outcome expected = {0};
        const outcome found = run_scripted(&rules, &network);
        spell_out(&rules, &network, &expected);
        compare(&found, &expected);
        assert_int_equal(found.steps, expected.steps);
        several += found.count > 1;
        greedy += decoding->beam == 1;
    }
    assert_true(several > MODELS / 4);
    assert_true(greedy > MODELS / 8);
    assert_true(policy != FERRY_POLICY_CTRANSLATE2 || covered > MODELS / 4);
}

TEST(test_marian_against_definition)
{
    compare_with_definition(FERRY_POLICY_MARIAN, 77);
}

TEST(test_ctranslate2_against_definition)
{
    compare_with_definition(FERRY_POLICY_CTRANSLATE2, 4800);
}
