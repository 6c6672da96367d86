/* One line of a call: its text without ill-formed UTF-8, its parts, and the prefix of its translation. */
#ifndef FERRY_LINES_LINE_H
#define FERRY_LINES_LINE_H

#include "terms.h"

/* Empty when zeroed. */
typedef struct ferry_line {
    ferry_parts parts;
    ferry_line_terms terms;
    char *repaired; /* the text without ill-formed UTF-8; NULL if the text is well-formed */
} ferry_line;

void ferry_line_destroy(ferry_line *line);

/* *text: `given` if it is well-formed UTF-8, else line->repaired, and the result gets a warning. Errors: MEMORY. */
ferry_status ferry_line_repair(ferry_line *line, ferry_text given, ferry_view *text, ferry_result_line *result,
                               ferry_error *error);
/* The text that the line's parts point into. `given`: as the caller gave it. */
const char *ferry_line_shown(const ferry_line *line, ferry_text given);
/* Splits the next *bytes bytes of the text (ferry_splitter_next), and at least one part, and lowers *bytes by what was
 * split. *more: the line goes on, in the next call. `splitter`, zeroed before the first call, is released by the
 * caller. At the line's end, the first part with ids gets the ids of the prefix, and parts without ids get their text
 * as result; so does a blank line, which has no parts.
 * Errors: those of ferry_splitter_begin and _next; LIMIT (the prefix is too long), ARGUMENT (the target vocabulary
 * cannot spell the prefix). */
ferry_status ferry_line_split(const ferry_line_source *from, size_t *bytes, ferry_splitter *splitter, ferry_line *line,
                              ferry_result_line *result, bool *more, ferry_error *error);

#endif
