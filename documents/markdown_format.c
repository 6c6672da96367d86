/* Markdown: CommonMark with the tables, strikethrough and task lists of GitHub, by the parser md4c. */
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "elements.h"
#include "entities.h"
#include "formats.h"
#include "inline_tags.h"
#include "markdown_parts.h"

enum {
    LINE_WIDTH = 80,  /* of wrapped paragraphs, unless they are wider */
    MOST_TARGETS = 64 /* times the document, all targets of links together */
};

typedef struct reader {
    ferry_document *document;
    ferry_md_text text;
    ferry_view source;      /* the bytes of `text` */
    ferry_md_event *events; /* [count] of the block that is open */
    size_t count, capacity;
    ferry_md_parts parts;
    size_t least;   /* what was read ends here */
    size_t targets; /* bytes of the targets of all links: a definition may be used often */
    bool is_code, is_html;
    bool heading;
    ferry_status status;
} reader;

/* ---- blocks ---- */

static ferry_view bytes_of(const reader *r, const ferry_md_part *part)
{
    return (ferry_view){r->source.data + part->begin, part->end - part->begin};
}

static bool is_untranslated(const ferry_inline_tag *tag, ferry_view bytes)
{
    return (ferry_element_find(tag->name) & FERRY_ELEMENT_KEPT) != 0 ||
           ferry_view_contains(bytes, "translate=\"no\"") || ferry_view_contains(bytes, "notranslate");
}

/* Says what tags are: markers of elements, or something that is kept, stands alone, or divides texts. What is within an
 * element that is not translated becomes part of it. */
static ferry_status read_tags(reader *r)
{
    ferry_md_part *parts = r->parts.parts;
    size_t count = 0;
    for (size_t i = 0; i < r->parts.count; i++) count += parts[i].kind == FERRY_MD_TAG;
    if (count == 0) return FERRY_OK;
    ferry_inline_tag *tags = malloc(count * sizeof *tags);
    size_t *places = malloc(count * sizeof *places); /* [count] which parts they are */
    ferry_status status = FERRY_OK;
    if (tags == NULL || places == NULL) {
        status = ferry_fail_memory(r->document->error, "a document", count * sizeof *tags);
        count = 0;
    }
    for (size_t i = 0, next = 0; next < count; i++) {
        if (parts[i].kind != FERRY_MD_TAG) continue;
        ferry_inline_tag_read(bytes_of(r, &parts[i]), &tags[next]);
        places[next++] = i;
    }
    if (count > 0) ferry_inline_tags_pair(tags, count);
    for (size_t i = 0; i < count; i++) {
        ferry_md_part *part = &parts[places[i]];
        const ferry_inline_tag *tag = &tags[i];
        if (part->kind != FERRY_MD_TAG) continue;
        const int element = ferry_element_find(tag->name);
        part->kind = (element & (FERRY_ELEMENT_BLOCK | FERRY_ELEMENT_LABEL)) ? FERRY_MD_HARD_BREAK
                     : tag->kind == FERRY_TAG_START                          ? FERRY_MD_OPEN
                     : tag->kind == FERRY_TAG_END                            ? FERRY_MD_CLOSE
                     : tag->kind == FERRY_TAG_WORD                           ? FERRY_MD_KEPT
                                                                             : FERRY_MD_POINT;
        part->shown_begin = part->begin;
        part->shown_end = part->end;
        if (tag->kind != FERRY_TAG_START || !is_untranslated(tag, bytes_of(r, part))) continue;
        const size_t end = places[tag->partner];
        part->kind = FERRY_MD_KEPT;
        part->shown_begin = part->end;
        part->shown_end = parts[end].begin;
        part->end = parts[end].end;
        for (size_t inner = places[i] + 1; inner <= end; inner++)
            parts[inner] = (ferry_md_part){.kind = FERRY_MD_PLAIN, .begin = part->end, .end = part->end};
    }
    free(tags);
    free(places);
    return status;
}

