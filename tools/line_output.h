/* What the program prints for a translated line: its text, with scores or in Marian's forms, its ids, or JSON. */
#ifndef FERRY_TOOLS_LINE_OUTPUT_H
#define FERRY_TOOLS_LINE_OUTPUT_H

#include <stdio.h>

#include "translator_session.h"

typedef struct ferry_line_output {
    const ferry_call *call;   /* its options say what is printed */
    const ferry_model *model; /* has the pieces of tokens */
    FILE *out;
} ferry_line_output;

/* A line of input. */
typedef struct ferry_output_line {
    size_t number; /* from 0 */
    ferry_text source;
    bool returned;     /* it ended in "\r\n" */
    const char *error; /* why it was not translated; NULL: it was */
} ferry_output_line;

/* Which scores of translations are printed. */
ferry_session_scores ferry_line_output_scores(const ferry_call *call);

/* Writes the hypotheses of line `index` of the result; of one that failed, an empty line with the score of probability
 * 0, or an object with its error. `result` NULL: the whole call failed. Returns whether the line was translated and
 * written. */
bool ferry_line_output_write(const ferry_line_output *output, const ferry_output_line *line, const ferry_result *result,
                             size_t index);

/* Writes {"line": …, "source": …, "text": …, "score": …, "tokens": […], …} and a newline; keys that were not asked for,
 * or have nothing to say, are absent. Prints a message and returns false if there is no memory. */
bool ferry_line_json_write(const ferry_line_output *output, const ferry_output_line *line, const ferry_result *result,
                           size_t index);

#endif
