/* The pictures of `ferry plot`. Each is written to a stream; on failure a message is printed and false returned. What
 * `layer` and `head` mean when they are negative: the last layer, the mean of the heads. */
#ifndef FERRY_LAB_PLOT_H
#define FERRY_LAB_PLOT_H

#include "engine/ferry_inspect.h"
#include "svg.h"

/* What the positional encodings of a model do, as far as they do it: what is added to embeddings by position and
 * dimension, and how alike it is by distance; what is added to scores by distance and head; how alike scores are by
 * distance. Decided by measuring, never by an encoding's name. */
bool ferry_plot_positions(FILE *out, const ferry_model *model, const char *title, int32_t layer);

typedef struct ferry_plot_request {
    const char *text;
    const char *from, *to; /* languages, as in ferry_options */
    ferry_inspect_attention_kind kind;
    int32_t layer, head;
} ferry_plot_request;
/* Attention weights over the pieces of a text and of its translation by `translator`. */
bool ferry_plot_attention(FILE *out, const ferry_model *model, ferry_translator *translator,
                          const ferry_plot_request *request);

#endif
