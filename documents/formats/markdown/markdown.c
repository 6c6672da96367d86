/* Markdown: CommonMark with the tables, strikethrough and task lists of GitHub, by the parser md4c. */
#include <stdlib.h>

#include "base/array.h"
#include "base/utf8.h"
#include "documents/characters.h"
#include "documents/entities.h"
#include "documents/formats/formats.h"
#include "documents/html_tags.h"
#include "markdown.h"

enum {
    LINE_WIDTH = 80,  /* of wrapped paragraphs, unless they are wider */
    MOST_TARGETS = 64 /* times the document, all targets of links together */
};

/* ---- elements ---- */

static bool is_untranslated(const ferry_inline_tag *tag, ferry_view bytes)
{
    return (ferry_element_find(tag->name) & FERRY_ELEMENT_KEPT) != 0 ||
           ferry_view_contains(bytes, "translate=\"no\"") || ferry_view_contains(bytes, "notranslate");
}

/* Says what tags are: markers of elements, or something that is kept, stands alone, or divides texts. What is within an
 * element that is not translated becomes part of it. Tags that cross Markdown's elements stand alone. */
static ferry_status read_tags(ferry_md_reader *r)
{
    /* START, END, ALONE, WORD */
    static const ferry_md_kind kinds[] = {FERRY_MD_OPEN, FERRY_MD_CLOSE, FERRY_MD_STANDS, FERRY_MD_KEPT};
    ferry_md_part *parts = r->parts;
    size_t tag_count = 0, count = 0;
    ferry_inline_tag *tags = malloc(r->part_count * sizeof *tags), *tag = tags; /* [tag_count] */
    if (tags == NULL) return ferry_fail_memory(r->error, "tags", r->part_count, sizeof *tags);
    for (size_t i = 0; i < r->part_count; i++) {
        if (parts[i].kind != FERRY_MD_TAG) continue;
        ferry_inline_tag_read(view_part(r->seen, parts[i].begin, parts[i].end), &tags[tag_count]);
        tags[tag_count++].part = i;
    }
    ferry_inline_tags_pair(tags, tag_count);
    for (size_t i = 0; i < r->part_count; i++) {
        ferry_md_part part = parts[i];
        if (part.kind == FERRY_MD_TAG) {
            const int element = ferry_element_find(tag->name);
            ferry_inline_tag *end = tag->kind == FERRY_TAG_START ? &tags[tag->partner] : NULL;
            const bool is_kept = end != NULL && is_untranslated(tag, view_part(r->seen, part.begin, part.end));
            if (end != NULL && parts[end->part].outer != part.outer) end->kind = tag->kind = FERRY_TAG_ALONE;
            part.kind = (element & (FERRY_ELEMENT_BLOCK | FERRY_ELEMENT_LABEL)) ? FERRY_MD_DIVIDES : kinds[tag->kind];
            if (is_kept) {
                i = end->part;
                tag = end;
                part.kind = FERRY_MD_KEPT;
                part.shown_begin = part.end;
                part.shown_end = parts[i].begin;
                part.end = parts[i].end;
            }
            tag++;
        }
        parts[count++] = part;
    }
    r->part_count = count;
    free(tags);
    return FERRY_OK;
}

/* The ends of a line that is nothing but bold text, or nothing but images, end texts. What would divide an element
 * stands alone. */
static void find_ends(const ferry_md_reader *r)
{
    ferry_md_part *parts = r->parts;
    size_t depth = 0, first = 0; /* of the line */
    bool is_bold = false, has_image = false, has_text = false;
    for (size_t i = 0; i <= r->part_count; i++) {
        const bool is_last = i == r->part_count;
        if (is_last || parts[i].kind == FERRY_MD_BREAK || parts[i].kind == FERRY_MD_DIVIDES) {
            const bool ends = depth == 0 && (is_bold || (has_image && !has_text));
            if (ends && first > 0) parts[first - 1].kind = FERRY_MD_DIVIDES;
            if (ends && !is_last) parts[i].kind = FERRY_MD_DIVIDES;
            if (depth > 0 && !is_last && parts[i].kind == FERRY_MD_DIVIDES) parts[i].kind = FERRY_MD_STANDS;
            first = i + 1;
            is_bold = has_image = false;
            has_text = depth > 0;
            continue;
        }
        const ferry_md_part *part = &parts[i];
        const size_t size = part->end - part->begin;
        const char c = r->text.data[part->begin];
        if (i == first) is_bold = depth == 0 && part->kind == FERRY_MD_OPEN && size == 2 && is_one_of(c, "*_");
        if (i > first && depth == 0) is_bold = false;
        depth += part->kind == FERRY_MD_OPEN;
        depth -= part->kind == FERRY_MD_CLOSE && depth > 0;
        has_image |= part->kind == FERRY_MD_STANDS &&
                     (c == '!' || ferry_view_contains(view_part(r->seen, part->begin, part->end), "<img "));
        has_text |= part->kind == FERRY_MD_KEPT || (part->kind < FERRY_MD_OPEN && (size > 1 || c != ' '));
    }
}

