#define _POSIX_C_SOURCE 200809L /* fmemopen */
/* The verdicts of the report, on comparisons made by hand. */
#include "tests/support/support.h"

#include "tools/lab/report_claims.h"

enum { MODELS = 3, SEEN = 3, NEAR = 4, DOUBLED = 5, FARTHEST = 7, LAYERS = 2 };

/* A comparison with lines in all buckets up to 127, trained up to 31 pieces. */
typedef struct made {
    ferry_comparison c;
    ferry_compared_model models[MODELS];
    ferry_difference differences[FERRY_CELLS * FERRY_METRIC_COUNT * MODELS * MODELS];
    ferry_probes probes[MODELS];
    ferry_probe_position positions[MODELS][LAYERS + 1];
    ferry_cost costs[3];
} made;

static ferry_interval around(double value, double half)
{
    return (ferry_interval){value, value - half, value + half};
}

static const ferry_inspect_scheme schemes[] = {
    {.name = "none", .title = "none", .paper = "", .kind = FERRY_INSPECT_NO_POSITIONS},
    {.name = "added", .title = "added", .paper = "A 2017", .kind = FERRY_INSPECT_ABSOLUTE, .limit = 40},
    {.name = "turned", .title = "Turned", .paper = "B 2021", .kind = FERRY_INSPECT_RELATIVE, .for_long_texts = 1},
};

/* Models without positions, with absolute and with relative ones; all alike, and no difference significant. */
static made *make(size_t count)
{
    made *m = kept_memory(sizeof *m);
    m->c.models = m->models;
    m->c.count = count;
    m->c.differences = m->differences;
    m->c.text.trained_pieces = 31;
    for (size_t cell = 1; cell < FERRY_CELLS - 1; cell++) m->c.text.lines[cell] = 100;
    m->c.text.lines[0] = 700;
    for (size_t i = 0; i < sizeof m->differences / sizeof *m->differences; i++)
        m->differences[i] = (ferry_difference){{0, -1, 1}, 1};
    static const char *const names[] = {"one", "two", "three"};
    for (size_t i = 0; i < count; i++) {
        ferry_compared_model *model = &m->models[i];
        model->name = names[i];
        for (int stack = 0; stack < 2; stack++) {
            model->schemes[stack] = schemes[i];
            model->encodings[stack] = schemes[i].name;
        }
        for (size_t cell = 0; cell < FERRY_CELLS; cell++) {
            for (size_t k = 0; k < FERRY_METRIC_COUNT; k++) model->cells[cell].metrics[k] = around(1, 0.1);
            model->cells[cell].metrics[FERRY_METRIC_BLEU] = around(20, 1);
        }
    }
    return m;
}

static void set_bleu(made *m, size_t model, size_t cell, double value, double half)
{
    m->models[model].cells[cell].metrics[FERRY_METRIC_BLEU] = around(value, half);
}

/* Model `a` is better than `b` by a metric in all cells, or in the seen ones, or beyond. */
static void set_better(made *m, size_t a, size_t b, ferry_metric metric, size_t first, size_t end, double p)
{
    for (size_t cell = first; cell < end; cell++) {
        const double by = ferry_metrics[metric].better * 0.5;
        *ferry_comparison_difference(&m->c, cell, metric, a, b) = (ferry_difference){around(by, 0.2), p};
        *ferry_comparison_difference(&m->c, cell, metric, b, a) = (ferry_difference){around(-by, 0.2), p};
    }
}

/* By two metrics, in all cells. */
static void set_better_by(made *m, size_t a, size_t b, ferry_metric one, ferry_metric other, double p)
{
    set_better(m, a, b, one, 0, FERRY_CELLS, p);
    set_better(m, a, b, other, 0, FERRY_CELLS, p);
}

static char text[1 << 16];

static ferry_votes count(const made *m, const char *id)
{
    const ferry_facts facts = ferry_facts_of(&m->c);
    for (size_t i = 0; i < ferry_claim_count; i++) {
        if (strcmp(ferry_claims[i].id, id) != 0) continue;
        FILE *out = fmemopen(text, sizeof text - 1, "w");
        assert_non_null(out);
        const ferry_votes votes = ferry_claims[i].count(&facts, out);
        fclose(out);
        return votes;
    }
    fail_msg("no claim %s", id);
    return (ferry_votes){0};
}

static void expect(const made *m, const char *id, int yes, int no, int open, ferry_verdict verdict)
{
    const ferry_votes v = count(m, id);
    if (v.yes != yes || v.no != no || v.open != open || ferry_verdict_of(v) != verdict)
        fail_msg("%s: expected %d for, %d against, %d open, verdict %d; found %d, %d, %d, verdict %d", id, yes, no,
                 open, verdict, (int)v.yes, (int)v.no, (int)v.open, ferry_verdict_of(v));
}

/* ---- verdicts ---- */

