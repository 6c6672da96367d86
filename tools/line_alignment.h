/* Which source tokens a translation's tokens come from, as the weights of a result say (ferry_result_weights), in the
 * two forms that Marian prints. */
#ifndef FERRY_TOOLS_LINE_ALIGNMENT_H
#define FERRY_TOOLS_LINE_ALIGNMENT_H

#include <stdbool.h>
#include <stdio.h>

#include "engine/ferry.h"
#include "json_writer.h"

/* A hypothesis of a result. */
typedef struct ferry_aligned {
    const ferry_result *result;
    size_t line, hypothesis;
} ferry_aligned;

/* The values of --alignment. */
typedef enum ferry_alignment_form {
    FERRY_ALIGNMENT_HARD, /* for each target token the source token with the largest weight: "0-0 2-1", by source */
    FERRY_ALIGNMENT_SOFT  /* for each target token the weights of all source tokens: "0.9,0.1 0.2,0.8" */
} ferry_alignment_form;

/* Both print a message and return false if there is no memory. */
bool ferry_alignment_write(FILE *out, const ferry_aligned *aligned, ferry_alignment_form form);
/* [[0, 0], [2, 1]]; [[0.9, 0.1], [0.2, 0.8]] */
bool ferry_alignment_put(ferry_json_writer *json, const char *key, const ferry_aligned *aligned,
                         ferry_alignment_form form);

#endif
