#include "report_figures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "svg.h"

static const ferry_interval unknown = {NAN, NAN, NAN};

static ferry_interval exactly(double value)
{
    return (ferry_interval){value, NAN, NAN};
}

/* ---- quality ---- */

static ferry_interval metric_at(const ferry_figure *f, const ferry_compared_model *m, size_t line, size_t cell)
{
    (void)line;
    return m->cells[cell].metrics[f->what];
}

/* Few pieces make a point that only shows noise. */
static ferry_interval curve_at(const ferry_figure *f, const ferry_compared_model *m, size_t line, size_t point)
{
    (void)f, (void)line;
    const ferry_curve_point *curve = m->cells[0].curve;
    return curve[point].pieces * 20 >= curve[0].pieces ? curve[point].nats : unknown;
}

/* ---- probes ---- */

enum { REGRESSIONS = 3 };

static size_t regression_lines(const ferry_figure *f, const ferry_comparison *c)
{
    (void)f, (void)c;
    return REGRESSIONS;
}

static const char *regression_name(size_t line)
{
    static const char *const names[] = {"seen lengths", "beyond, fitted to seen ones", "beyond, fitted to longer ones"};
    return names[line];
}

static ferry_interval regression_at(const ferry_figure *f, const ferry_compared_model *m, size_t line, size_t layer)
{
    if (m->probes == NULL || layer > (size_t)m->probes->stacks[f->what].layers) return unknown;
    const ferry_probe_position *p = &m->probes->stacks[f->what].positions[layer];
    return exactly(line == 0 ? p->seen : line == 1 ? p->beyond : p->beyond_refit);
}

/* Lines for layers: `what` is a stack. */
static size_t state_lines(const ferry_figure *f, const ferry_comparison *c)
{
    return ferry_most_states(c, f->what);
}

static const char *state_name(size_t line)
{
    static const char *const names[FERRY_SVG_COLORS] = {"input",   "layer 1", "layer 2",          "layer 3",
                                                        "layer 4", "layer 5", "layer 6 and later"};
    return names[line < FERRY_SVG_COLORS ? line : FERRY_SVG_COLORS - 1];
}

static int32_t line_color(const ferry_figure *f, const ferry_comparison *c, size_t line)
{
    (void)f, (void)c;
    return (int32_t)(line < FERRY_SVG_COLORS ? line : FERRY_SVG_COLORS - 1);
}

static ferry_interval similarity_at(const ferry_figure *f, const ferry_compared_model *m, size_t line, size_t shift)
{
    if (m->probes == NULL || line > (size_t)m->probes->stacks[f->what].layers) return unknown;
    return exactly(m->probes->stacks[f->what].similarity[line * FERRY_PROBE_SHIFTS + shift]);
}

/* Lines for heads: `what` is a kind of attention. All models have the heads of the first that was probed. */
static const ferry_probe_heads *heads_of(const ferry_figure *f, const ferry_comparison *c)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->models[i].probes != NULL) return &c->models[i].probes->attention[f->what];
    return NULL;
}

static size_t head_lines(const ferry_figure *f, const ferry_comparison *c)
{
    const ferry_probe_heads *heads = heads_of(f, c);
    return heads != NULL && heads->heads_of != NULL ? (size_t)heads->layers * (size_t)heads->heads : 0;
}

/* That of the layer: 1 for the first. */
static int32_t head_color(const ferry_figure *f, const ferry_comparison *c, size_t line)
{
    return line_color(f, c, 1 + line / (size_t)heads_of(f, c)->heads);
}

static const ferry_probe_head *head_at(const ferry_figure *f, const ferry_compared_model *m, size_t line, size_t cell)
{
    const ferry_probe_heads *heads = m->probes != NULL ? &m->probes->attention[f->what] : NULL;
    if (heads == NULL || heads->heads_of == NULL || line >= (size_t)heads->layers * (size_t)heads->heads) return NULL;
    return ferry_probe_head_at(heads, (int32_t)cell - 1, (int32_t)line / heads->heads, (int32_t)line % heads->heads);
}

