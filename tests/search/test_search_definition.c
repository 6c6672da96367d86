/* engine/search: a comparison with each policy spelled out over whole arrays from its description (docs/decoding.md).
 */
#include "scripted.h"

typedef struct path {
    float sum, score;
    int32_t n, ids[MAX_TOKENS]; /* generated */
} path;

/* The ids that the rules about earlier tokens see: Hugging Face's begin with the start token. Returns how many. */
static int32_t earlier(const ferry_search_rules *rules, const path *p, int32_t *ids)
{
    const bool start = rules->options.search->policy == FERRY_POLICY_HUGGINGFACE;
    ids[0] = rules->start_id;
    memcpy(ids + start, p->ids, (size_t)p->n * sizeof *ids);
    return p->n + start;
}

/* What may not follow. */
static bool forbidden(const ferry_search_rules *rules, const path *p, const int32_t *ids, int32_t count, int32_t id)
{
    const ferry_options *decoding = &rules->options;
    return occurs(decoding->search->suppressed_ids, (int32_t)decoding->search->suppressed_count, id) ||
           repeats(ids, count, decoding->no_repeat_ngram, id) ||
           (occurs(rules->eos_ids, rules->eos_count, id) && p->n < decoding->min_length);
}

/* How many tokens are given: a forced first one, and a prefix after it. */
static int32_t count_given(const ferry_search_rules *rules)
{
    return rules->prefix_count + (rules->options.search->forced_first_id >= 0);
}

/* Whether the token after n others is one of the prefix. */
static bool is_prefix(const ferry_search_rules *rules, int32_t n)
{
    return n < count_given(rules) && n >= count_given(rules) - rules->prefix_count;
}

static int32_t forced_after(const ferry_search_rules *rules, const path *p)
{
    const ferry_options *decoding = &rules->options;
    if (p->n == decoding->max_length - 1 && decoding->search->forced_last_id >= 0)
        return decoding->search->forced_last_id;
    if (is_prefix(rules, p->n)) return rules->prefix[p->n + rules->prefix_count - count_given(rules)];
    return p->n == 0 ? decoding->search->forced_first_id : -1;
}

/* The network's row, without tokens that have no column. */
static void network_row(const scripted *network, const path *p, float *row)
{
    network->row(network, p->ids, p->n, row);
    for (int32_t v = 0; v < network->vocab; v++)
        if (network->columns != 0 && (network->columns >> v & 1) == 0) row[v] = -INFINITY;
}

/* Of logits, or of log-probabilities. */
static void apply_rules(const ferry_search_rules *rules, int32_t vocab, const path *p, float *row)
{
    const float penalty = rules->options.repetition_penalty;
    int32_t ids[MAX_TOKENS];
    const int32_t count = earlier(rules, p, ids);
    for (int32_t v = 0; v < vocab; v++) {
        if (penalty != 1 && occurs(ids, count, v)) row[v] = row[v] < 0 ? row[v] * penalty : row[v] / penalty;
        if (forbidden(rules, p, ids, count, v)) row[v] = -INFINITY;
    }
}

/* log P(v | p), -INFINITY for what may not follow. */
static void row_of(const ferry_search_rules *rules, const scripted *network, const path *p, float *row)
{
    network_row(network, p, row);
    if (rules->options.search->policy != FERRY_POLICY_CTRANSLATE2) log_softmax(row, network->vocab);
    apply_rules(rules, network->vocab, p, row);
    if (rules->options.search->policy == FERRY_POLICY_CTRANSLATE2 || rules->options.search->renormalize)
        log_softmax(row, network->vocab);
}

static path continued(const path *p, int32_t id, float log_probability)
{
    path next = *p;
    next.sum = p->sum + log_probability;
    next.ids[next.n++] = id;
    return next;
}

/* What a given token adds: with Marian, one of the prefix counts as if it had been chosen, if it has a column. */
static float given_score(const ferry_search_rules *rules, const scripted *network, const path *p, int32_t id)
{
    float row[MAX_VOCAB];
    network_row(network, p, row);
    if (rules->options.search->policy != FERRY_POLICY_MARIAN || !is_prefix(rules, p->n) || row[id] == -INFINITY)
        return 0;
    log_softmax(row, network->vocab);
    return row[id];
}

