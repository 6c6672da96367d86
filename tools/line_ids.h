/* Lines that are source ids already, decimal numbers with blanks between them, as ferry_inspect_generate takes them. */
#ifndef FERRY_TOOLS_LINE_IDS_H
#define FERRY_TOOLS_LINE_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/ferry.h"
#include "line_reader.h"

typedef struct ferry_line_ids {
    int32_t *ids;     /* of all lines of a batch */
    int32_t *offsets; /* [count + 1] where those of each line begin; a blank line has none */
    bool *bad;        /* [count] the line is no sentence of the model; it has no ids */
    size_t ids_capacity, offsets_capacity, bad_capacity;
} ferry_line_ids;

/* Reads the batch of `lines`, with a message for each bad line. Prints a message and returns false if there is no
 * memory. */
bool ferry_line_ids_read(ferry_line_ids *ids, const ferry_model *model, const ferry_lines *lines);
void ferry_line_ids_release(ferry_line_ids *ids);

#endif
