#include "report_advice.h"

#include <math.h>
#include <stdlib.h>

#include "report_figures.h"

/* Translations of the right length; lines that may go wrong; time that nobody notices. */
static const double right_length = 1.25, few_lines = 0.1, little_time = 1.05;

typedef struct advice {
    FILE *out;
    const ferry_facts *facts;
    bool *wanted; /* [count] models, for lists of names */
} advice;

static void begin(const advice *a, const char *lead)
{
    fprintf(a->out, "<li><b class=\"lead\">%s</b> ", lead);
}

static void end(const advice *a, const char *figure)
{
    ferry_put_figure_link(a->out, a->facts, figure);
    fputs("</li>\n", a->out);
}

static void put_model(const advice *a, size_t index)
{
    for (size_t m = 0; m < a->facts->c->count; m++) a->wanted[m] = m == index;
    ferry_put_names(a->out, a->facts->c, a->wanted);
}

/* The best by a metric in a cell, and all that do not differ from it. */
static void put_best(const advice *a, size_t cell, ferry_metric metric)
{
    const ferry_comparison *c = a->facts->c;
    const size_t best = ferry_comparison_best(c, cell, metric);
    const char *title = metric == FERRY_METRIC_LIKELIHOOD ? "likelihood" : ferry_metrics[metric].title;
    size_t equals = 0;
    put_model(a, best);
    fprintf(a->out, " has the best %s (%.*f%s%s%s)", title, ferry_metrics[metric].decimals,
            c->models[best].cells[cell].metrics[metric].value, metric == FERRY_METRIC_LIKELIHOOD ? " nats a piece" : "",
            cell > 0 ? " at source pieces " : "", cell > 0 ? ferry_cell_name(cell) : "");
    for (size_t m = 0; m < c->count; m++) {
        const double p = ferry_comparison_difference(c, cell, metric, best, m)->p;
        a->wanted[m] = m != best && p >= FERRY_SIGNIFICANT;
        equals += a->wanted[m];
    }
    if (equals > 0) {
        fputs("; no significant difference to ", a->out);
        ferry_put_names(a->out, c, a->wanted);
    }
    fputs(equals > 0 ? "." : ", significantly better than all others.", a->out);
}

static void advise_best(const advice *a, const char *lead, size_t cell)
{
    const ferry_comparison *c = a->facts->c;
    if (c->count < 2) return;
    const bool scored = ferry_comparison_best(c, cell, FERRY_METRIC_LIKELIHOOD) < c->count;
    if (ferry_comparison_best(c, cell, FERRY_METRIC_BLEU) == c->count) return;
    begin(a, lead);
    put_best(a, cell, FERRY_METRIC_BLEU);
    ferry_put_figure_link(a->out, a->facts, "bleu");
    if (scored) {
        fputs("<br/>", a->out);
        put_best(a, cell, FERRY_METRIC_LIKELIHOOD);
    }
    end(a, scored ? "nats" : "");
}

/* ---- safety ---- */

static double wrong_lines(const ferry_facts *facts, size_t model)
{
    const ferry_compared_cell *cell = &facts->c->models[model].cells[facts->farthest];
    return cell->metrics[FERRY_METRIC_EARLY_STOP].value + cell->metrics[FERRY_METRIC_REPETITION].value +
           (double)cell->failed / (double)facts->c->text.lines[facts->farthest];
}

static void advise_safest(const advice *a)
{
    const ferry_comparison *c = a->facts->c;
    const size_t cell = a->facts->farthest;
    size_t safe = 0, best = c->count;
    if (cell == 0) return;
    for (size_t m = 0; m < c->count; m++) {
        const double length = c->models[m].cells[cell].metrics[FERRY_METRIC_LENGTH_RATIO].value;
        const double wrong = wrong_lines(a->facts, m);
        a->wanted[m] = fabs(log(length)) <= log(right_length) && wrong <= few_lines;
        safe += a->wanted[m];
        if (!isnan(wrong) && (best == c->count || wrong < wrong_lines(a->facts, best))) best = m;
    }
    if (best == c->count) return;
    begin(a, "Safest for texts much longer than in training.");
    if (safe > 0) {
        ferry_put_names(a->out, c, a->wanted);
        fprintf(a->out,
                ": at %s pieces, the length is right to a factor of %.2f, and at most %.0f&#160;%% of the lines "
                "stop early, repeat themselves or fail.",
                ferry_cell_name(cell), right_length, 100 * few_lines);
    } else {
        const ferry_compared_cell *found = &c->models[best].cells[cell];
        fprintf(a->out, "None: at %s pieces, even ", ferry_cell_name(cell));
        put_model(a, best);
        fprintf(a->out,
                " has %.0f&#160;%% early stops and %.0f&#160;%% repetitions, and a length ratio of %.2f. Split "
                "such texts into sentences.",
                100 * found->metrics[FERRY_METRIC_EARLY_STOP].value,
                100 * found->metrics[FERRY_METRIC_REPETITION].value, found->metrics[FERRY_METRIC_LENGTH_RATIO].value);
    }
    ferry_put_figure_link(a->out, a->facts, "early");
    ferry_put_figure_link(a->out, a->facts, "repetition");
    end(a, "length");
}

