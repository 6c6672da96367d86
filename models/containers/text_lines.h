/* Text files as lines: LF or CR LF ends one; the last may lack it. */
#ifndef FERRY_CONTAINERS_TEXT_LINES_H
#define FERRY_CONTAINERS_TEXT_LINES_H

#include "base/bytes.h"

/* The next line, without its end; false at the end of the text. */
bool ferry_next_line(ferry_cursor *text, ferry_view *line);
/* At least as many as there are lines. */
size_t ferry_count_lines(ferry_view text);

#endif
