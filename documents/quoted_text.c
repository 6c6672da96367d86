#include "quoted_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "elements.h"
#include "entities.h"
#include "inline_tags.h"
#include "kept_text.h"
#include "lines.h"

enum {
    LINE_WIDTH = 76,    /* gettext's, without quotes */
    LEAST_WRAPPED = 40, /* bytes of a line of which a "\n" can be the end because the line was full */
    LEAST_LABEL = 3     /* letters of "<none>" */
};

/* ---- strings ---- */

void ferry_quoted_destroy(ferry_quoted_text *text)
{
    free(text->bytes.data);
    free(text->places);
}

ferry_status ferry_quoted_push(ferry_quoted_text *text, size_t begin, size_t end, ferry_view bytes, ferry_error *error)
{
    const size_t first = text->bytes.size, count = first + bytes.size;
    ferry_quoted_place *grown = ferry_array_grow(text->places, &text->capacity, count, sizeof *grown);
    if (grown == NULL) return ferry_fail_memory(error, "a document", count * sizeof *grown);
    text->places = grown;
    for (size_t i = first; i < count; i++) grown[i] = (ferry_quoted_place){i == first ? begin : end, end};
    return ferry_string_append(&text->bytes, bytes, error);
}

ferry_status ferry_quoted_refuse(const ferry_document *document, size_t at, const char *expected)
{
    const char *data = document->source.data, *end;
    size_t line = 1;
    for (size_t from = 0; (end = memchr(data + from, '\n', at - from)) != NULL; line++) from = (size_t)(end - data) + 1;
    return ferry_fail(document->error, FERRY_ERROR_UNSUPPORTED, "line %zu: expected %s", line, expected);
}

/* ---- where blocks begin and end ---- */

/* Whether the line end at `at` of a block that begins at `begin` only wraps a line: one of prose that was full, by its
 * length and by what is before and after it. */
static bool is_wrapped(ferry_view bytes, size_t begin, size_t at)
{
    size_t line = at;
    while (line > begin && bytes.data[line - 1] != '\n') line--;
    if (at - line < LEAST_WRAPPED || at + 1 == bytes.size) return false;
    const char before = bytes.data[at - 1], after = bytes.data[at + 1];
    return (is_word(before) || strchr(",;)", before) != NULL) && before != '\0' && (is_word(after) || after == '(');
}

/* Whether a block that begins at `begin` ends at `at`: at a control character, at blanks that separate columns, at an
 * end of a line that is more than that, in strings of one line at " | ". */
static bool ends_block(ferry_view bytes, size_t begin, size_t at, bool one_line)
{
    const char c = bytes.data[at];
    if (c == '\n') return one_line || !is_wrapped(bytes, begin, at);
    if ((unsigned char)c < ' ') return true;
    if (c != ' ' || at + 2 >= bytes.size) return false;
    const char *next = bytes.data + at + 1;
    return (next[0] == ' ' && next[1] == ' ') || (one_line && next[0] == '|' && next[1] == ' ');
}

/* Whether no block begins with the byte. */
static bool begins_none(char c, bool one_line)
{
    return (unsigned char)c <= ' ' || (one_line && c == '|');
}

/* ---- tags ---- */

typedef struct tags {
    ferry_inline_tag *tags; /* [count] */
    size_t *begins, *ends;  /* [count], among the string's bytes */
    size_t count;
} tags;

static void free_tags(tags *t)
{
    free(t->tags);
    free(t->begins);
    free(t->ends);
}

static ferry_status find_tags(ferry_view bytes, tags *t, ferry_error *error)
{
    size_t most = 0;
    *t = (tags){.count = 0};
    for (size_t at = 0; at < bytes.size; at++) most += bytes.data[at] == '<';
    if (most == 0) return FERRY_OK;
    t->tags = malloc(most * sizeof *t->tags);
    t->begins = malloc(most * sizeof *t->begins);
    t->ends = malloc(most * sizeof *t->ends);
    if (t->tags == NULL || t->begins == NULL || t->ends == NULL)
        return ferry_fail_memory(error, "a document", most * sizeof *t->tags);
    for (size_t at = 0, next; at < bytes.size; at = next) {
        next = at + 1;
        if (bytes.data[at] != '<') continue;
        const size_t size = ferry_inline_tag_read((ferry_view){bytes.data + at, bytes.size - at}, &t->tags[t->count]);
        if (size == 0) continue;
        next = at + size;
        t->begins[t->count] = at;
        t->ends[t->count++] = next;
    }
    ferry_inline_tags_pair(t->tags, t->count);
    return FERRY_OK;
}