static ferry_interval distance_at(const ferry_figure *f, const ferry_compared_model *m, size_t line, size_t cell)
{
    const ferry_probe_head *head = head_at(f, m, line, cell);
    return head != NULL ? exactly(head->relative_distance) : unknown;
}

static ferry_interval entropy_at(const ferry_figure *f, const ferry_compared_model *m, size_t line, size_t cell)
{
    const ferry_probe_head *head = head_at(f, m, line, cell);
    return head != NULL ? exactly(head->relative_entropy) : unknown;
}

static ferry_interval lost_nats(const ferry_probe_change *change)
{
    return exactly(change->sentences > 0 ? change->changed_nll - change->nll : NAN);
}

static ferry_interval shift_at(const ferry_figure *f, const ferry_compared_model *m, size_t line, size_t shift)
{
    (void)f, (void)line;
    return m->probes != NULL ? lost_nats(&m->probes->shifted[shift]) : unknown;
}

static ferry_interval shuffle_at(const ferry_figure *f, const ferry_compared_model *m, size_t line, size_t cell)
{
    (void)f, (void)line;
    return m->probes != NULL ? lost_nats(&m->probes->shuffled[cell - 1]) : unknown;
}

/* ---- drawings of their own ---- */

enum { DRAWING_WIDTH = 340, ROW_HEIGHT = 22, NAMES_WIDTH = 130 };

/* Rows with names: bars with intervals, or cells of a map. */
typedef struct rows {
    size_t count, columns; /* columns: 1 for bars */
    ferry_name *fitting;   /* [count] names, as long as there is room */
    const char **names;    /* [count] the same */
    float *values;         /* [3, count, columns]: values, low, high */
} rows;

static void release_rows(rows *r)
{
    free(r->fitting);
    free(r->names);
    free(r->values);
}

static bool take_rows(rows *r, size_t count, size_t columns)
{
    *r = (rows){.count = count, .columns = columns};
    r->fitting = calloc(count, sizeof *r->fitting);
    r->names = calloc(count, sizeof *r->names);
    r->values = calloc(3 * count * columns, sizeof *r->values);
    if (r->fitting != NULL && r->names != NULL && r->values != NULL) return true;
    release_rows(r);
    return false;
}

static void name_row(rows *r, size_t row, const char *name)
{
    r->fitting[row] = ferry_fitting_name(name, FERRY_SVG_LABEL, NAMES_WIDTH - 16);
    r->names[row] = r->fitting[row].text;
}

static void set_row(rows *r, size_t row, size_t column, ferry_interval value)
{
    const size_t size = r->count * r->columns, at = row * r->columns + column;
    r->values[at] = (float)value.value;
    r->values[size + at] = (float)(isnan(value.low) ? value.value : value.low);
    r->values[2 * size + at] = (float)(isnan(value.high) ? value.value : value.high);
}

static double height_of(const rows *r)
{
    return 34 + (double)r->count * ROW_HEIGHT + 24;
}

static ferry_svg_plot begin_rows(FILE *out, const rows *r, const char *title)
{
    ferry_svg_begin_embedded(out, DRAWING_WIDTH, height_of(r), title);
    ferry_svg_text(out, 8, 20, FERRY_SVG_HEADING, FERRY_SVG_START, 0, ferry_svg_literal(title));
    return (ferry_svg_plot){.x = NAMES_WIDTH,
                            .y = 34,
                            .width = DRAWING_WIDTH - NAMES_WIDTH - 50,
                            .height = (double)r->count * ROW_HEIGHT,
                            .up = {.names = r->names, .count = (int32_t)r->count}};
}

