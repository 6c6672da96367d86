/* Small charts, one for each encoding. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report_figures.h"
#include "svg.h"

enum { WIDTH = 190, HEIGHT = 148, LEFT = 34, TOP = 26, AREA_WIDTH = 150, AREA_HEIGHT = 98, MOST_NAMED = 32 };

/* What all charts of a figure share. */
typedef struct panels {
    const ferry_figure *figure;
    const ferry_facts *facts;
    size_t points, lines;
    /* Of the points, unless they are positions: what `at` is asked for, and what stands below. */
    size_t places[MOST_NAMED];
    ferry_name names[MOST_NAMED];
    const char *labels[MOST_NAMED];
    double seen; /* share of the points that are within the lengths of training */
    ferry_svg_axis up;
    float *values; /* [3, lines or models, points]: values, low, high */
} panels;

/* ---- points ---- */

static void add_point(panels *p, size_t place, ferry_name name)
{
    if (p->points == MOST_NAMED) return;
    p->places[p->points] = place;
    p->names[p->points] = name;
    p->labels[p->points] = p->names[p->points].text;
    p->points++;
}

static void add_buckets(panels *p)
{
    size_t seen = 0;
    for (size_t cell = 1; cell < FERRY_CELLS; cell++) {
        const ferry_bucket *bucket = &ferry_buckets[cell - 1];
        if (p->facts->c->text.lines[cell] == 0) continue;
        seen += ferry_cell_is_seen(p->facts, cell);
        add_point(p, cell,
                  bucket->most == INT32_MAX ? ferry_name_format("…") : ferry_name_format("%d", (int)bucket->most));
    }
    p->seen = (double)seen / (double)p->points;
}

static void find_points(panels *p)
{
    static const char *const shifts[FERRY_PROBE_SHIFTS] = {"¼", "½", "1", "2", "3"};
    const ferry_comparison *c = p->facts->c;
    switch (p->figure->across) {
    case FERRY_ACROSS_BUCKETS: add_buckets(p); break;
    case FERRY_ACROSS_POSITIONS:
        p->points = c->text.curve_count;
        p->seen = c->text.trained_pieces / (double)(p->points * FERRY_CURVE_WIDTH);
        break;
    case FERRY_ACROSS_LAYERS:
        for (size_t i = 0; i < ferry_most_states(c, p->figure->what); i++)
            add_point(p, i, i == 0 ? ferry_name_format("in") : ferry_name_format("%zu", i));
        break;
    case FERRY_ACROSS_SHIFTS:
        for (size_t i = 0; i < FERRY_PROBE_SHIFTS; i++) {
            add_point(p, i, ferry_name_format("%s", shifts[i]));
            p->seen += ferry_probe_shift_factor((int32_t)i) <= 0.5 ? 1.0 / FERRY_PROBE_SHIFTS : 0;
        }
        break;
    }
    p->seen = fmin(p->seen, 1);
}

/* ---- values ---- */

static ferry_interval value_at(const panels *p, const ferry_compared_model *model, size_t line, size_t point)
{
    const bool named = p->figure->across != FERRY_ACROSS_POSITIONS;
    return p->figure->at(p->figure, model, line, named ? p->places[point] : point);
}

static float *row_of(const panels *p, int end, size_t row)
{
    const size_t rows = p->lines > p->facts->c->count ? p->lines : p->facts->c->count;
    return p->values + ((size_t)end * rows + row) * p->points;
}

static void take_values(panels *p, const ferry_compared_model *model, size_t line, size_t row)
{
    for (size_t i = 0; i < p->points; i++) {
        const ferry_interval v = value_at(p, model, line, i);
        row_of(p, 0, row)[i] = (float)v.value;
        row_of(p, 1, row)[i] = (float)(isnan(v.low) ? v.value : v.low);
        row_of(p, 2, row)[i] = (float)(isnan(v.high) ? v.value : v.high);
    }
}