/* ---- text ---- */

/* A character reference; blanks, controls and unknown ones are kept. */
static ferry_status add_entity(ferry_document *document, size_t begin, size_t end)
{
    char bytes[8];
    ferry_view text = {bytes, 0};
    size_t at = 0;
    uint32_t c;
    if (ferry_entity_read(view_part(document->source, begin, end), bytes, &text.size) > 0 &&
        ferry_utf8_next(text, &at, &c) && c > ' ' && c != 0x7F)
        return ferry_document_text(document, begin, end, text);
    return ferry_document_kept(document, begin, end, (ferry_view){NULL, 0});
}

static ferry_status add_part(ferry_md_reader *r, const ferry_md_part *part)
{
    ferry_document *document = r->document;
    const size_t begin = ferry_md_origin(r, part->begin), end = ferry_md_origin(r, part->end);
    switch (part->kind) {
    case FERRY_MD_PLAIN:
    case FERRY_MD_ESCAPED:
        return ferry_document_text(document, begin, end,
                                   view_part(document->source, begin + (part->kind == FERRY_MD_ESCAPED), end));
    case FERRY_MD_ENTITY: return add_entity(document, begin, end);
    case FERRY_MD_OPEN: return ferry_document_open(document, begin, end);
    case FERRY_MD_CLOSE:
        if (part->shown_begin == part->begin) return ferry_document_close(document, begin, end);
        return ferry_document_close_link(document, begin, end,
                                         view_part(document->source, ferry_md_origin(r, part->shown_begin),
                                                   ferry_md_origin(r, part->shown_end)));
    case FERRY_MD_KEPT:
        return ferry_document_kept(document, begin, end,
                                   view_part(document->source, ferry_md_origin(r, part->shown_begin),
                                             ferry_md_origin(r, part->shown_end)));
    case FERRY_MD_BREAK: /* nothing, if it is not in the source */
        return begin < end ? ferry_document_break(document, begin, end, true) : FERRY_OK;
    default: return ferry_document_point(document, begin, end);
    }
}

/* "1. " at the beginning of a heading is no text. */
static void trim_number(const ferry_md_reader *r)
{
    ferry_md_part *part = r->parts;
    const size_t at = skip_set((ferry_view){r->text.data, part->end}, part->begin, ".0123456789");
    if (r->block == MD_BLOCK_H && part->kind == FERRY_MD_PLAIN && at > part->begin && at < part->end &&
        is_one_of(r->text.data[at], " )"))
        part->begin = at + 1;
}

/* The title of a link or an image whose end the part has, ](address "title"): *begin … *end - 1; *begin == *end: none.
 */
static void find_title(ferry_view text, const ferry_md_part *part, size_t *begin, size_t *end)
{
    *begin = *end = part->end;
    if (part->end < part->begin + 4 || text.data[part->end - 1] != ')' || text.data[part->end - 2] != '"') return;
    size_t at = part->end - 2;
    while (at > part->begin && !is_one_of(text.data[at - 1], "\"\\\r\n")) at--;
    if (at < part->begin + 3 || text.data[at - 1] != '"' || !is_blank(text.data[at - 2])) return;
    *begin = at;
    *end = part->end - 2;
}

static ferry_status add_attribute(ferry_md_reader *r, size_t begin, size_t end)
{
    begin = ferry_md_origin(r, begin);
    end = ferry_md_origin(r, end);
    FERRY_TRY(ferry_document_begin_attribute(r->document, begin));
    FERRY_TRY(ferry_document_text(r->document, begin, end, (ferry_view){NULL, 0}));
    return ferry_document_end_segment(r->document, end);
}

