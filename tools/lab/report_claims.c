#include "report_claims.h"

#include <math.h>

#include "report_figures.h"

/* Nats a piece that make no difference in practice; times of a step that nobody would call slower; times of a step that
 * computes hundreds of old keys again; changes of R² that mean something. */
static const double equal_nats = 0.1, equal_time = 1.05, recomputed = 8, changed_r2 = 0.05;

/* ---- verdicts ---- */

ferry_verdict ferry_verdict_of(ferry_votes votes)
{
    const int32_t all = votes.yes + votes.no + votes.open;
    if (all == 0) return FERRY_VERDICT_NOT_MEASURED;
    if (4 * votes.yes >= 3 * all) return FERRY_VERDICT_FOR;
    if (4 * votes.no >= 3 * all) return FERRY_VERDICT_AGAINST;
    return 2 * votes.open > all ? FERRY_VERDICT_OPEN : FERRY_VERDICT_MIXED;
}

/* Counts a value with an interval: whether it is below a limit. */
static void vote_below(ferry_votes *votes, ferry_interval value, double limit)
{
    if (isnan(value.value)) return;
    if (value.high < limit)
        votes->yes++;
    else if (value.low > limit)
        votes->no++;
    else
        votes->open++;
}

static ferry_votes turned(ferry_votes votes)
{
    return (ferry_votes){votes.no, votes.yes, votes.open};
}

/* ---- single models ---- */

static void put_name(FILE *out, const char *name, bool first)
{
    if (!first) fputs("; ", out);
    ferry_put_escaped(out, name);
    fputc(' ', out);
}

/* Whether BLEU falls below half of that within the trained lengths. */
static ferry_votes count_failing(const ferry_facts *facts, FILE *out, ferry_kind kind)
{
    ferry_votes votes = {0};
    bool first = true;
    if (facts->last_seen == 0 || facts->doubled == 0) return votes;
    for (size_t m = 0; m < facts->c->count; m++) {
        const ferry_compared_model *model = &facts->c->models[m];
        const ferry_interval kept = ferry_kept(facts, model, facts->doubled);
        if (!kind(model) || isnan(kept.value)) continue;
        if (first)
            fprintf(out, "<p>BLEU at %s pieces, as a share of that at %s: ", ferry_cell_name(facts->doubled),
                    ferry_cell_name(facts->last_seen));
        put_name(out, model->name, first);
        fprintf(out, "%.0f&#160;%% (%.0f–%.0f)", 100 * kept.value, 100 * kept.low, 100 * kept.high);
        vote_below(&votes, kept, 0.5);
        first = false;
    }
    if (!first) fputs(".</p>\n", out);
    return votes;
}

static ferry_votes absolute_fail(const ferry_facts *facts, FILE *out)
{
    return count_failing(facts, out, ferry_is_absolute);
}

static ferry_votes relative_extrapolate(const ferry_facts *facts, FILE *out)
{
    return turned(count_failing(facts, out, ferry_is_relative));
}

/* Whether a model whose encoder has no positions is below half of the best BLEU. */
static ferry_votes none_is_hopeless(const ferry_facts *facts, FILE *out)
{
    ferry_votes votes = {0};
    const ferry_comparison *c = facts->c;
    const size_t cell = facts->last_seen,
                 best = cell > 0 ? ferry_comparison_best(c, cell, FERRY_METRIC_BLEU) : c->count;
    if (best == c->count || ferry_encoder_lacks_positions(&c->models[best])) return votes;
    const ferry_interval most = c->models[best].cells[cell].metrics[FERRY_METRIC_BLEU];
    for (size_t m = 0; m < c->count; m++) {
        const ferry_interval bleu = c->models[m].cells[cell].metrics[FERRY_METRIC_BLEU];
        if (!ferry_encoder_lacks_positions(&c->models[m]) || isnan(bleu.value)) continue;
        const ferry_interval share = ferry_ratio(bleu, most);
        fputs("<p>", out);
        put_name(out, c->models[m].name, true);
        fprintf(out, "has %.1f BLEU at %s pieces, %.0f&#160;%% (%.0f–%.0f) of the best, ", bleu.value,
                ferry_cell_name(cell), 100 * share.value, 100 * share.low, 100 * share.high);
        put_name(out, c->models[best].name, true);
        fprintf(out, "with %.1f.</p>\n", most.value);
        vote_below(&votes, share, 0.5);
    }
    return votes;
}