static void put_bars(FILE *out, const rows *r, const char *title, const char *format)
{
    double most = 0;
    for (size_t i = 0; i < r->count; i++) most = fmax(most, (double)r->values[2 * r->count + i]);
    ferry_svg_plot plot = begin_rows(out, r, title);
    plot.across = (ferry_svg_axis){.last = most > 0 ? 1.05 * most : 1};
    const ferry_svg_bar bar = {
        .values = r->values, .low = r->values + r->count, .high = r->values + 2 * r->count, .color = 0};
    ferry_svg_frame(out, &plot);
    ferry_svg_bars(out, &plot, &bar, 1, format);
    ferry_svg_end(out);
}

static bool draw_speed(FILE *out, const ferry_facts *facts)
{
    rows r;
    if (!take_rows(&r, facts->c->count, 1)) return false;
    for (int each = 0; each < 2; each++) {
        for (size_t m = 0; m < r.count; m++) {
            const ferry_compared_speed *speed = &facts->c->models[m].speed;
            name_row(&r, m, facts->c->models[m].name);
            set_row(&r, m, 0, each == 0 ? speed->tokens_per_s : speed->token_ms);
        }
        put_bars(out, &r, each == 0 ? "target tokens a second, many lines" : "ms a target token, one line at a time",
                 each == 0 ? "%.0f" : "%.3f");
    }
    release_rows(&r);
    return true;
}

static bool draw_cost(FILE *out, const ferry_facts *facts)
{
    rows r;
    const ferry_cost_section *section = &facts->c->cost;
    if (!take_rows(&r, section->count, 1)) return false;
    for (size_t i = 0; i < FERRY_COST_CASES; i++) {
        const ferry_cost_case *one = &ferry_cost_cases[i];
        bool any = false;
        if (one->target == 1 || one->source == FERRY_COST_LONGEST) continue;
        for (size_t k = 0; k < r.count; k++) {
            name_row(&r, k, section->costs[k].encoding);
            set_row(&r, k, 0, section->costs[k].ratio[i]);
            any = any || !isnan(section->costs[k].ratio[i].value);
        }
        const ferry_name title =
            one->target > 0 ? ferry_name_format("decoder step at %d tokens / without encoding", (int)one->target)
                            : ferry_name_format("encoder, %d tokens / without encoding", (int)one->source);
        if (any) put_bars(out, &r, title.text, "%.2f");
    }
    release_rows(&r);
    return true;
}

static void put_map(FILE *out, const rows *r, const char *title, const char *const *across, bool shares)
{
    ferry_svg_plot plot = begin_rows(out, r, title);
    float most = 0;
    for (size_t i = 0; i < r->count * r->columns; i++) most = fmaxf(most, r->values[i]);
    const ferry_svg_colors colors = {FERRY_SVG_SEQUENTIAL, 0, shares ? 100 : fmax((double)most, 1)};
    plot.across = (ferry_svg_axis){.names = across, .count = (int32_t)r->columns};
    plot.width = DRAWING_WIDTH - NAMES_WIDTH - 8;
    ferry_svg_heat(out, &plot, r->values, (int32_t)r->count, (int32_t)r->columns, &colors, shares ? "%.0f" : "%.2f");
    ferry_svg_end(out);
}

static bool draw_kept(FILE *out, const ferry_facts *facts)
{
    rows r;
    const char *across[FERRY_CELLS];
    size_t cells[FERRY_CELLS], columns = 0;
    for (size_t cell = 1; cell < FERRY_CELLS; cell++)
        if (ferry_cell_is_beyond(facts, cell)) {
            across[columns] = ferry_cell_name(cell);
            cells[columns++] = cell;
        }
    if (!take_rows(&r, facts->c->count, columns)) return false;
    for (int each = 0; each < 2; each++) {
        for (size_t m = 0; m < r.count; m++) {
            const ferry_compared_model *model = &facts->c->models[m];
            name_row(&r, m, model->name);
            for (size_t i = 0; i < columns; i++) {
                const double now = model->cells[cells[i]].metrics[FERRY_METRIC_LIKELIHOOD].value,
                             seen = model->cells[facts->last_seen].metrics[FERRY_METRIC_LIKELIHOOD].value;
                set_row(&r, m, i, exactly(each == 0 ? 100 * ferry_kept(facts, model, cells[i]).value : now - seen));
            }
        }
        put_map(out, &r, each == 0 ? "BLEU kept, %" : "nats a piece added", across, each == 0);
    }
    release_rows(&r);
    return true;
}

