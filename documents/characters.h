/* Bytes of text: what they are, what is around one of them, lines. */
#ifndef FERRY_DOCUMENTS_CHARACTERS_H
#define FERRY_DOCUMENTS_CHARACTERS_H

#include <string.h>

#include "base/utf8.h"

static inline bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool is_letter(char c)
{
    return (c | 32) >= 'a' && (c | 32) <= 'z';
}

static inline bool is_capital(char c)
{
    return c >= 'A' && c <= 'Z';
}

static inline bool is_name(char c)
{
    return is_letter(c) || is_digit(c) || c == '_';
}

/* A letter, a digit, or a byte of a character beyond ASCII. */
static inline bool is_word(char c)
{
    return is_letter(c) || is_digit(c) || (unsigned char)c >= 0x80;
}

static inline bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static inline bool is_line_end(char c)
{
    return c == '\n' || c == '\r';
}

static inline bool is_one_of(char c, const char *set)
{
    return c != '\0' && strchr(set, c) != NULL;
}

/* A byte of letters beyond ASCII, of scripts that write blanks between words. */
static inline bool is_foreign(char c)
{
    return (unsigned char)c >= 0x80 && (unsigned char)c < 0xE0 && c != '\xC2';
}

/* ---- around byte `at` ---- */

static inline char byte_at(ferry_view text, size_t at)
{
    return at < text.size ? text.data[at] : '\0';
}

static inline ferry_view view_part(ferry_view text, size_t begin, size_t end)
{
    return (ferry_view){text.data + begin, end - begin};
}

/* Whether the text goes on with `start` at byte `at`: in any case of ASCII letters, and in the same. */
static inline bool begins(ferry_view text, size_t at, const char *start)
{
    const size_t size = strlen(start);
    return at <= text.size && text.size - at >= size && ferry_compare_letters(text.data + at, start, size) == 0;
}
static inline bool begins_exactly(ferry_view text, size_t at, const char *start)
{
    const size_t size = strlen(start);
    return at <= text.size && text.size - at >= size && memcmp(text.data + at, start, size) == 0;
}

/* The same name, in any case of ASCII letters. */
static inline bool is_named(ferry_view name, const char *wanted)
{
    return name.size == strlen(wanted) && ferry_compare_letters(name.data, wanted, name.size) == 0;
}

/* The first byte from `at` that is one of `set`, or the end. */
static inline size_t find_one_of(ferry_view text, size_t at, const char *set)
{
    while (at < text.size && !is_one_of(text.data[at], set)) at++;
    return at;
}

/* The byte after all that are one of `set`, and after all that are the same, from `at`. */
static inline size_t skip_set(ferry_view text, size_t at, const char *set)
{
    while (at < text.size && is_one_of(text.data[at], set)) at++;
    return at;
}
static inline size_t skip_same(ferry_view text, size_t at)
{
    size_t end = at;
    while (end < text.size && text.data[end] == text.data[at]) end++;
    return end;
}

/* What follows byte `at` of a name and `extra`, in which "\x80" is all that is_foreign, `most` bytes at most. */
static inline size_t skip_name(ferry_view text, size_t at, const char *extra, size_t most)
{
    const size_t begin = at;
    const bool foreign = is_one_of('\x80', extra);
    while (at < text.size && at - begin < most &&
           (is_name(text.data[at]) || is_one_of(text.data[at], extra) || (foreign && is_foreign(text.data[at]))))
        at++;
    while (foreign && at > begin && ((unsigned char)byte_at(text, at) & 0xC0) == 0x80) at--; /* a part of a character */
    return at;
}

/* The bytes from `at` that `belongs` accepts, `most` of them at most. */
static inline size_t skip(ferry_view text, size_t at, bool (*belongs)(char), size_t most)
{
    const size_t begin = at;
    while (at < text.size && at - begin < most && belongs(text.data[at])) at++;
    return at;
}

/* ---- characters that cannot be seen ---- */

/* Within a word, they say where a line may end, or how letters join: soft hyphen, blanks without width, joiners. */
static inline bool is_within_words(uint32_t c)
{
    return c == 0xAD || (c >= 0x200B && c <= 0x200D) || c == 0x2060;
}

/* Hyphens that few models have a piece for: "-" stands for them. */
static inline bool is_hyphen(uint32_t c)
{
    return c == 0x2010 || c == 0x2011;
}

/* Marks of direction, and the byte-order mark. */
static inline bool is_mark(uint32_t c)
{
    return c == 0x61C || c == 0x200E || c == 0x200F || (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069) ||
           c == 0xFEFF;
}

/* The byte after blanks and marks: where a line begins for a reader. */
static inline size_t skip_marks(ferry_view text, size_t at)
{
    uint32_t c;
    for (size_t next = at;
         next < text.size && ferry_utf8_next(text, &next, &c) && (c == ' ' || c == '\t' || is_mark(c));)
        at = next;
    return at;
}

/* The byte after a terminal's escape at `at`, "\x1B[1m"; or `at`, also if it does not end. */
static inline size_t skip_terminal(ferry_view text, size_t at)
{
    const size_t end = begins_exactly(text, at, "\x1B[") ? skip_set(text, at + 2, "0123456789;") : text.size;
    return end < text.size ? end + 1 : at;
}

/* Bytes of the word at the end. */
static inline size_t last_word_size(ferry_view text)
{
    size_t size = 0;
    while (size < text.size && is_word(text.data[text.size - 1 - size])) size++;
    return size;
}

/* ---- lines ---- */

/* Whether no more of the line is at byte `at`. */
static inline bool ends_line(ferry_view text, size_t at)
{
    return at >= text.size || is_line_end(text.data[at]);
}

static inline size_t skip_blanks(ferry_view text, size_t at)
{
    return skip(text, at, is_blank, SIZE_MAX);
}

typedef struct text_line {
    size_t begin, end, next; /* without and with what ends it: "\n", "\r\n", "\r" */
} text_line;

static inline text_line read_text_line(ferry_view text, size_t begin)
{
    text_line l = {.begin = begin, .end = find_one_of(text, begin, "\r\n")};
    l.next = l.end + (l.end < text.size) + begins_exactly(text, l.end, "\r\n");
    return l;
}

#endif