/* Whether the states of the last layer tell less of the position than the layer that tells most. */
static ferry_votes position_decays(const ferry_facts *facts, FILE *out)
{
    ferry_votes votes = {0};
    bool first = true;
    for (size_t m = 0; m < facts->c->count; m++) {
        const ferry_compared_model *model = &facts->c->models[m];
        if (model->probes == NULL || !ferry_has_positions(model)) continue;
        const ferry_probe_stack *stack = &model->probes->stacks[FERRY_INSPECT_ENCODER];
        double most = NAN;
        for (int32_t i = 0; i <= stack->layers; i++) most = fmax(most, stack->positions[i].seen);
        const double end = stack->positions[stack->layers].seen;
        if (isnan(end)) continue;
        if (first) fputs("<p>R² in the encoder, from the input to the last layer: ", out);
        put_name(out, model->name, first);
        for (int32_t i = 0; i <= stack->layers; i++)
            fprintf(out, "%s%.2f", i > 0 ? " → " : "", stack->positions[i].seen);
        if (end < most - changed_r2)
            votes.yes++;
        else
            votes.no++;
        first = false;
    }
    if (!first) fputs(".</p>\n", out);
    return votes;
}

/* ---- cost ---- */

/* Cases of the cost section, of all relative encodings, whose ratio to the model without is below a limit. */
static ferry_votes count_cheap(const ferry_facts *facts, FILE *out, double limit, bool steps_only)
{
    const ferry_cost_section *section = &facts->c->cost;
    ferry_votes votes = {0};
    double least = INFINITY, most = 0;
    for (size_t i = 0; i < FERRY_COST_CASES; i++) {
        const ferry_cost_case *one = &ferry_cost_cases[i];
        if (one->target > 0 ? one->target < 512 : steps_only || one->source != 512) continue;
        for (size_t k = 0; k < section->count; k++) {
            if (section->costs[k].kind != FERRY_INSPECT_RELATIVE || isnan(section->costs[k].ratio[i].value)) continue;
            vote_below(&votes, section->costs[k].ratio[i], limit);
            least = fmin(least, section->costs[k].ratio[i].value);
            most = fmax(most, section->costs[k].ratio[i].value);
        }
    }
    if (most > 0)
        fprintf(out,
                "<p>Time compared with no encoding, %s512 tokens, of all relative encodings of this build: %.2f to "
                "%.2f.</p>\n",
                steps_only ? "a decoder step at " : "encoder and decoder step at ", least, most);
    return votes;
}

static ferry_votes relative_recompute(const ferry_facts *facts, FILE *out)
{
    return turned(count_cheap(facts, out, recomputed, true));
}

static ferry_votes relative_are_slower(const ferry_facts *facts, FILE *out)
{
    return turned(count_cheap(facts, out, equal_time, false));
}

/* ---- pairs of models ---- */

/* Which pairs of models are compared, where and by what. */
typedef struct contest {
    ferry_kind one, other;
    bool (*cell)(const ferry_facts *facts, size_t cell);
    ferry_metric metrics[2]; /* METRIC_COUNT: only one */
    const char *one_name, *other_name;
} contest;

static ferry_votes count_metric(const ferry_facts *facts, const contest *t, ferry_metric metric)
{
    ferry_votes votes = {0};
    const ferry_comparison *c = facts->c;
    for (size_t cell = 1; cell < FERRY_CELLS; cell++)
        for (size_t a = 0; t->cell(facts, cell) && a < c->count; a++)
            for (size_t b = 0; t->one(&c->models[a]) && b < c->count; b++) {
                if (a == b || !t->other(&c->models[b]) || isnan(ferry_comparison_difference(c, cell, metric, a, b)->p))
                    continue;
                const int better = ferry_better(facts, cell, metric, a, b);
                votes.yes += better > 0;
                votes.no += better < 0;
                votes.open += better == 0;
            }
    return votes;
}

static ferry_votes count_contest(const ferry_facts *facts, FILE *out, const contest *t)
{
    ferry_votes all = {0};
    for (size_t k = 0; k < 2 && t->metrics[k] != FERRY_METRIC_COUNT; k++) {
        const ferry_votes v = count_metric(facts, t, t->metrics[k]);
        if (v.yes + v.no + v.open == 0) continue;
        fprintf(out,
                "<p>%s: of %d comparisons of two models in one bucket, %s better in %d, %s in %d; %d without a "
                "significant difference.</p>\n",
                ferry_metrics[t->metrics[k]].title, (int)(v.yes + v.no + v.open), t->one_name, (int)v.yes,
                t->other_name, (int)v.no, (int)v.open);
        all = (ferry_votes){all.yes + v.yes, all.no + v.no, all.open + v.open};
    }
    return all;
}