/* Tags of HTML that cross Markdown's elements stand alone; so does what would divide an element. */
static ferry_status fix_nesting(const reader *r)
{
    const ferry_md_parts *parts = &r->parts;
    bool *html = malloc(parts->count + 1); /* [depth] the open elements */
    bool crosses = false;
    if (html == NULL) return ferry_fail_memory(r->document->error, "a document", parts->count);
    for (size_t pass = 0; pass < 2; pass++) {
        size_t depth = 0;
        for (size_t i = 0; i < parts->count; i++) {
            ferry_md_part *part = &parts->parts[i];
            const bool is_html = part->begin < part->end && r->source.data[part->begin] == '<';
            const bool is_element = part->kind == FERRY_MD_OPEN || part->kind == FERRY_MD_CLOSE;
            if ((is_html && is_element && crosses) || (part->kind == FERRY_MD_HARD_BREAK && depth > 0 && pass == 1))
                part->kind = FERRY_MD_POINT;
            if (part->kind == FERRY_MD_OPEN) html[depth++] = is_html;
            if (part->kind == FERRY_MD_CLOSE && (depth == 0 || html[--depth] != is_html)) {
                crosses = true;
                break;
            }
        }
    }
    free(html);
    return FERRY_OK;
}

/* ---- text ---- */

static size_t place(const reader *r, size_t at)
{
    return ferry_md_source_place(&r->text, at);
}

/* A character reference; blanks and controls are kept. */
static ferry_status add_entity(const reader *r, const ferry_md_part *part)
{
    char bytes[8];
    ferry_view text = {bytes, 0};
    size_t at = 0;
    uint32_t c;
    ferry_entity_read(bytes_of(r, part), bytes, &text.size);
    const bool is_text = ferry_utf8_next(text, &at, &c) && c > ' ' && c != 0x7F;
    return is_text
               ? ferry_document_text(r->document, place(r, part->begin), place(r, part->end), text)
               : ferry_document_kept(r->document, place(r, part->begin), place(r, part->end), (ferry_view){NULL, 0});
}

static ferry_status add_part(const reader *r, const ferry_md_part *part)
{
    ferry_document *document = r->document;
    const size_t begin = place(r, part->begin), end = place(r, part->end);
    const size_t shown = place(r, part->shown_begin);
    switch (part->kind) {
    case FERRY_MD_PLAIN: return ferry_document_text(document, begin, end, (ferry_view){NULL, 0});
    case FERRY_MD_ESCAPED:
        return ferry_document_text(document, begin, end, (ferry_view){document->source.data + begin + 1, 1});
    case FERRY_MD_ENTITY: return add_entity(r, part);
    case FERRY_MD_OPEN: return ferry_document_open(document, begin, end);
    case FERRY_MD_CLOSE: return ferry_document_close(document, begin, end);
    case FERRY_MD_KEPT:
        return ferry_document_kept(document, begin, end,
                                   (ferry_view){document->source.data + shown, place(r, part->shown_end) - shown});
    case FERRY_MD_BREAK: /* nothing, if it is not in the source */
        return begin < end ? ferry_document_break(document, begin, end, true) : FERRY_OK;
    case FERRY_MD_TAG:
    case FERRY_MD_POINT:
    case FERRY_MD_HARD_BREAK: break;
    }
    return ferry_document_point(document, begin, end);
}

/* "1. " at the beginning of a heading is no text. */
static void trim_number(const reader *r)
{
    ferry_md_part *part = r->parts.parts;
    const char *data = r->source.data;
    size_t at = part->begin;
    if (!r->heading || part->kind != FERRY_MD_PLAIN) return;
    while (at < part->end && (data[at] == '.' || (data[at] >= '0' && data[at] <= '9'))) at++;
    if (at > part->begin && at < part->end && (data[at] == ' ' || data[at] == ')')) part->begin = at + 1;
}

/* Whether parts first … after - 1, a line, are nothing but bold text, or nothing but images. */
static bool is_own_line(const reader *r, size_t first, size_t after)
{
    const ferry_md_part *parts = r->parts.parts;
    size_t depth = 0;
    bool is_bold = false, has_image = false, has_text = false;
    for (size_t i = first; i < after; i++) {
        const ferry_md_part *part = &parts[i];
        const char c = r->source.data[part->begin];
        if (part->kind == FERRY_MD_OPEN) depth++;
        if (part->kind == FERRY_MD_CLOSE && depth-- == 0) return false;
        if (i == first) is_bold = depth > 0 && part->end - part->begin == 2 && (c == '*' || c == '_');
        if (is_bold && depth == 0 && i + 1 < after) return false;
        has_image = has_image ||
                    (part->kind == FERRY_MD_POINT && (c == '!' || ferry_view_contains(bytes_of(r, part), "<img ")));
        has_text = has_text || part->kind == FERRY_MD_KEPT ||
                   (part->kind < FERRY_MD_OPEN && (part->end - part->begin > 1 || c != ' '));
    }
    return depth == 0 && (is_bold || (has_image && !has_text));
}

