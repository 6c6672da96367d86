/* Charts: axes, lines, bars, legends, grids of small charts. */
#include "svg.h"

#include <math.h>
#include <string.h>

#include "svg_parts.h"

/* Pixels: for the number of a tick; outside an area; between the charts of a grid. */
enum { SPACE_ACROSS = 48, SPACE_UP = 30, NUMBERS_LEFT = 44, NUMBERS_BELOW = 40, BETWEEN = 14, TITLES = 26 };

/* ---- axes ---- */

/* The range of the axis. */
static double first_of(const ferry_svg_axis *axis, bool up)
{
    return axis->names == NULL ? axis->first : up ? axis->count : 0;
}

static double last_of(const ferry_svg_axis *axis, bool up)
{
    return axis->names == NULL ? axis->last : up ? 0 : axis->count;
}

static double place_across(const ferry_svg_plot *plot, double value)
{
    const double first = first_of(&plot->across, false), last = last_of(&plot->across, false);
    return plot->x + (value - first) / (last - first) * plot->width;
}

static double place_up(const ferry_svg_plot *plot, double value)
{
    const double first = first_of(&plot->up, true), last = last_of(&plot->up, true);
    return plot->y + (1 - (value - first) / (last - first)) * plot->height;
}

/* 1, 2 or 5 times a power of ten: the smallest such distance that gives at most `most` ticks. */
static double tick_distance(double range, double most, bool whole)
{
    const double least = range / most, power = pow(10, floor(log10(least)));
    const double factor = least <= power ? 1 : least <= 2 * power ? 2 : least <= 5 * power ? 5 : 10;
    return whole ? fmax(factor * power, 1) : factor * power;
}

static double count_ticks(double least, double range, double distance)
{
    return floor((least + range) / distance + 1e-9) - ceil(least / distance - 1e-9) + 1;
}

typedef void (*visitor)(FILE *out, const ferry_svg_plot *plot, double value, const char *text);

/* Calls `visit` for each tick of an axis, or for the middle of each of its parts. */
static void visit_ticks(FILE *out, const ferry_svg_plot *plot, const ferry_svg_axis *axis, double most, visitor visit)
{
    if (axis->names != NULL) {
        for (int32_t i = 0; i < axis->count; i++) visit(out, plot, i + 0.5, axis->names[i]);
        return;
    }
    const double range = fabs(axis->last - axis->first), least = fmin(axis->first, axis->last);
    double distance = tick_distance(range, fmax(most, 1), axis->whole);
    while (count_ticks(least, range, distance) < 2 && !(axis->whole && distance <= 1)) { /* one tick is no scale */
        most *= 2;
        distance = tick_distance(range, most, axis->whole);
    }
    for (double n = ceil(least / distance - 1e-9); n * distance <= least + range + 1e-9 * distance; n++) {
        char number[32];
        const double value = fabs(n * distance) < 1e-9 * distance ? 0 : n * distance;
        snprintf(number, sizeof number, "%s%.6g", value < 0 ? "\u2212" : "", fabs(value));
        visit(out, plot, value, number);
    }
}

static void write_number_across(FILE *out, const ferry_svg_plot *plot, double value, const char *text)
{
    ferry_svg_text(out, place_across(plot, value), plot->y + plot->height + 15, FERRY_SVG_LABEL, FERRY_SVG_MIDDLE, 0,
                   ferry_svg_literal(text));
}

static void write_number_up(FILE *out, const ferry_svg_plot *plot, double value, const char *text)
{
    ferry_svg_text(out, plot->x - 6, place_up(plot, value) + 4, FERRY_SVG_LABEL, FERRY_SVG_END, 0,
                   ferry_svg_literal(text));
}

static void write_stroke(FILE *out, const char *class, double x1, double y1, double x2, double y2)
{
    fprintf(out, "<path class=\"%s\" d=\"M%.6g %.6gL%.6g %.6g\"/>\n", class, x1, y1, x2, y2);
}

static void write_grid_across(FILE *out, const ferry_svg_plot *plot, double value, const char *text)
{
    (void)text;
    const double x = place_across(plot, value);
    write_stroke(out, fabs(value) > 0 ? "grid" : "zero", x, plot->y, x, plot->y + plot->height);
}

static void write_grid_up(FILE *out, const ferry_svg_plot *plot, double value, const char *text)
{
    (void)text;
    const double y = place_up(plot, value);
    write_stroke(out, fabs(value) > 0 ? "grid" : "zero", plot->x, y, plot->x + plot->width, y);
}

void ferry_svg_mark_across(FILE *out, const ferry_svg_plot *plot, double value)
{
    const double x = place_across(plot, value);
    if (x > plot->x && x < plot->x + plot->width) write_stroke(out, "mark", x, plot->y, x, plot->y + plot->height);
}

void ferry_svg_mark_up(FILE *out, const ferry_svg_plot *plot, double value)
{
    const double y = place_up(plot, value);
    if (y > plot->y && y < plot->y + plot->height) write_stroke(out, "mark", plot->x, y, plot->x + plot->width, y);
}

