/* HTML, pages and fragments: nothing is inferred (<p> does not close <p>), and nothing is lost. It is read as UTF-8. If
 * it is a whole page of ASCII that does not say that it is UTF-8, browsers may read it in another encoding: other
 * characters are then written by number. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "entities.h"
#include "formats.h"
#include "html_tags.h"
#include "inline_tags.h"

enum {
    LOOKED_AT = 1024, /* bytes in which HTML wants its encoding to be declared */
    SHOWN = 64        /* bytes of an untranslated element that has its place in a sentence */
};

static bool is_of_name(char c)
{
    return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') || c == '-' || c == '_' || c == ':';
}

static bool is_filler(char c)
{
    return c == ' ' || c == '"' || c == '\'';
}

/* The value of the first `attribute` that is followed by "=", in the document's beginning: of <meta charset="utf-8">,
 * of <meta … content="text/html; charset=utf-8">, of <?xml encoding="utf-8"?>. Empty: there is none. */
static ferry_view find_value(ferry_view source, const char *attribute)
{
    const size_t size = strlen(attribute), most = source.size < LOOKED_AT ? source.size : LOOKED_AT;
    for (size_t at = 0; at + size < most; at++) {
        if (ferry_compare_letters(source.data + at, attribute, size) != 0) continue;
        size_t begin = at + size, end;
        while (begin < most && source.data[begin] == ' ') begin++;
        if (begin == most || source.data[begin++] != '=') continue;
        while (begin < most && is_filler(source.data[begin])) begin++;
        for (end = begin; end < source.size && is_of_name(source.data[end]);) end++;
        return (ferry_view){source.data + begin, end - begin};
    }
    return (ferry_view){"", 0};
}

/* The encoding that the document declares; empty: none. */
static ferry_view declared(ferry_view source)
{
    const ferry_view charset = find_value(source, "charset");
    const bool is_xml = source.size > 5 && memcmp(source.data, "<?xml", 5) == 0;
    return charset.size == 0 && is_xml ? find_value(source, "encoding") : charset;
}

static bool is_named(ferry_view name, const char *wanted)
{
    return name.size == strlen(wanted) && ferry_compare_letters(name.data, wanted, name.size) == 0;
}

/* UTF-16 in a declaration that can be read as ASCII is UTF-8: the HTML standard, "prescan a byte stream". */
static bool is_utf8(ferry_view name)
{
    return is_named(name, "utf-8") || is_named(name, "utf8") || is_named(name, "utf-16") ||
           is_named(name, "utf-16le") || is_named(name, "utf-16be");
}

static bool is_ascii(ferry_view text)
{
    for (size_t at = 0; at < text.size; at++)
        if ((unsigned char)text.data[at] >= 0x80) return false;
    return true;
}

/* A page rather than a part of one. */
static bool is_page(ferry_view source)
{
    static const char *const tags[] = {"<!doctype", "<html", "<head", "<?xml"};
    const size_t most = source.size < LOOKED_AT ? source.size : LOOKED_AT;
    for (size_t at = 0; at < most; at++)
        for (size_t i = 0; i < sizeof tags / sizeof *tags; i++)
            if (most - at >= strlen(tags[i]) && ferry_compare_letters(source.data + at, tags[i], strlen(tags[i])) == 0)
                return true;
    return false;
}

/* ---- what a text is made of ---- */

typedef enum part_kind { PART_TEXT, PART_TAG, PART_KEPT, PART_POINT } part_kind;

typedef struct part {
    part_kind kind;
    size_t begin, end;
    size_t tag; /* of TAG: which of the reader's */
} part;

typedef struct reader {
    ferry_document *document;
    ferry_html_tag_scanner scanner;
    part *parts;            /* [count] of the text that is being read */
    ferry_inline_tag *tags; /* [tag_count] of these */
    size_t count, capacity, tag_count, tag_capacity;
    ferry_view language; /* of the document, as <html lang> has it; empty: not known */
} reader;

static bool is_blank(const reader *r, const part *p)
{
    for (size_t at = p->begin; at < p->end; at++)
        if (!ferry_is_html_space(r->document->source.data[at])) return false;
    return true;
}