static void advise_limits(const advice *a)
{
    const ferry_comparison *c = a->facts->c;
    for (size_t m = 0; m < c->count; m++) {
        const ferry_compared_model *model = &c->models[m];
        const int32_t one = model->schemes[0].limit, other = model->schemes[1].limit;
        const int32_t limit = one > 0 && (other == 0 || one < other) ? one : other;
        if (limit == 0 || !ferry_is_first_of_encoding(c, m)) continue;
        begin(a, "Not for texts beyond its table.");
        put_model(a, m);
        fprintf(a->out, " has rows for %d positions, and refuses longer texts", (int)limit);
        if (model->cells[0].failed > 0)
            fprintf(a->out, "; so it did with %zu of the %zu test lines", model->cells[0].failed, c->text.lines[0]);
        fputs(".", a->out);
        end(a, "bleu");
    }
}

/* ---- cost ---- */

/* The ratio to the model without encoding that is exceeded for certain, where it is largest. */
static double slowest(const ferry_cost *cost)
{
    double most = NAN;
    for (size_t i = 0; i < FERRY_COST_CASES; i++) most = fmax(most, cost->ratio[i].low);
    return most;
}

/* Not measurably slower than little_time allows. */
static bool is_fast(const ferry_cost *cost)
{
    for (size_t i = 0; i < FERRY_COST_CASES; i++)
        if (cost->ratio[i].low > little_time) return false;
    return true;
}

static void put_fast(const advice *a)
{
    const ferry_cost_section *section = &a->facts->c->cost;
    bool follows = false;
    for (size_t k = 1; k < section->count; k++) {
        if (!is_fast(&section->costs[k])) continue;
        fprintf(a->out, "%s<b>%s</b>", follows ? ", " : "", section->costs[k].encoding);
        follows = true;
    }
    if (!follows) fputs("No encoding", a->out);
}

/* Bytes of the encoding in a model and a thread that has prepared so many positions. */
static double bytes_of(const ferry_cost *cost)
{
    return (double)cost->memory.tables + 512 * (double)cost->memory.row;
}

static void advise_cost(const advice *a)
{
    const ferry_cost_section *section = &a->facts->c->cost;
    size_t dearest = 1, smallest = 1, largest = 1;
    if (section->count < 2) return;
    for (size_t k = 1; k < section->count; k++) {
        const ferry_cost *cost = &section->costs[k];
        if (slowest(cost) > slowest(&section->costs[dearest])) dearest = k;
        if (bytes_of(cost) < bytes_of(&section->costs[smallest])) smallest = k;
        if (bytes_of(cost) > bytes_of(&section->costs[largest])) largest = k;
    }
    begin(a, "Cheapest in time.");
    put_fast(a);
    fprintf(
        a->out,
        ": at no length measurably more than %.0f&#160;%% above a model without encoding. The dearest is <b>%s</b>, "
        "at least %.2f times at the worst length.",
        100 * (little_time - 1), section->costs[dearest].encoding, slowest(&section->costs[dearest]));
    end(a, "cost");
    begin(a, "Cheapest in memory.");
    fprintf(a->out,
            "<b>%s</b>: %.1f kB for a text of 512 positions, weights included. The dearest is <b>%s</b>: %.1f MB. "
            "<a class=\"ref\" href=\"#table-cost\">table of costs</a></li>\n",
            section->costs[smallest].encoding, bytes_of(&section->costs[smallest]) / 1e3,
            section->costs[largest].encoding, bytes_of(&section->costs[largest]) / 1e6);
}

bool ferry_put_advice(FILE *out, const ferry_facts *facts)
{
    const advice a = {out, facts, calloc(facts->c->count + 1, sizeof *a.wanted)};
    if (a.wanted == NULL) return false;
    fputs("<ul class=\"advice\">\n", out);
    if (facts->last_seen == 0) advise_best(&a, "All lines.", 0);
    if (facts->last_seen > 0) advise_best(&a, "Texts as long as in training.", facts->last_seen);
    if (facts->doubled > 0) advise_best(&a, "Twice as long as in training.", facts->doubled);
    if (facts->farthest != facts->doubled) advise_best(&a, "As long as was tested.", facts->farthest);
    advise_safest(&a);
    advise_limits(&a);
    advise_cost(&a);
    fputs("</ul>\n", out);
    free(a.wanted);
    return true;
}
