/* Markdown: CommonMark with the tables, strikethrough and task lists of GitHub, by the parser md4c. */
#include <stdlib.h>

#include "base/utf8.h"
#include "elements.h"
#include "entities.h"
#include "formats.h"
#include "lines.h"
#include "markdown_parts.h"

enum {
    LINE_WIDTH = 80,  /* of wrapped paragraphs, unless they are wider */
    MOST_TARGETS = 64 /* times the document, all targets of links together */
};

/* What a block consists of but for its text, whatever the order: the sum of a hash of each part. */
typedef struct structure {
    uint64_t sum, count;
} structure;

typedef struct reader {
    ferry_document *document; /* NULL: only the structure is looked at */
    ferry_error *error;
    ferry_md_text text;
    ferry_view original;
    ferry_view source;      /* the bytes of `text` */
    ferry_md_event *events; /* [count] of the block that is open */
    size_t count, capacity;
    ferry_md_parts parts;
    size_t least;       /* what was read ends here */
    size_t targets;     /* bytes of the targets of all links: a definition may be used often */
    MD_BLOCKTYPE block; /* the one that is open */
    structure structure;
    ferry_status status;
} reader;

static ferry_view bytes_of(const reader *r, const ferry_md_part *part)
{
    return view_part(r->source, part->begin, part->end);
}

static size_t place(reader *r, size_t at)
{
    return ferry_md_source_place(&r->text, at);
}

/* ---- elements ---- */

static bool is_untranslated(const ferry_inline_tag *tag, ferry_view bytes)
{
    return (ferry_element_find(tag->name) & FERRY_ELEMENT_KEPT) != 0 ||
           ferry_view_contains(bytes, "translate=\"no\"") || ferry_view_contains(bytes, "notranslate");
}

/* Says what tags are: markers of elements, or something that is kept, stands alone, or divides texts. What is within an
 * element that is not translated becomes part of it. Tags that cross Markdown's elements stand alone. */
static void read_tags(reader *r)
{
    static const ferry_md_kind kinds[] = {[FERRY_TAG_START] = FERRY_MD_OPEN,
                                          [FERRY_TAG_END] = FERRY_MD_CLOSE,
                                          [FERRY_TAG_ALONE] = FERRY_MD_STANDS,
                                          [FERRY_TAG_WORD] = FERRY_MD_KEPT};
    ferry_md_part *parts = r->parts.parts;
    ferry_inline_tag *tags = r->parts.tags;
    size_t count = 0;
    ferry_inline_tags_pair(tags, r->parts.tag_count);
    for (size_t i = 0; i < r->parts.count; i++) {
        ferry_md_part part = parts[i];
        if (part.kind == FERRY_MD_TAG) {
            ferry_inline_tag *tag = &tags[part.tag];
            const int element = ferry_element_find(tag->name);
            const ferry_md_part *end = tag->kind == FERRY_TAG_START ? &parts[tags[tag->partner].part] : NULL;
            const bool is_kept = end != NULL && is_untranslated(tag, bytes_of(r, &part));
            if (end != NULL && end->outer != part.outer) tags[tag->partner].kind = tag->kind = FERRY_TAG_ALONE;
            part.kind = (element & (FERRY_ELEMENT_BLOCK | FERRY_ELEMENT_LABEL)) ? FERRY_MD_DIVIDES : kinds[tag->kind];
            if (is_kept) {
                part.kind = FERRY_MD_KEPT;
                part.shown_begin = part.end;
                part.shown_end = end->begin;
                part.end = end->end;
                i = tags[tag->partner].part;
            }
        }
        parts[count++] = part;
    }
    r->parts.count = count;
}

/* The ends of a line that is nothing but bold text, or nothing but images, end texts. What would divide an element
 * stands alone. */
