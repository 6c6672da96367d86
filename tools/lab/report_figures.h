/* The figures of the report: a table says what each one shows. A figure without any number is left out, and what would
 * refer to it says nothing. */
#ifndef FERRY_LAB_REPORT_FIGURES_H
#define FERRY_LAB_REPORT_FIGURES_H

#include "report_facts.h"

typedef struct ferry_figure ferry_figure;

/* The axis across of a figure of small charts. */
typedef enum ferry_across {
    FERRY_ACROSS_BUCKETS,   /* of the text, those with lines */
    FERRY_ACROSS_POSITIONS, /* points of a curve */
    FERRY_ACROSS_LAYERS,
    FERRY_ACROSS_SHIFTS
} ferry_across;

struct ferry_figure {
    const char *id, *title, *caption;
    /* Small charts, one for each encoding: value `point` of line `line`. NULL: draw. */
    ferry_interval (*at)(const ferry_figure *figure, const ferry_compared_model *model, size_t line, size_t point);
    int what; /* the metric, stack or kind of attention that is shown */
    ferry_across across;
    const char *unit;                                                                /* of what is up */
    size_t (*lines)(const ferry_figure *figure, const ferry_comparison *comparison); /* NULL: 1, with other encodings */
    const char *(*line_name)(size_t line);                                           /* of lines */
    int32_t (*line_color)(const ferry_figure *figure, const ferry_comparison *comparison, size_t line);
    double least, most; /* values beyond are cut off; both 0: all are shown */
    bool (*draw)(FILE *out, const ferry_facts *facts);
    bool (*exists)(const ferry_facts *facts); /* whether there is something to draw; NULL: always */
};

/* Its number on the page; 0: it is left out, or there is none. */
int ferry_figure_number(const ferry_facts *facts, const char *id);
/* "(figure 3)" as a link; nothing if the figure is left out. */
void ferry_put_figure_link(FILE *out, const ferry_facts *facts, const char *id);
/* The figures from the one named `first` to the one named `last`, with numbers and captions. Returns false when out of
 * memory. */
bool ferry_put_figures(FILE *out, const ferry_facts *facts, const char *first, const char *last);

/* ---- report_panels.c ---- */

/* Whether the charts of the figure would show anything. */
bool ferry_panels_exist(const ferry_figure *figure, const ferry_facts *facts);
/* Returns false when out of memory. */
bool ferry_put_panels(FILE *out, const ferry_figure *figure, const ferry_facts *facts);

#endif
