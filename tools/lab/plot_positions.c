#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "plot.h"
#include "plot_charts.h"
#include "plot_effects.h"
#include "plot_page.h"
#include "tools/command.h"

enum { WIDTH = FERRY_PAGE_WIDTH, MARGIN = FERRY_PAGE_MARGIN, INSIDE = WIDTH - 2 * MARGIN, NUMBERS = 44 };
#define DISTANCE "distance j \u2212 i of key j from query i"

static void begin_part(ferry_page *p, const char *stacks, const char *heading, const char *explanation)
{
    p->y += 22;
    ferry_page_write(p, FERRY_SVG_HEADING, ferry_name_format("%s: %s", stacks, heading).text);
    ferry_page_write(p, FERRY_SVG_BODY, explanation);
}

/* A color bar on its own line. */
static void write_color_bar(ferry_page *p, const ferry_svg_colors *colors, const char *label)
{
    const double width = ferry_svg_text_width(FERRY_SVG_LABEL, ferry_svg_literal(label));
    ferry_svg_color_bar(p->out, MARGIN + width + 8, p->y - 6, 180, colors, label);
    p->y += 26;
}

/* ---- what is added to embeddings ---- */

/* Cosine of rows a, b [D]; 0 if one of them is zero. */
static double cosine(const float *a, const float *b, int32_t D)
{
    double product = 0, aa = 0, bb = 0;
    for (int32_t d = 0; d < D; d++) {
        product += (double)a[d] * (double)b[d];
        aa += (double)a[d] * (double)a[d];
        bb += (double)b[d] * (double)b[d];
    }
    return aa > 0 && bb > 0 ? product / sqrt(aa * bb) : 0;
}

/* Mean, least and largest cosine of two rows, by distance. */
static void draw_cosines_by_distance(ferry_page *p, const float *cosines, int32_t count)
{
    float values[3][FERRY_EFFECT_POSITIONS];
    const int32_t distances = (count + 1) / 2; /* so that each is a mean over many pairs */
    for (int32_t d = 0; d < distances; d++) {
        double sum = 0, least = 1, most = -1;
        for (int32_t i = 0; i + d < count; i++) {
            const double one = (double)cosines[i * count + i + d];
            sum += one;
            least = fmin(least, one);
            most = fmax(most, one);
        }
        values[0][d] = (float)(sum / (count - d));
        values[1][d] = (float)least;
        values[2][d] = (float)most;
    }
    const ferry_svg_line line = {.values = values[0], .low = values[1], .high = values[2]};
    double least = 0;
    for (int32_t d = 0; d < distances; d++) least = fmin(least, (double)values[1][d]);
    const ferry_svg_plot area = {
        .x = MARGIN + NUMBERS,
        .y = p->y + 26,
        .width = INSIDE - NUMBERS,
        .height = 130,
        .title = "The same by distance: mean, and the range from the least to the most alike pair",
        .across = {.label = "distance |i \u2212 j|", .last = distances > 1 ? distances - 1 : 1, .whole = true},
        .up = ferry_svg_axis_around("cosine", least, 1)};
    ferry_svg_frame(p->out, &area);
    ferry_svg_lines(p->out, &area, &line, 1, distances, 0);
    p->y += 26 + 130 + 44;
}

static bool draw_cosines(ferry_page *p, const ferry_effects *e, double x, double side)
{
    const int32_t count = e->positions, step = (count + 63) / 64, cells = (count + step - 1) / step;
    const ferry_svg_colors colors = {FERRY_SVG_DIVERGING, .low = -1, .high = 1};
    float *cosines = ferry_allocate((size_t)count * (size_t)count, sizeof *cosines);
    float *map = ferry_allocate((size_t)cells * (size_t)cells, sizeof *map);
    if (cosines != NULL && map != NULL) {
        for (int32_t i = 0; i < count; i++)
            for (int32_t j = 0; j < count; j++)
                cosines[i * count + j] =
                    (float)cosine(e->rows + (size_t)i * (size_t)e->D, e->rows + (size_t)j * (size_t)e->D, e->D);
        for (int32_t i = 0; i < cells * cells; i++) map[i] = cosines[i / cells * step * count + i % cells * step];
        const ferry_svg_axis axis = {.label = "position", .first = count, .whole = true};
        const ferry_svg_plot area = {.x = x,
                                     .y = p->y + 26,
                                     .width = side,
                                     .height = side,
                                     .title = "How alike two rows are",
                                     .across = {.label = "position j", .last = count, .whole = true},
                                     .up = axis};
        ferry_svg_heat(p->out, &area, map, cells, cells, &colors, NULL);
        if (e->trained > 0) {
            ferry_svg_mark_across(p->out, &area, e->trained);
            ferry_svg_mark_up(p->out, &area, e->trained);
        }
        const double y = p->y + side + 26 + 48;
        ferry_svg_color_bar(p->out, x + 60, y, side - 60, &colors, "cosine");
        p->y = y + 36;
        draw_cosines_by_distance(p, cosines, count);
    }
    const bool done = cosines != NULL && map != NULL;
    free(cosines);
    free(map);
    return done;
}

