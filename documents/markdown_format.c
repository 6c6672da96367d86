/* Markdown: CommonMark with the tables, strikethrough and task lists of GitHub, by the parser md4c. */
#include <stdlib.h>
#include <string.h>

#include "formats.h"
#include "inline_tags.h"
#include "markdown_parts.h"

enum { LINE_WIDTH = 80 }; /* of wrapped paragraphs, unless they are wider */

typedef struct reader {
    ferry_document *document;
    ferry_view source;
    ferry_md_event *events; /* [count] of the block that is open */
    size_t count, capacity;
    ferry_md_parts parts;
    size_t least; /* what was read ends here */
    bool stays;   /* the block is code or HTML */
    bool heading;
    ferry_status status;
} reader;

/* ---- blocks ---- */

/* The tags of a block. */
typedef struct tags {
    ferry_inline_tag *tags; /* [count] */
    size_t *parts;          /* [count] */
    size_t count;
} tags;

static ferry_status find_tags(const reader *r, tags *t)
{
    const ferry_md_part *parts = r->parts.parts;
    size_t most = 0;
    *t = (tags){.count = 0};
    for (size_t i = 0; i < r->parts.count; i++) most += parts[i].kind == FERRY_MD_TAG;
    if (most == 0) return FERRY_OK;
    t->tags = malloc(most * sizeof *t->tags);
    t->parts = malloc(most * sizeof *t->parts);
    if (t->tags == NULL || t->parts == NULL)
        return ferry_fail_memory(r->document->error, "a document", most * sizeof *t->tags);
    for (size_t i = 0; i < r->parts.count; i++) {
        if (parts[i].kind != FERRY_MD_TAG) continue;
        ferry_inline_tag_read((ferry_view){r->source.data + parts[i].begin, parts[i].end - parts[i].begin},
                              &t->tags[t->count]);
        t->parts[t->count++] = i;
    }
    ferry_inline_tags_pair(t->tags, t->count);
    return FERRY_OK;
}

