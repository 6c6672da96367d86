/* Pictures as SVG 1.1: plots with axes, lines with a legend, heat maps with a color bar. Everything is
 * written to a stream; the caller checks for errors at the end (ferror). Coordinates are pixels from the top left. */
#ifndef FERRY_LAB_SVG_H
#define FERRY_LAB_SVG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/bytes.h"
#include "engine/ferry.h"

void ferry_svg_begin(FILE *out, double width, double height, const char *title);
void ferry_svg_end(FILE *out);

/* The part of a text that is placed at its coordinates. */
typedef enum ferry_svg_anchor { FERRY_SVG_START, FERRY_SVG_MIDDLE, FERRY_SVG_END } ferry_svg_anchor;
/* `angle` in degrees, clockwise around (x, y), the anchor on the baseline. The text may be any bytes: what XML does not
 * permit becomes U+FFFD. */
void ferry_svg_text(FILE *out, double x, double y, double size, ferry_svg_anchor anchor, double angle, ferry_text text);

typedef struct ferry_svg_axis {
    const char *label;  /* with its unit */
    double first, last; /* values at the ends of the axis: left and right, or bottom and top */
    bool whole;         /* ticks at whole numbers only */
} ferry_svg_axis;

/* The area of a plot, and its axes. */
typedef struct ferry_svg_plot {
    double x, y, width, height;
    const char *title;
    ferry_svg_axis across, up;
} ferry_svg_plot;

/* Title, border, axes with ticks; with `grid`, lines across the area. */
void ferry_svg_frame(FILE *out, const ferry_svg_plot *plot, bool grid);

/* The border alone. */
void ferry_svg_border(FILE *out, const ferry_svg_plot *plot);

typedef struct ferry_svg_line {
    ferry_name name;     /* "": not in the legend */
    const float *values; /* [count], at first, first + 1, … across */
} ferry_svg_line;
/* Lines in the colors of an ordered scale, and a legend to the right of the area. */
void ferry_svg_lines(FILE *out, const ferry_svg_plot *plot, const ferry_svg_line *lines, int32_t line_count,
                     int32_t count, double first);

typedef enum ferry_svg_scale {
    FERRY_SVG_SEQUENTIAL, /* 0 … 1, starting with white */
    FERRY_SVG_DIVERGING   /* -1 … 1, white in the middle */
} ferry_svg_scale;
/* Draws values [rows, columns], the first row on top, in equal cells that fill the area, and a color bar to its right.
 * The colors cover `limit` times the range of the scale; values outside have the color of the nearest end. */
void ferry_svg_heat(FILE *out, const ferry_svg_plot *plot, const float *values, int32_t rows, int32_t columns,
                    ferry_svg_scale scale, double limit, const char *label);

#endif