/* The attributes of a tag within a line. */
static ferry_status add_attributes(ferry_md_reader *r, const ferry_md_part *part)
{
    const size_t begin = ferry_md_origin(r, part->begin), end = ferry_md_origin(r, part->end);
    const ferry_view tag = view_part(r->document->source, begin, end);
    if (part->kind == FERRY_MD_KEPT || byte_at(tag, 0) != '<' || find_one_of(tag, 0, "\n") < tag.size) return FERRY_OK;
    r->document->format = &ferry_format_html;
    const ferry_status status = ferry_html_read_attributes(r->document, begin, end);
    r->document->format = &ferry_format_markdown;
    return status;
}

/* Parts first … after - 1, but for line ends and blanks at both ends, are a block. */
static ferry_status add_block(ferry_md_reader *r, size_t first, size_t after)
{
    ferry_md_part *parts = r->parts;
    const char *data = r->text.data;
    while (first < after && parts[first].kind == FERRY_MD_BREAK) first++;
    while (first < after && parts[after - 1].kind == FERRY_MD_BREAK) after--;
    if (first == after) return FERRY_OK;
    ferry_md_part *begin = &parts[first], *end = &parts[after - 1];
    while (begin->kind == FERRY_MD_PLAIN && begin->begin < begin->end && data[begin->begin] == ' ') begin->begin++;
    while (end->kind == FERRY_MD_PLAIN && end->begin < end->end && data[end->end - 1] == ' ') end->end--;
    for (size_t i = first; i < after; i++) {
        const bool is_image = parts[i].kind == FERRY_MD_STANDS && data[parts[i].begin] == '!';
        if (is_image && parts[i].shown_begin < parts[i].shown_end)
            FERRY_TRY(add_attribute(r, parts[i].shown_begin, parts[i].shown_end));
        if (is_image || parts[i].kind == FERRY_MD_CLOSE) {
            size_t title, title_end;
            find_title((ferry_view){data, parts[i].end}, &parts[i], &title, &title_end);
            if (title < title_end) FERRY_TRY(add_attribute(r, title, title_end));
        }
        if (parts[i].kind >= FERRY_MD_OPEN) FERRY_TRY(add_attributes(r, &parts[i]));
    }
    FERRY_TRY(ferry_document_begin_segment(r->document, ferry_md_origin(r, begin->begin)));
    FERRY_TRY(ferry_document_wrap(r->document, LINE_WIDTH, ferry_text_view("")));
    for (size_t i = first; i < after; i++) FERRY_TRY(add_part(r, &parts[i]));
    return ferry_document_end_segment(r->document, ferry_md_origin(r, end->end));
}

/* The parts become a block, or several: what divides texts ends one. */
static ferry_status add_blocks(ferry_md_reader *r)
{
    FERRY_TRY(read_tags(r));
    trim_number(r);
    find_ends(r);
    for (size_t first = 0, after; first < r->part_count; first = after + 1) {
        for (after = first; after < r->part_count && r->parts[after].kind != FERRY_MD_DIVIDES;) after++;
        FERRY_TRY(add_block(r, first, after));
        if (after < r->part_count) FERRY_TRY(add_attributes(r, &r->parts[after]));
    }
    r->least = r->parts[r->part_count - 1].end;
    return FERRY_OK;
}

/* The lines of a block of HTML are read as HTML, but for what containers begin them with, and tags of MDX. */
static ferry_status read_html(ferry_md_reader *r)
{
    size_t begin = r->events->begin, end = begin; /* of lines that follow each other */
    for (size_t i = 0; i < r->event_count; i++) {
        const ferry_md_event *line = &r->events[i];
        if (line->begin == line->end) continue;
        const bool is_mdx = ferry_view_contains(view_part(r->seen, line->begin, line->end), "={");
        if (is_mdx || !ferry_utf8_is_blank(view_part(r->seen, end, line->begin))) {
            FERRY_TRY(ferry_html_read(r->document, ferry_md_origin(r, begin), ferry_md_origin(r, end)));
            begin = is_mdx ? line->end : line->begin;
        }
        end = line->end;
    }
    return ferry_html_read(r->document, ferry_md_origin(r, begin), ferry_md_origin(r, end));
}

