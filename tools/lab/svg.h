/* Pictures as SVG 1.1: charts with axes, lines with bands, bars, heat maps, grids of small charts, legends.
 *
 * Everything is written to a stream: a file, memory (open_memstream), or the HTML page that embeds the picture. The
 * caller checks for errors at the end (ferror). Coordinates are pixels from the top left.
 *
 * Colors follow the reader's preference for light or dark pages; on paper they are those of light pages. They come from
 * a style sheet whose rules all begin with "svg.ferry", and pictures have no ids, so pictures in one page clash neither
 * with each other nor with the page. */
#ifndef FERRY_LAB_SVG_H
#define FERRY_LAB_SVG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/bytes.h"
#include "engine/ferry.h"

/* ---- pictures ---- */

/* A file of its own, with the style sheet and a background. */
void ferry_svg_begin(FILE *out, double width, double height, const char *title);
/* A picture inside an HTML page, which has ferry_svg_style in a <style> element. It shrinks to the width of its
 * parent. */
void ferry_svg_begin_embedded(FILE *out, double width, double height, const char *title);
void ferry_svg_end(FILE *out);

/* The style sheet, as CSS. */
void ferry_svg_style(FILE *out);

/* ---- text ---- */

typedef enum ferry_svg_font {
    FERRY_SVG_TITLE,   /* of a picture: 18 px */
    FERRY_SVG_HEADING, /* of a part or a panel: 13 px */
    FERRY_SVG_BODY,    /* 13 px */
    FERRY_SVG_LABEL,   /* of axes, legends, cells: 11 px */
} ferry_svg_font;
ferry_text ferry_svg_literal(const char *text);
/* The text as XML and HTML need it; any bytes, see ferry_svg_text. */
void ferry_svg_escape(FILE *out, ferry_text text);
/* Pixels, of a usual font, approximately. */
double ferry_svg_text_width(ferry_svg_font font, ferry_text text);

/* The part of a text that is placed at its coordinates. */
typedef enum ferry_svg_anchor { FERRY_SVG_START, FERRY_SVG_MIDDLE, FERRY_SVG_END } ferry_svg_anchor;
/* One line, its baseline at y; turned by `angle` degrees, clockwise around (x, y). The text may be any bytes: what is
 * not printable (base/printable.h) becomes U+FFFD. */
void ferry_svg_text(FILE *out, double x, double y, ferry_svg_font font, ferry_svg_anchor anchor, double angle,
                    ferry_text text);
/* The lines that fit into `width`, the first baseline at y. Returns the baseline that would follow. `out` NULL:
 * measures only. */
double ferry_svg_paragraph(FILE *out, double x, double y, double width, ferry_svg_font font, ferry_text text);

/* ---- charts ---- */

typedef struct ferry_svg_axis {
    const char *label;        /* with its unit; NULL: none */
    double first, last;       /* values at the ends of the axis: left and right, or bottom and top */
    bool whole;               /* ticks at whole numbers only */
    bool bare;                /* neither ticks nor numbers nor label */
    const char *const *names; /* [count] instead of numbers: the axis is divided into `count` equal parts, part i from
                               * i to i + 1, and the first is left or on top; first and last need not be set */
    int32_t count;
} ferry_svg_axis;

/* The area of a chart, and its axes. Numbers and labels lie outside: about 45 pixels to the left (names: their width),
 * 40 below, and 8 above for the title. */
typedef struct ferry_svg_plot {
    double x, y, width, height;
    const char *title; /* NULL: none */
    ferry_svg_axis across, up;
} ferry_svg_plot;

/* Title, lines across the area at the ticks, numbers and labels. */
void ferry_svg_frame(FILE *out, const ferry_svg_plot *plot);
/* Dashed lines through the area, at a value of the axis across or up; none outside the area. */
void ferry_svg_mark_across(FILE *out, const ferry_svg_plot *plot, double value);
void ferry_svg_mark_up(FILE *out, const ferry_svg_plot *plot, double value);
/* The axis that shows `least` … `most` with a margin, and 0 if it is near. */
ferry_svg_axis ferry_svg_axis_around(const char *label, double least, double most);

/* Colors of lines and bars: 0, 1, …; distinguishable by most color-blind readers. From FERRY_SVG_COLORS on, lines are
 * dashed. */
enum { FERRY_SVG_COLORS = 7 };

typedef struct ferry_svg_line {
    const char *name;        /* shown when the pointer is over the line; NULL: none */
    const float *values;     /* [count], at first, first + 1, … across; NAN: a gap */
    const float *low, *high; /* [count] a band around the line; NULL: none */
    int32_t color;
    bool steps; /* each value holds from half before its place to half after */
    bool dots;  /* a dot for each value */
} ferry_svg_line;
/* Draws `count` values of each line. What lies outside the area is cut off. */
void ferry_svg_lines(FILE *out, const ferry_svg_plot *plot, const ferry_svg_line *lines, int32_t line_count,
                     int32_t count, double first);

typedef struct ferry_svg_bar {
    const char *name;        /* shown when the pointer is over a bar; NULL: none */
    const float *values;     /* [plot->up.count] */
    const float *low, *high; /* [plot->up.count] ends of intervals; NULL: none */
    int32_t color;
} ferry_svg_bar;
/* Horizontal bars from 0 in the parts of plot->up, which has names: of `count` kinds, those of one part below each
 * other. `format`: how values are written behind the bars ("%.1f"); NULL: not at all. */
void ferry_svg_bars(FILE *out, const ferry_svg_plot *plot, const ferry_svg_bar *bars, int32_t count,
                    const char *format);

/* One row of names with their colors from (x, y) on, broken at `width`. Returns the y below. `out` NULL: measures
 * only. */
double ferry_svg_legend(FILE *out, double x, double y, double width, const char *const *names, int32_t count);

/* ---- grids of small charts ---- */

/* Charts of equal size in rows, which share their axes: only those at the left and at the bottom have numbers. */
typedef struct ferry_svg_grid {
    double x, y, width; /* of all charts with their numbers */
    double height;      /* of the area of one chart */
    int32_t count, columns;
    ferry_svg_axis across, up;
} ferry_svg_grid;
/* Chart `index` without a title. */
ferry_svg_plot ferry_svg_grid_plot(const ferry_svg_grid *grid, int32_t index);
/* The y below the numbers of the last row. */
double ferry_svg_grid_bottom(const ferry_svg_grid *grid);

/* ---- heat maps ---- */

typedef enum ferry_svg_scale {
    FERRY_SVG_SEQUENTIAL, /* low … high, starting with the color of the page */
    FERRY_SVG_DIVERGING   /* low … high, the color of the page in the middle */
} ferry_svg_scale;

typedef struct ferry_svg_colors {
    ferry_svg_scale scale;
    double low, high; /* values beyond have the color of the nearest end */
} ferry_svg_colors;

/* Draws values [rows, columns], the first row on top, in equal cells that fill the area, with title and numbers; NAN:
 * no cell. `format`: how values are written into the cells; NULL: not at all. */
void ferry_svg_heat(FILE *out, const ferry_svg_plot *plot, const float *values, int32_t rows, int32_t columns,
                    const ferry_svg_colors *colors, const char *format);
/* A horizontal bar with its numbers below, 28 pixels high, and the label to its left (x is the left end of the bar). */
void ferry_svg_color_bar(FILE *out, double x, double y, double width, const ferry_svg_colors *colors,
                         const char *label);

#endif
