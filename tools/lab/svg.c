#include "svg.h"

#include <math.h>
#include <string.h>

#include "base/utf8.h"

/* ---- text ---- */

/* Code points that UTF-8 can encode but XML does not permit. (Tabs and newlines are not wanted either.) */
static bool is_excluded(uint32_t code)
{
    return code < 0x20 || code == 0xFFFE || code == 0xFFFF;
}

/* Each byte that is not part of a valid character becomes U+FFFD. */
static void write_escaped(FILE *out, ferry_text text)
{
    const ferry_view view = {text.data, text.size};
    size_t at = 0;
    while (at < view.size) {
        uint32_t code;
        const size_t start = at;
        if (!ferry_utf8_next(view, &at, &code) || is_excluded(code)) {
            for (size_t i = start; i < at; i++) fputs("\xEF\xBF\xBD", out);
            continue;
        }
        switch (code) {
        case '&': fputs("&amp;", out); break;
        case '<': fputs("&lt;", out); break;
        case '>': fputs("&gt;", out); break;
        case '"': fputs("&quot;", out); break;
        default: fwrite(view.data + start, 1, at - start, out);
        }
    }
}

static ferry_text literal(const char *text)
{
    return (ferry_text){text, strlen(text)};
}

void ferry_svg_text(FILE *out, double x, double y, double size, ferry_svg_anchor anchor, double angle, ferry_text text)
{
    static const char *const anchors[] = {"start", "middle", "end"};
    fprintf(out, "<text x=\"%.6g\" y=\"%.6g\" font-size=\"%.3g\" text-anchor=\"%s\"", x, y, size, anchors[anchor]);
    if (angle < 0 || angle > 0) fprintf(out, " transform=\"rotate(%.6g %.6g %.6g)\"", angle, x, y);
    fputc('>', out);
    write_escaped(out, text);
    fputs("</text>\n", out);
}

void ferry_svg_begin(FILE *out, double width, double height, const char *title)
{
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.6g\" height=\"%.6g\" viewBox=\"0 0 %.6g %.6g\" "
            "font-family=\"DejaVu Sans, Helvetica, Arial, sans-serif\" fill=\"#222\">\n<title>",
            width, height, width, height);
    write_escaped(out, literal(title));
    fputs("</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n", out);
}

void ferry_svg_end(FILE *out)
{
    fputs("</svg>\n", out);
}

/* ---- colors ---- */

typedef struct color {
    double red, green, blue;
} color;

/* Interpolates linearly between equally spaced colors; share 0 … 1. */
static color blend(const color *colors, int count, double share)
{
    const double place = fmin(fmax(share, 0), 1) * (count - 1);
    const int below = place < count - 1 ? (int)place : count - 2;
    const double rest = place - below;
    const color a = colors[below], b = colors[below + 1];
    return (color){a.red + (b.red - a.red) * rest, a.green + (b.green - a.green) * rest,
                   a.blue + (b.blue - a.blue) * rest};
}

static void write_color(FILE *out, color c)
{
    fprintf(out, "#%02x%02x%02x", (unsigned)lround(c.red), (unsigned)lround(c.green), (unsigned)lround(c.blue));
}

static color line_color(int32_t line, int32_t count)
{
    static const color colors[] = {{68, 20, 110},  {50, 90, 180},  {20, 150, 140},
                                   {110, 180, 40}, {235, 160, 10}, {200, 40, 40}};
    return blend(colors, 6, count > 1 ? (double)line / (count - 1) : 0.2);
}

/* `level` 0 … LEVELS - 1: few enough that the cells of one color can be one path, too many to be visible as steps. */
enum { LEVELS = 65 };
static color level_color(ferry_svg_scale scale, int32_t level)
{
    static const color sequential[] = {{255, 255, 255}, {198, 219, 239}, {66, 146, 198}, {8, 48, 107}};
    static const color diverging[] = {{33, 60, 150}, {120, 170, 215}, {250, 250, 250}, {235, 150, 110}, {165, 15, 40}};
    const double share = (double)level / (LEVELS - 1);
    return scale == FERRY_SVG_SEQUENTIAL ? blend(sequential, 4, share) : blend(diverging, 5, share);
}

/* ---- axes ---- */

/* 1, 2 or 5 times a power of ten: the smallest such distance that gives at most `most` ticks. */
static double tick_distance(double range, double most, bool whole)
{
    const double least = range / most, power = pow(10, floor(log10(least)));
    const double factor = least <= power ? 1 : least <= 2 * power ? 2 : least <= 5 * power ? 5 : 10;
    return whole ? fmax(factor * power, 1) : factor * power;
}

