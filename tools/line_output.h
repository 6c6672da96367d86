/* What the program prints for a translated line. */
#ifndef FERRY_TOOLS_LINE_OUTPUT_H
#define FERRY_TOOLS_LINE_OUTPUT_H

#include <stdio.h>

#include "command.h"

typedef struct ferry_line_output {
    const ferry_call *call; /* its options say what is printed */
    FILE *out;
} ferry_line_output;

/* A line of input. */
typedef struct ferry_output_line {
    size_t number; /* from 0 */
    bool returned; /* it ended in "\r\n" */
} ferry_output_line;

/* Writes the hypotheses of line `index` of the result; one that failed is an empty line, with the score of probability
 * 0. `result` NULL: the whole call failed. Returns whether the line was translated. */
bool ferry_line_output_write(const ferry_line_output *output, ferry_output_line line, const ferry_result *result,
                             size_t index);

#endif
