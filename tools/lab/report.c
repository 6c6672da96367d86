#include "report.h"

#include <math.h>
#include <string.h>

#include "report_advice.h"
#include "report_claims.h"
#include "report_figures.h"
#include "report_style.h"
#include "svg.h"

/* ---- tables ---- */

static void begin_table(FILE *out, const char *id, const char *caption, const char *first)
{
    fprintf(out,
            "<div class=\"scroll\" tabindex=\"0\">\n<table id=\"%s\">\n<caption>%s</caption>\n<thead><tr><th "
            "scope=\"col\">%s</th>",
            id, caption, first);
}

static void end_table(FILE *out)
{
    fputs("</tbody>\n</table>\n</div>\n", out);
}

static void begin_row(FILE *out, const char *name)
{
    fputs("<tr><th scope=\"row\">", out);
    ferry_put_escaped(out, name);
    fputs("</th>", out);
}

static void put_interval(FILE *out, const ferry_interval *i, int decimals, const char *class)
{
    fprintf(out, "<td%s%s%s>", class[0] != '\0' ? " class=\"" : "", class, class[0] != '\0' ? "\"" : "");
    if (isnan(i->value))
        fputs("–", out);
    else
        fprintf(out, "%.*f", decimals, i->value);
    if (!isnan(i->low) && !isnan(i->high)) fprintf(out, " <small>±%.*f</small>", decimals, (i->high - i->low) / 2);
    fputs("</td>", out);
}

/* Whether a model is the best in a cell, or not significantly different from it. */
static bool is_best(const ferry_comparison *c, size_t cell, ferry_metric metric, size_t model)
{
    const size_t best = ferry_comparison_best(c, cell, metric);
    return c->count > 1 && best < c->count &&
           (best == model || ferry_comparison_difference(c, cell, metric, best, model)->p >= FERRY_SIGNIFICANT);
}

static void put_metric_table(FILE *out, const ferry_comparison *c, ferry_metric metric)
{
    const ferry_metric_description *d = &ferry_metrics[metric];
    begin_table(out, d->key, d->title, "model");
    for (size_t cell = 0; cell < FERRY_CELLS; cell++)
        if (c->text.lines[cell] > 0) fprintf(out, "<th scope=\"col\">%s</th>", ferry_cell_name(cell));
    fputs("</tr></thead>\n<tbody>\n", out);
    for (size_t m = 0; m < c->count; m++) {
        begin_row(out, c->models[m].name);
        for (size_t cell = 0; cell < FERRY_CELLS; cell++)
            if (c->text.lines[cell] > 0)
                put_interval(out, &c->models[m].cells[cell].metrics[metric], d->decimals,
                             is_best(c, cell, metric, m) ? "best" : "");
        fputs("</tr>\n", out);
    }
    end_table(out);
}

static void put_metric_tables(FILE *out, const ferry_comparison *c)
{
    fputs("<details>\n<summary>All numbers as tables</summary>\n<p>By pieces of the source. ±: half of the 95&#160;% "
          "interval. <b class=\"best\">Marked</b>: the best, or no significant difference to it.</p>\n",
          out);
    for (size_t k = 0; k < FERRY_METRIC_COUNT; k++) put_metric_table(out, c, (ferry_metric)k);
    fputs("</details>\n", out);
}

static void put_speed_table(FILE *out, const ferry_comparison *c)
{
    static const char *const heads[] = {"tokens/s",  "ms/line",    "ms/token",       "ms/token / first model",
                                        "file, MB",  "tables, kB", "a position, kB", "cache of a token, kB",
                                        "thread, MB"};
    begin_table(out, "table-speed",
                "Speed and memory of the models. Tables and positions: of the encoding. Thread: of one that translated "
                "as many tokens as the model permits, at most 128.",
                "model");
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) fprintf(out, "<th scope=\"col\">%s</th>", heads[i]);
    fputs("</tr></thead>\n<tbody>\n", out);
    for (size_t m = 0; m < c->count; m++) {
        const ferry_compared_model *model = &c->models[m];
        begin_row(out, model->name);
        put_interval(out, &model->speed.tokens_per_s, 0, "");
        put_interval(out, &model->speed.line_ms, 2, "");
        put_interval(out, &model->speed.token_ms, 3, "");
        put_interval(out, &model->speed.token_ratio, 2, "");
        fprintf(out, "<td>%.1f</td><td>%.1f</td><td>%.1f</td><td>%.1f</td><td>%.1f</td></tr>\n",
                (double)model->file_bytes / 1e6, (double)model->memory.tables / 1e3, (double)model->memory.row / 1e3,
                (double)model->memory.token / 1e3, (double)model->memory.thread / 1e6);
    }
    end_table(out);
}

