/* Joins the results of parts to that of a line, and the results of sentences to that of a text. */
#ifndef FERRY_LINES_JOIN_H
#define FERRY_LINES_JOIN_H

#include <stdbool.h>

#include "base/status.h"

typedef struct ferry_line ferry_line;
typedef struct ferry_line_rules ferry_line_rules;
typedef struct ferry_result_line ferry_result_line;
typedef struct ferry_text_lines ferry_text_lines;

/* Sets the result of a line from the results of its parts, which it takes over. Hypothesis k joins hypotheses k of all
 * parts; a part with fewer contributes its last one. Warnings name the parts' signs of quality. If a part failed, the
 * line fails.
 * `tokens`: source tokens are wanted, with ranges in `text`, the line (data NULL: the line came as ids). Errors:
 * MEMORY. */
ferry_status ferry_line_join(const ferry_line *line, const ferry_line_rules *rules, ferry_text text, bool tokens,
                             ferry_result_line *result, ferry_error *error);
/* Makes the result of a text: the translations of its sentences, with the bytes between them. `sentences`, the
 * result of its lines, belongs to it, also after an error. `status`: of the call, OK or CANCELLED. Errors: MEMORY;
 * CANCELLED, with a result. */
ferry_status ferry_text_join(ferry_text text, const ferry_text_lines *lines, ferry_status status,
                             ferry_result *sentences, ferry_result **result, ferry_error *error);

#endif