TEST(test_three_quarters_decide)
{
    assert_int_equal(ferry_verdict_of((ferry_votes){3, 1, 0}), FERRY_VERDICT_FOR);
    assert_int_equal(ferry_verdict_of((ferry_votes){0, 3, 1}), FERRY_VERDICT_AGAINST);
    assert_int_equal(ferry_verdict_of((ferry_votes){2, 1, 1}), FERRY_VERDICT_MIXED);
    assert_int_equal(ferry_verdict_of((ferry_votes){2, 1, 0}), FERRY_VERDICT_MIXED);
    assert_int_equal(ferry_verdict_of((ferry_votes){1, 1, 2}), FERRY_VERDICT_MIXED);
    assert_int_equal(ferry_verdict_of((ferry_votes){1, 1, 3}), FERRY_VERDICT_OPEN);
    assert_int_equal(ferry_verdict_of((ferry_votes){0, 0, 0}), FERRY_VERDICT_NOT_MEASURED);
}

TEST(test_lengths)
{
    made *m = make(1);
    ferry_facts facts = ferry_facts_of(&m->c);
    assert_int_equal(facts.last_seen, SEEN);
    assert_int_equal(facts.doubled, DOUBLED);
    assert_int_equal(facts.farthest, FARTHEST);
    m->c.text.trained_pieces = 40; /* 32-47 is neither seen nor beyond */
    facts = ferry_facts_of(&m->c);
    assert_int_equal(facts.last_seen, SEEN);
    assert_false(ferry_cell_is_beyond(&facts, NEAR) || ferry_cell_is_seen(&facts, NEAR));
    assert_int_equal(facts.doubled, 6); /* 64-95 contains 80 */
    m->c.text.trained_pieces = 0;
    facts = ferry_facts_of(&m->c);
    assert_true(facts.last_seen == 0 && facts.doubled == 0 && facts.farthest == 0);
}

TEST(test_failing_beyond)
{
    made *m = make(3);
    set_bleu(m, 1, DOUBLED, 5, 0.5);
    set_bleu(m, 2, DOUBLED, 15, 0.5);
    expect(m, "absolute-fail", 1, 0, 0, FERRY_VERDICT_FOR);
    expect(m, "relative-extrapolate", 1, 0, 0, FERRY_VERDICT_FOR);
    assert_non_null(strstr(text, "three 75&#160;% (7"));
    set_bleu(m, 1, DOUBLED, 15, 0.5);
    set_bleu(m, 2, DOUBLED, 5, 0.5);
    expect(m, "absolute-fail", 0, 1, 0, FERRY_VERDICT_AGAINST);
    expect(m, "relative-extrapolate", 0, 1, 0, FERRY_VERDICT_AGAINST);
    set_bleu(m, 1, DOUBLED, 10, 1); /* half, within the interval */
    expect(m, "absolute-fail", 0, 0, 1, FERRY_VERDICT_OPEN);
    expect(make(1), "absolute-fail", 0, 0, 0, FERRY_VERDICT_NOT_MEASURED);
    m->c.text.trained_pieces = 0;
    expect(m, "absolute-fail", 0, 0, 0, FERRY_VERDICT_NOT_MEASURED);
}

/* In each of 4 buckets beyond, by two metrics. */
TEST(test_pairs_beyond)
{
    made *m = make(3);
    expect(m, "rosendahl-beyond", 0, 0, 8, FERRY_VERDICT_OPEN);
    set_better(m, 2, 1, FERRY_METRIC_BLEU, NEAR, FERRY_CELLS, 0.01);
    expect(m, "rosendahl-beyond", 4, 0, 4, FERRY_VERDICT_MIXED);
    set_better(m, 2, 1, FERRY_METRIC_LIKELIHOOD, 0, FERRY_CELLS, 0.01);
    expect(m, "rosendahl-beyond", 8, 0, 0, FERRY_VERDICT_FOR);
    expect(m, "best-long", 8, 0, 8, FERRY_VERDICT_MIXED); /* also compared with the one without positions */
    assert_non_null(strstr(text, "Turned (B 2021)"));
    set_better_by(m, 1, 2, FERRY_METRIC_BLEU, FERRY_METRIC_LIKELIHOOD, 0.01);
    expect(m, "rosendahl-beyond", 0, 8, 0, FERRY_VERDICT_AGAINST);
    set_better(m, 1, 2, FERRY_METRIC_BLEU, 0, FERRY_CELLS, 0.06);
    set_better(m, 1, 2, FERRY_METRIC_LIKELIHOOD, 0, FERRY_CELLS, NAN);
    expect(m, "rosendahl-beyond", 0, 0, 4, FERRY_VERDICT_OPEN); /* no case where p is unknown */
    expect(make(1), "rosendahl-beyond", 0, 0, 0, FERRY_VERDICT_NOT_MEASURED);
    set_better_by(m, 2, 1, FERRY_METRIC_EARLY_STOP, FERRY_METRIC_END, 0.01);
    expect(m, "neishi", 8, 0, 0, FERRY_VERDICT_FOR);
    set_better_by(m, 1, 2, FERRY_METRIC_EARLY_STOP, FERRY_METRIC_END, 0.01);
    expect(m, "neishi", 0, 8, 0, FERRY_VERDICT_AGAINST);
}

