/* Pictures as SVG 1.1: plots with axes, lines with a legend, heat maps with a color bar. Everything is written at once
 * to a stream, whose errors the caller asks for in the end (ferror). Coordinates are pixels from the top left. */
#ifndef FERRY_LAB_SVG_H
#define FERRY_LAB_SVG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "engine/ferry.h"

void ferry_svg_begin(FILE *out, double width, double height, const char *title);
void ferry_svg_end(FILE *out);

/* A place where a text can be attached. */
typedef enum ferry_svg_anchor { FERRY_SVG_START, FERRY_SVG_MIDDLE, FERRY_SVG_END } ferry_svg_anchor;
/* `angle` in degrees, clockwise around (x, y), the text's anchor on its baseline. The text may be anything: what XML
 * cannot hold becomes U+FFFD. */
void ferry_svg_text(FILE *out, double x, double y, double size, ferry_svg_anchor anchor, double angle, ferry_text text);

typedef struct ferry_svg_axis {
    const char *label;  /* with its unit */
    double first, last; /* values at the axis' ends: left and right, bottom and top */
    bool whole;         /* ticks at whole numbers only */
} ferry_svg_axis;

/* Where a plot's area lies, and what its axes mean. */
typedef struct ferry_svg_plot {
    double x, y, width, height;
    const char *title;
    ferry_svg_axis across, up;
} ferry_svg_plot;

/* Title, border, axes with ticks; ticks of lines go through the area. */
void ferry_svg_frame(FILE *out, const ferry_svg_plot *plot, bool grid);

/* The border alone. */
void ferry_svg_border(FILE *out, const ferry_svg_plot *plot);

typedef struct ferry_svg_line {
    char name[32];       /* "": not in the legend */
    const float *values; /* [count], at first, first + 1, … across */
} ferry_svg_line;
/* Lines in the colors of an ordered scale, and a legend at the right of the area. */
void ferry_svg_lines(FILE *out, const ferry_svg_plot *plot, const ferry_svg_line *lines, int32_t line_count,
                     int32_t count, double first);

typedef enum ferry_svg_scale {
    FERRY_SVG_SEQUENTIAL, /* 0 … 1, from white */
    FERRY_SVG_DIVERGING   /* -1 … 1, white in the middle */
} ferry_svg_scale;
/* values [rows, columns], the first row on top, in equal cells over the area, and a color bar at its right. `limit`
 * times the scale's range is what the colors stand for; values beyond it have its color. */
void ferry_svg_heat(FILE *out, const ferry_svg_plot *plot, const float *values, int32_t rows, int32_t columns,
                    ferry_svg_scale scale, double limit, const char *label);

#endif