/* The end of tag *i, or of its element if that is not translated; *i becomes the tag behind it. */
static size_t end_of(const tags *t, size_t *i)
{
    const ferry_inline_tag *tag = &t->tags[*i];
    const bool kept = tag->kind == FERRY_TAG_START && (ferry_element_find(tag->name) & FERRY_ELEMENT_KEPT) != 0;
    const size_t last = kept ? tag->partner : *i;
    *i = last + 1;
    return t->ends[last];
}

/* Whether the tag ends a text: of a paragraph, an item, a button; but not "<section name>", which is a placeholder. */
static bool is_separator(ferry_view bytes, const tags *t, size_t i)
{
    const ferry_inline_tag *tag = &t->tags[i];
    if (tag->kind == FERRY_TAG_WORD ||
        (ferry_element_find(tag->name) & (FERRY_ELEMENT_BLOCK | FERRY_ELEMENT_LABEL)) == 0)
        return false;
    if (tag->kind != FERRY_TAG_ALONE) return true;
    const char *rest = tag->name.data + tag->name.size, *last = bytes.data + t->ends[i] - 1;
    return rest == last || last[-1] == '/' || bytes.data[t->begins[i] + 1] == '/' ||
           memchr(rest, '=', (size_t)(last - rest)) != NULL;
}

/* Whether a tag between whose brackets are only words, "<none>", "<no name>", can be what a user reads. */
static bool is_label(ferry_view bytes, const tags *t, size_t i)
{
    const size_t begin = t->begins[i] + 1, end = t->ends[i] - 1;
    const ferry_inline_tag *tag = &t->tags[i];
    if (tag->kind == FERRY_TAG_START || tag->kind == FERRY_TAG_END ||
        ferry_element_find(tag->name) & FERRY_ELEMENT_VOID)
        return false;
    size_t at = begin;
    while (at < end && (is_letter(bytes.data[at]) || (at > begin && strchr(" -", bytes.data[at]) != NULL))) at++;
    return at == end && end - begin >= LEAST_LABEL;
}

/* ---- what is in a block ---- */

/* Bytes begin … end - 1 of a string, and tags first_tag … after_tag - 1, which are in them. */
typedef struct block {
    ferry_document *document;
    const ferry_quoted_text *text;
    ferry_view bytes; /* of the text */
    const tags *tags;
    size_t begin, end, first_tag, after_tag;
    bool has_words; /* beside tags */
} block;

static bool has_words(const block *b)
{
    for (size_t i = b->first_tag, at = b->begin;; at = b->tags->ends[i++]) {
        const size_t next = i < b->after_tag ? b->tags->begins[i] : b->end;
        for (; at < next; at++)
            if (is_word(b->bytes.data[at])) return true;
        if (i == b->after_tag) return false;
    }
}

/* What is between byte `at`, which is not the block's first, and the one before it: nothing, or the end of a line of
 * the source. */
static ferry_status add_break(const block *b, size_t at)
{
    const ferry_quoted_place *place = &b->text->places[at];
    if (at == b->begin || b->bytes.data[at - 1] == '\n' || place[-1].end >= place->begin) return FERRY_OK;
    return ferry_document_break(b->document, place[-1].end, place->begin, false);
}

/* A character reference, "&eacute;", is text, unless what it stands for would be markup or is a blank: bytes begin …
 * end - 1 of the source. */
static ferry_status add_reference(const block *b, size_t begin, size_t end, ferry_view decoded)
{
    size_t at = 0;
    uint32_t c;
    const bool is_text =
        ferry_utf8_next(decoded, &at, &c) && c > ' ' && c != '&' && c != '<' && c != '>' && !ferry_utf8_is_space(c);
    return is_text ? ferry_document_text(b->document, begin, end, decoded)
                   : ferry_document_kept(b->document, begin, end, decoded);
}