static void put_cost_table(FILE *out, const ferry_cost_section *section)
{
    begin_table(out, "table-cost",
                "Time of models with random weights, divided by that of the one without encoding; gray: noise, the "
                "interval contains 1. Tables: of the encoding, in the model; a position: for each that a thread has "
                "prepared.",
                "encoding");
    for (size_t i = 0; i < FERRY_COST_CASES; i++)
        fprintf(out, "<th scope=\"col\">%s %d</th>", ferry_cost_cases[i].target > 0 ? "step at" : "encoder",
                (int)(ferry_cost_cases[i].target > 0 ? ferry_cost_cases[i].target : ferry_cost_cases[i].source));
    fputs("<th scope=\"col\">tables, kB</th><th scope=\"col\">a position, kB</th></tr></thead>\n<tbody>\n", out);
    for (size_t k = 0; k < section->count; k++) {
        const ferry_cost *cost = &section->costs[k];
        begin_row(out, cost->encoding);
        for (size_t i = 0; i < FERRY_COST_CASES; i++) {
            const ferry_interval *ratio = &cost->ratio[i];
            put_interval(out, ratio, 2, ratio->low <= 1 && ratio->high >= 1 ? "noise" : "");
        }
        fprintf(out, "<td>%.1f</td><td>%.1f</td></tr>\n", (double)cost->memory.tables / 1e3,
                (double)cost->memory.row / 1e3);
    }
    end_table(out);
}

/* ---- what was compared ---- */

static void put_scheme(FILE *out, const ferry_inspect_scheme *scheme)
{
    fprintf(out, "%s", scheme->title);
    if (scheme->paper[0] != '\0') fprintf(out, " <small>(%s)</small>", scheme->paper);
    if (scheme->for_long_texts) fputs(" <abbr title=\"its paper promises long texts\">↗</abbr>", out);
    if (scheme->parameters[0] != '\0') {
        fputs("<br/><small>", out);
        ferry_put_escaped(out, scheme->parameters);
        fputs("</small>", out);
    }
}

/* Text of several lines, for <pre>. */
static void put_lines(FILE *out, const char *text)
{
    while (*text != '\0') {
        const size_t size = strcspn(text, "\n");
        ferry_svg_escape(out, (ferry_text){text, size});
        text += size;
        if (*text != '\0') fputc(*text++, out);
    }
}

static void put_models(FILE *out, const ferry_comparison *c)
{
    static const char *const kinds[] = {[FERRY_INSPECT_NO_POSITIONS] = "none",
                                        [FERRY_INSPECT_ABSOLUTE] = "absolute",
                                        [FERRY_INSPECT_RELATIVE] = "relative"};
    begin_table(out, "table-models",
                "The models. Absolute: something is added to embeddings; relative: queries and keys are rotated, or "
                "scores changed. ↗: the paper promises quality at lengths beyond those in training.",
                "model");
    fputs("<th scope=\"col\" class=\"text\">encoding</th><th scope=\"col\" class=\"text\">kind</th><th scope=\"col\" "
          "class=\"text\">training, as the file records it</th></tr></thead>\n<tbody>\n",
          out);
    for (size_t m = 0; m < c->count; m++) {
        const ferry_compared_model *model = &c->models[m];
        const ferry_inspect_scheme_kind encoder = model->schemes[0].kind, decoder = model->schemes[1].kind;
        begin_row(out, model->name);
        const bool mixed = strcmp(model->encodings[0], model->encodings[1]) != 0;
        fputs(mixed ? "<td class=\"text\">encoder: " : "<td class=\"text\">", out);
        put_scheme(out, &model->schemes[0]);
        if (mixed) fputs("<br/>decoder: ", out);
        if (mixed) put_scheme(out, &model->schemes[1]);
        fprintf(out, "</td><td class=\"text\">%s%s%s</td><td class=\"text long\">", kinds[encoder],
                encoder != decoder ? ", " : "", encoder != decoder ? kinds[decoder] : "");
        if (model->training[0] != '\0')
            ferry_put_escaped(out, model->training);
        else
            fputs("not recorded", out);
        if (model->trained_pieces > 0) fprintf(out, "; up to %d pieces", (int)model->trained_pieces);
        fputs("</td></tr>\n", out);
    }
    end_table(out);
}

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static bool put_subject(FILE *out, const ferry_facts *facts)
{
    const ferry_comparison *c = facts->c;
    fprintf(out,
            "<p>Attention treats its input as a set; a positional encoding adds the order. Which one should a "
            "translation model have, and what does it cost? %s %zu model%s, which translated %zu lines of <code>",
            c->count > 1 ? "To answer by experiment, this page compares" : "This page shows", c->count,
            c->count > 1 ? "s" : "", c->text.count);
    ferry_put_escaped(out, base_of(c->text.source_name));
    fputs("</code>, compared with <code>", out);
    ferry_put_escaped(out, base_of(c->text.reference_name));
    fprintf(out, "</code> (beam %d, kernels %s).", (int)c->beam, c->isa);
    if (c->text.trained_pieces > 0)
        fprintf(out,
                " In training, no text was longer than %d pieces; what is longer shows what each encoding makes of "
                "positions it has never seen.",
                (int)c->text.trained_pieces);
    else
        fputs(" Not all of the models record the longest text of their training, so nothing here is about lengths "
              "beyond it.",
              out);
    fputs("</p>\n<p>Lines are put into buckets by their source pieces:", out);
    for (size_t cell = 1; cell < FERRY_CELLS; cell++)
        if (c->text.lines[cell] > 0)
            fprintf(out, " %s <small>(%zu)</small>", ferry_cell_name(cell), c->text.lines[cell]);
    fprintf(out,
            ". Intervals contain 95&#160;%% of the values that %d resampled texts have, and two models differ "
            "significantly if p &lt; %.2f on the same resampled lines (Koehn 2004). There are many pairs of models: "
            "of twenty without any difference, one will seem to have one.</p>\n",
            (int)c->resamples, FERRY_SIGNIFICANT);
    put_models(out, c);
    fputs("<details>\n<summary>The models in full</summary>\n", out);
    for (size_t m = 0; m < c->count; m++) {
        fputs("<h3>", out);
        ferry_put_escaped(out, c->models[m].name);
        fputs("</h3>\n<pre class=\"scroll\" tabindex=\"0\">", out);
        put_lines(out, c->models[m].description);
        fputs("</pre>\n", out);
    }
    fputs("</details>\n", out);
    return true;
}

