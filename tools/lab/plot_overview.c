#include <math.h>
#include <string.h>

#include "plot.h"
#include "plot_charts.h"
#include "plot_effects.h"
#include "plot_page.h"

/* Pixels: of the part of an encoding, of its chart, and of the texts above the chart. */
enum { COLUMNS = 3, BETWEEN = 24, PART_HEIGHT = 276, CHART_HEIGHT = 130, TEXTS = 88 };
enum { PART_WIDTH = (FERRY_PAGE_WIDTH - 2 * FERRY_PAGE_MARGIN - (COLUMNS - 1) * BETWEEN) / COLUMNS };
typedef struct part {
    const ferry_plot_subject *subject;
    const ferry_effects *effects;
    double x, y;
} part;

static ferry_svg_plot area_of(const part *p, const char *across)
{
    return (ferry_svg_plot){.x = p->x,
                            .y = p->y + TEXTS,
                            .width = PART_WIDTH,
                            .height = CHART_HEIGHT,
                            .across = {.label = across, .whole = true},
                            .up = {.bare = true}};
}

static bool draw_rows(FILE *out, const part *p)
{
    const ferry_svg_plot area = area_of(p, "dimension (position 0 on top)");
    return ferry_chart_rows(out, &area, p->effects);
}

static bool draw_vectors(FILE *out, const part *p, ferry_effect_kind kind)
{
    const ferry_svg_plot area = area_of(p, p->effects->scores[kind].heads > 1 ? "distance j \u2212 i (head 0)"
                                                                              : "distance j \u2212 i (every head)");
    return ferry_chart_vectors(out, &area, p->effects, kind, 0, FERRY_CHART_NEAR);
}

static bool draw_rotation(FILE *out, const part *p)
{
    return draw_vectors(out, p, FERRY_EFFECT_ROTATION);
}

static bool draw_query(FILE *out, const part *p)
{
    return draw_vectors(out, p, FERRY_EFFECT_QUERY);
}

static bool draw_key(FILE *out, const part *p)
{
    return draw_vectors(out, p, FERRY_EFFECT_KEY);
}

/* A chart without numbers for each head. */
static bool draw_bias(FILE *out, const part *p)
{
    const ferry_effects *e = p->effects;
    const ferry_effect *effect = &e->scores[FERRY_EFFECT_BIAS];
    const int32_t columns = effect->heads < 2 ? 1 : effect->heads <= 4 ? 2 : 4;
    const int32_t rows = (effect->heads + columns - 1) / columns;
    const double width = (double)PART_WIDTH / columns, height = (double)CHART_HEIGHT / rows;
    for (int32_t head = 0; head < effect->heads; head++) {
        ferry_svg_plot area = area_of(p, NULL);
        area.x += head % columns * width;
        area.y += head / columns * height;
        area.width = width - 8;
        area.height = height - 8;
        area.across.bare = true;
        area.up = ferry_chart_range(e, FERRY_EFFECT_BIAS);
        area.up.bare = true;
        ferry_chart_numbers(out, &area, e, effect->values + head * e->distances, 0);
    }
    ferry_svg_text(out, p->x + PART_WIDTH / 2.0, p->y + TEXTS + CHART_HEIGHT + 15, FERRY_SVG_LABEL, FERRY_SVG_MIDDLE, 0,
                   ferry_svg_literal("distance j \u2212 i, one chart for each head"));
    return true;
}

static bool draw_nothing(FILE *out, const part *p)
{
    ferry_svg_paragraph(out, p->x, p->y + TEXTS + 14, PART_WIDTH, FERRY_SVG_BODY,
                        ferry_svg_literal("The decoder\u2019s causal mask is the only information about order."));
    return true;
}

/* What an encoding may do. The first that applies is drawn. */
static const struct {
    const char *text;
    ferry_effect_kind kind;
    bool (*draw)(FILE *out, const part *p);
} scores[] = {{"rotates queries and keys", FERRY_EFFECT_ROTATION, draw_rotation},
              {"multiplies queries by vectors", FERRY_EFFECT_QUERY, draw_query},
              {"multiplies keys by vectors", FERRY_EFFECT_KEY, draw_key},
              {"adds a number to each score", FERRY_EFFECT_BIAS, draw_bias}};