static ferry_status add_part(reader *r, part_kind kind, size_t begin, size_t end)
{
    part *grown = ferry_array_grow(r->parts, &r->capacity, r->count + 1, sizeof *grown);
    if (grown == NULL) return ferry_fail_memory(r->document->error, "a document", (r->count + 1) * sizeof *grown);
    r->parts = grown;
    grown[r->count++] = (part){kind, begin, end, r->tag_count};
    return FERRY_OK;
}

static ferry_status add_tag(reader *r, const ferry_html_tag *tag, size_t begin)
{
    ferry_inline_tag *grown = ferry_array_grow(r->tags, &r->tag_capacity, r->tag_count + 1, sizeof *grown);
    if (grown == NULL) return ferry_fail_memory(r->document->error, "tags", (r->tag_count + 1) * sizeof *grown);
    r->tags = grown;
    FERRY_TRY(add_part(r, PART_TAG, begin, tag->end));
    grown[r->tag_count++] =
        (ferry_inline_tag){.kind = tag->kind == FERRY_HTML_END ? FERRY_TAG_END : FERRY_TAG_START, .name = tag->name};
    return FERRY_OK;
}

/* ---- a text becomes a block ---- */

static ferry_status emit_text(ferry_document *document, size_t begin, size_t end)
{
    const char *data = document->source.data;
    for (size_t at = begin, next; at < end; at = next) {
        char bytes[8];
        size_t size = 0;
        next = at + 1;
        if (ferry_is_html_space(data[at])) {
            while (next < end && ferry_is_html_space(data[next])) next++;
            FERRY_TRY(ferry_document_text(document, at, next, (ferry_view){" ", 1}));
            continue;
        }
        const size_t reference =
            data[at] == '&' ? ferry_entity_read((ferry_view){data + at, end - at}, bytes, &size) : 0;
        if (reference > 0) {
            next = at + reference;
            FERRY_TRY(ferry_document_text(document, at, next, (ferry_view){bytes, size}));
            continue;
        }
        while (next < end && data[next] != '&' && !ferry_is_html_space(data[next])) next++;
        FERRY_TRY(ferry_document_text(document, at, next, (ferry_view){NULL, 0}));
    }
    return FERRY_OK;
}

static ferry_status emit_part(const reader *r, const part *p)
{
    ferry_document *document = r->document;
    switch (p->kind) {
    case PART_TEXT: return emit_text(document, p->begin, p->end);
    case PART_KEPT: return ferry_document_kept(document, p->begin, p->end, (ferry_view){NULL, 0});
    case PART_POINT: return ferry_document_point(document, p->begin, p->end);
    case PART_TAG: break;
    }
    switch (r->tags[p->tag].kind) {
    case FERRY_TAG_START: return ferry_document_open(document, p->begin, p->end);
    case FERRY_TAG_END: return ferry_document_close(document, p->begin, p->end);
    case FERRY_TAG_ALONE:
    case FERRY_TAG_WORD: break;
    }
    return ferry_document_point(document, p->begin, p->end);
}

/* What stands at an end of the text without belonging to it. */
static bool is_outside(const reader *r, const part *p)
{
    if (p->kind == PART_TEXT) return is_blank(r, p);
    if (p->kind == PART_TAG) return r->tags[p->tag].kind == FERRY_TAG_ALONE || r->tags[p->tag].kind == FERRY_TAG_WORD;
    return p->kind == PART_POINT;
}

/* The blanks at its ends are no part of it. */
static void trim(const reader *r, part *first, part *last)
{
    const char *data = r->document->source.data;
    while (first->kind == PART_TEXT && ferry_is_html_space(data[first->begin])) first->begin++;
    while (last->kind == PART_TEXT && ferry_is_html_space(data[last->end - 1])) last->end--;
}

