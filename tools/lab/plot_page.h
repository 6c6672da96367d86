/* A picture that is drawn from top to bottom, and whose height is known at the end. */
#ifndef FERRY_LAB_PLOT_PAGE_H
#define FERRY_LAB_PLOT_PAGE_H

#include "base/file_system.h"
#include "svg.h"

enum { FERRY_PAGE_WIDTH = 840, FERRY_PAGE_MARGIN = 24 };

/* As ferry_succeeded; a message about an argument ("layer: …") names the option of this name. */
bool ferry_plot_succeeded(ferry_status status, const ferry_error *error);

typedef struct ferry_page {
    ferry_memory_stream drawn;
    FILE *out; /* its stream */
    double y;  /* the next baseline */
} ferry_page;

/* Prints a message and returns false when out of memory. */
bool ferry_page_begin(ferry_page *page);
/* Text between the margins. */
void ferry_page_write(ferry_page *page, ferry_svg_font font, const char *text);
/* Writes the picture to `out`, if `complete`, and releases the page. Returns false after a message, or if it was not
 * complete. */
bool ferry_page_end(ferry_page *page, bool complete, const char *title, FILE *out);

#endif
