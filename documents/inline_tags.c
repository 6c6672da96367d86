#include "inline_tags.h"

#include <string.h>

enum { MOST_OPEN = 64, MOST_SIZE = 4096, MOST_WORD = 48 }; /* so that time is linear */

static bool is_letter(char c)
{
    return (c | 32) >= 'a' && (c | 32) <= 'z';
}

static bool is_of_name(char c)
{
    return is_letter(c) || (c >= '0' && c <= '9') || c == '-' || c == ':' || c == '_';
}

/* <! … >, <!-- … --> and <? … > */
static size_t read_declaration(ferry_view text)
{
    const bool is_comment = text.size >= 4 && memcmp(text.data, "<!--", 4) == 0;
    for (size_t at = is_comment ? 6 : 2; at < text.size; at++)
        if (text.data[at] == '>' && (!is_comment || memcmp(text.data + at - 2, "--", 2) == 0)) return at + 1;
    return 0;
}

/* The byte after the '>' that ends a tag, whose quoted values may contain others; 0: none. */
static size_t find_end(ferry_view text, size_t at)
{
    char quote = 0;
    for (; at < text.size; at++) {
        const char c = text.data[at];
        if (quote != 0) {
            if (c == quote) quote = 0;
        } else if (c == '>') {
            return at + 1;
        } else if (c == '<') {
            return 0;
        } else if ((c == '"' || c == '\'') && text.data[at - 1] == '=') {
            quote = c;
        }
    }
    return 0;
}

/* <number|name>, from the byte after a name on */
static size_t read_word(ferry_view text, size_t at, ferry_inline_tag *tag)
{
    while (at < text.size && at < MOST_WORD && (unsigned char)text.data[at] > ' ' && !strchr("<>\"", text.data[at]))
        at++;
    tag->kind = FERRY_TAG_WORD;
    return at < text.size && text.data[at] == '>' ? at + 1 : 0;
}

size_t ferry_inline_tag_read(ferry_view text, ferry_inline_tag *tag)
{
    *tag = (ferry_inline_tag){.kind = FERRY_TAG_ALONE};
    if (text.size < 3 || text.data[0] != '<') return 0;
    if (text.size > MOST_SIZE) text.size = MOST_SIZE;
    if (text.data[1] == '!' || text.data[1] == '?') return read_declaration(text);
    const size_t begin = text.data[1] == '/' ? 2 : 1;
    size_t at = begin;
    if (text.data[at] == '%') return read_word(text, at, tag); /* <%s> */
    if (!is_letter(text.data[at])) return 0;
    while (at < text.size && is_of_name(text.data[at])) at++;
    tag->name = (ferry_view){text.data + begin, at - begin};
    if (at == text.size || text.data[at] == '\0') return 0;
    if (strchr(" \t\r\n/>", text.data[at]) == NULL) return begin == 1 ? read_word(text, at, tag) : 0;
    const size_t end = find_end(text, at);
    if (end == 0) return 0;
    if (begin == 2)
        tag->kind = FERRY_TAG_END;
    else if (text.data[end - 2] != '/')
        tag->kind = FERRY_TAG_START;
    return end;
}

static bool is_named(const ferry_inline_tag *tag, const char *name)
{
    return strlen(name) == tag->name.size && ferry_compare_letters(tag->name.data, name, tag->name.size) == 0;
}

static bool is_same_name(const ferry_inline_tag *a, const ferry_inline_tag *b)
{
    return a->name.size == b->name.size && ferry_compare_letters(a->name.data, b->name.data, a->name.size) == 0;
}

/* Elements of HTML whose end tag is optional or does not exist, and that are seen within text. */
static bool is_element(const ferry_inline_tag *tag)
{
    static const char *const names[] = {"br", "hr", "img", "input", "li", "p", "wbr", NULL};
    const char *const *name = names;
    while (*name != NULL && !is_named(tag, *name)) name++;
    return *name != NULL;
}

static void set_alone(ferry_inline_tag *tag)
{
    const char after = tag->name.data[tag->name.size];
    tag->kind = after == '>' && tag->kind == FERRY_TAG_START && !is_element(tag) ? FERRY_TAG_WORD : FERRY_TAG_ALONE;
}

void ferry_inline_tags_pair(ferry_inline_tag *tags, size_t count)
{
    const size_t none = SIZE_MAX;
    size_t open = none; /* the innermost start tag; its `partner` is the one around it */
    for (size_t i = 0; i < count; i++) {
        if (tags[i].kind == FERRY_TAG_START) {
            tags[i].partner = open;
            open = i;
        }
        if (tags[i].kind != FERRY_TAG_END) continue;
        size_t start = open, steps = 0;
        while (start != none && steps++ < MOST_OPEN && !is_same_name(&tags[start], &tags[i]))
            start = tags[start].partner;
        if (start == none || steps > MOST_OPEN) {
            set_alone(&tags[i]);
            continue;
        }
        while (open != start) { /* without an end tag of their own */
            const size_t outer = tags[open].partner;
            set_alone(&tags[open]);
            open = outer;
        }
        open = tags[start].partner;
        tags[start].partner = i;
        tags[i].partner = start;
    }
    while (open != none) {
        const size_t outer = tags[open].partner;
        set_alone(&tags[open]);
        open = outer;
    }
}
