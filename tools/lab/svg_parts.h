/* What the files of svg.h share. */
#ifndef FERRY_LAB_SVG_PARTS_H
#define FERRY_LAB_SVG_PARTS_H

#include "svg.h"

/* Steps of a color scale: few enough that the cells of one color can be one path, too many to be visible. Level i of a
 * scale has the class "s" or "d" and i. */
enum { FERRY_SVG_LEVELS = 41 };
#define FERRY_SVG_LEVEL_CLASSES "sd"

/* The name of the picture or element that has just begun, which browsers show when the pointer is over it; NULL: none.
 */
void ferry_svg_name(FILE *out, const char *name);
/* The title of an area. */
void ferry_svg_title(FILE *out, const ferry_svg_plot *plot);
/* Numbers below an area, or to its left, with ticks. */
void ferry_svg_numbers_across(FILE *out, const ferry_svg_plot *plot);
void ferry_svg_numbers_up(FILE *out, const ferry_svg_plot *plot);

#endif
