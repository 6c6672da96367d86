#include "scripted.h"

#include "base/memory.h"
#include "engine/kernels/kernels.h"
#include "engine/search/logits.h"

bool occurs(const int32_t *ids, int32_t count, int32_t id)
{
    for (int32_t i = 0; i < count; i++)
        if (ids[i] == id) return true;
    return false;
}

bool repeats(const int32_t *ids, int32_t length, int32_t g, int32_t id)
{
    if (g == 0 || length + 1 < g) return false;
    int32_t extended[MAX_TOKENS];
    memcpy(extended, ids, (size_t)length * sizeof *ids);
    extended[length] = id;
    for (int32_t i = 0; i + g <= length; i++)
        if (memcmp(ids + i, extended + length + 1 - g, (size_t)g * sizeof *ids) == 0) return true;
    return false;
}

/* ---- kernels ---- */

/* Rows of few columns, in any parts. */
static void plain_add_exp(ferry_log_sum *total, const float *x, int32_t n)
{
    for (int32_t i = 0; i < n; i++) total->sum += exp((double)x[i]);
    total->largest = 0;
}

float plain_log_sum_exp(const float *x, int32_t n)
{
    ferry_log_sum total = FERRY_LOG_SUM_ZERO;
    plain_add_exp(&total, x, n);
    return ferry_log_of_sum(&total);
}

static void add_nothing_else(ferry_log_sum *total, const float *x, int32_t n)
{
    (void)n;
    (void)x;
    *total = (ferry_log_sum){.sum = 1};
}

int32_t plain_argmax(const float *x, int32_t n)
{
    int32_t best = 0;
    for (int32_t i = 1; i < n; i++)
        if (x[i] > x[best]) best = i;
    return best;
}

void log_softmax(float *row, int32_t vocab)
{
    const float max = row[plain_argmax(row, vocab)];
    if (max == -INFINITY) return;
    const float log_sum = plain_log_sum_exp(row, vocab);
    for (int32_t v = 0; v < vocab; v++) row[v] -= log_sum;
}

static void plain_add_top(ferry_top *top, const float *x, int32_t n, int32_t first)
{
    for (int32_t i = 0; i < n; i++) {
        int32_t before = 0;
        while (before < top->count && top->values[before] >= x[i]) before++;
        if (before == top->limit) continue;
        if (top->count < top->limit) top->count++;
        const size_t behind = (size_t)(top->count - 1 - before);
        memmove(top->values + before + 1, top->values + before, behind * sizeof *top->values);
        memmove(top->indices + before + 1, top->indices + before, behind * sizeof *top->indices);
        top->values[before] = x[i];
        top->indices[before] = first + i;
    }
}

const ferry_kernels normalizing = {
    .isa = "test", .add_exp = plain_add_exp, .argmax = plain_argmax, .add_top = plain_add_top};
const ferry_kernels as_given = {
    .isa = "test", .add_exp = add_nothing_else, .argmax = plain_argmax, .add_top = plain_add_top};

/* ---- networks ---- */

void table_row(const scripted *network, const int32_t *prefix, int32_t n, float *row)
{
    (void)prefix;
    memcpy(row, network->table + (size_t)n * (size_t)network->vocab, (size_t)network->vocab * sizeof *row);
}

uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

void random_row(const scripted *network, const int32_t *prefix, int32_t n, float *row)
{
    uint64_t state = network->seed;
    for (int32_t i = 0; i < n; i++) state = mix(state + (uint64_t)prefix[i] + 1);
    for (int32_t v = 0; v < network->vocab; v++) {
        state = mix(state + 0x9e3779b97f4a7c15u);
        float uniform = (float)(state >> 40) / (float)(1 << 24);
        row[v] = network->coarse ? floorf(uniform * 8) / 2 - 2 : uniform * 6 - 3;
    }
}

static uint64_t random_state;

void seed_random(uint64_t seed)
{
    random_state = seed;
}

int32_t random_below(int32_t n)
{
    random_state = mix(random_state + 0x9e3779b97f4a7c15u);
    return (int32_t)(random_state % (uint64_t)n);
}

/* ---- searches ---- */

ferry_search_options scripted_search;

ferry_search_rules plain_rules(int32_t beam, int32_t max_length)
{
    static const int32_t eos[] = {0};
    scripted_search = (ferry_search_options){.forced_first_id = -1, .forced_last_id = -1, .patience = 1};
    return (ferry_search_rules){
        .options = {.beam = beam,
                    .nbest = beam,
                    .length_penalty = 1,
                    .max_length = max_length,
                    .repetition_penalty = 1,
                    .scores = 1,
                    .search = &scripted_search},
        .eos_ids = eos,
        .eos_count = 1,
        .start_id = -7,
    };
}