/* ---- sections ---- */

static bool put_quality(FILE *out, const ferry_facts *facts)
{
    fputs("<p>One chart for each encoding, before all others in gray. Several models of one encoding, which differ by "
          "the seed of their training, share a chart: what lies between their lines is chance.</p>\n",
          out);
    put_metric_tables(out, facts->c);
    return ferry_put_figures(out, facts, "bleu", "curve");
}

static bool put_extrapolation(FILE *out, const ferry_facts *facts)
{
    if (facts->farthest == 0 || facts->last_seen == 0) {
        fputs(
            "<p>Not measured here: needs models that record the longest text of their training, and a text with lines "
            "within and beyond that length.</p>\n",
            out);
        return true;
    }
    fprintf(out,
            "<p>The longest bucket within the trained lengths is %s; what follows compares it with those beyond. "
            "A low loss of nats with a high loss of BLEU means that a model still knows the words, but stops or "
            "wanders.</p>\n",
            ferry_cell_name(facts->last_seen));
    return ferry_put_figures(out, facts, "kept", "kept");
}

static bool put_cost(FILE *out, const ferry_facts *facts)
{
    const bool done = ferry_put_figures(out, facts, "speed", "speed");
    put_speed_table(out, facts->c);
    if (facts->c->cost.count == 0) {
        fputs("<p>What an encoding costs in itself was not measured here: run the benchmark over the shipped "
              "models, without naming any.</p>\n",
              out);
        return done;
    }
    const ferry_inspect_shape *shape = &facts->c->cost.shape;
    fprintf(out,
            "<h3>Without training</h3>\n<p>Models of one shape (d_model %d, %d heads, %d + %d layers, random "
            "weights) that differ by their encoding only, so that nothing but the encoding makes a difference.</p>\n",
            (int)shape->d_model, (int)shape->heads, (int)shape->encoder_layers, (int)shape->decoder_layers);
    if (!ferry_put_figures(out, facts, "cost", "cost")) return false;
    put_cost_table(out, &facts->c->cost);
    return done;
}

static bool put_probes(FILE *out, const ferry_facts *facts)
{
    if (ferry_figure_number(facts, "r2-encoder") == 0)
        fputs("<p>Not measured here: needs models that record the longest text of their training.</p>\n", out);
    return ferry_put_figures(out, facts, "r2-encoder", "shuffle");
}

static bool put_claims(FILE *out, const ferry_facts *facts)
{
    fputs(
        "<p>A claim is divided into cases: a model, or two models in one bucket. Each speaks for it, against it, or is "
        "open, because the interval or p permits both. The verdict is <b>for</b> or <b>against</b> if at least three "
        "quarters of the cases say so, <b>cannot tell</b> if more than half are open, and <b>true of some</b> "
        "otherwise. It is a verdict on these models and this text.</p>\n",
        out);
    for (size_t i = 0; i < ferry_claim_count; i++) ferry_put_claim(out, &ferry_claims[i], facts);
    return true;
}