static bool is_untranslated(const ferry_inline_tag *tag)
{
    static const char *const names[] = {"code", "kbd", "samp", "var", "script", "style"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (tag->name.size == strlen(names[i]) && ferry_compare_letters(tag->name.data, names[i], tag->name.size) == 0)
            return true;
    return false;
}

static bool is_line_end(const ferry_inline_tag *tag)
{
    return tag->name.size == 2 && ferry_compare_letters(tag->name.data, "br", 2) == 0;
}

/* Says what tags are: markers of elements, or something that is kept or stands alone. What is within an element that is
 * not translated becomes part of it. */
static ferry_status read_tags(reader *r)
{
    ferry_md_part *parts = r->parts.parts;
    tags t;
    ferry_status status = find_tags(r, &t);
    for (size_t i = 0; i < t.count && status == FERRY_OK; i++) {
        ferry_md_part *part = &parts[t.parts[i]];
        const ferry_inline_tag *tag = &t.tags[i];
        if (part->kind != FERRY_MD_TAG) continue;
        part->kind = tag->kind == FERRY_TAG_START  ? FERRY_MD_OPEN
                     : tag->kind == FERRY_TAG_END  ? FERRY_MD_CLOSE
                     : tag->kind == FERRY_TAG_WORD ? FERRY_MD_KEPT
                     : is_line_end(tag)            ? FERRY_MD_HARD_BREAK
                                                   : FERRY_MD_POINT;
        part->shown_begin = part->begin;
        part->shown_end = part->end;
        if (tag->kind != FERRY_TAG_START || !is_untranslated(tag)) continue;
        const size_t end = t.parts[tag->partner];
        part->kind = FERRY_MD_KEPT;
        part->shown_begin = part->end;
        part->shown_end = parts[end].begin;
        part->end = parts[end].end;
        for (size_t inner = t.parts[i] + 1; inner <= end; inner++)
            parts[inner] = (ferry_md_part){.kind = FERRY_MD_PLAIN, .begin = part->end, .end = part->end};
    }
    free(t.tags);
    free(t.parts);
    return status;
}

/* Whether elements are well nested: raw HTML may cross Markdown's. */
static ferry_status check_nesting(const reader *r, bool *nested)
{
    const ferry_md_parts *parts = &r->parts;
    bool *html = malloc(parts->count + 1); /* [depth] the open elements */
    size_t depth = 0;
    if (html == NULL) return ferry_fail_memory(r->document->error, "a document", parts->count);
    *nested = true;
    for (size_t i = 0; i < parts->count && *nested; i++) {
        const ferry_md_part *part = &parts->parts[i];
        const bool is_html = part->begin < part->end && r->source.data[part->begin] == '<';
        if (part->kind == FERRY_MD_OPEN) html[depth++] = is_html;
        if (part->kind == FERRY_MD_CLOSE) *nested = depth > 0 && html[--depth] == is_html;
        if (part->kind == FERRY_MD_HARD_BREAK) *nested = depth == 0;
    }
    free(html);
    return FERRY_OK;
}

/* ---- text ---- */

static size_t skip_label(ferry_view source, size_t at, size_t end)
{
    size_t close = at + 2;
    while (close < end && source.data[close] != ']' && (unsigned char)source.data[close] > ' ') close++;
    return close < end && close > at + 2 && source.data[close] == ']' ? close + 1 : at;
}

/* Text, in which references to footnotes stand alone: "[^1]". */
static ferry_status add_plain(const reader *r, size_t begin, size_t end)
{
    const ferry_view source = r->source, as_it_is = {NULL, 0};
    for (size_t at = begin; at + 1 < end; at++) {
        if (source.data[at] != '[' || source.data[at + 1] != '^') continue;
        const size_t after = skip_label(source, at, end);
        if (after == at) continue;
        FERRY_TRY(ferry_document_text(r->document, begin, at, as_it_is));
        FERRY_TRY(ferry_document_point(r->document, at, after));
        begin = after;
        at = after - 1;
    }
    return ferry_document_text(r->document, begin, end, as_it_is);
}

static ferry_status add_part(const reader *r, const ferry_md_part *part)
{
    ferry_document *document = r->document;
    const char *data = r->source.data;
    char buffer[4];
    ferry_view text = {data + part->begin, part->end - part->begin};
    switch (part->kind) {
    case FERRY_MD_PLAIN: return add_plain(r, part->begin, part->end);
    case FERRY_MD_ESCAPED: text = (ferry_view){data + part->begin + 1, 1}; break;
    case FERRY_MD_ENTITY: text = ferry_md_entity(text, buffer); break;
    case FERRY_MD_OPEN: return ferry_document_open(document, part->begin, part->end);
    case FERRY_MD_CLOSE: return ferry_document_close(document, part->begin, part->end);
    case FERRY_MD_KEPT:
        text = (ferry_view){data + part->shown_begin, part->shown_end - part->shown_begin};
        return ferry_document_kept(document, part->begin, part->end, text);
    case FERRY_MD_BREAK: return ferry_document_break(document, part->begin, part->end, true);
    case FERRY_MD_TAG:
    case FERRY_MD_POINT:
    case FERRY_MD_HARD_BREAK: return ferry_document_point(document, part->begin, part->end);
    }
    return text.data != NULL ? ferry_document_text(document, part->begin, part->end, text)
                             : ferry_document_kept(document, part->begin, part->end, text);
}

/* What is before the text of a block: "[^1]: ", "[!NOTE]" and the end of its line, "1. " of a heading. Sets *first to
 * the first part of the text. */
static void trim_begin(const reader *r, size_t *first)
{
    ferry_md_part *part = r->parts.parts;
    const ferry_view source = r->source;
    if (part->kind != FERRY_MD_PLAIN || part->end - part->begin < 3) return;
    const char second = source.data[part->begin + 1];
    size_t at = source.data[part->begin] == '[' && (second == '^' || second == '!')
                    ? skip_label(source, part->begin, part->end)
                    : part->begin;
    if (at == part->end && second == '!' && r->parts.count > 1 && part[1].kind == FERRY_MD_BREAK) *first = 2;
    if (at > part->begin && at < part->end && source.data[at] == ':') {
        part->begin = at + 1;
    } else if (r->heading) {
        while (at < part->end && (source.data[at] == '.' || (source.data[at] >= '0' && source.data[at] <= '9'))) at++;
        if (at > part->begin && at < part->end && (source.data[at] == ' ' || source.data[at] == ')'))
            part->begin = at + 1;
    }
    while (part->begin < part->end && source.data[part->begin] == ' ') part->begin++;
}

/* "{#name}" at the end of a heading */
static void trim_end(const reader *r)
{
    ferry_md_part *part = &r->parts.parts[r->parts.count - 1];
    const char *data = r->source.data;
    size_t at = part->end;
    if (!r->heading || part->kind != FERRY_MD_PLAIN || part->begin == part->end || data[part->end - 1] != '}') return;
    while (at > part->begin && data[at - 1] != '{') at--;
    if (at == part->begin || (data[at] != '#' && data[at] != '.' && data[at] != ':')) return;
    part->end = at - 1;
    while (part->end > part->begin && data[part->end - 1] == ' ') part->end--;
}

/* Lines of other systems, which are no text: directives, templates. */
static bool is_directive(const reader *r)
{
    const ferry_md_part *part = r->parts.parts;
    const ferry_view text = {r->source.data + part->begin, part->end - part->begin};
    return text.size > 1 &&
           (memcmp(text.data, ":::", text.size < 3 ? text.size : 3) == 0 || memcmp(text.data, "{%", 2) == 0);
}

/* The parts of a block become one of the document, or several: the end of a line that has to stay ends one. */
static ferry_status add_blocks(const reader *r)
{
    const ferry_md_part *parts = r->parts.parts;
    size_t first = 0, after;
    trim_begin(r, &first);
    trim_end(r);
    for (; first < r->parts.count; first = after + 1) {
        after = first;
        while (after < r->parts.count && parts[after].kind != FERRY_MD_HARD_BREAK) after++;
        if (after == first) continue;
        FERRY_TRY(ferry_document_begin_block(r->document, parts[first].begin));
        FERRY_TRY(ferry_document_wrap(r->document, LINE_WIDTH, ferry_text_view("")));
        for (size_t i = first; i < after; i++) FERRY_TRY(add_part(r, &parts[i]));
        FERRY_TRY(ferry_document_end_block(r->document, parts[after - 1].end));
    }
    return FERRY_OK;
}

static ferry_status end_block(reader *r)
{
    bool nested = true;
    if (r->count == 0) return FERRY_OK;
    if (!r->stays) {
        FERRY_TRY(ferry_md_place(r->source, r->least, r->events, r->count, &r->parts, r->document->error));
        FERRY_TRY(read_tags(r));
        FERRY_TRY(check_nesting(r, &nested));
        if (r->parts.count > 0 && nested && !is_directive(r)) FERRY_TRY(add_blocks(r));
        if (r->parts.count > 0) r->least = r->parts.parts[r->parts.count - 1].end;
    }
    for (size_t i = 0; i < r->count; i++)
        if (r->events[i].placed && r->events[i].end > r->least) r->least = r->events[i].end;
    r->count = r->parts.count = 0;
    return FERRY_OK;
}

/* ---- what md4c calls: a status that is not OK ends it ---- */

static int on_enter_block(MD_BLOCKTYPE type, void *detail, void *user)
{
    reader *r = user;
    (void)detail;
    r->status = end_block(r);
    r->stays = type == MD_BLOCK_CODE || type == MD_BLOCK_HTML;
    r->heading = type == MD_BLOCK_H;
    return (int)r->status;
}

static int on_leave_block(MD_BLOCKTYPE type, void *detail, void *user)
{
    reader *r = user;
    (void)type, (void)detail;
    r->status = end_block(r);
    r->stays = r->heading = false;
    return (int)r->status;
}

static int add_event(reader *r, const ferry_md_event *event)
{
    const size_t count = r->count + 1;
    ferry_md_event *grown = ferry_array_grow(r->events, &r->capacity, count, sizeof *grown);
    if (grown == NULL)
        return (int)(r->status = ferry_fail_memory(r->document->error, "a document", count * sizeof *grown));
    r->events = grown;
    grown[r->count++] = *event;
    return 0;
}

static int on_enter_span(MD_SPANTYPE type, void *detail, void *user)
{
    (void)detail;
    return add_event(user, &(ferry_md_event){.kind = FERRY_MD_ENTER, .span = type});
}

static int on_leave_span(MD_SPANTYPE type, void *detail, void *user)
{
    (void)detail;
    return add_event(user, &(ferry_md_event){.kind = FERRY_MD_LEAVE, .span = type});
}

static int on_text(MD_TEXTTYPE type, const MD_CHAR *text, MD_SIZE size, void *user)
{
    reader *r = user;
    ferry_md_event event = {.kind = FERRY_MD_TEXT, .text = type};
    const uintptr_t begin = (uintptr_t)r->source.data, at = (uintptr_t)text; /* text may be none of the source */
    if (at >= begin && at - begin <= r->source.size && size <= r->source.size - (at - begin)) {
        event.placed = true;
        event.begin = (size_t)(at - begin);
        event.end = event.begin + size;
    }
    return add_event(r, &event);
}

/* ---- the document ---- */

/* The bytes of "---", lines, "---" at the beginning, which Markdown does not know; "+++" too. */
static size_t skip_front_matter(ferry_view source)
{
    if (source.size < 4 || (memcmp(source.data, "---", 3) != 0 && memcmp(source.data, "+++", 3) != 0)) return 0;
    for (size_t at = 0, line = 0, next; at < source.size; at = next, line++) {
        const char *newline = memchr(source.data + at, '\n', source.size - at);
        next = newline != NULL ? (size_t)(newline - source.data) + 1 : source.size;
        size_t end = next;
        while (end > at && strchr(" \t\r\n", source.data[end - 1]) != NULL && source.data[end - 1] != '\0') end--;
        const bool fence = end - at == 3 && memcmp(source.data + at, source.data, 3) == 0;
        if (line == 0 && !fence) return 0;
        if (line > 0 && fence) return next;
    }
    return 0;
}

static ferry_status read(ferry_document *document)
{
    const MD_PARSER parser = {.flags = FERRY_MD_FLAGS,
                              .enter_block = on_enter_block,
                              .leave_block = on_leave_block,
                              .enter_span = on_enter_span,
                              .leave_span = on_leave_span,
                              .text = on_text};
    const ferry_view source = document->source;
    if (source.size > UINT32_MAX / 2)
        return ferry_fail(document->error, FERRY_ERROR_UNSUPPORTED,
                          "expected at most 2 GB of Markdown, found %zu bytes", source.size);
    reader r = {.document = document, .source = source, .least = skip_front_matter(source)};
    const int ended = md_parse(source.data + r.least, (MD_SIZE)(source.size - r.least), &parser, &r);
    free(r.events);
    free(r.parts.parts);
    if (r.status != FERRY_OK) return r.status;
    return ended == 0 ? FERRY_OK : ferry_fail_memory(document->error, "a document", source.size);
}

static const char *const endings[] = {".md", ".markdown", ".mdown", ".mkd", NULL};

const ferry_document_format ferry_format_markdown = {
    .name = "markdown",
    .endings = endings,
    .read = read,
    .write_text = ferry_md_write_text,
    .fills = true,
    .may_begin_line = ferry_md_may_begin_line,
    .check = ferry_md_check,
};
