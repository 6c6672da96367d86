/* Heat maps and their color bars. */
#include "svg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "svg_parts.h"

/* -1: not a number, which has no color. */
static int32_t level_of(double value, const ferry_svg_colors *colors)
{
    if (isnan(value)) return -1;
    const double share = (value - colors->low) / (colors->high - colors->low);
    return (int32_t)lround(fmin(fmax(share, 0), 1) * (FERRY_SVG_LEVELS - 1));
}

static void write_class(FILE *out, ferry_svg_scale scale, int32_t level)
{
    fprintf(out, "<path class=\"%c%d\" d=\"", FERRY_SVG_LEVEL_CLASSES[scale], (int)level);
}

/* Writes the cells of a level as one path, which keeps the file small: a stroke for each run in a row, one cell high.
 */
static void write_level(FILE *out, const float *values, int32_t rows, int32_t columns, const ferry_svg_colors *colors,
                        int32_t level)
{
    bool open = false;
    for (int32_t i = 0; i < rows; i++) {
        const float *row = values + (size_t)i * (size_t)columns;
        for (int32_t j = 0, run = 1; j < columns; j += run, run = 1) {
            if (level_of((double)row[j], colors) != level) continue;
            while (j + run < columns && level_of((double)row[j + run], colors) == level) run++;
            if (!open) write_class(out, colors->scale, level);
            open = true;
            fprintf(out, "M%d %dh%d", (int)j, (int)i, (int)run);
        }
    }
    if (open) fputs("\"/>\n", out);
}

/* Dark cells have light text, and light cells dark text. */
static void write_number(FILE *out, double x, double y, double value, const ferry_svg_colors *colors,
                         const char *format)
{
    char number[32];
    const int32_t level = level_of(value, colors), last = FERRY_SVG_LEVELS - 1;
    const bool strong = colors->scale == FERRY_SVG_SEQUENTIAL ? level > last / 2 : abs(2 * level - last) > 0.6 * last;
    snprintf(number, sizeof number, format, value);
    fprintf(out, "<text x=\"%.6g\" y=\"%.6g\" font-size=\"11\" text-anchor=\"middle\"%s>%s</text>\n", x, y + 4,
            strong ? " class=\"inverse\"" : "", number);
}

static void write_border(FILE *out, double x, double y, double width, double height)
{
    fprintf(out, "<rect class=\"border\" x=\"%.6g\" y=\"%.6g\" width=\"%.6g\" height=\"%.6g\"/>\n", x, y, width,
            height);
}

void ferry_svg_heat(FILE *out, const ferry_svg_plot *plot, const float *values, int32_t rows, int32_t columns,
                    const ferry_svg_colors *colors, const char *format)
{
    const double width = plot->width / columns, height = plot->height / rows;
    fprintf(out, "<g class=\"map\" transform=\"translate(%.6g %.6g) scale(%.9g %.9g)\">\n", plot->x,
            plot->y + height / 2, width, height);
    for (int32_t level = 0; level < FERRY_SVG_LEVELS; level++) write_level(out, values, rows, columns, colors, level);
    fputs("</g>\n", out);
    for (int32_t i = 0; format != NULL && i < rows; i++)
        for (int32_t j = 0; j < columns; j++)
            if (!isnan(values[i * columns + j]))
                write_number(out, plot->x + (j + 0.5) * width, plot->y + (i + 0.5) * height,
                             (double)values[i * columns + j], colors, format);
    write_border(out, plot->x, plot->y, plot->width, plot->height);
    ferry_svg_title(out, plot);
    ferry_svg_numbers_across(out, plot);
    ferry_svg_numbers_up(out, plot);
}

void ferry_svg_color_bar(FILE *out, double x, double y, double width, const ferry_svg_colors *colors, const char *label)
{
    const ferry_svg_plot bar = {
        .x = x, .y = y, .width = width, .height = 10, .across = {.first = colors->low, .last = colors->high}};
    const double step = width / FERRY_SVG_LEVELS;
    ferry_svg_text(out, x - 8, y + 9, FERRY_SVG_LABEL, FERRY_SVG_END, 0, ferry_svg_literal(label));
    fputs("<g class=\"map\">\n", out);
    for (int32_t level = 0; level < FERRY_SVG_LEVELS; level++) {
        write_class(out, colors->scale, level);
        fprintf(out, "M%.6g %.6gh%.6g\" stroke-width=\"%.6g\"/>\n", x + level * step, y + bar.height / 2, step,
                bar.height);
    }
    fputs("</g>\n", out);
    write_border(out, x, y, width, bar.height);
    ferry_svg_numbers_across(out, &bar);
}