static bool draw_rows(ferry_page *p, const ferry_effects *e, const char *stacks)
{
    const double side = 300, width = INSIDE - 3 * NUMBERS - side;
    const ferry_svg_colors colors = ferry_chart_row_colors(e);
    begin_part(p, stacks, "a row for each position is added to the embedding",
               "The token at position i gets row i, whatever the token is.");
    const ferry_svg_plot map = {.x = MARGIN + NUMBERS,
                                .y = p->y + 26,
                                .width = width,
                                .height = side,
                                .title = "The rows",
                                .across = {.label = "dimension of the embedding"},
                                .up = {.label = "position i"}};
    ferry_svg_color_bar(p->out, map.x + 60, map.y + side + 48, width - 60, &colors, "added");
    return ferry_chart_rows(p->out, &map, e) && draw_cosines(p, e, WIDTH - MARGIN - side, side);
}

/* ---- what is done to scores ---- */

static void name_head(ferry_svg_plot *area, ferry_name *name, const ferry_effect *effect, int32_t head)
{
    *name = effect->heads > 1 ? ferry_name_format("head %d", (int)head) : ferry_name_format("every head");
    area->title = name->text;
}

static ferry_svg_grid grid_of_heads(const ferry_page *p, const ferry_effect *effect)
{
    const int32_t columns = effect->heads == 1 ? 1 : effect->heads <= 8 ? 2 : 4;
    return (ferry_svg_grid){.x = MARGIN,
                            .y = p->y,
                            .width = INSIDE,
                            .height = effect->heads == 1 ? 180 : 120,
                            .count = effect->heads,
                            .columns = columns,
                            .across = {.label = columns < 4 ? DISTANCE : "distance j \u2212 i", .whole = true}};
}

static bool draw_bias(ferry_page *p, const ferry_effects *e)
{
    const ferry_effect *effect = &e->scores[FERRY_EFFECT_BIAS];
    ferry_svg_grid grid = grid_of_heads(p, effect);
    grid.up = ferry_chart_range(e, FERRY_EFFECT_BIAS);
    grid.up.label = "added";
    for (int32_t head = 0; head < effect->heads; head++) {
        ferry_name name;
        ferry_svg_plot area = ferry_svg_grid_plot(&grid, head);
        name_head(&area, &name, effect, head);
        ferry_chart_numbers(p->out, &area, e, effect->values + head * e->distances, 0);
    }
    p->y = ferry_svg_grid_bottom(&grid);
    return true;
}

static bool draw_vectors(ferry_page *p, const ferry_effects *e, ferry_effect_kind kind)
{
    const ferry_effect *effect = &e->scores[kind];
    const ferry_svg_colors colors = ferry_chart_effect_colors(e, kind);
    bool done = true;
    write_color_bar(p, &colors, "added to the score by a 1 in this dimension");
    ferry_svg_grid grid = grid_of_heads(p, effect);
    grid.up = (ferry_svg_axis){.label = "dimension"};
    for (int32_t head = 0; done && head < effect->heads; head++) {
        ferry_name name;
        ferry_svg_plot area = ferry_svg_grid_plot(&grid, head);
        name_head(&area, &name, effect, head);
        done = ferry_chart_vectors(p->out, &area, e, kind, head, FERRY_CHART_NEAR);
    }
    p->y = ferry_svg_grid_bottom(&grid);
    return done;
}

static bool draw_query(ferry_page *p, const ferry_effects *e)
{
    return draw_vectors(p, e, FERRY_EFFECT_QUERY);
}