/* Bytes begin … end - 1 of the block; no tag is among them. */
static ferry_status add_text(const block *b, size_t begin, size_t end)
{
    const char *bytes = b->bytes.data;
    for (size_t at = begin, next; at < end; at = next) {
        const ferry_quoted_place *place = &b->text->places[at];
        char reference[8];
        size_t from = place->begin, size = 0;
        /* A line of the source that ends within a word, or an address, is no place where lines may end. */
        if (at > begin && bytes[at - 1] != '\n' && !is_blank(bytes[at - 1]) && !is_blank(bytes[at]))
            from = place[-1].end;
        else
            FERRY_TRY(add_break(b, at));
        next = at + 1;
        if (bytes[at] == '&') next = at + ferry_entity_read((ferry_view){bytes + at, end - at}, reference, &size);
        if (next == at) next++;
        if (size > 0) {
            FERRY_TRY(add_reference(b, from, b->text->places[next - 1].end, (ferry_view){reference, size}));
        } else if (bytes[at] == '\n') { /* it is not the string's last byte */
            FERRY_TRY(ferry_document_break(b->document, from, place[1].begin, true));
        } else if (place->end - from != 1) {
            while (next < end && ((unsigned char)bytes[next] & 0xC0) == 0x80) next++; /* the rest of the character */
            FERRY_TRY(ferry_document_text(b->document, from, b->text->places[next - 1].end,
                                          (ferry_view){bytes + at, next - at}));
        } else {
            while (next < end && bytes[next] != '&' && place[next - at].begin == from + (next - at) &&
                   place[next - at].end == from + (next - at) + 1)
                next++;
            FERRY_TRY(ferry_document_text(b->document, from, from + (next - at), (ferry_view){NULL, 0}));
        }
    }
    return FERRY_OK;
}

/* Tag *i, which becomes the one behind it, or its element. */
static ferry_status add_tag(const block *b, size_t *i)
{
    const tags *t = b->tags;
    const ferry_quoted_place *places = b->text->places;
    const size_t tag = *i, first = t->begins[tag], last = end_of(t, i) - 1;
    const size_t begin = places[first].begin, end = places[last].end;
    if (*i > tag + 1) {
        const size_t inner = t->ends[tag];
        return ferry_document_kept(b->document, begin, end,
                                   (ferry_view){b->bytes.data + inner, t->begins[*i - 1] - inner});
    }
    if (!b->has_words && is_label(b->bytes, t, tag)) {
        FERRY_TRY(ferry_document_open(b->document, begin, places[first].end));
        FERRY_TRY(add_text(b, first + 1, last));
        return ferry_document_close(b->document, places[last].begin, end);
    }
    switch (t->tags[tag].kind) {
    case FERRY_TAG_START: return ferry_document_open(b->document, begin, end);
    case FERRY_TAG_END: return ferry_document_close(b->document, begin, end);
    case FERRY_TAG_WORD: return ferry_document_kept(b->document, begin, end, (ferry_view){NULL, 0});
    default: return ferry_document_point(b->document, begin, end);
    }
}

static ferry_status add_block(block *b, ferry_view line_end)
{
    const tags *t = b->tags;
    size_t at = b->begin;
    b->has_words = has_words(b);
    FERRY_TRY(ferry_document_begin_block(b->document, b->text->places[at].begin));
    for (size_t i = b->first_tag; i < b->after_tag; at = t->ends[i - 1]) {
        FERRY_TRY(add_text(b, at, t->begins[i]));
        FERRY_TRY(add_break(b, t->begins[i]));
        FERRY_TRY(add_tag(b, &i));
    }
    FERRY_TRY(add_text(b, at, b->end));
    if (line_end.size > 0) FERRY_TRY(ferry_document_wrap(b->document, LINE_WIDTH, line_end));
    return ferry_document_end_block(b->document, b->text->places[b->end - 1].end);
}