static bool has_cost(const ferry_facts *facts)
{
    return facts->c->cost.count > 0;
}

static bool has_both_lengths(const ferry_facts *facts)
{
    return facts->last_seen > 0 && facts->farthest > 0;
}

/* ---- the table ---- */

#define METRIC(index) .at = metric_at, .what = FERRY_METRIC_##index, .across = FERRY_ACROSS_BUCKETS
#define POSITIONS(index)                                                                                               \
    .at = regression_at, .what = FERRY_INSPECT_##index, .across = FERRY_ACROSS_LAYERS, .unit = "R²",                   \
    .lines = regression_lines, .line_name = regression_name, .line_color = line_color, .least = -0.5, .most = 1
#define HEADS(index, field)                                                                                            \
    .at = field##_at, .what = FERRY_INSPECT_##index, .across = FERRY_ACROSS_BUCKETS,                                   \
    .unit = #field " / that of equal weights", .lines = head_lines, .line_name = state_name, .line_color = head_color

static const ferry_figure figures[] = {
    {"bleu", "BLEU by length", "Of the translations, as sacrebleu computes it. Bands: 95 % of resampled texts.",
     METRIC(BLEU), .unit = "BLEU"},
    {"chrf", "chrF by length", "The same for chrF, which counts characters and so moves more smoothly.", METRIC(CHRF),
     .unit = "chrF"},
    {"nats", "Likelihood by length",
     "How surprising the reference is, whatever the model itself would say: −ln p of a piece, given those before it, "
     "without the end of sentence. Less is better. A model that stops too early loses BLEU, but nothing here.",
     METRIC(LIKELIHOOD), .unit = "nats a piece"},
    {"length", "Length of translations",
     "Pieces of the translations / pieces of the references: below 1, something is left out; above 1, repeated.",
     METRIC(LENGTH_RATIO), .unit = "ratio", .least = 0, .most = 2},
    {"early", "Early stops",
     "Share of the translations that end by themselves with fewer than 0.7 times the pieces of the reference.",
     METRIC(EARLY_STOP), .unit = "share of lines", .least = 0, .most = 1.05},
    {"repetition", "Repetitions",
     "Share of the translations that say the same three times in a row, or do not end before the limit of length.",
     METRIC(REPETITION), .unit = "share of lines", .least = 0, .most = 1.05},
    {"curve", "Likelihood by position in the reference",
     "The same −ln p, by the position of the piece in the reference, over all lines that are long enough (points with "
     "less than a twentieth of the first one's pieces are left out).",
     .at = curve_at, .across = FERRY_ACROSS_POSITIONS, .unit = "nats a piece"},
    {"kept", "What is left beyond the trained lengths",
     "Left: BLEU as a share of that at the longest bucket within the trained lengths. Right: what a piece of the "
     "reference costs more than there. Columns: pieces of the source.",
     .draw = draw_kept, .exists = has_both_lengths},
    {"speed", "Speed of the models", "Medians with their 95 % intervals. Differences within the intervals are noise.",
     .draw = draw_speed},
    {"cost", "What the encoding costs",
     "Time of models with random weights that differ by their encoding only, divided by that of the one without, "
     "measured in turns. Where the interval contains 1, the difference is noise.",
     .draw = draw_cost, .exists = has_cost},
    {"r2-encoder", "Position in the states of the encoder",
     "How much of the variance of a token’s position a linear regression finds in its hidden state (1: all; 0: none), "
     "on sentences it was not fitted to. Fitted to seen lengths and applied beyond, it shows whether the code goes on "
     "as it began; fitted there, whether the state still tells positions apart. Below −0.5 is cut off.",
     POSITIONS(ENCODER)},
    {"r2-decoder", "Position in the states of the decoder",
     "The same in the decoder, whose causal mask tells positions even without an encoding.", POSITIONS(DECODER)},
    {"similarity", "The same tokens elsewhere",
     "Mean cosine of the encoder’s state of a token and that of the same token when other text stands in front "
     "(both less the layer’s mean): 1, the state does not depend on its position.",
     .at = similarity_at, .what = FERRY_INSPECT_ENCODER, .across = FERRY_ACROSS_SHIFTS, .unit = "cosine",
     .lines = state_lines, .line_name = state_name, .line_color = line_color, .least = 0, .most = 1},
    {"distance", "How far the encoder’s heads look",
     "Mean attended distance, divided by that of equal weights: each line is a head. A head that goes on as before "
     "looks at the same distance in longer texts: its line falls.",
     HEADS(ENCODER_SELF, distance)},
    {"distance-decoder", "How far the decoder’s heads look", "The same for self-attention in the decoder.",
     HEADS(DECODER_SELF, distance)},
    {"entropy", "How widely the encoder’s heads look",
     "Entropy of the attention weights, divided by that of equal weights: 0, one token; 1, all alike.",
     HEADS(ENCODER_SELF, entropy), .least = 0, .most = 1},
    {"entropy-cross", "How widely cross-attention looks", "The same for the decoder’s attention to the source.",
     HEADS(CROSS, entropy), .least = 0, .most = 1},
    {"shift", "Harm of a shift",
     "Other sentences and their translations stand in front: how much less likely that makes the same reference. Up to "
     "½, everything is as long as in training.",
     .at = shift_at, .across = FERRY_ACROSS_SHIFTS, .unit = "nats a piece added"},
    {"shuffle", "Harm of shuffling",
     "The pieces of the source in random order, the same reference: how much the model relies on their order.",
     .at = shuffle_at, .across = FERRY_ACROSS_BUCKETS, .unit = "nats a piece added"},
};
enum { FIGURES = sizeof figures / sizeof *figures };