/* Ends the text. */
static ferry_status flush(reader *r)
{
    size_t first = 0, after = r->count;
    bool has_text = false;
    for (size_t i = 0; i < r->count; i++) has_text |= r->parts[i].kind == PART_TEXT && !is_blank(r, &r->parts[i]);
    if (has_text) {
        ferry_inline_tags_pair(r->tags, r->tag_count);
        while (is_outside(r, &r->parts[first])) first++;
        while (is_outside(r, &r->parts[after - 1])) after--;
        trim(r, &r->parts[first], &r->parts[after - 1]);
        FERRY_TRY(ferry_document_begin_block(r->document, r->parts[first].begin));
        for (size_t i = first; i < after; i++) FERRY_TRY(emit_part(r, &r->parts[i]));
        FERRY_TRY(ferry_document_end_block(r->document, r->parts[after - 1].end));
    }
    r->count = r->tag_count = 0;
    return FERRY_OK;
}

/* Bytes begin … end - 1 without tags; an empty line ends a text. */
static ferry_status take_text(reader *r, size_t begin, size_t end)
{
    const char *data = r->document->source.data;
    size_t first = begin;
    for (size_t at = begin; at < end;) {
        size_t lines = 0, next = at;
        for (; next < end && ferry_is_html_space(data[next]); next++)
            lines += data[next] == '\n' || (data[next] == '\r' && !(next + 1 < end && data[next + 1] == '\n'));
        if (lines > 1) {
            if (first < at) FERRY_TRY(add_part(r, PART_TEXT, first, at));
            FERRY_TRY(flush(r));
            first = next;
        }
        at = next > at ? next : at + 1;
    }
    return first < end ? add_part(r, PART_TEXT, first, end) : FERRY_OK;
}

/* ---- attributes ---- */

static bool is_text_of(const reader *r, ferry_view tag, ferry_view name)
{
    static const char *const always[] = {"alt", "title", "placeholder", "aria-label", "label"};
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        if (ferry_html_tag_is_name(name, ferry_text_view(always[i]))) return true;
    const ferry_view type = ferry_html_attribute_find(&r->scanner, "type"),
                     named = ferry_html_attribute_find(&r->scanner, "name");
    if (ferry_html_tag_is_name(tag, ferry_text_view("input")) && ferry_html_tag_is_name(name, ferry_text_view("value")))
        return ferry_html_tag_is_name(type, ferry_text_view("submit")) ||
               ferry_html_tag_is_name(type, ferry_text_view("button")) ||
               ferry_html_tag_is_name(type, ferry_text_view("reset"));
    return ferry_html_tag_is_name(tag, ferry_text_view("meta")) &&
           ferry_html_tag_is_name(name, ferry_text_view("content")) &&
           ferry_html_tag_is_name(named, ferry_text_view("description"));
}

/* Values that people read are texts of their own. */
static ferry_status read_attributes(reader *r, const ferry_html_tag *tag)
{
    ferry_document *document = r->document;
    for (size_t i = 0; tag->kind != FERRY_HTML_END && i < r->scanner.attribute_count; i++) {
        const ferry_html_attribute *attribute = &r->scanner.attributes[i];
        const size_t begin = (size_t)(attribute->value.data - document->source.data);
        if (attribute->value.size == 0 || !is_text_of(r, tag->name, attribute->name)) continue;
        const char before = document->source.data[begin - 1];
        if (before != '"' && before != '\'') continue; /* it could get blanks */
        FERRY_TRY(ferry_document_begin_attribute(document, begin));
        FERRY_TRY(emit_text(document, begin, begin + attribute->value.size));
        FERRY_TRY(ferry_document_end_block(document, begin + attribute->value.size));
    }
    return FERRY_OK;
}

/* ---- elements ---- */

static bool has_word(ferry_view list, const char *word)
{
    const size_t size = strlen(word);
    for (size_t at = 0, end; at < list.size; at = end + 1) {
        for (end = at; end < list.size && !ferry_is_html_space(list.data[end]);) end++;
        if (end - at == size && memcmp(list.data + at, word, size) == 0) return true;
    }
    return false;
}

/* The language without its region: "de" of "de-AT". */
static ferry_view primary(ferry_view language)
{
    size_t size = 0;
    while (size < language.size && language.data[size] != '-' && language.data[size] != '_') size++;
    return (ferry_view){language.data, size};
}

