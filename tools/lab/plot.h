/* The pictures of `ferry plot`. Each is written to a stream. On failure the functions print a message and return false.
 * A negative `layer` means the last layer, a negative `head` the mean of the heads. */
#ifndef FERRY_LAB_PLOT_H
#define FERRY_LAB_PLOT_H

#include "engine/ferry_inspect.h"
#include "svg.h"

/* Draws what the positional encodings of a model do, whichever applies: what is added to embeddings, by position and
 * dimension, and its similarity by distance; what is added to scores, by distance and head; the similarity of scores by
 * distance. Measures what applies, instead of looking at the name of the encoding. */
bool ferry_plot_positions(FILE *out, const ferry_model *model, const char *title, int32_t layer);

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
