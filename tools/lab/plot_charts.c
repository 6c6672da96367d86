#include "plot_charts.h"

#include <math.h>
#include <stdlib.h>

#include "tools/command.h"

/* Of more dimensions, only some are drawn. */
enum { CELLS = 64 };

static ferry_svg_colors colors_of(const float *values, size_t count)
{
    double most = 0;
    for (size_t i = 0; i < count; i++) most = fmax(most, fabs((double)values[i]));
    return (ferry_svg_colors){FERRY_SVG_DIVERGING, .low = -most, .high = most};
}

ferry_svg_colors ferry_chart_row_colors(const ferry_effects *e)
{
    return colors_of(e->rows, (size_t)e->positions * (size_t)e->D);
}

ferry_svg_colors ferry_chart_effect_colors(const ferry_effects *e, ferry_effect_kind kind)
{
    const ferry_effect *effect = &e->scores[kind];
    if (kind == FERRY_EFFECT_ROTATION) return (ferry_svg_colors){FERRY_SVG_SEQUENTIAL, .low = 0, .high = 180};
    return colors_of(effect->values, (size_t)effect->heads * (size_t)effect->rows * (size_t)e->distances);
}

ferry_svg_axis ferry_chart_range(const ferry_effects *e, ferry_effect_kind kind)
{
    const ferry_effect *effect = &e->scores[kind];
    double least = 0, most = 0;
    for (int32_t i = 0; i < effect->heads * effect->rows * e->distances; i++) {
        least = fmin(least, (double)effect->values[i]);
        most = fmax(most, (double)effect->values[i]);
    }
    return ferry_svg_axis_around(NULL, least, most);
}

/* The ends of the distances that training has seen. */
static void mark_training(FILE *out, const ferry_svg_plot *area, const ferry_effects *e)
{
    if (e->trained == 0) return;
    ferry_svg_mark_across(out, area, 0.5 - e->trained);
    ferry_svg_mark_across(out, area, e->trained - 0.5);
}

/* Degrees. */
static float angle_of(float cosine)
{
    return acosf(fminf(fmaxf(cosine, -1), 1)) * (180 / 3.14159265F);
}

bool ferry_chart_rows(FILE *out, const ferry_svg_plot *plot, const ferry_effects *e)
{
    ferry_svg_plot area = *plot;
    const int32_t rows = e->positions, columns = e->D < CELLS ? e->D : CELLS;
    const ferry_svg_colors colors = ferry_chart_row_colors(e);
    float *cells = ferry_allocate((size_t)rows * (size_t)columns, sizeof *cells);
    if (cells == NULL) return false;
    for (int32_t i = 0; i < rows; i++)
        for (int32_t j = 0; j < columns; j++) { /* sine and cosine may be neighbors */
            const int32_t pair = columns < e->D ? j / 2 * (e->D / 2) / (CELLS / 2) : j / 2;
            cells[i * columns + j] = e->rows[(size_t)i * (size_t)e->D + (size_t)(2 * pair + j % 2)];
        }
    area.across.first = 0;
    area.across.last = e->D;
    area.up.first = e->positions;
    area.up.last = 0;
    area.across.whole = area.up.whole = true;
    ferry_svg_heat(out, &area, cells, rows, columns, &colors, NULL);
    if (e->trained > 0) ferry_svg_mark_up(out, &area, e->trained);
    free(cells);
    return true;
}

bool ferry_chart_vectors(FILE *out, const ferry_svg_plot *plot, const ferry_effects *e, ferry_effect_kind kind,
                         int32_t head, int32_t most)
{
    ferry_svg_plot area = *plot;
    const ferry_effect *effect = &e->scores[kind];
    const int32_t rows = effect->rows > 1 ? effect->rows : effect->heads, last = e->first + e->distances - 1;
    const int32_t columns = e->distances < most ? e->distances : most;
    const int32_t first = last > 0 ? -columns / 2 : 1 - columns;
    const float *values = effect->values + (size_t)head * (size_t)effect->rows * (size_t)e->distances;
    const ferry_svg_colors colors = ferry_chart_effect_colors(e, kind);
    float *cells = ferry_allocate((size_t)rows * (size_t)columns, sizeof *cells);
    if (cells == NULL) return false;
    for (int32_t i = 0; i < rows; i++)
        for (int32_t j = 0; j < columns; j++) {
            const float value = values[i * e->distances + first - e->first + j];
            cells[i * columns + j] = kind == FERRY_EFFECT_ROTATION ? angle_of(value) : value;
        }
    area.across.first = first - 0.5;
    area.across.last = first + columns - 0.5;
    area.up.first = rows;
    area.up.last = 0;
    area.across.whole = area.up.whole = true;
    ferry_svg_heat(out, &area, cells, rows, columns, &colors, NULL);
    mark_training(out, &area, e);
    free(cells);
    return true;
}

void ferry_chart_numbers(FILE *out, const ferry_svg_plot *plot, const ferry_effects *e, const float *values,
                         int32_t color)
{
    int32_t equal = 0;
    for (int32_t i = 1; i < e->distances; i++) equal += !(fabsf(values[i] - values[i - 1]) > 0);
    const ferry_svg_line line = {.values = values, .color = color, .steps = equal > e->distances / 2};
    ferry_svg_plot area = *plot;
    area.across.first = e->first - 0.5;
    area.across.last = e->first + e->distances - 0.5;
    area.across.whole = true;
    ferry_svg_frame(out, &area);
    ferry_svg_lines(out, &area, &line, 1, e->distances, e->first);
    mark_training(out, &area, e);
}