/* The ends of such lines end texts. */
static void find_own_lines(const reader *r)
{
    ferry_md_part *parts = r->parts.parts;
    for (size_t first = 0, i = 0; i <= r->parts.count; i++) {
        if (i < r->parts.count && parts[i].kind != FERRY_MD_BREAK && parts[i].kind != FERRY_MD_HARD_BREAK) continue;
        if (is_own_line(r, first, i)) {
            if (first > 0) parts[first - 1].kind = FERRY_MD_HARD_BREAK;
            if (i < r->parts.count) parts[i].kind = FERRY_MD_HARD_BREAK;
        }
        first = i + 1;
    }
}

/* Parts first … after - 1, but for line ends and blanks at both ends, are a block. */
static ferry_status add_block(const reader *r, size_t first, size_t after)
{
    ferry_md_part *parts = r->parts.parts;
    const char *data = r->source.data;
    while (first < after && parts[first].kind == FERRY_MD_BREAK) first++;
    while (first < after && parts[after - 1].kind == FERRY_MD_BREAK) after--;
    if (first == after) return FERRY_OK;
    ferry_md_part *begin = &parts[first], *end = &parts[after - 1];
    while (begin->kind == FERRY_MD_PLAIN && begin->begin < begin->end && data[begin->begin] == ' ') begin->begin++;
    while (end->kind == FERRY_MD_PLAIN && end->begin < end->end && data[end->end - 1] == ' ') end->end--;
    for (size_t i = first; i < after; i++) {
        if (parts[i].kind != FERRY_MD_POINT || parts[i].shown_begin == parts[i].shown_end ||
            data[parts[i].begin] != '!')
            continue;
        const size_t text_begin = place(r, parts[i].shown_begin), text_end = place(r, parts[i].shown_end);
        FERRY_TRY(ferry_document_begin_attribute(r->document, text_begin));
        FERRY_TRY(ferry_document_text(r->document, text_begin, text_end, (ferry_view){NULL, 0}));
        FERRY_TRY(ferry_document_end_block(r->document, text_end));
    }
    FERRY_TRY(ferry_document_begin_block(r->document, place(r, begin->begin)));
    FERRY_TRY(ferry_document_wrap(r->document, LINE_WIDTH, ferry_text_view("")));
    for (size_t i = first; i < after; i++) FERRY_TRY(add_part(r, &parts[i]));
    return ferry_document_end_block(r->document, place(r, end->end));
}

/* The parts become a block, or several: what divides texts ends one. */
static ferry_status add_blocks(const reader *r)
{
    trim_number(r);
    find_own_lines(r);
    FERRY_TRY(fix_nesting(r));
    for (size_t first = 0, after; first < r->parts.count; first = after + 1) {
        for (after = first; after < r->parts.count && r->parts.parts[after].kind != FERRY_MD_HARD_BREAK;) after++;
        FERRY_TRY(add_block(r, first, after));
    }
    return FERRY_OK;
}

/* The lines of a block of HTML are read as HTML, but for what containers begin them with, and tags of MDX. */
static ferry_status read_html(reader *r)
{
    const char *data = r->source.data;
    size_t begin = 0, end = 0; /* of lines that follow each other */
    ferry_status status = FERRY_OK;
    r->document->format = &ferry_format_html;
    for (size_t i = 0; i <= r->count && status == FERRY_OK; i++) {
        const ferry_md_event *line = &r->events[i];
        if (i < r->count && !line->placed) continue;
        const bool is_mdx =
            i < r->count && ferry_view_contains((ferry_view){data + line->begin, line->end - line->begin}, "={");
        size_t gap = end;
        while (i < r->count && begin < end && gap < line->begin && strchr(" \t\r\n", data[gap]) != NULL) gap++;
        if (i == r->count || gap < line->begin || is_mdx) {
            if (begin < end) status = ferry_html_read(r->document, place(r, begin), place(r, end));
            begin = end = 0;
        }
        if (i == r->count || is_mdx) continue;
        if (begin == end) begin = line->begin;
        end = line->end;
    }
    r->document->format = &ferry_format_markdown;
    return status;
}