#define QUALITY                                                                                                        \
    {                                                                                                                  \
        FERRY_METRIC_BLEU, FERRY_METRIC_LIKELIHOOD                                                                     \
    }

static ferry_votes long_ones_are_best(const ferry_facts *facts, FILE *out)
{
    static const contest t = {ferry_is_for_long_texts,     ferry_is_not_for_long_texts,
                              ferry_cell_is_beyond,        QUALITY,
                              "those made for long texts", "the others"};
    const ferry_votes votes = count_contest(facts, out, &t);
    bool first = true;
    for (size_t m = 0; votes.yes + votes.no + votes.open > 0 && m < facts->c->count; m++) {
        const ferry_compared_model *model = &facts->c->models[m];
        if (!ferry_is_for_long_texts(model) || !ferry_is_first_of_encoding(facts->c, m)) continue;
        fputs(first ? "<p>Made for long texts: " : ", ", out);
        fprintf(out, "%s (%s)", model->schemes[0].title, model->schemes[0].paper);
        first = false;
    }
    if (!first) fputs(".</p>\n", out);
    return votes;
}

static ferry_votes relative_better_beyond(const ferry_facts *facts, FILE *out)
{
    static const contest t = {ferry_is_relative, ferry_is_absolute,  ferry_cell_is_beyond,
                              QUALITY,           "the relative one", "the absolute one"};
    return count_contest(facts, out, &t);
}

static ferry_votes absolute_stop_early(const ferry_facts *facts, FILE *out)
{
    static const contest t = {ferry_is_relative,    ferry_is_absolute,
                              ferry_cell_is_beyond, {FERRY_METRIC_EARLY_STOP, FERRY_METRIC_END},
                              "the relative one",   "the absolute one"};
    return count_contest(facts, out, &t);
}

static ferry_votes positions_win(const ferry_facts *facts, FILE *out)
{
    static const contest t = {ferry_has_positions,      ferry_lacks_positions, ferry_cell_is_seen, QUALITY,
                              "the one with positions", "the one without"};
    return count_contest(facts, out, &t);
}

/* Whether the likelihoods of relative and absolute encodings differ by less than what matters. */
static ferry_votes equal_within(const ferry_facts *facts, FILE *out)
{
    ferry_votes votes = {0};
    double least = INFINITY, most = -INFINITY;
    const ferry_comparison *c = facts->c;
    for (size_t cell = 1; cell < FERRY_CELLS; cell++)
        for (size_t a = 0; ferry_cell_is_seen(facts, cell) && a < c->count; a++)
            for (size_t b = 0; ferry_is_relative(&c->models[a]) && b < c->count; b++) {
                const ferry_interval d =
                    ferry_comparison_difference(c, cell, FERRY_METRIC_LIKELIHOOD, a, b)->difference;
                if (!ferry_is_absolute(&c->models[b]) || isnan(d.value)) continue;
                if (d.low > -equal_nats && d.high < equal_nats)
                    votes.yes++;
                else if (d.low > equal_nats || d.high < -equal_nats)
                    votes.no++;
                else
                    votes.open++;
                least = fmin(least, d.value);
                most = fmax(most, d.value);
            }
    if (most >= least)
        fprintf(out,
                "<p>Nats a piece, relative less absolute, bucket by bucket: %+.2f to %+.2f. Within ±%.1f for "
                "certain in %d comparisons, outside for certain in %d, open in %d.</p>\n",
                least, most, equal_nats, (int)votes.yes, (int)votes.no, (int)votes.open);
    return votes;
}

/* ---- the table ---- */

#define NEEDS_BEYOND " and a text with longer lines than in training, by models that record that length"

