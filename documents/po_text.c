#include "po_text.h"

#include <stdlib.h>
#include <string.h>

#include "inline_tags.h"

enum {
    LINE_WIDTH = 76,   /* gettext's, without quotes */
    MOST_LABEL = 80,   /* bytes of a text that can have an accelerator */
    LEAST_WRAPPED = 40 /* bytes of a line of which a "\n" can be the end because the line was full */
};

/* ---- strings ---- */

static bool is_octal(char c)
{
    return c >= '0' && c <= '7';
}

/* The escape sequence that begins at byte `at` with a backslash: its bytes, and the byte that it stands for. */
static size_t read_escape(ferry_view source, size_t at, size_t end, char *byte)
{
    static const char names[] = "abfnrtv", bytes[] = "\a\b\f\n\r\t\v";
    const char c = source.data[at + 1];
    const char *name = c != '\0' ? strchr(names, c) : NULL;
    *byte = name != NULL ? bytes[name - names] : c;
    size_t next = at + 2;
    int value = 0;
    if (is_octal(c)) {
        for (next = at + 1; next < end && next < at + 4 && is_octal(source.data[next]); next++)
            value = value * 8 + (source.data[next] - '0');
        *byte = (char)value;
    } else if (c == 'x' && next < end && ferry_hex_digit(source.data[next]) >= 0) {
        for (; next < end && next < at + 4 && ferry_hex_digit(source.data[next]) >= 0; next++)
            value = value * 16 + ferry_hex_digit(source.data[next]);
        *byte = (char)value;
    }
    return next - at;
}

static bool is_letter(char c)
{
    return (c | 32) >= 'a' && (c | 32) <= 'z';
}

static bool is_word(char c)
{
    return (c >= '0' && c <= '9') || is_letter(c) || (unsigned char)c >= 0x80;
}

static bool is_capital(char c)
{
    return c >= 'A' && c <= 'Z';
}

/* Whether the '_' or '&' at `at` can mark the letter after it as an accelerator: "_File", "E&xit", but not "a_b",
 * "Q&A",
 * "&amp;". */
static bool is_accelerator(const ferry_po_string *string, size_t at)
{
    if (at + 1 == string->count || !is_letter(string->chars[at + 1].byte)) return false;
    const char before = at > 0 ? string->chars[at - 1].byte : ' ';
    if (string->chars[at].byte == '_') return !is_word(before);
    size_t end = at + 1;
    while (end < string->count && is_word(string->chars[end].byte)) end++;
    if (end < string->count && string->chars[end].byte == ';') return false;
    return !is_capital(before) || !is_capital(string->chars[at + 1].byte);
}

/* The only '_' or '&' of a label, if it marks an accelerator, becomes part of the letter after it: the model does not
 * see it, and a translation has none. */
static void hide_accelerator(ferry_po_string *string)
{
    size_t at = 0, count = 0;
    for (size_t i = 0; i < string->count; i++) {
        const char c = string->chars[i].byte;
        if (c == '\n' || string->count > MOST_LABEL) return;
        if (c != '_' && c != '&') continue;
        at = i;
        count++;
    }
    if (count != 1 || !is_accelerator(string, at)) return;
    string->chars[at + 1].begin = string->chars[at].begin;
    string->count--;
    memmove(string->chars + at, string->chars + at + 1, (string->count - at) * sizeof *string->chars);
}

ferry_status ferry_po_decode(ferry_document *document, size_t begin, size_t end, ferry_po_string *string)
{
    const ferry_view source = document->source;
    bool quoted = false;
    string->count = 0;
    if (begin == end) return FERRY_OK;
    ferry_po_char *grown = ferry_array_grow(string->chars, &string->capacity, end - begin, sizeof *grown);
    if (grown == NULL) return ferry_fail_memory(document->error, "a document", (end - begin) * sizeof *grown);
    string->chars = grown;
    for (size_t at = begin, next; at < end; at = next) {
        ferry_po_char one = {.begin = at, .byte = source.data[at]};
        next = at + 1;
        if (one.byte == '"') {
            quoted = !quoted;
        } else if (quoted) {
            if (one.byte == '\\') next = at + read_escape(source, at, end, &one.byte);
            one.end = next;
            string->chars[string->count++] = one;
        }
    }
    hide_accelerator(string);
    return FERRY_OK;
}

/* ---- where blocks begin and end ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Whether the line end at `at` of a block that begins at `begin` only wraps a line: one of prose that was full, by its
 * length and by what is before and after it. */
static bool is_wrapped(const ferry_po_string *string, size_t begin, size_t at)
{
    size_t line = at;
    while (line > begin && string->chars[line - 1].byte != '\n') line--;
    if (at - line < LEAST_WRAPPED || at + 1 == string->count) return false;
    const char before = string->chars[at - 1].byte, after = string->chars[at + 1].byte;
    return (is_word(before) || strchr(",;)", before) != NULL) && before != '\0' && (is_word(after) || after == '(');
}

/* Whether a block that begins at `begin` ends at `at`: at a control character, at blanks that separate columns, at an
 * end of a line that is more than that. */
static bool ends_block(const ferry_po_string *string, size_t begin, size_t at)
{
    const char c = string->chars[at].byte;
    if (c == '\n') return !is_wrapped(string, begin, at);
    if ((unsigned char)c < ' ') return true;
    return c == ' ' && at + 2 < string->count && string->chars[at + 1].byte == ' ' && string->chars[at + 2].byte == ' ';
}

/* ---- what is in a block ---- */