/* Calls `draw` for each tick of an axis, with its position as a share of the length, and its number as text. */
static void visit_ticks(FILE *out, const ferry_svg_plot *plot, const ferry_svg_axis *axis, double length, double space,
                        void (*draw)(FILE *out, const ferry_svg_plot *plot, double share, const char *number))
{
    const double range = axis->last - axis->first, least = fmin(axis->first, axis->last);
    const double distance = tick_distance(fabs(range), length / space, axis->whole);
    for (double n = ceil(least / distance - 1e-9); n * distance <= least + fabs(range) + 1e-9 * distance; n++) {
        char number[32];
        const double value = n * distance;
        snprintf(number, sizeof number, "%.6g", fabs(value) < 1e-9 * distance ? 0 : value);
        draw(out, plot, (value - axis->first) / range, number);
    }
}

static void write_stroke(FILE *out, double x1, double y1, double x2, double y2, const char *stroke)
{
    fprintf(out, "<path d=\"M%.6g %.6gL%.6g %.6g\" stroke=\"%s\"/>\n", x1, y1, x2, y2, stroke);
}

static void draw_across(FILE *out, const ferry_svg_plot *plot, double share, const char *number)
{
    const double x = plot->x + share * plot->width, bottom = plot->y + plot->height;
    write_stroke(out, x, bottom, x, bottom + 5, "#444");
    ferry_svg_text(out, x, bottom + 18, 11, FERRY_SVG_MIDDLE, 0, literal(number));
}

static void draw_up(FILE *out, const ferry_svg_plot *plot, double share, const char *number)
{
    const double y = plot->y + (1 - share) * plot->height;
    write_stroke(out, plot->x - 5, y, plot->x, y, "#444");
    ferry_svg_text(out, plot->x - 8, y + 4, 11, FERRY_SVG_END, 0, literal(number));
}

static void draw_grid_across(FILE *out, const ferry_svg_plot *plot, double share, const char *number)
{
    (void)number;
    const double x = plot->x + share * plot->width;
    write_stroke(out, x, plot->y, x, plot->y + plot->height, "#e4e4e4");
}

static void draw_grid_up(FILE *out, const ferry_svg_plot *plot, double share, const char *number)
{
    (void)number;
    const double y = plot->y + (1 - share) * plot->height;
    write_stroke(out, plot->x, y, plot->x + plot->width, y, "#e4e4e4");
}

void ferry_svg_border(FILE *out, const ferry_svg_plot *plot)
{
    fprintf(out, "<rect x=\"%.6g\" y=\"%.6g\" width=\"%.6g\" height=\"%.6g\" fill=\"none\" stroke=\"#444\"/>\n",
            plot->x, plot->y, plot->width, plot->height);
}

/* Pixels for the number of a tick. */
enum { SPACE_ACROSS = 60, SPACE_UP = 36 };

void ferry_svg_frame(FILE *out, const ferry_svg_plot *plot, bool grid)
{
    const double middle = plot->x + plot->width / 2, bottom = plot->y + plot->height;
    ferry_svg_text(out, middle, plot->y - 12, 14, FERRY_SVG_MIDDLE, 0, literal(plot->title));
    if (grid) {
        visit_ticks(out, plot, &plot->across, plot->width, SPACE_ACROSS, draw_grid_across);
        visit_ticks(out, plot, &plot->up, plot->height, SPACE_UP, draw_grid_up);
    }
    ferry_svg_border(out, plot);
    visit_ticks(out, plot, &plot->across, plot->width, SPACE_ACROSS, draw_across);
    visit_ticks(out, plot, &plot->up, plot->height, SPACE_UP, draw_up);
    ferry_svg_text(out, middle, bottom + 38, 12, FERRY_SVG_MIDDLE, 0, literal(plot->across.label));
    ferry_svg_text(out, plot->x - 50, plot->y + plot->height / 2, 12, FERRY_SVG_MIDDLE, -90, literal(plot->up.label));
}

/* ---- lines ---- */

static void write_line(FILE *out, const ferry_svg_plot *plot, const float *values, int32_t count, double first,
                       color stroke)
{
    fputs("<polyline fill=\"none\" stroke-width=\"1.6\" stroke-linejoin=\"round\" stroke=\"", out);
    write_color(out, stroke);
    fputs("\" points=\"", out);
    for (int32_t i = 0; i < count; i++) {
        const double across = (first + i - plot->across.first) / (plot->across.last - plot->across.first);
        const double up = ((double)values[i] - plot->up.first) / (plot->up.last - plot->up.first);
        fprintf(out, "%s%.1f,%.1f", i > 0 ? " " : "", plot->x + across * plot->width,
                plot->y + (1 - up) * plot->height);
    }
    fputs("\"/>\n", out);
}

