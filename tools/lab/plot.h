/* The pictures of `ferry plot`. Each is written to a stream. On failure the functions print a message and return false.
 * A negative `layer` means the last layer, a negative `head` all heads. */
#ifndef FERRY_LAB_PLOT_H
#define FERRY_LAB_PLOT_H

#include "engine/ferry_inspect.h"
#include "svg.h"

typedef struct ferry_plot_subject {
    const ferry_model *model;
    ferry_name name; /* of the model; "": untrained */
} ferry_plot_subject;

/* Draws what the positional encodings of a model do, in both stacks, whatever they are called: everything that
 * plot_effects.h measures. */
bool ferry_plot_positions(FILE *out, const ferry_plot_subject *subject, int32_t layer);

/* Draws a small chart for each of several models. */
bool ferry_plot_overview(FILE *out, const ferry_plot_subject *subjects, int32_t count, int32_t layer);

typedef struct ferry_plot_request {
    const char *text;
    const char *from, *to; /* languages, as in ferry_options */
    ferry_inspect_attention_kind kind;
    int32_t layer, head;
} ferry_plot_request;
/* Draws the attention weights over the pieces of a text and of its translation by `translator`. */
bool ferry_plot_attention(FILE *out, const ferry_model *model, ferry_translator *translator,
                          const ferry_plot_request *request);

#endif