static bool draw_key(ferry_page *p, const ferry_effects *e)
{
    return draw_vectors(p, e, FERRY_EFFECT_KEY);
}

/* The trace of the rotation: the mean over all unit vectors q = k. */
static void draw_mean(ferry_page *p, const ferry_effects *e, ferry_svg_plot *area)
{
    const ferry_effect *effect = &e->scores[FERRY_EFFECT_ROTATION];
    float mean[2 * FERRY_EFFECT_POSITIONS];
    double least = 0;
    for (int32_t j = 0; j < e->distances; j++) {
        double sum = 0;
        for (int32_t i = 0; i < effect->rows; i++) sum += (double)effect->values[i * e->distances + j];
        mean[j] = (float)(sum / effect->rows);
        least = fmin(least, (double)mean[j]);
    }
    area->up = ferry_svg_axis_around("cosine", least, 1);
    ferry_chart_numbers(p->out, area, e, mean, 0);
}

static bool draw_rotation(ferry_page *p, const ferry_effects *e)
{
    const ferry_svg_colors colors = ferry_chart_effect_colors(e, FERRY_EFFECT_ROTATION);
    write_color_bar(p, &colors, "degrees between query and key");
    ferry_svg_plot area = {.x = MARGIN + NUMBERS,
                           .y = p->y + 26,
                           .width = INSIDE - NUMBERS,
                           .height = 200,
                           .title = "Each pair of dimensions turns at its own speed, the slowest hardly at all",
                           .across = {.label = DISTANCE},
                           .up = {.label = "dimension"}};
    if (!ferry_chart_vectors(p->out, &area, e, FERRY_EFFECT_ROTATION, 0, e->distances)) return false;
    area.y += area.height + 68;
    area.height = 130;
    area.title = "The mean of all dimensions: the score of equal query and key, compared with distance 0";
    draw_mean(p, e, &area);
    p->y = area.y + area.height + 44;
    return true;
}

static const struct {
    const char *heading, *explanation;
    bool (*draw)(ferry_page *p, const ferry_effects *e);
} parts[] = {
    [FERRY_EFFECT_BIAS] = {"a number for each distance is added to the score",
                           "The same for every query and key, before softmax: above 0 a key at this distance gets more "
                           "attention, below 0 less.",
                           draw_bias},
    [FERRY_EFFECT_QUERY] = {"the score gets the product of the query and a vector for each distance",
                            "Each column is the vector of a distance. Distances with like columns are alike to every "
                            "query.",
                            draw_query},
    [FERRY_EFFECT_KEY] =
        {"the score gets the product of the key and a vector for each distance",
         "Each column is the vector of a distance. Distances with like columns are alike to every key.", draw_key},
    [FERRY_EFFECT_ROTATION] = {"queries and keys are rotated by their positions",
                               "Their product depends on the difference of the angles, and so on the distance alone.",
                               draw_rotation},
};

/* ---- the picture ---- */

static bool has_effect(const ferry_effects *e)
{
    bool any = e->rows != NULL;
    for (ferry_effect_kind kind = FERRY_EFFECT_BIAS; kind < FERRY_EFFECT_KINDS; kind++)
        any = any || e->scores[kind].values != NULL;
    return any;
}

static bool depends_on_layer(const ferry_effects *e)
{
    return e->rows == NULL && e->scheme.has_weights;
}

/* The layers that are drawn, if layers differ. */
static ferry_name name_layers(const ferry_effects stacks[2])
{
    const ferry_effects *encoder = &stacks[0], *decoder = &stacks[1];
    if (!depends_on_layer(encoder) && !depends_on_layer(decoder)) return (ferry_name){""};
    if (encoder->layers == decoder->layers)
        return ferry_name_format(", layer %d of 0 \u2026 %d", (int)encoder->layer, (int)encoder->layers - 1);
    return ferry_name_format(", layer %d of 0 \u2026 %d in the encoder, %d of 0 \u2026 %d in the decoder",
                             (int)encoder->layer, (int)encoder->layers - 1, (int)decoder->layer,
                             (int)decoder->layers - 1);
}

