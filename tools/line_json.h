/* A line as an object of JSON. */
#ifndef FERRY_TOOLS_LINE_JSON_H
#define FERRY_TOOLS_LINE_JSON_H

#include "line_output.h"

/* Writes {"line": …, "source": …, "text": …, "score": …, "tokens": […], …} and a newline; keys that were not asked for,
 * or have nothing to say, are absent. Prints a message and returns false if there is no memory. */
bool ferry_line_json_write(const ferry_line_output *output, const ferry_output_line *line, const ferry_result *result,
                           size_t index);

#endif