/* ---- structure ---- */

static void add_hash(ferry_md_reader *r, int kind, ferry_view text)
{
    uint64_t hash = UINT64_C(0xCBF29CE484222325) + (uint64_t)kind; /* FNV-1a */
    for (size_t i = 0; i < text.size; i++) hash = (hash ^ (unsigned char)text.data[i]) * UINT64_C(0x100000001B3);
    hash = (hash ^ hash >> 32) * UINT64_C(0x9E3779B97F4A7C15);
    r->structure += hash ^ hash >> 29;
}

/* Text may have other signs that divide it, images other descriptions, both other titles, and tags other attributes. */
static void add_structure(ferry_md_reader *r)
{
    for (size_t i = 0; i < r->part_count; i++) {
        const ferry_md_part *part = &r->parts[i];
        const bool is_image = part->kind == FERRY_MD_STANDS && part->shown_end < part->end;
        size_t title, after;
        if (part->kind < FERRY_MD_OPEN || part->kind == FERRY_MD_DIVIDES) continue;
        find_title(r->source, part, &title, &after);
        if (part->kind == FERRY_MD_TAG) /* its name */
            title = find_one_of((ferry_view){r->source.data, part->end}, part->begin, " \t\r\n>");
        add_hash(r, (int)part->kind, view_part(r->source, is_image ? part->shown_end : part->begin, title));
    }
    if (r->part_count == 0) add_hash(r, 0, r->source); /* not understood */
}

/* ---- what md4c calls: a negative number ends it ---- */

static ferry_status read_block(ferry_md_reader *r)
{
    if (r->event_count == 0 || r->block == MD_BLOCK_CODE) return FERRY_OK;
    if (r->block == MD_BLOCK_HTML && r->document != NULL) {
        r->document->format = &ferry_format_html;
        const ferry_status status = read_html(r);
        r->document->format = &ferry_format_markdown;
        return status;
    }
    FERRY_TRY(ferry_md_place(r));
    if (r->document == NULL) add_structure(r);
    return r->document != NULL && r->part_count > 0 ? add_blocks(r) : FERRY_OK;
}

/* A block begins or ends. */
static int on_block(MD_BLOCKTYPE type, void *detail, void *user)
{
    ferry_md_reader *r = user;
    (void)detail;
    r->status = read_block(r);
    for (size_t i = 0; i < r->event_count; i++)
        if (r->events[i].begin < r->events[i].end && r->events[i].end > r->least) r->least = r->events[i].end;
    r->event_count = r->part_count = 0;
    r->block = (int)type;
    if (type != MD_BLOCK_DOC) add_hash(r, -1 - (int)type, (ferry_view){NULL, 0});
    return -(int)r->status;
}

static int add_event(ferry_md_reader *r, const ferry_md_event *event)
{
    r->status = ferry_array_append(&r->events, &r->event_count, &r->event_capacity, event, sizeof *event, r->error);
    return -(int)r->status;
}

static int on_enter_span(MD_SPANTYPE type, void *detail, void *user)
{
    ferry_md_reader *r = user;
    const MD_SPAN_A_DETAIL *link = type == MD_SPAN_A ? detail : NULL;
    const MD_SPAN_IMG_DETAIL *image = type == MD_SPAN_IMG ? detail : NULL;
    if (link != NULL) r->targets += link->href.size + link->title.size;
    if (image != NULL) r->targets += image->src.size + image->title.size;
    if (r->targets / MOST_TARGETS > r->text.size)
        return -(int)(r->status =
                          ferry_fail(r->error, FERRY_ERROR_UNSUPPORTED,
                                     "expected shorter definitions of links, found %zu bytes of targets", r->targets));
    return add_event(user, &(ferry_md_event){.kind = FERRY_MD_ENTER, .type = (int)type});
}

static int on_leave_span(MD_SPANTYPE type, void *detail, void *user)
{
    (void)detail;
    return add_event(user, &(ferry_md_event){.kind = FERRY_MD_LEAVE, .type = (int)type});
}