/* The axis for all values, and whether there are any. */
static bool find_range(panels *p)
{
    const ferry_figure *f = p->figure;
    double least = INFINITY, most = -INFINITY;
    for (size_t m = 0; m < p->facts->c->count; m++)
        for (size_t line = 0; line < p->lines; line++)
            for (size_t i = 0; i < p->points; i++) {
                const ferry_interval v = value_at(p, &p->facts->c->models[m], line, i);
                const bool bands = f->lines == NULL && f->across == FERRY_ACROSS_BUCKETS;
                least = fmin(least, bands ? fmin(v.value, v.low) : v.value); /* fmin ignores NAN */
                most = fmax(most, bands ? fmax(v.value, v.high) : v.value);
            }
    p->up = f->most > f->least ? (ferry_svg_axis){.first = f->least, .last = f->most}
                               : ferry_svg_axis_around(NULL, fmin(least, 0), most);
    return most >= least;
}

static bool prepare(panels *p, const ferry_figure *figure, const ferry_facts *facts)
{
    *p = (panels){.figure = figure, .facts = facts};
    p->lines = figure->lines != NULL ? figure->lines(figure, facts->c) : 1;
    if (facts->c->count == 0) return false;
    find_points(p);
    return p->points > 0 && p->lines > 0 && find_range(p);
}

bool ferry_panels_exist(const ferry_figure *figure, const ferry_facts *facts)
{
    panels p;
    return prepare(&p, figure, facts);
}

/* ---- drawing ---- */

static int32_t kind_color(const ferry_compared_model *model)
{
    return ferry_is_absolute(model) ? 1 : ferry_is_relative(model) ? 0 : ferry_lacks_positions(model) ? 3 : 2;
}

static void put_key(FILE *out, int32_t color, const char *name)
{
    fprintf(
        out,
        "<span class=\"key\"><svg class=\"ferry\" width=\"22\" height=\"10\" aria-hidden=\"true\"><path class=\"c%d\" "
        "stroke=\"currentColor\" stroke-width=\"3\" d=\"M1 5h20\"/></svg> %s</span>\n",
        (int)(color % FERRY_SVG_COLORS), name);
}

static void draw_lines(FILE *out, const panels *p, const ferry_svg_plot *plot, ferry_svg_line line, size_t row)
{
    line.values = row_of(p, 0, row);
    if (p->figure->lines == NULL) {
        line.low = row_of(p, 1, row);
        line.high = row_of(p, 2, row);
    }
    ferry_svg_lines(out, plot, &line, 1, (int32_t)p->points, 0.5);
}

/* The chart of the encoding of model `index`: all its seeds, before the other encodings. */
static void draw_encoding(FILE *out, panels *p, const ferry_svg_plot *plot, size_t index)
{
    const ferry_comparison *c = p->facts->c;
    const ferry_compared_model *shown = &c->models[index];
    if (p->figure->lines != NULL) { /* the lines of its first model */
        for (size_t line = 0; line < p->lines; line++) {
            take_values(p, shown, line, line);
            draw_lines(out, p, plot,
                       (ferry_svg_line){.name = p->figure->line_name(line),
                                        .color = p->figure->line_color(p->figure, c, line)},
                       line);
        }
        return;
    }
    fputs("<g class=\"others\">\n", out);
    for (size_t m = 0; m < c->count; m++) {
        take_values(p, &c->models[m], 0, m);
        if (ferry_same_encoding(&c->models[m], shown)) continue;
        const ferry_svg_line line = {.name = c->models[m].name, .values = row_of(p, 0, m), .color = 6};
        ferry_svg_lines(out, plot, &line, 1, (int32_t)p->points, 0.5);
    }
    fputs("</g>\n", out);
    for (size_t m = 0; m < c->count; m++)
        if (ferry_same_encoding(&c->models[m], shown))
            draw_lines(out, p, plot,
                       (ferry_svg_line){
                           .name = c->models[m].name, .color = kind_color(shown), .dots = p->points <= FERRY_CELLS},
                       m);
}