/* The least and the greatest distance in BLEU of two models: of one encoding, or of two. */
static void put_spread(FILE *out, const ferry_facts *facts, size_t cell, bool seeds)
{
    const ferry_comparison *c = facts->c;
    double most = 0, sum = 0;
    size_t pairs = 0;
    for (size_t a = 0; a < c->count; a++)
        for (size_t b = 0; b < a; b++) {
            const double d = c->models[a].cells[cell].metrics[FERRY_METRIC_BLEU].value -
                             c->models[b].cells[cell].metrics[FERRY_METRIC_BLEU].value;
            if (ferry_same_encoding(&c->models[a], &c->models[b]) != seeds || isnan(d)) continue;
            most = fmax(most, fabs(d));
            sum += fabs(d);
            pairs++;
        }
    if (pairs > 0)
        fprintf(out, " %s differ by %.1f BLEU on average, at most by %.1f.",
                seeds ? "Two models of one encoding, trained with different seeds," : "Models of different encodings",
                sum / (double)pairs, most);
}

static bool put_limits(FILE *out, const ferry_facts *facts)
{
    const ferry_comparison *c = facts->c;
    bool repeated = false;
    for (size_t m = 0; m < c->count; m++) repeated = repeated || ferry_seeds(c, m) > 1;
    fputs("<ul>\n<li><b class=\"lead\">Seeds.</b> ", out);
    if (repeated) {
        const size_t cell = facts->last_seen;
        fprintf(out, "In the %s,", cell > 0 ? "longest bucket within the trained lengths" : "whole text");
        put_spread(out, facts, cell, true);
        put_spread(out, facts, cell, false);
        fputs(" What is smaller than the first may be chance, whatever the intervals say: they know the lines of the "
              "test, not the luck of training.",
              out);
    } else {
        fputs("There is one model of each encoding. Intervals know the lines of the test, not the luck of training: "
              "another seed might give another order.",
              out);
    }
    fputs("</li>\n<li><b class=\"lead\">Size.</b> What holds for models of this size, trained on this much text, need "
          "not "
          "hold for larger ones.</li>\n"
          "<li><b class=\"lead\">Language.</b> One pair of languages and one kind of text.</li>\n"
          "<li><b class=\"lead\">Long lines.</b> Where long lines are short sentences in a row, they are easier than "
          "long "
          "sentences: words depend on near words only.</li>\n"
          "<li><b class=\"lead\">Claims.</b> Most were made about other models or other tasks. A verdict here is one "
          "observation.</li>\n</ul>\n",
          out);
    return true;
}

static const struct {
    const char *id, *title;
    bool (*put)(FILE *out, const ferry_facts *facts);
} sections[] = {
    {"compared", "What was compared", put_subject},
    {"advice", "Which one when", ferry_put_advice},
    {"quality", "Quality by length", put_quality},
    {"extrapolation", "Beyond the trained lengths", put_extrapolation},
    {"cost", "Cost", put_cost},
    {"probes", "Inside the models", put_probes},
    {"claims", "What is said, what was measured", put_claims},
    {"limits", "Limits of this experiment", put_limits},
};
enum { SECTIONS = sizeof sections / sizeof *sections };

bool ferry_report(FILE *out, const ferry_comparison *comparison)
{
    const ferry_facts facts = ferry_facts_of(comparison);
    bool done = true;
    fputs("<!DOCTYPE html>\n<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\">\n<head>\n<meta "
          "charset=\"utf-8\"/>\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<meta name=\"color-scheme\" "
          "content=\"light dark\"/>\n<title>Positional encodings compared</title>\n<style>\n",
          out);
    fputs(ferry_report_style, out);
    ferry_svg_style(out);
    fputs("</style>\n</head>\n<body>\n<header><h1>Positional encodings compared</h1></header>\n<nav "
          "aria-label=\"Contents\"><ol>\n",
          out);
    for (int i = 0; i < SECTIONS; i++)
        fprintf(out, "<li><a href=\"#%s\">%s</a></li>\n", sections[i].id, sections[i].title);
    fputs("</ol></nav>\n<main>\n", out);
    for (int i = 0; i < SECTIONS && done; i++) {
        fprintf(out, "<section id=\"%s\">\n<h2>%d. %s</h2>\n", sections[i].id, i + 1, sections[i].title);
        done = sections[i].put(out, &facts);
        fputs("</section>\n", out);
    }
    fputs("</main>\n</body>\n</html>\n", out);
    return done;
}