static int on_text(MD_TEXTTYPE type, const MD_CHAR *text, MD_SIZE size, void *user)
{
    ferry_md_reader *r = user;
    ferry_md_event event = {.kind = FERRY_MD_TEXT, .type = (int)type};
    const uintptr_t begin = (uintptr_t)r->text.data, at = (uintptr_t)text; /* text may be none of the source */
    if (at >= begin && at - begin <= r->text.size && size <= r->text.size - (at - begin)) {
        event.begin = (size_t)(at - begin);
        event.end = event.begin + size;
    }
    return add_event(r, &event);
}

/* ---- the document ---- */

/* Reads the source. Errors: MEMORY; UNSUPPORTED. */
static ferry_status parse(ferry_md_reader *r)
{
    const MD_PARSER parser = {.flags = MD_FLAG_TABLES | MD_FLAG_STRIKETHROUGH | MD_FLAG_TASKLISTS,
                              .enter_block = on_block,
                              .leave_block = on_block,
                              .enter_span = on_enter_span,
                              .leave_span = on_leave_span,
                              .text = on_text};
    if (r->source.size > UINT32_MAX / 2)
        return ferry_fail(r->error, FERRY_ERROR_UNSUPPORTED, "expected at most 2 GB of Markdown, found %zu bytes",
                          r->source.size);
    r->status = ferry_md_prepare(r);
    r->seen.data = r->text.data;
    int ended = 0;
    if (r->status == FERRY_OK)
        ended = md_parse(r->text.data + r->least, (MD_SIZE)(r->text.size - r->least), &parser, r);
    if (r->status == FERRY_OK && ended != 0) r->status = ferry_fail_memory(r->error, "a document", r->text.size, 1);
    free(r->text.data);
    free(r->inserts);
    free(r->events);
    free(r->parts);
    return r->status;
}

static ferry_status read(ferry_document *document)
{
    return parse(&(ferry_md_reader){.document = document, .source = document->source, .error = document->error});
}

/* ---- the structure of a block ---- */

/* Of a block by itself, behind `before`, with blanks in place of the end of a line and what the next one begins with.
 */
static ferry_status find_structure(const char *before, ferry_view block, uint64_t *structure, ferry_error *error)
{
    ferry_buffer line = {0};
    ferry_status status = ferry_buffer_append(&line, ferry_text_view(before), error);
    if (status == FERRY_OK) status = ferry_buffer_append(&line, block, error);
    bool begins = false; /* a line */
    for (size_t at = 0; at < line.size; at++) {
        begins = is_line_end(line.data[at]) || (begins && is_one_of(line.data[at], " \t>"));
        if (begins) line.data[at] = ' ';
    }
    ferry_md_reader r = {.source = {line.data, line.size}, .error = error};
    if (status == FERRY_OK) status = parse(&r);
    *structure = r.structure;
    free(line.data);
    return status;
}

static ferry_status check(ferry_view before, ferry_view after, bool *same, ferry_error *error)
{
    uint64_t structures[2];
    /* What would begin another block by itself may not do so where it is: in a heading, in a cell. */
    FERRY_TRY(find_structure("x ", before, &structures[0], error));
    FERRY_TRY(find_structure("", after, &structures[1], error));
    *same = structures[0] == structures[1];
    /* The first line by itself may be a definition: "[name]: target". */
    const size_t first = find_one_of(after, 0, "\n");
    if (first == after.size || after.data[0] != '[') return FERRY_OK;
    FERRY_TRY(find_structure("", view_part(after, 0, first), &structures[1], error));
    *same = *same && structures[1] != 0;
    return FERRY_OK;
}

/* ---- the format ---- */

/* A description or a title: a quotation mark would end it. */
static ferry_status write_attribute(ferry_buffer *out, ferry_view text, ferry_error *error)
{
    for (size_t at = 0, end; at <= text.size; at = end + 1) {
        end = find_one_of(text, at, "\"");
        if (end > at) FERRY_TRY(ferry_md_write_text(out, view_part(text, at, end), false, error));
        if (end < text.size) FERRY_TRY(ferry_buffer_append(out, ferry_text_view("\\\""), error));
    }
    return FERRY_OK;
}

const ferry_document_format ferry_format_markdown = {
    .name = "markdown",
    .endings = {".md", ".markdown", ".mdown", ".mkd"},
    .read = read,
    .write_text = ferry_md_write_text,
    .write_attribute = write_attribute,
    .fills = true,
    .may_begin_line = ferry_md_may_begin_line,
    .check = check,
};
