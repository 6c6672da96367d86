/* Lines of a document, and ASCII's characters. */
#ifndef FERRY_DOCUMENTS_LINES_H
#define FERRY_DOCUMENTS_LINES_H

#include <string.h>

#include "base/bytes.h"

static inline bool is_letter(char c)
{
    return (c | 32) >= 'a' && (c | 32) <= 'z';
}

static inline bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static inline bool is_line_end(char c)
{
    return c == '\n' || c == '\r';
}

/* Whether the text goes on with `start` at byte `at`. */
static inline bool begins(ferry_view text, size_t at, const char *start)
{
    return text.size - at >= strlen(start) && memcmp(text.data + at, start, strlen(start)) == 0;
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
    l.next = l.end + (l.end < text.size) + begins(text, l.end, "\r\n");
    return l;
}

#endif
