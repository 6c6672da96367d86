/* Charts of what an encoding does (plot_effects.h). Each is drawn into the area of *plot, whose axes it sets; labels
 * and bareness of the axes are the caller's. A dashed line is where the positions or distances end that training has
 * seen, if that is known. */
#ifndef FERRY_LAB_PLOT_CHARTS_H
#define FERRY_LAB_PLOT_CHARTS_H

#include "plot_effects.h"
#include "svg.h"

/* The scale -most … most of the rows, or of an effect; of rotations: angles. */
ferry_svg_colors ferry_chart_row_colors(const ferry_effects *effects);
ferry_svg_colors ferry_chart_effect_colors(const ferry_effects *effects, ferry_effect_kind kind);

/* The axis that shows all numbers of an effect. */
ferry_svg_axis ferry_chart_range(const ferry_effects *effects, ferry_effect_kind kind);

/* What is added to embeddings, by position and dimension; of many dimensions, only pairs at equal
 * distances. Returns false after a message. */
bool ferry_chart_rows(FILE *out, const ferry_svg_plot *plot, const ferry_effects *effects);

/* An effect by dimension (or head: a number has one row for each) and distance, of at most `most` distances around 0.
 * Returns false after a message. */
bool ferry_chart_vectors(FILE *out, const ferry_svg_plot *plot, const ferry_effects *effects, ferry_effect_kind kind,
                         int32_t head, int32_t most);

/* How many make a map of one head legible. */
enum { FERRY_CHART_NEAR = 65 };

/* Numbers by distance: as steps, if most neighbors are equal. */
void ferry_chart_numbers(FILE *out, const ferry_svg_plot *plot, const ferry_effects *effects, const float *values,
                         int32_t color);

#endif