void ferry_svg_lines(FILE *out, const ferry_svg_plot *plot, const ferry_svg_line *lines, int32_t line_count,
                     int32_t count, double first)
{
    const double x = plot->x + plot->width + 12, distance = fmin(17, plot->height / line_count);
    for (int32_t i = 0; i < line_count; i++) {
        const color stroke = line_color(i, line_count);
        const double y = plot->y + (i + 0.5) * distance;
        write_line(out, plot, lines[i].values, count, first, stroke);
        if (lines[i].name.text[0] == '\0') continue;
        fprintf(out, "<path d=\"M%.6g %.6gh20\" stroke-width=\"3\" stroke=\"", x, y);
        write_color(out, stroke);
        fputs("\"/>\n", out);
        ferry_svg_text(out, x + 26, y + 4, fmin(11, distance), FERRY_SVG_START, 0, literal(lines[i].name.text));
    }
}

/* ---- heat maps ---- */

static int32_t level_of(float value, ferry_svg_scale scale, double limit)
{
    const double share = (double)value / limit, place = scale == FERRY_SVG_SEQUENTIAL ? share : (share + 1) / 2;
    return (int32_t)lround(fmin(fmax(place, 0), 1) * (LEVELS - 1));
}

static void write_fill(FILE *out, ferry_svg_scale scale, int32_t level)
{
    fputs("<path fill=\"", out);
    write_color(out, level_color(scale, level));
    fputs("\" d=\"", out);
}

/* Writes the cells of a level as one path, which keeps the file small: runs within a row, in units of cells. */
static void write_level(FILE *out, const float *values, int32_t rows, int32_t columns, ferry_svg_scale scale,
                        double limit, int32_t level)
{
    bool open = false;
    for (int32_t i = 0; i < rows; i++) {
        const float *row = values + (size_t)i * (size_t)columns;
        for (int32_t j = 0, run = 1; j < columns; j += run, run = 1) {
            if (level_of(row[j], scale, limit) != level) continue;
            while (j + run < columns && level_of(row[j + run], scale, limit) == level) run++;
            if (!open) write_fill(out, scale, level);
            open = true;
            fprintf(out, "M%d %dh%dv1h-%dz", (int)j, (int)i, (int)run, (int)run);
        }
    }
    if (open) fputs("\"/>\n", out);
}

static void write_color_bar(FILE *out, const ferry_svg_plot *plot, ferry_svg_scale scale, double limit,
                            const char *label)
{
    const ferry_svg_plot bar = {.x = plot->x + plot->width + 60,
                                .y = plot->y,
                                .width = 14,
                                .height = plot->height,
                                .up = {.first = scale == FERRY_SVG_SEQUENTIAL ? 0 : -limit, .last = limit}};
    fputs("<g shape-rendering=\"crispEdges\">\n", out);
    for (int32_t level = 0; level < LEVELS; level++) {
        const double step = bar.height / LEVELS;
        write_fill(out, scale, level);
        fprintf(out, "M%.6g %.6gh%.6gv%.6gh-%.6gz\"/>\n", bar.x, bar.y + (LEVELS - 1 - level) * step, bar.width, step,
                bar.width);
    }
    fputs("</g>\n", out);
    ferry_svg_border(out, &bar);
    visit_ticks(out, &bar, &bar.up, bar.height, SPACE_UP, draw_up);
    ferry_svg_text(out, bar.x + bar.width + 16, bar.y + bar.height / 2, 12, FERRY_SVG_MIDDLE, -90, literal(label));
}

void ferry_svg_heat(FILE *out, const ferry_svg_plot *plot, const float *values, int32_t rows, int32_t columns,
                    ferry_svg_scale scale, double limit, const char *label)
{
    fprintf(out, "<g transform=\"translate(%.6g %.6g) scale(%.9g %.9g)\" shape-rendering=\"crispEdges\">\n", plot->x,
            plot->y, plot->width / columns, plot->height / rows);
    for (int32_t level = 0; level < LEVELS; level++) write_level(out, values, rows, columns, scale, limit, level);
    fputs("</g>\n", out);
    write_color_bar(out, plot, scale, limit, label);
}