static ferry_name title_of(const ferry_comparison *c, size_t index)
{
    const size_t seeds = ferry_seeds(c, index);
    const ferry_name name = ferry_fitting_name(c->models[index].name, FERRY_SVG_HEADING, AREA_WIDTH - 40);
    return seeds > 1 ? ferry_name_format("%.200s ×%zu", name.text, seeds) : name;
}

static void put_panel(FILE *out, panels *p, size_t index)
{
    const ferry_name title = title_of(p->facts->c, index);
    ferry_svg_plot plot = {
        .x = LEFT, .y = TOP, .width = AREA_WIDTH, .height = AREA_HEIGHT, .title = title.text, .up = p->up};
    plot.across = (ferry_svg_axis){.names = p->labels, .count = (int32_t)p->points};
    if (p->figure->across == FERRY_ACROSS_POSITIONS) plot.across = (ferry_svg_axis){.last = (double)p->points};
    ferry_svg_begin_embedded(out, WIDTH, HEIGHT, NULL);
    if (p->seen > 0)
        fprintf(out, "<rect class=\"seen\" x=\"%d\" y=\"%d\" width=\"%.2f\" height=\"%d\"/>\n", LEFT, TOP,
                p->seen * AREA_WIDTH, AREA_HEIGHT);
    if (p->figure->across == FERRY_ACROSS_POSITIONS) { /* numbers instead of names */
        ferry_svg_plot numbers = plot;
        numbers.across.last *= FERRY_CURVE_WIDTH;
        numbers.across.whole = true;
        ferry_svg_frame(out, &numbers);
    } else {
        ferry_svg_frame(out, &plot);
    }
    draw_encoding(out, p, &plot, index);
    ferry_svg_end(out);
}

static void put_keys(FILE *out, const panels *p)
{
    static const struct {
        ferry_kind is;
        const char *name;
    } kinds[] = {{ferry_is_absolute, "absolute"}, {ferry_is_relative, "relative"}, {ferry_lacks_positions, "none"}};
    bool shown[FERRY_SVG_COLORS] = {false};
    fputs("<p class=\"keys\">", out);
    for (size_t line = 0; p->figure->lines != NULL && line < p->lines; line++) {
        const int32_t color = p->figure->line_color(p->figure, p->facts->c, line) % FERRY_SVG_COLORS;
        if (!shown[color]) put_key(out, color, p->figure->line_name((size_t)color));
        shown[color] = true;
    }
    for (size_t m = 0; p->figure->lines == NULL && m < p->facts->c->count; m++) {
        const int32_t color = kind_color(&p->facts->c->models[m]);
        const char *name = "mixed";
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
            if (kinds[k].is(&p->facts->c->models[m])) name = kinds[k].name;
        if (!shown[color]) put_key(out, color, name);
        shown[color] = true;
    }
    if (p->figure->lines == NULL && p->facts->c->count > 1) fputs("<span class=\"key\">gray: the others</span>\n", out);
    if (p->seen > 0) fputs("<span class=\"key\"><span class=\"seen\"></span> lengths seen in training</span>\n", out);
    fputs("</p>\n", out);
}

bool ferry_put_panels(FILE *out, const ferry_figure *figure, const ferry_facts *facts)
{
    static const char *const across[] = {
        [FERRY_ACROSS_BUCKETS] = "pieces of the source, at most",
        [FERRY_ACROSS_POSITIONS] = "position in the reference",
        [FERRY_ACROSS_LAYERS] = "after layer (in: what enters the first)",
        [FERRY_ACROSS_SHIFTS] = "pieces in front, as a multiple of the longest in training",
    };
    panels p;
    if (!prepare(&p, figure, facts)) return true;
    p.values = calloc(3 * (p.lines + facts->c->count) * p.points, sizeof *p.values);
    if (p.values == NULL) return false;
    put_keys(out, &p);
    fprintf(out, "<p class=\"axes\">↑ %s · → %s</p>\n<div class=\"panels\">\n", figure->unit, across[figure->across]);
    for (size_t m = 0; m < facts->c->count; m++)
        if (ferry_is_first_of_encoding(facts->c, m)) put_panel(out, &p, m);
    fputs("</div>\n", out);
    free(p.values);
    return true;
}