static bool draw_part(FILE *out, const part *p, const char *name)
{
    const ferry_effects *e = p->effects;
    ferry_name what = {""};
    bool (*chart)(FILE * out, const part *p) = e->rows != NULL ? draw_rows : NULL;
    if (chart != NULL) what = ferry_name_format("adds a row to each embedding");
    for (size_t i = 0; i < sizeof scores / sizeof *scores; i++) {
        if (e->scores[scores[i].kind].values == NULL) continue;
        what = ferry_name_format("%s%s%s", what.text, what.text[0] != '\0' ? "; " : "", scores[i].text);
        if (chart == NULL) chart = scores[i].draw;
    }
    double y = p->y + 14;
    y = ferry_svg_paragraph(out, p->x, y, PART_WIDTH, FERRY_SVG_HEADING, ferry_svg_literal(name));
    if (chart == NULL) what = ferry_name_format("adds nothing");
    y = ferry_svg_paragraph(out, p->x, y, PART_WIDTH, FERRY_SVG_BODY, ferry_svg_literal(what.text));
    y = ferry_svg_paragraph(out, p->x, y, PART_WIDTH, FERRY_SVG_LABEL, ferry_svg_literal(e->scheme.parameters));
    ferry_svg_paragraph(out, p->x, y, PART_WIDTH, FERRY_SVG_LABEL, ferry_svg_literal(p->subject->name.text));
    return (chart != NULL ? chart : draw_nothing)(out, p);
}

/* One part, or two if the stacks have different encodings. */
static bool draw_subject(ferry_page *page, const ferry_plot_subject *subject, int32_t layer, int32_t *index)
{
    static const char *const stacks[] = {"encoder", "decoder"};
    const char *names[] = {ferry_inspect_get_scheme(subject->model, FERRY_INSPECT_ENCODER).name,
                           ferry_inspect_get_scheme(subject->model, FERRY_INSPECT_DECODER).name};
    const bool one = strcmp(names[0], names[1]) == 0;
    for (int i = 0; i < (one ? 1 : 2); i++, ++*index) {
        ferry_effects effects;
        const part p = {.subject = subject,
                        .effects = &effects,
                        .x = FERRY_PAGE_MARGIN + *index % COLUMNS * (PART_WIDTH + BETWEEN),
                        .y = page->y + *index / COLUMNS * PART_HEIGHT};
        const ferry_name name =
            one ? ferry_name_format("%s", names[i]) : ferry_name_format("%s (%s)", names[i], stacks[i]);
        const bool done = ferry_effects_measure(subject->model, (ferry_inspect_stack)i, layer, &effects) &&
                          draw_part(page->out, &p, name.text);
        ferry_effects_free(&effects);
        if (!done) return false;
    }
    return true;
}

bool ferry_plot_overview(FILE *out, const ferry_plot_subject *subjects, int32_t count, int32_t layer)
{
    static const char title[] = "Positional encodings";
    ferry_page page;
    int32_t parts = 0;
    bool done = true, untrained = false, trained = false;
    if (!ferry_page_begin(&page)) return false;
    for (int32_t i = 0; i < count; i++) {
        untrained = untrained || subjects[i].name.text[0] == '\0';
        trained = trained || ferry_inspect_get_training(subjects[i].model).longest > 0;
    }
    ferry_page_write(&page, FERRY_SVG_TITLE, title);
    ferry_page_write(&page, FERRY_SVG_BODY, "What each of them does to tell positions apart, in the encoder.");
    if (untrained)
        ferry_page_write(&page, FERRY_SVG_BODY,
                         "Where no model is named, weights are random: training gives them their shape.");
    if (trained) ferry_page_write(&page, FERRY_SVG_BODY, "Dashed lines: the longest training example.");
    for (int32_t i = 0; done && i < count; i++) done = draw_subject(&page, &subjects[i], layer, &parts);
    page.y += (parts + COLUMNS - 1) / COLUMNS * PART_HEIGHT;
    return ferry_page_end(&page, done, title, out);
}