/* Whether the element is not to be translated. */
static bool is_untranslated(reader *r, const ferry_html_tag *tag)
{
    const ferry_view translate = ferry_html_attribute_find(&r->scanner, "translate"),
                     language = primary(ferry_html_attribute_find(&r->scanner, "lang"));
    if (language.size > 0 && ferry_html_tag_is_name(tag->name, ferry_text_view("html"))) r->language = language;
    if (ferry_html_tag_is_name(translate, ferry_text_view("no"))) return true;
    if (has_word(ferry_html_attribute_find(&r->scanner, "class"), "notranslate")) return true;
    if (language.size > 0 && r->language.size > 0 && !ferry_html_tag_is_name(language, r->language)) return true;
    return (tag->element & FERRY_ELEMENT_KEPT) != 0;
}

/* The byte after the end tag of the element whose start tag ends at `at`; *content: where that begins, *plain: there
 * are no tags in between. Without an end tag: `at`. */
static size_t skip_element(ferry_view source, const ferry_html_tag *tag, size_t *content, bool *plain)
{
    ferry_html_tag_scanner scanner = {0};
    size_t depth = 1;
    *plain = true;
    for (size_t at = tag->end; at < source.size;) {
        const char *next = memchr(source.data + at, '<', source.size - at);
        if (next == NULL) break;
        const size_t begin = (size_t)(next - source.data);
        const ferry_html_tag inner = ferry_html_tag_read(&scanner, source, begin);
        at = inner.end;
        if (inner.kind == FERRY_HTML_NONE) continue;
        if (ferry_html_tag_is_name(inner.name, tag->name)) {
            depth += inner.kind == FERRY_HTML_START;
            depth -= inner.kind == FERRY_HTML_END;
            *content = begin;
            if (depth == 0) return at;
        }
        *plain = false;
    }
    return tag->end;
}

/* A short one has its place in its sentence; others end it, or leave it. */
static ferry_status take_untranslated(reader *r, const ferry_html_tag *tag, size_t begin, size_t *end)
{
    size_t content = tag->end;
    bool plain;
    const ferry_view source = r->document->source;
    *end = (tag->element & FERRY_ELEMENT_RAW) != 0 ? tag->end : skip_element(source, tag, &content, &plain);
    if (*end == tag->end && (tag->element & FERRY_ELEMENT_RAW) == 0) return add_tag(r, tag, begin);
    if ((tag->element & FERRY_ELEMENT_BLOCK) != 0) return flush(r);
    const ferry_view text = {source.data + tag->end, content - tag->end};
    const bool shown = (tag->element & FERRY_ELEMENT_RAW) == 0 && plain && text.size <= SHOWN &&
                       !ferry_utf8_is_blank(text) && memchr(text.data, '\n', text.size) == NULL;
    return add_part(r, shown ? PART_KEPT : PART_POINT, begin, *end);
}

/* Whether a link follows another one, with nothing but blanks between: entries of a menu. */
static bool follows_link(const reader *r, const ferry_html_tag *tag)
{
    size_t i = r->count;
    if (tag->kind != FERRY_HTML_START || !ferry_html_tag_is_name(tag->name, ferry_text_view("a"))) return false;
    while (i > 0 && r->parts[i - 1].kind == PART_TEXT && is_blank(r, &r->parts[i - 1])) i--;
    if (i == 0 || r->parts[i - 1].kind != PART_TAG) return false;
    const ferry_inline_tag *before = &r->tags[r->parts[i - 1].tag];
    return before->kind == FERRY_TAG_END && ferry_html_tag_is_name(before->name, ferry_text_view("a"));
}

static ferry_status take_tag(reader *r, const ferry_html_tag *tag, size_t begin, size_t *end)
{
    *end = tag->end;
    if (tag->kind == FERRY_HTML_COMMENT) return add_part(r, PART_POINT, begin, tag->end);
    if (tag->kind == FERRY_HTML_START && is_untranslated(r, tag)) return take_untranslated(r, tag, begin, end);
    if (follows_link(r, tag)) FERRY_TRY(flush(r));
    FERRY_TRY(read_attributes(r, tag));
    if ((tag->element & (FERRY_ELEMENT_BLOCK | FERRY_ELEMENT_LABEL)) != 0) return flush(r);
    return tag->kind == FERRY_HTML_SINGLE ? add_part(r, PART_POINT, begin, tag->end) : add_tag(r, tag, begin);
}