/* The ends of a zero-width or empty range cannot be divided. */
ferry_svg_axis ferry_svg_axis_around(const char *label, double least, double most)
{
    if (least > 0 && least < 0.5 * most) least = 0;
    if (most < 0 && most > 0.5 * least) most = 0;
    const double margin = most > least ? 0.05 * (most - least) : 1;
    return (ferry_svg_axis){.label = label,
                            .first = fabs(least) > 0 || !(most > least) ? least - margin : 0,
                            .last = fabs(most) > 0 || !(most > least) ? most + margin : 0};
}

void ferry_svg_numbers_across(FILE *out, const ferry_svg_plot *plot)
{
    const ferry_svg_axis *axis = &plot->across;
    if (axis->bare) return;
    visit_ticks(out, plot, axis, plot->width / SPACE_ACROSS, write_number_across);
    if (axis->label != NULL)
        ferry_svg_text(out, plot->x + plot->width / 2, plot->y + plot->height + 32, FERRY_SVG_LABEL, FERRY_SVG_MIDDLE,
                       0, ferry_svg_literal(axis->label));
}

void ferry_svg_numbers_up(FILE *out, const ferry_svg_plot *plot)
{
    const ferry_svg_axis *axis = &plot->up;
    if (axis->bare) return;
    visit_ticks(out, plot, axis, plot->height / SPACE_UP, write_number_up);
    if (axis->label != NULL)
        ferry_svg_text(out, plot->x - NUMBERS_LEFT + 4, plot->y + plot->height / 2, FERRY_SVG_LABEL, FERRY_SVG_MIDDLE,
                       -90, ferry_svg_literal(axis->label));
}

void ferry_svg_title(FILE *out, const ferry_svg_plot *plot)
{
    if (plot->title != NULL)
        ferry_svg_text(out, plot->x, plot->y - 8, FERRY_SVG_HEADING, FERRY_SVG_START, 0,
                       ferry_svg_literal(plot->title));
}

void ferry_svg_frame(FILE *out, const ferry_svg_plot *plot)
{
    ferry_svg_title(out, plot);
    if (plot->across.names == NULL)
        visit_ticks(out, plot, &plot->across, plot->width / SPACE_ACROSS, write_grid_across);
    if (plot->up.names == NULL) visit_ticks(out, plot, &plot->up, plot->height / SPACE_UP, write_grid_up);
    ferry_svg_numbers_across(out, plot);
    ferry_svg_numbers_up(out, plot);
}

/* ---- lines ---- */

/* Clips what is drawn inside, without the ids that clip paths need. The coordinates inside are those outside. */
static void begin_clipped(FILE *out, const ferry_svg_plot *plot)
{
    fprintf(out, "<svg x=\"%.6g\" y=\"%.6g\" width=\"%.6g\" height=\"%.6g\" viewBox=\"%.6g %.6g %.6g %.6g\">\n",
            plot->x, plot->y, plot->width, plot->height, plot->x, plot->y, plot->width, plot->height);
}

/* Writes the points i = from … to (from > to: backwards) of a line. */
static void write_points(FILE *out, const ferry_svg_plot *plot, const float *values, double first, bool steps,
                         int32_t from, int32_t to)
{
    const int32_t way = from <= to ? 1 : -1;
    for (int32_t i = from; i != to + way; i += way) {
        const double y = place_up(plot, (double)values[i]);
        if (steps) {
            fprintf(out, "%.2f,%.2f %.2f,%.2f ", place_across(plot, first + i - 0.5 * way), y,
                    place_across(plot, first + i + 0.5 * way), y);
        } else {
            fprintf(out, "%.2f,%.2f ", place_across(plot, first + i), y);
        }
    }
}

/* The end of the run of numbers, without a gap, that begins at `from`. */
static int32_t run_end(const float *values, int32_t from, int32_t count)
{
    while (from < count && !isnan(values[from])) from++;
    return from;
}

static void write_line(FILE *out, const ferry_svg_plot *plot, const ferry_svg_line *line, int32_t count, double first)
{
    for (int32_t from = 0, end; from < count; from = end + 1) {
        end = run_end(line->values, from, count);
        if (end == from) continue;
        if (line->low != NULL) {
            fputs("<polygon fill=\"currentColor\" fill-opacity=\"0.18\" points=\"", out);
            write_points(out, plot, line->low, first, line->steps, from, end - 1);
            write_points(out, plot, line->high, first, line->steps, end - 1, from);
            fputs("\"/>\n", out);
        }
        fprintf(out, "<polyline stroke=\"currentColor\" stroke-width=\"1.8\" stroke-linejoin=\"round\"%s points=\"",
                line->color >= FERRY_SVG_COLORS ? " stroke-dasharray=\"5 3\"" : "");
        write_points(out, plot, line->values, first, line->steps, from, end - 1);
        fputs("\"/>\n", out);
        for (int32_t i = from; line->dots && i < end; i++)
            fprintf(out, "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"3\" fill=\"currentColor\"/>\n",
                    place_across(plot, first + i), place_up(plot, (double)line->values[i]));
    }
}