/* The tags of a block, and where each of them is among the string's characters. */
typedef struct tags {
    ferry_inline_tag *tags; /* [count] */
    size_t *begins, *ends;  /* [count] */
    size_t count;
    char *bytes; /* of the block, which names of tags are in */
} tags;

static void free_tags(tags *t)
{
    free(t->tags);
    free(t->begins);
    free(t->ends);
    free(t->bytes);
}

static ferry_status find_tags(const ferry_po_string *string, size_t begin, size_t end, tags *t, ferry_error *error)
{
    const size_t size = end - begin;
    size_t most = 0;
    *t = (tags){.bytes = malloc(size)};
    if (t->bytes == NULL) return ferry_fail_memory(error, "a document", size);
    for (size_t i = 0; i < size; i++) {
        t->bytes[i] = string->chars[begin + i].byte;
        if (t->bytes[i] == '<') most++;
    }
    if (most == 0) return FERRY_OK;
    t->tags = malloc(most * sizeof *t->tags);
    t->begins = malloc(most * sizeof *t->begins);
    t->ends = malloc(most * sizeof *t->ends);
    if (t->tags == NULL || t->begins == NULL || t->ends == NULL)
        return ferry_fail_memory(error, "a document", most * sizeof *t->tags);
    for (size_t at = 0, next; at < size; at = next) {
        next = at + 1;
        if (t->bytes[at] != '<') continue;
        const size_t length = ferry_inline_tag_read((ferry_view){t->bytes + at, size - at}, &t->tags[t->count]);
        next += length > 0 ? length - 1 : 0;
        if (length == 0) continue;
        t->begins[t->count] = begin + at;
        t->ends[t->count++] = begin + next;
    }
    ferry_inline_tags_pair(t->tags, t->count);
    return FERRY_OK;
}

static ferry_status add_tag(ferry_document *document, const ferry_po_string *string, const tags *t, size_t i)
{
    const size_t begin = string->chars[t->begins[i]].begin, end = string->chars[t->ends[i] - 1].end;
    switch (t->tags[i].kind) {
    case FERRY_TAG_START: return ferry_document_open(document, begin, end);
    case FERRY_TAG_END: return ferry_document_close(document, begin, end);
    case FERRY_TAG_WORD: return ferry_document_kept(document, begin, end, (ferry_view){NULL, 0});
    default: return ferry_document_point(document, begin, end);
    }
}

/* What is between character `at`, which is not the block's first, and the one before it: nothing, or the end of a line
 * of the source. */
static ferry_status add_break(ferry_document *document, const ferry_po_string *string, size_t at)
{
    const ferry_po_char *one = &string->chars[at];
    if (one[-1].end >= one->begin) return FERRY_OK;
    return ferry_document_break(document, one[-1].end, one->begin, false);
}

/* Characters begin … end - 1 of the block that begins at `first`; no tag is among them. */
static ferry_status add_text(ferry_document *document, const ferry_po_string *string, size_t first, size_t begin,
                             size_t end)
{
    for (size_t at = begin, next; at < end; at = next) {
        const ferry_po_char *one = &string->chars[at];
        next = at + 1;
        if (at > first && one[-1].byte != '\n') FERRY_TRY(add_break(document, string, at));
        if (one->byte == '\n') { /* it is not the string's last character */
            FERRY_TRY(ferry_document_break(document, one->begin, one[1].begin, true));
        } else if (one->end - one->begin > 1) {
            FERRY_TRY(ferry_document_text(document, one->begin, one->end, (ferry_view){&one->byte, 1}));
        } else {
            while (next < end && string->chars[next].begin == one->begin + (next - at) &&
                   string->chars[next].end == string->chars[next].begin + 1)
                next++;
            FERRY_TRY(ferry_document_text(document, one->begin, string->chars[next - 1].end, (ferry_view){NULL, 0}));
        }
    }
    return FERRY_OK;
}

static ferry_status add_block(ferry_document *document, const ferry_po_string *string, size_t begin, size_t end,
                              ferry_view line_end)
{
    tags t;
    ferry_status status = find_tags(string, begin, end, &t, document->error);
    if (status == FERRY_OK) status = ferry_document_begin_block(document, string->chars[begin].begin);
    size_t at = begin;
    for (size_t i = 0; i < t.count && status == FERRY_OK; i++) {
        status = add_text(document, string, begin, at, t.begins[i]);
        if (status == FERRY_OK && t.begins[i] > begin && string->chars[t.begins[i] - 1].byte != '\n')
            status = add_break(document, string, t.begins[i]);
        if (status == FERRY_OK) status = add_tag(document, string, &t, i);
        at = t.ends[i];
    }
    if (status == FERRY_OK) status = add_text(document, string, begin, at, end);
    if (status == FERRY_OK) {
        ferry_document_wrap(document, LINE_WIDTH, line_end);
        status = ferry_document_end_block(document, string->chars[end - 1].end);
    }
    free_tags(&t);
    return status;
}

ferry_status ferry_po_add_blocks(ferry_document *document, const ferry_po_string *string, ferry_view line_end)
{
    for (size_t at = 0, end; at < string->count; at = end) {
        end = at + 1;
        if ((unsigned char)string->chars[at].byte <= ' ') continue;
        while (end < string->count && !ends_block(string, at, end)) end++;
        size_t last = end;
        while (is_blank(string->chars[last - 1].byte)) last--;
        FERRY_TRY(add_block(document, string, at, last, line_end));
    }
    return FERRY_OK;
}