ferry_status ferry_html_read(ferry_document *document, size_t begin, size_t end)
{
    reader r = {.document = document};
    const ferry_view source = {document->source.data, end};
    ferry_status status = FERRY_OK;
    for (size_t at = begin; at < end && status == FERRY_OK;) {
        const char *next = memchr(source.data + at, '<', end - at);
        const size_t tag_begin = next != NULL ? (size_t)(next - source.data) : end;
        if (at < tag_begin) status = take_text(&r, at, tag_begin);
        at = tag_begin;
        if (status != FERRY_OK || at == end) break;
        const ferry_html_tag tag = ferry_html_tag_read(&r.scanner, source, tag_begin);
        at = tag.end;
        status = tag.kind == FERRY_HTML_NONE ? take_text(&r, tag_begin, at) : take_tag(&r, &tag, tag_begin, &at);
    }
    if (status == FERRY_OK) status = flush(&r);
    free(r.parts);
    free(r.tags);
    return status;
}

/* ---- the format ---- */

static ferry_status read_html(ferry_document *document)
{
    const ferry_view source = document->source, name = declared(source);
    if (is_utf8(name) || is_ascii(source) || (name.size == 0 && ferry_utf8_is_valid(source)))
        return ferry_html_read(document, 0, source.size);
    const char *advice = "change its encoding, and the declaration: iconv -f ENCODING -t UTF-8";
    if (name.size == 0) return ferry_fail(document->error, FERRY_ERROR_UNSUPPORTED, "expected UTF-8; %s", advice);
    return ferry_fail(document->error, FERRY_ERROR_UNSUPPORTED, "expected UTF-8, found the declared encoding %.*s; %s",
                      (int)(name.size < 40 ? name.size : 40), name.data, advice);
}

static ferry_status write_escaped(ferry_string *out, ferry_view text, bool quotes, ferry_error *error)
{
    for (size_t at = 0; at < text.size; at++) {
        const char c = text.data[at];
        const char *name = c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : NULL;
        if (quotes && c == '"') name = "&quot;";
        if (quotes && c == '\'') name = "&#39;";
        FERRY_TRY(
            ferry_string_append(out, name != NULL ? ferry_text_view(name) : (ferry_view){text.data + at, 1}, error));
    }
    return FERRY_OK;
}

static ferry_status write_text(ferry_string *out, ferry_view text, bool begins_line, ferry_error *error)
{
    (void)begins_line;
    return write_escaped(out, text, false, error);
}

static ferry_status write_attribute(ferry_string *out, ferry_view text, ferry_error *error)
{
    return write_escaped(out, text, true, error);
}

static ferry_status finish(const ferry_document *document, ferry_string *out, size_t begin, ferry_error *error)
{
    const ferry_view name = declared(document->source);
    if (is_utf8(name) || (name.size == 0 && !is_page(document->source)) || !is_ascii(document->source)) return FERRY_OK;
    ferry_string numbered = {0};
    const ferry_view text = {out->data + begin, out->size - begin};
    ferry_status status = FERRY_OK;
    for (size_t at = 0, from = 0; at < text.size && status == FERRY_OK; from = at) {
        uint32_t c = 0;
        char number[16];
        if (!ferry_utf8_next(text, &at, &c)) c = 0xFFFD;
        ferry_view bytes = {text.data + from, at - from};
        if (c >= 0x80) bytes = (ferry_view){number, (size_t)snprintf(number, sizeof number, "&#%u;", (unsigned)c)};
        status = ferry_string_append(&numbered, bytes, error);
    }
    out->size = begin;
    if (status == FERRY_OK) status = ferry_string_append(out, (ferry_view){numbered.data, numbered.size}, error);
    free(numbered.data);
    return status;
}

static const char *const endings[] = {".html", ".htm", ".xhtml", NULL};
const ferry_document_format ferry_format_html = {.name = "html",
                                                 .endings = endings,
                                                 .read = read_html,
                                                 .write_text = write_text,
                                                 .write_attribute = write_attribute,
                                                 .finish = finish};