void ferry_svg_lines(FILE *out, const ferry_svg_plot *plot, const ferry_svg_line *lines, int32_t line_count,
                     int32_t count, double first)
{
    begin_clipped(out, plot);
    for (int32_t i = 0; i < line_count; i++) {
        fprintf(out, "<g class=\"c%d\">\n", (int)(lines[i].color % FERRY_SVG_COLORS));
        ferry_svg_name(out, lines[i].name);
        write_line(out, plot, &lines[i], count, first);
        fputs("</g>\n", out);
    }
    fputs("</svg>\n", out);
}

/* ---- bars ---- */

static void write_bar(FILE *out, const ferry_svg_plot *plot, const ferry_svg_bar *bar, int32_t part, double top,
                      double height, const char *format)
{
    const double value = (double)bar->values[part], zero = place_across(plot, 0), x = place_across(plot, value);
    double end = fmax(zero, x);
    fprintf(
        out,
        "<rect fill=\"currentColor\" fill-opacity=\"0.75\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"/>\n",
        fmin(zero, x), top, fabs(x - zero), height);
    if (bar->low != NULL) {
        const double low = place_across(plot, (double)bar->low[part]),
                     high = place_across(plot, (double)bar->high[part]);
        const double middle = top + height / 2;
        fprintf(out, "<path class=\"border\" d=\"M%.2f %.2fH%.2fM%.2f %.2fv6M%.2f %.2fv6\"/>\n", low, middle, high, low,
                middle - 3, high, middle - 3);
        end = fmax(end, high);
    }
    if (format == NULL) return;
    char number[32];
    snprintf(number, sizeof number, format, value);
    ferry_svg_text(out, end + 5, top + height / 2 + 4, FERRY_SVG_LABEL, FERRY_SVG_START, 0, ferry_svg_literal(number));
}

void ferry_svg_bars(FILE *out, const ferry_svg_plot *plot, const ferry_svg_bar *bars, int32_t count, const char *format)
{
    const double part = plot->height / plot->up.count, height = part * 0.76 / count;
    for (int32_t i = 0; i < count; i++) {
        fprintf(out, "<g class=\"c%d\">\n", (int)(bars[i].color % FERRY_SVG_COLORS));
        ferry_svg_name(out, bars[i].name);
        for (int32_t j = 0; j < plot->up.count; j++)
            if (!isnan(bars[i].values[j]))
                write_bar(out, plot, &bars[i], j, plot->y + (j + 0.12) * part + i * height, height, format);
        fputs("</g>\n", out);
    }
}

/* ---- legends ---- */

double ferry_svg_legend(FILE *out, double x, double y, double width, const char *const *names, int32_t count)
{
    const double left = x;
    for (int32_t i = 0; i < count; i++) {
        const double entry = 28 + ferry_svg_text_width(FERRY_SVG_LABEL, ferry_svg_literal(names[i])) + 16;
        if (x > left && x + entry > left + width) {
            x = left;
            y += 18;
        }
        if (out != NULL) {
            fprintf(out, "<path class=\"c%d\" stroke=\"currentColor\" stroke-width=\"3\"%s d=\"M%.6g %.6gh20\"/>\n",
                    (int)(i % FERRY_SVG_COLORS), i >= FERRY_SVG_COLORS ? " stroke-dasharray=\"5 3\"" : "", x, y + 8);
            ferry_svg_text(out, x + 26, y + 12, FERRY_SVG_LABEL, FERRY_SVG_START, 0, ferry_svg_literal(names[i]));
        }
        x += entry;
    }
    return y + 18;
}

/* ---- grids ---- */

static double left_of(const ferry_svg_axis *up)
{
    double most = NUMBERS_LEFT;
    for (int32_t i = 0; up->names != NULL && i < up->count; i++)
        most = fmax(most, ferry_svg_text_width(FERRY_SVG_LABEL, ferry_svg_literal(up->names[i])) + 10);
    return up->bare ? 0 : most;
}

ferry_svg_plot ferry_svg_grid_plot(const ferry_svg_grid *grid, int32_t index)
{
    const int32_t row = index / grid->columns, column = index % grid->columns;
    const double left = left_of(&grid->up);
    const double width = (grid->width - left - (grid->columns - 1) * BETWEEN) / grid->columns;
    ferry_svg_plot plot = {.x = grid->x + left + column * (width + BETWEEN),
                           .y = grid->y + TITLES + row * (grid->height + TITLES),
                           .width = width,
                           .height = grid->height,
                           .across = grid->across,
                           .up = grid->up};
    plot.up.bare = plot.up.bare || column > 0;
    plot.across.bare = plot.across.bare || index + grid->columns < grid->count;
    return plot;
}

double ferry_svg_grid_bottom(const ferry_svg_grid *grid)
{
    const int32_t rows = (grid->count + grid->columns - 1) / grid->columns;
    return grid->y + rows * (grid->height + TITLES) + (grid->across.bare ? 0 : NUMBERS_BELOW);
}
