/* Results of parts become the line's, and results of sentences become the text's. */
#ifndef FERRY_LINES_JOIN_H
#define FERRY_LINES_JOIN_H

#include <stdbool.h>

#include "base/status.h"

typedef struct ferry_line ferry_line;
typedef struct ferry_line_rules ferry_line_rules;
typedef struct ferry_result_line ferry_result_line;
typedef struct ferry_text_lines ferry_text_lines;

/* Makes the line's result out of the results of its parts, which it takes over: hypothesis k joins their hypotheses k
 * (of a part that has fewer, the last one), and warnings say what may be wrong. If a part failed, the line fails.
 * `tokens`: the source tokens are wanted, as bytes of `text`, the line (data NULL: it came as ids). Errors: MEMORY. */
ferry_status ferry_line_join(const ferry_line *line, const ferry_line_rules *rules, ferry_text text, bool tokens,
                             ferry_result_line *result, ferry_error *error);
/* The result of a text: the translations of its sentences, and the bytes between them. `sentences`, the result of its
 * lines, belongs to it, even if this fails. `status`: of the call, OK or CANCELLED. Errors: MEMORY; CANCELLED, which
 * has a result. */
ferry_status ferry_text_join(ferry_text text, const ferry_text_lines *lines, ferry_status status,
                             ferry_result *sentences, ferry_result **result, ferry_error *error);

#endif