static bool exists(const ferry_figure *figure, const ferry_facts *facts)
{
    if (figure->draw == NULL) return ferry_panels_exist(figure, facts);
    return figure->exists == NULL || figure->exists(facts);
}

int ferry_figure_number(const ferry_facts *facts, const char *id)
{
    int number = 0;
    for (size_t i = 0; i < FIGURES; i++) {
        const bool shown = exists(&figures[i], facts);
        number += shown;
        if (strcmp(figures[i].id, id) == 0) return shown ? number : 0;
    }
    return 0;
}

void ferry_put_figure_link(FILE *out, const ferry_facts *facts, const char *id)
{
    const int number = ferry_figure_number(facts, id);
    if (number > 0) fprintf(out, " <a class=\"ref\" href=\"#fig-%s\">figure&#160;%d</a>", id, number);
}

static bool put_figure(FILE *out, const ferry_figure *figure, const ferry_facts *facts)
{
    fprintf(out, "<figure id=\"fig-%s\">\n<figcaption><b>Figure %d. %s.</b> %s</figcaption>\n", figure->id,
            ferry_figure_number(facts, figure->id), figure->title, figure->caption);
    if (figure->draw == NULL && !ferry_put_panels(out, figure, facts)) return false;
    if (figure->draw != NULL) {
        fputs("<div class=\"drawings\">\n", out);
        if (!figure->draw(out, facts)) return false;
        fputs("</div>\n", out);
    }
    fputs("</figure>\n", out);
    return true;
}

bool ferry_put_figures(FILE *out, const ferry_facts *facts, const char *first, const char *last)
{
    bool within = false, done = true;
    for (size_t i = 0; done && i < FIGURES; i++) {
        within = within || strcmp(figures[i].id, first) == 0;
        if (within && exists(&figures[i], facts)) done = put_figure(out, &figures[i], facts);
        if (strcmp(figures[i].id, last) == 0) break;
    }
    return done;
}