static void check_token_scores(const ferry_search_rules *rules, const ferry_hypothesis *hypothesis)
{
    const int32_t n = hypothesis->length - ferry_search_uncounted(&rules->options, rules->prefix_count);
    float sum = 0;
    for (int32_t i = 0; i < hypothesis->length; i++) sum += hypothesis->token_scores[i];
    sum -= rules->options.search->word_penalty * (float)n;
    const float score = (n > 0 ? sum / (float)pow(n, rules->options.length_penalty) : 0) + hypothesis->coverage;
    assert_memory_equal(&score, &hypothesis->score, sizeof score);
}

/* The rows' columns, all in one, or one part after the other; the last part is the step's. */
static int32_t show_rows(ferry_search *search, const scripted *network, const ferry_logits *rows, int32_t *ids,
                         int32_t *parents)
{
    ferry_logits part = *rows;
    const int32_t width = network->part > 0 && ferry_search_takes_parts(search) ? network->part : rows->count;
    for (; rows->count - part.first > width; part.first += width, part.values += width) {
        part.count = width;
        ferry_search_see(search, network->kernels, &part);
    }
    part.count = rows->count - part.first;
    return ferry_search_step(search, network->kernels, &part, ids, parents);
}

/* Shows the search the weights of its hypotheses; in the result they are sorted as these are. */
static void cover(ferry_search *search, const scripted *network)
{
    enum { MOST = 64 };
    static float rows[MOST][MAX_TOKENS][SOURCE_IDS];
    const float *weights[MOST];
    const int32_t count = ferry_search_count(search);
    assert_in_range(count, 1, MOST);
    for (int32_t h = 0; h < count; h++) {
        const ferry_hypothesis found = ferry_search_hypothesis(search, h);
        for (int32_t t = 0; t < found.length; t++)
            memcpy(rows[h][t], network->attention + found.ids[t] * SOURCE_IDS, sizeof rows[h][t]);
        weights[h] = rows[h][0];
    }
    ferry_search_cover(search, weights, SOURCE_IDS);
    assert_false(ferry_search_lacks_coverage(search));
    for (int32_t h = 0; h < ferry_search_count(search); h++) {
        const ferry_hypothesis found = ferry_search_hypothesis(search, h);
        for (int32_t t = 0; t < found.length; t++)
            assert_memory_equal(weights[h] + t * SOURCE_IDS, network->attention + found.ids[t] * SOURCE_IDS,
                                SOURCE_IDS * sizeof(float));
    }
}

outcome run_scripted(const ferry_search_rules *rules, const scripted *network)
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
        int32_t column_ids[MAX_VOCAB], order[MAX_VOCAB];
        ferry_logits logits = {.values = values[0], .ld = MAX_VOCAB + 3, .order = order};
        if (network->columns != 0) logits.ids = column_ids;
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
        int32_t next = show_rows(search, network, &logits, ids, parents);
        assert_in_range(next, 0, ferry_search_width(&rules->options));
        for (int32_t r = 0; r < next; r++) {
            assert_in_range(parents[r], 0, live - 1);
            memcpy(next_prefixes[r], prefixes[parents[r]], sizeof next_prefixes[r]);
            next_prefixes[r][result.steps] = ids[r];
        }
        memcpy(prefixes, next_prefixes, sizeof prefixes);
        live = next;
        result.steps++;
        assert_true(result.steps <= rules->options.max_length);
    }
    assert_int_equal(arena.used, used);
    if (ferry_search_lacks_coverage(search)) cover(search, network);
    result.count = ferry_search_count(search);
    for (int32_t i = 0; i < result.count; i++) {
        ferry_hypothesis hypothesis = ferry_search_hypothesis(search, i);
        result.length[i] = hypothesis.length;
        result.score[i] = hypothesis.score;
        memcpy(result.ids[i], hypothesis.ids, (size_t)hypothesis.length * sizeof *hypothesis.ids);
        memcpy(result.token_scores[i], hypothesis.token_scores,
               (size_t)hypothesis.length * sizeof *hypothesis.token_scores);
        check_token_scores(rules, &hypothesis);
    }
    ferry_arena_destroy(&arena);
    return result;
}

void expect_all(const ferry_search_rules *rules, const scripted *network, const finding *findings, int32_t count)
{
    const outcome result = run_scripted(rules, network);
    assert_int_equal(result.count, count);
    for (int32_t i = 0; i < count; i++) {
        assert_int_equal(result.length[i], findings[i].length);
        assert_memory_equal(result.ids[i], findings[i].ids, (size_t)findings[i].length * sizeof *findings[i].ids);
        assert_float_equal(result.score[i], findings[i].score, 2e-6);
    }
}

void compare(const outcome *a, const outcome *b)
{
    assert_int_equal(a->count, b->count);
    for (int32_t i = 0; i < a->count; i++) {
        assert_int_equal(a->length[i], b->length[i]);
        assert_memory_equal(a->ids[i], b->ids[i], (size_t)a->length[i] * sizeof a->ids[i][0]);
        assert_float_equal(a->score[i], b->score[i], 2e-6 * (1 + fabsf(a->score[i])));
    }
}