static ferry_status end_block(reader *r)
{
    if (r->count == 0) return FERRY_OK;
    if (r->is_html) FERRY_TRY(read_html(r));
    if (!r->is_code && !r->is_html) {
        FERRY_TRY(ferry_md_place(r->source, r->least, r->events, r->count, &r->parts, r->document->error));
        FERRY_TRY(read_tags(r));
        if (r->parts.count > 0) FERRY_TRY(add_blocks(r));
        if (r->parts.count > 0) r->least = r->parts.parts[r->parts.count - 1].end;
    }
    for (size_t i = 0; i < r->count; i++)
        if (r->events[i].placed && r->events[i].end > r->least) r->least = r->events[i].end;
    r->count = r->parts.count = 0;
    return FERRY_OK;
}

/* ---- what md4c calls: a negative number ends it ---- */

/* A block begins or ends. */
static int on_block(MD_BLOCKTYPE type, void *detail, void *user)
{
    reader *r = user;
    (void)detail;
    r->status = end_block(r);
    r->is_code = type == MD_BLOCK_CODE;
    r->is_html = type == MD_BLOCK_HTML;
    r->heading = type == MD_BLOCK_H;
    return -(int)r->status;
}

static int add_event(reader *r, const ferry_md_event *event)
{
    const size_t count = r->count + 1;
    ferry_md_event *grown = ferry_array_grow(r->events, &r->capacity, count, sizeof *grown);
    if (grown == NULL)
        return -(int)(r->status = ferry_fail_memory(r->document->error, "a document", count * sizeof *grown));
    r->events = grown;
    grown[r->count++] = *event;
    return 0;
}

static int on_enter_span(MD_SPANTYPE type, void *detail, void *user)
{
    reader *r = user;
    const MD_SPAN_A_DETAIL *link = type == MD_SPAN_A ? detail : NULL;
    const MD_SPAN_IMG_DETAIL *image = type == MD_SPAN_IMG ? detail : NULL;
    if (link != NULL) r->targets += link->href.size + link->title.size;
    if (image != NULL) r->targets += image->src.size + image->title.size;
    if (r->targets / MOST_TARGETS > r->source.size)
        return -(int)(r->status = ferry_fail(r->document->error, FERRY_ERROR_UNSUPPORTED,
                                             "expected definitions of links that are not longer, found more than %zu "
                                             "bytes of targets",
                                             r->targets));
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

static ferry_status read(ferry_document *document)
{
    const MD_PARSER parser = {.flags = FERRY_MD_FLAGS,
                              .enter_block = on_block,
                              .leave_block = on_block,
                              .enter_span = on_enter_span,
                              .leave_span = on_leave_span,
                              .text = on_text};
    const ferry_view source = document->source;
    if (source.size > UINT32_MAX / 2)
        return ferry_fail(document->error, FERRY_ERROR_UNSUPPORTED,
                          "expected at most 2 GB of Markdown, found %zu bytes", source.size);
    reader r = {.document = document};
    r.status = ferry_md_prepare(source, &r.text, document->error);
    r.source = (ferry_view){r.text.text.data, r.text.text.size};
    r.least = r.text.begin;
    int ended = 0;
    if (r.status == FERRY_OK && r.least < r.source.size)
        ended = md_parse(r.source.data + r.least, (MD_SIZE)(r.source.size - r.least), &parser, &r);
    free(r.events);
    free(r.parts.parts);
    free(r.text.text.data);
    free(r.text.inserts);
    if (r.status != FERRY_OK) return r.status;
    return ended == 0 ? FERRY_OK : ferry_fail_memory(document->error, "a document", source.size);
}

static ferry_status write_attribute(ferry_string *out, ferry_view text, ferry_error *error)
{
    return ferry_md_write_text(out, text, false, error);
}

static const char *const endings[] = {".md", ".markdown", ".mdown", ".mkd", NULL};

const ferry_document_format ferry_format_markdown = {
    .name = "markdown",
    .endings = endings,
    .read = read,
    .write_text = ferry_md_write_text,
    .write_attribute = write_attribute,
    .fills = true,
    .may_begin_line = ferry_md_may_begin_line,
    .check = ferry_md_check,
};