static void write_schemes(ferry_page *p, const ferry_inspect_scheme *encoder, const ferry_inspect_scheme *decoder)
{
    const bool same = strcmp(encoder->name, decoder->name) == 0;
    const ferry_name names = ferry_name_format("%s in the encoder, %s in the decoder", encoder->name, decoder->name);
    ferry_page_write(p, FERRY_SVG_TITLE, same ? encoder->name : names.text);
    if (same && strcmp(encoder->parameters, decoder->parameters) == 0) {
        ferry_page_write(p, FERRY_SVG_BODY, encoder->parameters);
        return;
    }
    if (encoder->parameters[0] != '\0')
        ferry_page_write(p, FERRY_SVG_BODY, ferry_name_format("Encoder: %s", encoder->parameters).text);
    if (decoder->parameters[0] != '\0')
        ferry_page_write(p, FERRY_SVG_BODY, ferry_name_format("Decoder: %s", decoder->parameters).text);
}

static void write_head(ferry_page *p, const ferry_plot_subject *subject, const ferry_effects stacks[2])
{
    const ferry_inspect_scheme *encoder = &stacks[0].scheme;
    write_schemes(p, encoder, &stacks[1].scheme);
    if (subject->name.text[0] != '\0') {
        ferry_page_write(p, FERRY_SVG_BODY,
                         ferry_name_format("Model %s%s", subject->name.text, name_layers(stacks).text).text);
        if (stacks[0].trained > 0)
            ferry_page_write(p, FERRY_SVG_BODY,
                             ferry_name_format("Dashed lines: the longest training example, %d tokens",
                                               (int)stacks[0].trained)
                                 .text);
    } else if (encoder->has_weights) {
        ferry_page_write(p, FERRY_SVG_BODY, "Untrained: the weights are random, and training gives them their shape.");
    } else if (has_effect(&stacks[0])) {
        ferry_page_write(p, FERRY_SVG_BODY, "A fixed formula: training does not change it.");
    }
}

/* The parts of a stack; of the decoder, those that the encoder's do not show. */
static bool draw_stack(ferry_page *p, const ferry_effects stacks[2], ferry_inspect_stack stack)
{
    static const char *const names[] = {[FERRY_INSPECT_ENCODER] = "Encoder", [FERRY_INSPECT_DECODER] = "Decoder"};
    static const char *const both = "Encoder and decoder";
    const ferry_effects *e = &stacks[stack];
    const bool decoder = stack == FERRY_INSPECT_DECODER, equal = ferry_effects_equal_rows(&stacks[0], &stacks[1]);
    if (e->rows != NULL && !(equal && decoder) && !draw_rows(p, e, equal ? both : names[stack])) return false;
    for (ferry_effect_kind kind = FERRY_EFFECT_BIAS; kind < FERRY_EFFECT_KINDS; kind++) {
        const bool part = ferry_effect_is_part(&stacks[0], &stacks[1], kind);
        if (e->scores[kind].values == NULL || (part && decoder)) continue;
        begin_part(p, part ? both : names[stack], parts[kind].heading, parts[kind].explanation);
        if (part) ferry_page_write(p, FERRY_SVG_BODY, "The decoder has the left half only: keys up to the query.");
        if (!parts[kind].draw(p, e)) return false;
    }
    if (e->scheme.has_values)
        begin_part(p, names[stack], "values get a vector for each distance, too",
                   "It is added to the value of a key, and is not drawn here.");
    if (!has_effect(e))
        begin_part(p, names[stack], "nothing is added",
                   decoder ? "The decoder\u2019s causal mask is the only information about order: each position sees a "
                             "different number of keys."
                           : "Embeddings and scores are the same at all positions: the encoder sees a set of tokens "
                             "without any order.");
    return true;
}

bool ferry_plot_positions(FILE *out, const ferry_plot_subject *subject, int32_t layer)
{
    ferry_effects stacks[2] = {0};
    ferry_page page;
    bool done = ferry_effects_measure(subject->model, FERRY_INSPECT_ENCODER, layer, &stacks[0]) &&
                ferry_effects_measure(subject->model, FERRY_INSPECT_DECODER, layer, &stacks[1]) &&
                ferry_page_begin(&page);
    if (done) {
        write_head(&page, subject, stacks);
        done = draw_stack(&page, stacks, FERRY_INSPECT_ENCODER) && draw_stack(&page, stacks, FERRY_INSPECT_DECODER);
        done = ferry_page_end(&page, done, stacks[0].scheme.name, out);
    }
    for (int i = 0; i < 2; i++) ferry_effects_free(&stacks[i]);
    return done;
}
