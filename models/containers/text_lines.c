#include "text_lines.h"

#include <string.h>

bool ferry_next_line(ferry_cursor *text, ferry_view *line)
{
    const size_t left = ferry_cursor_left(text);
    if (left == 0) return false;
    const char *start = (const char *)text->data + text->at, *end = memchr(start, '\n', left);
    *line = (ferry_view){start, end != NULL ? (size_t)(end - start) : left};
    text->at += line->size + (end != NULL);
    if (line->size > 0 && start[line->size - 1] == '\r') line->size--;
    return true;
}

size_t ferry_count_lines(ferry_view text)
{
    size_t count = 1;
    for (size_t i = 0; i < text.size; i++) count += text.data[i] == '\n';
    return count;
}
