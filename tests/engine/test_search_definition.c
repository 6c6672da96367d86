/* engine/search, Hugging Face's policy: a comparison with greedy and beam search spelled out over whole arrays. */
#include "tests/support/scripted.h"

/* Processors in their order on row [vocab] after ids [cur], which begin with the start token. */
static void process(const ferry_search_rules *rules, int32_t vocab, const int32_t *ids, int32_t cur, float *row)
{
    const ferry_options *decoding = &rules->options;
    int32_t forced = cur == 1 ? decoding->forced_first_id : -1;
    if (cur == rules->options.max_length && decoding->forced_last_id >= 0) forced = decoding->forced_last_id;
    for (int32_t v = 0; v < vocab; v++) {
        float penalty = decoding->repetition_penalty;
        if (occurs(ids, cur, v)) row[v] = row[v] < 0 ? row[v] * penalty : row[v] / penalty;
        if (repeats(ids, cur, decoding->no_repeat_ngram, v)) row[v] = -INFINITY;
        if (occurs(decoding->suppressed_ids, (int32_t)decoding->suppressed_count, v)) row[v] = -INFINITY;
        if (occurs(rules->eos_ids, rules->eos_count, v) && cur - 1 < decoding->min_length) row[v] = -INFINITY;
        if (forced >= 0) row[v] = v == forced ? 0 : -INFINITY;
    }
    if (decoding->renormalize) log_softmax(row, vocab);
}

static void network_row(const scripted *network, const int32_t *ids, int32_t cur, float *row)
{
    network->row(network, ids + 1, cur - 1, row);
    for (int32_t v = 0; v < network->vocab; v++)
        if (network->columns != 0 && (network->columns >> v & 1) == 0) row[v] = -INFINITY;
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
        for (int32_t i = 0; i < count; i++)
            if (!taken[i] && (best < 0 || rows[i].sum > rows[best].sum)) best = i;
        taken[best] = true;
        kept[k] = rows[best];
    }
}

/* The best K of all k·V sums, in descending order; equal ones by row, then id. */
static int32_t reference_candidates(const ferry_search_rules *rules, const scripted *network, int32_t cur,
                                    const reference_row *running, reference_row *candidates)
{
    const int32_t beam = rules->options.beam;
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
        for (int32_t i = 0; i < beam * vocab; i++)
            if (!taken[i] && (best < 0 || sums[i] > sums[best])) best = i;
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
    const ferry_options *decoding = &rules->options;
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
            hit[i] = occurs(rules->eos_ids, rules->eos_count, c[i].ids[n]) || n == rules->options.max_length;
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
        float best = running[0].sum / power(to_the_end ? rules->options.max_length : n, decoding->length_penalty);
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
        bool forced = (cur == 1 && rules->options.forced_first_id >= 0) ||
                      (cur == rules->options.max_length && rules->options.forced_last_id >= 0);
        sum += rules->options.renormalize || forced ? row[id] : raw[id];
        ids[cur++] = id;
        done = occurs(rules->eos_ids, rules->eos_count, id) || cur - 1 == rules->options.max_length;
    }
    result->count = 1;
    result->length[0] = cur - 1;
    result->score[0] = cur > 1 ? sum / power(cur - 1, rules->options.length_penalty) : 0;
    memcpy(result->ids[0], ids + 1, (size_t)(cur - 1) * sizeof *ids);
}

/* Every way to cut the rows gives the same hypotheses and scores; without scores, a greedy search gives the same ids.
 */
static void check_parts(const ferry_search_rules *rules, scripted network, const outcome *expected)
{
    ferry_search_rules unscored = *rules;
    unscored.options.scores = 0;
    for (network.part = 1; network.part < network.vocab; network.part++) {
        const outcome found = run_scripted(rules, &network);
        assert_memory_equal(&found, expected, sizeof found);
        if (rules->options.beam > 1) continue;
        const outcome ids = run_scripted(&unscored, &network);
        assert_int_equal(ids.length[0], expected->length[0]);
        assert_memory_equal(ids.ids[0], expected->ids[0], sizeof ids.ids[0]);
        assert_true(ids.token_scores[0][0] == 0.0f);
    }
}

TEST(test_against_definition)
{
    static const float penalties[] = {-1, -0.5f, 0, 0.6f, 1, 1, 2};
    static const float repetition[] = {1, 1, 1, 1.3f, 0.8f};
    enum { MODELS = 6000 };
    int32_t with_phantoms = 0;
    int32_t several = 0;
    for (int32_t i = 0; i < MODELS; i++) {
        seed_random((uint64_t)i * 1000003);
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
        ferry_options *decoding = &rules.options;
        decoding->length_penalty = penalties[random_below(7)];
        decoding->early_stopping = (ferry_early_stopping)random_below(3);
        decoding->repetition_penalty = repetition[random_below(5)];
        decoding->renormalize = random_below(2) == 0;
        /* The definition takes a second log-softmax where the search takes one of the masked logits. Sums that are
         * equal in exact arithmetic may then differ in their last bit: equal ones are left to the other models. */
        network.coarse = random_below(2) == 0 && (!decoding->renormalize || decoding->repetition_penalty != 1);
        decoding->suppressed_ids = suppressed;
        decoding->suppressed_count = (size_t)random_below(3);
        if (random_below(3) == 0) decoding->no_repeat_ngram = random_below(4);
        if (random_below(3) == 0) decoding->min_length = random_below(4);
        if (random_below(4) == 0 && network.columns == 0) decoding->forced_first_id = random_below(vocab);
        if (random_below(4) == 0 && network.columns == 0) decoding->forced_last_id = eos[0];

        outcome expected = {0};
        outcome found = run_scripted(&rules, &network);
        check_parts(&rules, network, &found);
        if (decoding->beam == 1) {
            reference_greedy(&rules, &network, &expected);
            compare(&found, &expected);
            continue;
        }
        reference_beam(&rules, &network, false, &expected);
        compare(&found, &expected);
        assert_int_equal(found.steps, expected.steps);
        if (reference_beam(&rules, &network, true, &expected))
            with_phantoms++;
        else
            compare(&found, &expected);
        if (found.count > 1) several++;
    }
    /* The comparison means something only if most models are ordinary ones. */
    assert_true(with_phantoms < MODELS / 8);
    assert_true(several > MODELS / 2);
}