TEST(test_pairs_within)
{
    made *m = make(3);
    expect(m, "rosendahl-within", 0, 0, 3, FERRY_VERDICT_OPEN); /* -1 … 1 */
    for (size_t cell = 1; cell <= SEEN; cell++)
        ferry_comparison_difference(&m->c, cell, FERRY_METRIC_LIKELIHOOD, 2, 1)->difference = around(0.03, 0.05);
    expect(m, "rosendahl-within", 3, 0, 0, FERRY_VERDICT_FOR);
    for (size_t cell = 1; cell <= SEEN; cell++)
        ferry_comparison_difference(&m->c, cell, FERRY_METRIC_LIKELIHOOD, 2, 1)->difference = around(-0.3, 0.05);
    expect(m, "rosendahl-within", 0, 3, 0, FERRY_VERDICT_AGAINST);
    expect(m, "gumma", 0, 0, 12, FERRY_VERDICT_OPEN);
    for (size_t other = 1; other < 3; other++)
        set_better_by(m, other, 0, FERRY_METRIC_BLEU, FERRY_METRIC_LIKELIHOOD, 0.01);
    expect(m, "gumma", 12, 0, 0, FERRY_VERDICT_FOR);
    for (size_t other = 1; other < 3; other++)
        set_better_by(m, 0, other, FERRY_METRIC_BLEU, FERRY_METRIC_LIKELIHOOD, 0.01);
    expect(m, "gumma", 0, 12, 0, FERRY_VERDICT_AGAINST);
}

TEST(test_hopeless)
{
    made *m = make(3);
    set_bleu(m, 1, SEEN, 40, 1);
    set_bleu(m, 0, SEEN, 10, 1);
    expect(m, "hopeless", 1, 0, 0, FERRY_VERDICT_FOR);
    set_bleu(m, 0, SEEN, 30, 1);
    expect(m, "hopeless", 0, 1, 0, FERRY_VERDICT_AGAINST);
    set_bleu(m, 0, SEEN, 20, 1);
    expect(m, "hopeless", 0, 0, 1, FERRY_VERDICT_OPEN);
    set_bleu(m, 0, SEEN, 50, 1); /* it is the best */
    expect(m, "hopeless", 0, 0, 0, FERRY_VERDICT_NOT_MEASURED);
    expect(make(1), "hopeless", 0, 0, 0, FERRY_VERDICT_NOT_MEASURED);
}

static void set_cost(made *m, size_t model, double ratio, double half)
{
    m->costs[model] = (ferry_cost){.encoding = schemes[model].name, .kind = schemes[model].kind};
    for (size_t i = 0; i < FERRY_COST_CASES; i++) m->costs[model].ratio[i] = around(ratio, half);
}

TEST(test_cost)
{
    made *m = make(3);
    expect(m, "no-cache", 0, 0, 0, FERRY_VERDICT_NOT_MEASURED);
    m->c.cost = (ferry_cost_section){.costs = m->costs, .count = 3, .isa = "plain"};
    for (size_t k = 0; k < 3; k++) set_cost(m, k, 1, 0.02);
    expect(m, "no-cache", 0, 1, 0, FERRY_VERDICT_AGAINST);
    expect(m, "slower", 0, 2, 0, FERRY_VERDICT_AGAINST);
    set_cost(m, 2, 1.2, 0.1);
    expect(m, "slower", 2, 0, 0, FERRY_VERDICT_FOR);
    set_cost(m, 2, 1.04, 0.1);
    expect(m, "slower", 0, 0, 2, FERRY_VERDICT_OPEN);
    set_cost(m, 2, 300, 10);
    expect(m, "no-cache", 1, 0, 0, FERRY_VERDICT_FOR);
}

static void set_r2(made *m, size_t model, double input, double first, double last)
{
    const double seen[LAYERS + 1] = {input, first, last};
    m->models[model].probes = &m->probes[model];
    m->probes[model].stacks[0] = (ferry_probe_stack){.layers = LAYERS, .positions = m->positions[model]};
    for (int i = 0; i <= LAYERS; i++) m->positions[model][i].seen = seen[i];
}

TEST(test_decay)
{
    made *m = make(3);
    expect(m, "decays", 0, 0, 0, FERRY_VERDICT_NOT_MEASURED);
    set_r2(m, 0, 1, 0.5, 0); /* has no positions: does not count */
    set_r2(m, 1, 1, 0.9, 0.5);
    expect(m, "decays", 1, 0, 0, FERRY_VERDICT_FOR);
    set_r2(m, 2, 0, 0.5, 0.8);
    expect(m, "decays", 1, 1, 0, FERRY_VERDICT_MIXED);
    set_r2(m, 1, 1, 0.99, 0.97);
    expect(m, "decays", 0, 2, 0, FERRY_VERDICT_AGAINST);
    assert_non_null(strstr(text, "two 1.00 → 0.99 → 0.97"));
}