static void find_ends(const reader *r)
{
    ferry_md_part *parts = r->parts.parts;
    size_t depth = 0, first = 0; /* of the line */
    bool is_bold = false, has_image = false, has_text = false;
    for (size_t i = 0; i <= r->parts.count; i++) {
        const bool is_last = i == r->parts.count;
        if (is_last || parts[i].kind == FERRY_MD_BREAK || parts[i].kind == FERRY_MD_DIVIDES) {
            const bool ends = depth == 0 && (is_bold || (has_image && !has_text));
            if (ends && first > 0) parts[first - 1].kind = FERRY_MD_DIVIDES;
            if (ends && !is_last) parts[i].kind = FERRY_MD_DIVIDES;
            if (depth > 0 && !is_last && parts[i].kind == FERRY_MD_DIVIDES) parts[i].kind = FERRY_MD_STANDS;
            first = i + 1;
            has_image = false;
            has_text = depth > 0;
            continue;
        }
        const ferry_md_part *part = &parts[i];
        const size_t size = part->end - part->begin;
        const char c = r->source.data[part->begin];
        if (i == first) is_bold = depth == 0 && part->kind == FERRY_MD_OPEN && size == 2 && is_one_of(c, "*_");
        if (i > first && depth == 0) is_bold = false;
        depth += part->kind == FERRY_MD_OPEN;
        depth -= part->kind == FERRY_MD_CLOSE && depth > 0;
        has_image |= part->kind == FERRY_MD_STANDS && (c == '!' || ferry_view_contains(bytes_of(r, part), "<img "));
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

static ferry_status add_part(reader *r, const ferry_md_part *part)
{
    ferry_document *document = r->document;
    const size_t begin = place(r, part->begin), end = place(r, part->end);
    switch (part->kind) {
    case FERRY_MD_PLAIN: return ferry_document_text(document, begin, end, (ferry_view){NULL, 0});
    case FERRY_MD_ESCAPED:
        return ferry_document_text(document, begin, end, (ferry_view){document->source.data + begin + 1, 1});
    case FERRY_MD_ENTITY: return add_entity(document, begin, end);
    case FERRY_MD_OPEN: return ferry_document_open(document, begin, end);
    case FERRY_MD_CLOSE: return ferry_document_close(document, begin, end);
    case FERRY_MD_KEPT:
        return ferry_document_kept(document, begin, end,
                                   view_part(document->source, place(r, part->shown_begin), place(r, part->shown_end)));
    case FERRY_MD_BREAK: /* nothing, if it is not in the source */
        return begin < end ? ferry_document_break(document, begin, end, true) : FERRY_OK;
    case FERRY_MD_TAG:
    case FERRY_MD_DIVIDES:
    case FERRY_MD_STANDS: break;
    }
    return ferry_document_point(document, begin, end);
}

/* "1. " at the beginning of a heading is no text. */
static void trim_number(const reader *r)
{
    ferry_md_part *part = r->parts.parts;
    const char *data = r->source.data;
    size_t at = part->begin;
    if (r->block != MD_BLOCK_H || part->kind != FERRY_MD_PLAIN) return;
    while (at < part->end && (data[at] == '.' || is_digit(data[at]))) at++;
    if (at > part->begin && at < part->end && (data[at] == ' ' || data[at] == ')')) part->begin = at + 1;
}

/* Parts first … after - 1, but for line ends and blanks at both ends, are a block. */
static ferry_status add_block(reader *r, size_t first, size_t after)
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
        if (parts[i].kind != FERRY_MD_STANDS || parts[i].shown_begin == parts[i].shown_end ||
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
static ferry_status add_blocks(reader *r)
{
    const ferry_md_parts *parts = &r->parts;
    read_tags(r);
    trim_number(r);
    find_ends(r);
    for (size_t first = 0, after; first < parts->count; first = after + 1) {
        for (after = first; after < parts->count && parts->parts[after].kind != FERRY_MD_DIVIDES;) after++;
        FERRY_TRY(add_block(r, first, after));
    }
    r->least = parts->parts[parts->count - 1].end;
    return FERRY_OK;
}

/* The lines of a block of HTML are read as HTML, but for what containers begin them with, and tags of MDX. */
static ferry_status read_html(reader *r)
{
    size_t begin = r->events->begin, end = begin; /* of lines that follow each other */
    for (size_t i = 0; i < r->count; i++) {
        const ferry_md_event *line = &r->events[i];
        if (line->begin == line->end) continue;
        const bool is_mdx = ferry_view_contains(view_part(r->source, line->begin, line->end), "={");
        if (is_mdx || skip_set(r->source, end, " \t\r\n") < line->begin) {
            FERRY_TRY(ferry_html_read(r->document, place(r, begin), place(r, end)));
            begin = is_mdx ? line->end : line->begin;
        }
        end = line->end;
    }
    return ferry_html_read(r->document, place(r, begin), place(r, end));
}

/* ---- structure ---- */

static void add_hash(reader *r, int kind, ferry_view text)
{
    uint64_t hash = UINT64_C(0xCBF29CE484222325) + (uint64_t)kind; /* FNV-1a */
    for (size_t i = 0; i < text.size; i++) hash = (hash ^ (unsigned char)text.data[i]) * UINT64_C(0x100000001B3);
    hash = (hash ^ hash >> 32) * UINT64_C(0x9E3779B97F4A7C15);
    r->structure.sum += hash ^ hash >> 29;
    r->structure.count++;
}

/* Text may have other signs that divide it, and images other descriptions. */
static void add_structure(reader *r)
{
    for (size_t i = 0; i < r->parts.count; i++) {
        const ferry_md_part *part = &r->parts.parts[i];
        const bool is_sign = part->kind == FERRY_MD_DIVIDES && (unsigned char)r->source.data[part->begin] < FERRY_MD_DIVIDES;
        const bool is_image = part->kind == FERRY_MD_STANDS && part->shown_end < part->end;
        if (part->kind >= FERRY_MD_OPEN && part->kind != FERRY_MD_BREAK && !is_sign)
            add_hash(r, (int)part->kind, view_part(r->original, is_image ? part->shown_end : part->begin, part->end));
    }
    if (r->parts.count == 0) add_hash(r, 0, r->original); /* not understood */
}

/* ---- what md4c calls: a negative number ends it ---- */

static ferry_status read_block(reader *r)
{
    if (r->count == 0 || r->block == MD_BLOCK_CODE) return FERRY_OK;
    if (r->block == MD_BLOCK_HTML && r->document != NULL) {
        r->document->format = &ferry_format_html;
        const ferry_status status = read_html(r);
        r->document->format = &ferry_format_markdown;
        return status;
    }
    FERRY_TRY(ferry_md_place(r->source, r->least, r->events, r->count, &r->parts, r->error));
    if (r->document == NULL) add_structure(r);
    return r->document != NULL && r->parts.count > 0 ? add_blocks(r) : FERRY_OK;
}

/* A block begins or ends. */
static int on_block(MD_BLOCKTYPE type, void *detail, void *user)
{
    reader *r = user;
    (void)detail;
    r->status = read_block(r);
    for (size_t i = 0; i < r->count; i++)
        if (r->events[i].begin < r->events[i].end && r->events[i].end > r->least) r->least = r->events[i].end;
    r->count = r->parts.count = 0;
    r->block = type;
    add_hash(r, -1 - (int)type, (ferry_view){NULL, 0});
    return -(int)r->status;
}

static int add_event(reader *r, const ferry_md_event *event)
{
    const size_t count = r->count + 1;
    ferry_md_event *grown = ferry_array_grow(r->events, &r->capacity, count, sizeof *grown);
    if (grown == NULL) return -(int)(r->status = ferry_fail_memory(r->error, "a document", count * sizeof *grown));
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
        return -(int)(r->status = ferry_fail(r->error, FERRY_ERROR_UNSUPPORTED,
                                             "expected definitions of links that are not longer, found more than %zu "
                                             "bytes of targets",
                                             r->targets));
    return add_event(user, &(ferry_md_event){.kind = FERRY_MD_ENTER, .type = (int)type});
}

static int on_leave_span(MD_SPANTYPE type, void *detail, void *user)
{
    (void)detail;
    return add_event(user, &(ferry_md_event){.kind = FERRY_MD_LEAVE, .type = (int)type});
}

static int on_text(MD_TEXTTYPE type, const MD_CHAR *text, MD_SIZE size, void *user)
{
    reader *r = user;
    ferry_md_event event = {.kind = FERRY_MD_TEXT, .type = (int)type};
    const uintptr_t begin = (uintptr_t)r->source.data, at = (uintptr_t)text; /* text may be none of the source */
    if (at >= begin && at - begin <= r->source.size && size <= r->source.size - (at - begin)) {
        event.begin = (size_t)(at - begin);
        event.end = event.begin + size;
    }
    return add_event(r, &event);
}

/* ---- the document ---- */

/* Reads `source`, of at most 2 GB. Errors: MEMORY; UNSUPPORTED. */
static ferry_status parse(reader *r, ferry_view source)
{
    const MD_PARSER parser = {.flags = MD_FLAG_TABLES | MD_FLAG_STRIKETHROUGH | MD_FLAG_TASKLISTS,
                              .enter_block = on_block,
                              .leave_block = on_block,
                              .enter_span = on_enter_span,
                              .leave_span = on_leave_span,
                              .text = on_text};
    r->status = ferry_md_prepare(source, &r->text, r->error);
    r->original = source;
    r->source = (ferry_view){r->text.text.data, r->text.text.size};
    r->least = r->text.begin;
    int ended = 0;
    if (r->status == FERRY_OK && r->least < r->source.size)
        ended = md_parse(r->source.data + r->least, (MD_SIZE)(r->source.size - r->least), &parser, r);
    if (r->status == FERRY_OK && ended != 0) r->status = ferry_fail_memory(r->error, "a document", source.size);
    return r->status;
}

static void destroy(reader *r)
{
    free(r->events);
    free(r->parts.parts);
    free(r->parts.tags);
    free(r->text.text.data);
    free(r->text.inserts);
}

static ferry_status read(ferry_document *document)
{
    const ferry_view source = document->source;
    if (source.size > UINT32_MAX / 2)
        return ferry_fail(document->error, FERRY_ERROR_UNSUPPORTED,
                          "expected at most 2 GB of Markdown, found %zu bytes", source.size);
    reader r = {.document = document, .error = document->error};
    const ferry_status status = parse(&r, source);
    destroy(&r);
    return status;
}

/* ---- the structure of a block ---- */

/* With a blank in place of the end of a line and what the next one begins with. */
static ferry_status join_lines(ferry_string *out, ferry_view block, ferry_error *error)
{
    for (size_t at = 0, end; at < block.size; at = skip_set(block, end, "\r\n\t >")) {
        end = find_one_of(block, at, "\r\n");
        FERRY_TRY(ferry_string_append(out, view_part(block, at, end), error));
        if (end < block.size) FERRY_TRY(ferry_string_append(out, ferry_text_view(" "), error));
    }
    return FERRY_OK;
}

/* Of a block by itself, behind `before`. */
static ferry_status find_structure(const char *before, ferry_view block, structure *found, ferry_error *error)
{
    reader r = {.error = error};
    ferry_string line = {0};
    ferry_status status = ferry_string_append(&line, ferry_text_view(before), error);
    if (status == FERRY_OK) status = join_lines(&line, block, error);
    if (status == FERRY_OK) status = parse(&r, (ferry_view){line.data, line.size});
    *found = r.structure;
    destroy(&r);
    free(line.data);
    return status;
}

static ferry_status check(ferry_view before, ferry_view after, bool *same, ferry_error *error)
{
    structure a, b;
    *same = false;
    if (after.size > UINT32_MAX / 2) return FERRY_OK;
    /* What would begin another block by itself may not do so where it is: in a heading, in a cell. */
    FERRY_TRY(find_structure("x ", before, &a, error));
    FERRY_TRY(find_structure("", after, &b, error));
    *same = a.sum == b.sum && a.count == b.count;
    /* The first line by itself may be a definition: "[name]: target". */
    const size_t first = find_one_of(after, 0, "\n");
    if (first == after.size || after.data[0] != '[') return FERRY_OK;
    FERRY_TRY(find_structure("", view_part(after, 0, first), &b, error));
    *same = *same && b.count > 2; /* more than the beginning and the end of the document */
    return FERRY_OK;
}

/* ---- the format ---- */

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
    .check = check,
};