ferry_status ferry_quoted_add_blocks(ferry_document *document, const ferry_quoted_text *text, ferry_view line_end)
{
    const ferry_view bytes = {text->bytes.data, text->bytes.size};
    const bool one_line = line_end.size == 0;
    tags t;
    ferry_status status = find_tags(bytes, &t, document->error);
    for (size_t at = 0, tag = 0; at < bytes.size && status == FERRY_OK;) {
        const size_t first = tag;
        size_t end = at;
        while (end < bytes.size) {
            if (tag < t.count && t.begins[tag] == end) {
                if (is_separator(bytes, &t, tag)) break;
                end = end_of(&t, &tag);
            } else if (end > at ? ends_block(bytes, at, end, one_line) : begins_none(bytes.data[at], one_line)) {
                break;
            } else {
                end++;
            }
        }
        size_t last = end;
        while (last > at && is_blank(bytes.data[last - 1])) last--;
        block b = {document, text, bytes, &t, at, last, first, tag, false};
        if (last > at) status = add_block(&b, line_end);
        at = end;
        if (tag < t.count && t.begins[tag] == end)
            at = end_of(&t, &tag);
        else if (end < bytes.size)
            at++;
    }
    free_tags(&t);
    return status;
}

/* ---- what is written ---- */

ferry_status ferry_quoted_write(ferry_string *out, ferry_view text, bool begins_line, ferry_error *error)
{
    (void)begins_line;
    for (size_t at = 0, next; at < text.size; at = next) {
        for (next = at; next < text.size && text.data[next] != '"' && text.data[next] != '\\'; next++) continue;
        FERRY_TRY(ferry_string_append(out, (ferry_view){text.data + at, next - at}, error));
        if (next == text.size) break;
        FERRY_TRY(ferry_string_append(out, (ferry_view){"\\", 1}, error));
        FERRY_TRY(ferry_string_append(out, (ferry_view){text.data + next++, 1}, error));
    }
    return FERRY_OK;
}

/* Whether the placeholder is one of those that get their values by their order. */
static bool has_order(ferry_view text, const ferry_kept *kept)
{
    const char *data = text.data + kept->begin;
    const size_t size = kept->end - kept->begin;
    if (data[0] == '{') return size == 2 || data[1] == ':' || data[1] == '!';
    if (data[0] != '%' || size < 2 || data[1] == '%' || data[1] == '(' || data[1] == '{') return false;
    return data[size - 1] > '9' && memchr(data, '$', size) == NULL;
}

/* The next one, or an empty view. */
static ferry_view next_ordered(ferry_kept_search *search)
{
    for (ferry_kept kept; ferry_kept_next(search, &kept);)
        if (has_order(search->text, &kept)) return (ferry_view){search->text.data + kept.begin, kept.end - kept.begin};
    return (ferry_view){NULL, 0};
}

/* "%s", but not "100 %". */
static bool has_percent(ferry_view text)
{
    ferry_kept_search search = {.text = text};
    for (ferry_kept kept; ferry_kept_next(&search, &kept);)
        if (text.data[kept.begin] == '%') return true;
    return false;
}

/* Whether a character may begin a placeholder, a tag or a reference: "%" "{" "<", "$a" "${" "@:" "&lt;"; or another
 * text. */
static bool begins_code(char c, char next)
{
    switch (c) {
    case '%':
    case '{':
    case '<':
    case '|': return true;
    case '$':
    case '@':
    case '&': return is_letter(next) || next == '{' || next == '(' || next == ':' || next == '#' || next == '_';
    default: return false;
    }
}

static void count_codes(ferry_view text, int step, int counts[128])
{
    for (size_t at = 0; at < text.size; at++)
        if (begins_code(text.data[at], at + 1 < text.size ? text.data[at + 1] : ' '))
            counts[(unsigned char)text.data[at]] += step;
}

bool ferry_quoted_same_code(const ferry_quoted_text *source, const ferry_quoted_text *translation)
{
    const ferry_view before = {source->bytes.data, source->bytes.size};
    const ferry_view after = {translation->bytes.data, translation->bytes.size};
    ferry_kept_search search = {.text = before}, other_search = {.text = after};
    int counts[128] = {0};
    count_codes(before, 1, counts);
    count_codes(after, -1, counts);
    if (has_percent(before) ? counts['%'] != 0 : has_percent(after)) return false;
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        if (counts[c] < 0 && c != '%') return false;
    for (;;) {
        const ferry_view one = next_ordered(&search), other = next_ordered(&other_search);
        if (!ferry_view_equal(one, other)) return false;
        if (one.size == 0) return true;
    }
}