const ferry_claim ferry_claims[] = {
    {"absolute-fail",
     "Absolute encodings fail beyond the training length.",
     "said in most texts on relative encodings",
     "a model fails if, at twice the longest length in training, its BLEU is less than half of that at the longest "
     "seen "
     "lengths, with the whole interval",
     "an absolute encoding" NEEDS_BEYOND,
     {"kept", "bleu"},
     absolute_fail},
    {"relative-extrapolate",
     "Relative encodings extrapolate to longer texts.",
     "said in most texts on them",
     "the same rule: they keep more than half, with the whole interval",
     "a relative encoding" NEEDS_BEYOND,
     {"kept", "bleu"},
     relative_extrapolate},
    {"best-long",
     "Encodings made for long texts extrapolate best.",
     "the papers on rotations, linear penalties and what followed; marked in the table of models",
     "pairs of models in each bucket beyond the trained lengths, by BLEU and by likelihood, p &lt; 0.05",
     "one encoding whose paper promises long texts, one whose does not," NEEDS_BEYOND,
     {"kept", "nats"},
     long_ones_are_best},
    {"no-cache",
     "Relative encodings forbid caching keys and values.",
     "often said of decoders",
     "a step that computes 512 keys again would take many times as long as one that finds them in the cache; a case "
     "speaks for the claim above 8 times the step without an encoding",
     "the cost section with relative encodings (steps at 512 tokens)",
     {"cost"},
     relative_recompute},
    {"slower",
     "Relative encodings are slower.",
     "often said",
     "a relative encoding is slower if its time is more than 1.05 times that without, with the whole interval",
     "the cost section with relative encodings (512 tokens)",
     {"cost"},
     relative_are_slower},
    {"decays",
     "Position information decays over the layers.",
     "said of encodings that are added once",
     "it decays in a model if R² of the position in the encoder’s last state is lower by 0.05 than its highest",
     "probes of a model with positions",
     {"r2-encoder"},
     position_decays},
    {"hopeless",
     "Without any encoding, an encoder is hopeless.",
     "said of encoders, which have no mask to tell order",
     "hopeless: less than half of the best model’s BLEU at the longest seen lengths, with the whole interval",
     "a model whose encoder has no positions, and a better one that has",
     {"bleu", "shuffle"},
     none_is_hopeless},
    {"rosendahl-beyond",
     "Relative encodings are better than absolute ones beyond the training length …",
     "Rosendahl et al. 2019",
     "pairs of models in each bucket beyond, by BLEU and by likelihood, p &lt; 0.05",
     "absolute and relative encodings" NEEDS_BEYOND,
     {"bleu", "nats"},
     relative_better_beyond},
    {"rosendahl-within",
     "… and equal otherwise.",
     "Rosendahl et al. 2019",
     "pairs of models in each seen bucket: equal if the interval of the difference lies within ±0.1 nats a piece",
     "absolute and relative encodings, and a recorded length in training",
     {"nats"},
     equal_within},
    {"neishi",
     "Absolute encodings overfit to the lengths in training: translations stop there.",
     "Neishi and Yoshinaga 2019",
     "pairs of models in each bucket beyond: fewer early stops, and the end of the reference foreseen better by the "
     "relative one, p &lt; 0.05",
     "absolute and relative encodings" NEEDS_BEYOND,
     {"early", "length"},
     absolute_stop_early},
    {"gumma",
     "In encoder-decoder models, no encoding at all loses.",
     "Gumma et al. 2024",
     "pairs of models in each seen bucket, one with and one without positions, by BLEU and by likelihood, p &lt; 0.05",
     "a model without and one with positions, and a recorded length in training",
     {"bleu", "nats"},
     positions_win},
};
const size_t ferry_claim_count = sizeof ferry_claims / sizeof *ferry_claims;

void ferry_put_claim(FILE *out, const ferry_claim *claim, const ferry_facts *facts)
{
    static const struct {
        const char *class, *text;
    } verdicts[FERRY_VERDICT_COUNT] = {
        [FERRY_VERDICT_FOR] = {"for", "measured: for it"},
        [FERRY_VERDICT_AGAINST] = {"against", "measured: against it"},
        [FERRY_VERDICT_OPEN] = {"open", "cannot tell"},
        [FERRY_VERDICT_MIXED] = {"mixed", "true of some"},
        [FERRY_VERDICT_NOT_MEASURED] = {"open", "not measured"},
    };
    fprintf(out, "<article class=\"claim\" id=\"claim-%s\">\n<h3>%s</h3>\n<p class=\"source\">%s</p>\n", claim->id,
            claim->text, claim->source);
    const ferry_votes votes = claim->count(facts, out);
    const ferry_verdict verdict = ferry_verdict_of(votes);
    fprintf(out, "<p class=\"verdict %s\"><b>%s</b>", verdicts[verdict].class, verdicts[verdict].text);
    if (verdict == FERRY_VERDICT_NOT_MEASURED)
        fprintf(out, ": needs %s.", claim->needs);
    else
        fprintf(out, ": %d of %d cases speak for it, %d against it, %d are open.", (int)votes.yes,
                (int)(votes.yes + votes.no + votes.open), (int)votes.no, (int)votes.open);
    for (size_t i = 0; i < 3 && claim->figures[i] != NULL; i++) ferry_put_figure_link(out, facts, claim->figures[i]);
    fprintf(out, "</p>\n<p class=\"rule\">Rule: %s.</p>\n</article>\n", claim->rule);
}