/* The best `limit` continuations of all paths, best first. */
static int32_t best_continuations(const ferry_search_rules *rules, const scripted *network, const path *paths,
                                  int32_t count, int32_t limit, path *best)
{
    static path all[MAX_BEAM * MAX_VOCAB];
    int32_t found = 0, kept = 0;
    for (int32_t p = 0; p < count; p++) {
        const int32_t forced = forced_after(rules, &paths[p]);
        float row[MAX_VOCAB];
        row_of(rules, network, &paths[p], row);
        if (forced >= 0) all[found++] = continued(&paths[p], forced, given_score(rules, network, &paths[p], forced));
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

/* Whether the last token ends the sentence: none of a prefix does, with CTranslate2 no given one. */
static bool ends_with_eos(const ferry_search_rules *rules, const path *p)
{
    if (is_prefix(rules, p->n - 1)) return false;
    if (rules->options.search->policy == FERRY_POLICY_CTRANSLATE2 && p->n <= count_given(rules)) return false;
    return occurs(rules->eos_ids, rules->eos_count, p->ids[p->n - 1]);
}

/* Hugging Face does not count what comes with a prefix. */
static float score_of(const ferry_search_rules *rules, float sum, int32_t n)
{
    const ferry_options *decoding = &rules->options;
    if (decoding->search->policy == FERRY_POLICY_HUGGINGFACE && rules->prefix_count > 0) n -= count_given(rules);
    return n > 0 ? (sum - decoding->search->word_penalty * (float)n) / (float)pow(n, decoding->length_penalty) : 0;
}

/* The score of the k-th best of paths [count]. */
static float score_at(const ferry_search_rules *rules, const path *paths, int32_t count, int32_t k)
{
    for (int32_t i = 0; i < count; i++) {
        int32_t better = 0;
        const float score = score_of(rules, paths[i].sum, paths[i].n);
        for (int32_t j = 0; j < count; j++) {
            const float other = score_of(rules, paths[j].sum, paths[j].n);
            better += other > score || (other == score && j < i);
        }
        if (better == k - 1) return score;
    }
    return -INFINITY;
}

/* Hugging Face's beams: of enough candidates, those among the first k that end are hypotheses, and the first k that do
 * not end go on. (It fills empty places with rows of sum -1e9, which are left out here.) */
static int32_t huggingface(const ferry_search_rules *rules, const scripted *network, path *finished, outcome *result)
{
    const ferry_options *decoding = &rules->options;
    const int32_t k = decoding->beam, limit = k * (rules->eos_count > 1 ? 1 + rules->eos_count : 2);
    path live[MAX_BEAM] = {{0}}, best[MAX_CANDIDATES];
    int32_t live_count = 1, count = 0;
    while (live_count > 0) {
        const int32_t found = best_continuations(rules, network, live, live_count, limit, best);
        if (found == 0 && count == 0)
            for (int32_t i = 0; i < live_count; i++) finished[count++] = live[i];
        live_count = 0;
        result->steps++;
        for (int32_t i = 0; i < found; i++) {
            if (!ends_with_eos(rules, &best[i]) && result->steps < decoding->max_length) {
                if (live_count < k) live[live_count++] = best[i];
            } else if (i < k) {
                finished[count++] = best[i];
            }
        }
        if (live_count == 0 || count < k) continue;
        const bool to_the_end =
            decoding->search->early_stopping == FERRY_EARLY_STOPPING_NEVER && decoding->length_penalty > 0;
        const float hope = score_of(rules, live[0].sum, to_the_end ? decoding->max_length : result->steps);
        if (decoding->search->early_stopping == FERRY_EARLY_STOPPING_TRUE ||
            !(hope > score_at(rules, finished, count, k)))
            break;
    }
    return count;
}

/* Its greedy search: the rules change logits, the scores are those of the network unless they are renormalized. */
static int32_t huggingface_greedy(const ferry_search_rules *rules, const scripted *network, path *finished,
                                  outcome *result)
{
    path *p = &finished[0];
    *p = (path){0};
    for (bool done = false; !done;) {
        float raw[MAX_VOCAB], row[MAX_VOCAB];
        int32_t id = forced_after(rules, p);
        network_row(network, p, raw);
        memcpy(row, raw, sizeof row);
        apply_rules(rules, network->vocab, p, row);
        log_softmax(raw, network->vocab);
        result->steps++;
        if (id >= 0) {
            *p = continued(p, id, 0);
        } else {
            id = plain_argmax(row, network->vocab);
            if (row[id] == -INFINITY) break;
            if (rules->options.search->renormalize) log_softmax(row, network->vocab);
            *p = continued(p, id, rules->options.search->renormalize ? row[id] : raw[id]);
        }
        done = ends_with_eos(rules, p) || p->n == rules->options.max_length;
    }
    return 1;
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
        if (rules->prefix_count == 0 || result->steps > count_given(rules) || live_count == 0) k = live_count;
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
        const bool last = t == rules->options.max_length - 1;
        const bool after_prefix = k > 1 && rules->prefix_count > 0 && t == count_given(rules);
        int32_t reserve = k;
        if (found == 0 && count == 0)
            for (int32_t i = 0; i < live_count; i++) finished[count++] = live[i];
        live_count = 0;
        for (int32_t i = 0; i < k && i < found; i++) {
            const bool eos = ends_with_eos(rules, &best[i]);
            if (after_prefix && i > 0 && eos) continue; /* it keeps its place, and is lost */
            if (!last && !eos) {
                live[live_count++] = best[i];
                continue;
            }
            finished[count++] = best[i];
            if (i == 0) best_ended = true;
            while (!after_prefix && reserve < found && ends_with_eos(rules, &best[reserve])) reserve++;
            if (last || reserve >= found) continue;
            if (!ends_with_eos(rules, &best[reserve])) live[live_count++] = best[reserve];
            reserve++;
        }
        result->steps++;
        if (last) break;
        const bool waits = decoding->length_penalty != 0 || decoding->search->coverage_penalty != 0;
        const int32_t awaited = (int32_t)roundf((float)k * decoding->search->patience);
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

static int32_t find_all(const ferry_search_rules *rules, const scripted *network, path *finished, outcome *result)
{
    if (rules->options.search->policy == FERRY_POLICY_MARIAN) return marian(rules, network, finished, result);
    if (rules->options.search->policy == FERRY_POLICY_CTRANSLATE2) return ctranslate2(rules, network, finished, result);
    return rules->options.beam == 1 ? huggingface_greedy(rules, network, finished, result)
                                    : huggingface(rules, network, finished, result);
}

static void spell_out(const ferry_search_rules *rules, const scripted *network, outcome *result)
{
    const ferry_options *decoding = &rules->options;
    path finished[MAX_BEAM * MAX_TOKENS];
    const int32_t count = find_all(rules, network, finished, result);
    for (int32_t i = 0; i < count; i++) {
        path *p = &finished[i];
        p->score = score_of(rules, p->sum, p->n);
        if (decoding->search->coverage_penalty != 0)
            p->score += decoding->search->coverage_penalty * coverage(network, p);
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

static const float penalties[] = {-1, -0.5f, 0, 0, 0.6f, 1, 1, 2}, repetition[] = {1, 1, 1, 1.3f, 0.8f};

/* What every policy has. eos, suppressed and prefix: [2], of the caller. */
static ferry_search_rules random_rules(ferry_policy policy, const scripted *network, int32_t *eos, int32_t *suppressed,
                                       int32_t *prefix)
{
    const int32_t vocab = network->vocab;
    ferry_search_rules rules = plain_rules(1 + random_below(5), 1 + random_below(8));
    ferry_options *decoding = &rules.options;
    eos[0] = random_below(vocab);
    eos[1] = (eos[0] + 1 + random_below(vocab - 1)) % vocab;
    for (int i = 0; i < 2; i++) {
        suppressed[i] = random_below(vocab);
        prefix[i] = random_below(vocab);
    }
    rules.eos_ids = eos;
    if (policy != FERRY_POLICY_CTRANSLATE2) rules.eos_count = 1 + random_below(2);
    rules.start_id = policy == FERRY_POLICY_MARIAN ? -1 : random_below(vocab + 1) - 1;
    scripted_search.policy = policy;
    decoding->nbest = 1 + random_below(decoding->beam);
    decoding->length_penalty = penalties[random_below(8)];
    scripted_search.early_stopping = (ferry_early_stopping)random_below(3);
    scripted_search.suppressed_ids = suppressed;
    scripted_search.suppressed_count = (size_t)random_below(3);
    /* Marian has no repetition penalty. */
    if (policy != FERRY_POLICY_MARIAN) decoding->repetition_penalty = repetition[random_below(5)];
    if (random_below(3) == 0) decoding->no_repeat_ngram = random_below(4);
    if (random_below(2) == 0) decoding->min_length = random_below(4);
    if (random_below(4) == 0) scripted_search.forced_first_id = random_below(vocab);
    rules.prefix = prefix;
    rules.prefix_count = random_below(2) * random_below(3);
    if (count_given(&rules) >= decoding->max_length) rules.prefix_count = 0;
    return rules;
}

static void add_huggingface(scripted *network, ferry_options *decoding, const int32_t *eos)
{
    scripted_search.renormalize = random_below(2) == 0;
    if (random_below(4) == 0) scripted_search.forced_last_id = eos[0];
    /* The definition takes a second log-softmax where the search takes one of the masked logits. Sums that are equal in
     * exact arithmetic may then differ in their last bit: equal ones are left to the other models. */
    network->coarse = random_below(2) == 0 && (!scripted_search.renormalize || decoding->repetition_penalty != 1);
}

static void add_ctranslate2(scripted *network, ferry_options *decoding, float *attention)
{
    static const float patience[] = {1, 1, 0.5f, 1.3f, 2, 3}, coverage_penalties[] = {0, 0, 0.3f, -0.5f};
    if (decoding->beam == 1) return;
    scripted_search.patience = patience[random_below(6)];
    scripted_search.coverage_penalty = coverage_penalties[random_below(4)];
    if (decoding->nbest > ferry_search_awaited(decoding)) decoding->nbest = ferry_search_awaited(decoding);
    for (int32_t w = 0; w < network->vocab * SOURCE_IDS; w++)
        attention[w] = fmaxf(0, (float)random_below(1000) / 1000 - 0.5f);
    network->attention = attention;
}

/* Random rules. Coarse networks, where sums are equal, only where the order of equal ones is the same by definition. */
static void compare_with_definition(ferry_policy policy, uint64_t seed)
{
    static float attention[MAX_VOCAB * SOURCE_IDS];
    enum { MODELS = 6000 };
    int32_t several = 0, greedy = 0;
    for (int32_t i = 0; i < MODELS; i++) {
        seed_random(seed + (uint64_t)i * 1000003);
        scripted network = {.row = random_row, .vocab = 2 + random_below(11), .kernels = &normalizing};
        network.seed = mix(seed + (uint64_t)i);
        if (random_below(4) == 0) network.columns = 3u | (uint32_t)random_below(1 << network.vocab);
        int32_t eos[2], suppressed[2], prefix[2];
        ferry_search_rules rules = random_rules(policy, &network, eos, suppressed, prefix);
        if (policy == FERRY_POLICY_HUGGINGFACE) add_huggingface(&network, &rules.options, eos);
        if (policy == FERRY_POLICY_CTRANSLATE2) add_ctranslate2(&network, &rules.options, attention);
        if (policy == FERRY_POLICY_MARIAN) {
            scripted_search.word_penalty = (float)random_below(3) * 0.25f;
            network.coarse = random_below(2) == 0 && scripted_search.word_penalty == 0;
        }
        outcome expected = {0};
        const outcome found = run_scripted(&rules, &network);
        spell_out(&rules, &network, &expected);
        compare(&found, &expected);
        assert_int_equal(found.steps, expected.steps);
        check_parts(&rules, network, &found);
        several += found.count > 1;
        greedy += rules.options.beam == 1;
    }
    /* The comparison means something only if there are enough of both. */
    assert_true(several > MODELS / 4 && greedy > MODELS / 8);
}

TEST(test_huggingface_against_definition)
{
    compare_with_definition(FERRY_POLICY_HUGGINGFACE, 1);
}

TEST(test_marian_against_definition)
{
    compare_with_definition(FERRY_POLICY_MARIAN, 77);
}

TEST(test_ctranslate2_against_definition)
{
    compare_with_definition(FERRY_POLICY_CTRANSLATE2, 4800);
}
