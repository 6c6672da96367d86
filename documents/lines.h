/* Lines of a document. */
#ifndef FERRY_DOCUMENTS_LINES_H
#define FERRY_DOCUMENTS_LINES_H

#include "characters.h"

static inline bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static inline bool is_line_end(char c)
{
    return c == '\n' || c == '\r';
}

/* Whether no more of the line is at byte `at`. */
static inline bool ends_line(ferry_view text, size_t at)
{
    return at >= text.size || is_line_end(text.data[at]);
}

/* Whether the text goes on with `start` at byte `at`, in letters of the same case. */
static inline bool begins_exactly(ferry_view text, size_t at, const char *start)
{
    const size_t size = strlen(start);
    return at <= text.size && text.size - at >= size && memcmp(text.data + at, start, size) == 0;
}

static inline size_t skip_blanks(ferry_view text, size_t at)
{
    while (at < text.size && is_blank(text.data[at])) at++;
    return at;
}

typedef struct text_line {
    size_t begin, end, next; /* without and with what ends it: "\n", "\r\n", "\r" */
} text_line;

static inline text_line read_text_line(ferry_view text, size_t begin)
{
    text_line l = {.begin = begin, .end = begin};
    while (l.end < text.size && !is_line_end(text.data[l.end])) l.end++;
    l.next = l.end + (l.end < text.size) + begins_exactly(text, l.end, "\r\n");
    return l;
}

#endif
