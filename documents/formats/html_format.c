/* HTML, pages and fragments: nothing is inferred (<p> does not close <p>), and nothing is lost. It is read as UTF-8. If
 * it is a whole page of ASCII that does not say that it is UTF-8, browsers may read it in another encoding: other
 * characters are then written by number. */
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/utf8.h"
#include "documents/characters.h"
#include "documents/entities.h"
#include "formats.h"
#include "documents/html_tags.h"
#include "quoted_text.h"

enum {
    LOOKED_AT = 1024, /* bytes in which HTML wants its encoding to be declared */
    SHOWN = 64,       /* bytes of an untranslated element that has its place in a sentence */
    MOST_DEPTH = 64   /* of elements of one name within an untranslated one, so that time is linear */
};

/* ---- the encoding ---- */

static ferry_view beginning(ferry_view source)
{
    return (ferry_view){source.data, source.size < LOOKED_AT ? source.size : LOOKED_AT};
}

/* The value of the first `attribute` that is followed by "=", in the document's beginning: of <meta charset="utf-8">,
 * of <meta … content="text/html; charset=utf-8">, of <?xml encoding="utf-8"?>. Empty: there is none. */
static ferry_view find_value(ferry_view source, const char *attribute)
{
    const ferry_view text = beginning(source);
    for (size_t at = 0; at < text.size; at++) {
        if (!begins(text, at, attribute)) continue;
        size_t begin = skip_set(text, at + strlen(attribute), " ");
        if (byte_at(text, begin) != '=') continue;
        begin = skip_set(text, begin + 1, " \"'");
        return view_part(source, begin, skip_name(source, begin, "-:", SIZE_MAX));
    }
    return (ferry_view){"", 0};
}

/* The encoding that the document declares; empty: none. */
static ferry_view declared(ferry_view source)
{
    const ferry_view charset = find_value(source, "charset");
    return charset.size == 0 && begins(source, 0, "<?xml") ? find_value(source, "encoding") : charset;
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
    const ferry_view text = beginning(source);
    for (size_t at = 0; at < text.size; at++)
        if (begins(text, at, "<!doctype") || begins(text, at, "<html") || begins(text, at, "<head") ||
            begins(text, at, "<?xml"))
            return true;
    return false;
}

/* ---- what a text is made of ---- */

typedef struct reader {
    ferry_document *document;
    ferry_view source; /* the document up to the end of what is read */
    ferry_html_tag_scanner scanner;
    ferry_inline_tag *parts; /* [count] of the text that is being read */
    size_t count, capacity;
    ferry_view language; /* of the document, as <html lang> has it; empty: it is the source's */
    bool in_menu;        /* an entry of a menu ended in the block that is being read */
} reader;

static ferry_status add_part(reader *r, ferry_inline_tag part)
{
    return ferry_array_append(&r->parts, &r->count, &r->capacity, &part, sizeof part, r->document->error);
}

static ferry_status add_text(reader *r, size_t begin, size_t end)
{
    return begin < end ? add_part(r, (ferry_inline_tag){.kind = FERRY_TAG_TEXT, .begin = begin, .end = end}) : FERRY_OK;
}

/* ---- a text becomes a block ---- */

static ferry_status emit_text(ferry_document *document, size_t begin, size_t end)
{
    const ferry_view text = {document->source.data, end};
    for (size_t at = begin, next = begin; at < end; at = next) {
        char bytes[8];
        ferry_view decoded = {bytes, 0};
        if (text.data[at] == '{') {
            FERRY_TRY(ferry_icu_argument_read(text, at, &next, NULL, document->error)); /* its texts are added */
            if (next > end) return ferry_document_kept(document, at, end, (ferry_view){NULL, 0});
            if (next > at) FERRY_TRY(ferry_document_kept(document, at, next, (ferry_view){NULL, 0}));
            if (next > at) continue;
        }
        if ((next = skip_set(text, at, FERRY_HTML_SPACE)) > at) {
            decoded = (ferry_view){" ", 1};
        } else if ((next = at + ferry_entity_read(view_part(text, at, end), bytes, &decoded.size)) == at) {
            decoded = (ferry_view){NULL, 0};
            next = find_one_of(text, at + 1, "&" FERRY_HTML_SPACE);
        }
        FERRY_TRY(ferry_document_text(document, at, next, decoded));
    }
    return FERRY_OK;
}

/* Bytes begin … end - 1, but for blanks at both ends, are a text of their own. */
static ferry_status read_value(ferry_document *document, size_t begin, size_t end)
{
    begin = skip_set((ferry_view){document->source.data, end}, begin, FERRY_HTML_SPACE);
    while (end > begin && is_one_of(document->source.data[end - 1], FERRY_HTML_SPACE)) end--;
    FERRY_TRY(ferry_document_begin_attribute(document, begin));
    FERRY_TRY(emit_text(document, begin, end));
    return ferry_document_end_segment(document, end);
}

/* The texts of ICU's arguments in bytes begin … end - 1 are texts of their own. */
static ferry_status add_arguments(ferry_document *document, size_t begin, size_t end)
{
    const ferry_view text = {document->source.data, end};
    ferry_icu_texts texts = {.count = 0};
    ferry_status status = FERRY_OK;
    for (size_t at = find_one_of(text, begin, "{"), next; at < end && status == FERRY_OK;
         at = find_one_of(text, next, "{")) {
        status = ferry_icu_argument_read(text, at, &next, &texts, document->error);
        if (next == at) next++;
    }
    for (size_t i = 0; i < texts.count && status == FERRY_OK; i++)
        status = read_value(document, texts.items[i].begin, texts.items[i].end);
    free(texts.items);
    return status;
}

static ferry_status emit_part(ferry_document *document, const ferry_inline_tag *p)
{
    switch (p->kind) {
    case FERRY_TAG_TEXT: return emit_text(document, p->begin, p->end);
    case FERRY_TAG_KEPT: return ferry_document_kept(document, p->begin, p->end, (ferry_view){NULL, 0});
    case FERRY_TAG_START: return ferry_document_open(document, p->begin, p->end);
    case FERRY_TAG_END: return ferry_document_close(document, p->begin, p->end);
    default: return ferry_document_point(document, p->begin, p->end);
    }
}

/* Where blanks and signs that stand between entries of a menu end, if they begin at byte `at`. */
static size_t skip_signs(ferry_view text, size_t at)
{
    static const char signs[] = FERRY_HTML_SPACE "|/>~*-[]:\u00A0\u00AB\u00B7\u00BB\u2013\u2014\u2022\u2023\u2039\u203A"
                                                 "\u2190\u2192\u25A0\u25AA\u25B6\u25B8\u25BA\u25CF\u2B25";
    for (size_t next = at; at < text.size; at = next) {
        char bytes[8];
        ferry_view sign = {bytes, 0};
        uint32_t c;
        next = at + ferry_entity_read(view_part(text, at, text.size), bytes, &sign.size);
        if (next == at && ferry_utf8_next(text, &next, &c)) sign = view_part(text, at, next);
        if (sign.size == 0 || !ferry_view_contains_view(ferry_text_view(signs), sign)) break;
    }
    return at;
}

static bool is_signs(const reader *r, const ferry_inline_tag *p)
{
    return p->kind == FERRY_TAG_TEXT && skip_signs((ferry_view){r->document->source.data, p->end}, p->begin) == p->end;
}

/* What stands at an end of the text without belonging to it. */
static bool is_outside(const reader *r, const ferry_inline_tag *p)
{
    return p->kind == FERRY_TAG_ALONE || p->kind == FERRY_TAG_WORD || is_signs(r, p);
}

/* "&gt;" that touches the element before it: "&lt;<a …>tom@example.org</a>&gt;". */
static bool is_bracket(const reader *r, const ferry_inline_tag *p)
{
    return p->kind == FERRY_TAG_TEXT &&
           begins_exactly((ferry_view){r->document->source.data, p->end}, p->begin, "&gt;");
}

/* Ends the text. The blanks at its ends are no part of it. */
static ferry_status flush(reader *r)
{
    const char *data = r->document->source.data;
    bool has_text = false;
    for (size_t i = 0; i < r->count; i++)
        has_text |= r->parts[i].kind == FERRY_TAG_TEXT && !is_outside(r, &r->parts[i]);
    if (has_text) {
        ferry_inline_tag *first = r->parts, *last = r->parts + r->count;
        ferry_inline_tags_pair(r->parts, r->count);
        while (is_outside(r, first)) first++;
        while (is_outside(r, --last) && !is_bracket(r, last)) continue;
        while (first->kind == FERRY_TAG_TEXT && is_one_of(data[first->begin], FERRY_HTML_SPACE)) first->begin++;
        while (last->kind == FERRY_TAG_TEXT && is_one_of(data[last->end - 1], FERRY_HTML_SPACE)) last->end--;
        for (const ferry_inline_tag *p = first; p <= last; p++)
            if (p->kind == FERRY_TAG_TEXT) FERRY_TRY(add_arguments(r->document, p->begin, p->end));
        FERRY_TRY(ferry_document_begin_segment(r->document, first->begin));
        for (const ferry_inline_tag *p = first; p <= last; p++) FERRY_TRY(emit_part(r->document, p));
        FERRY_TRY(ferry_document_end_segment(r->document, last->end));
    }
    r->count = 0;
    return FERRY_OK;
}

/* The byte after a line of templates, "{% if x %}", that begins at byte `at`; or `at`. */
static size_t skip_template(ferry_view text, size_t at)
{
    const bool is_block = begins_exactly(text, at, "{{#") || begins_exactly(text, at, "{{/");
    const size_t end = begins_exactly(text, at, "{%") ? ferry_find_after(text, at, "%}")
                       : is_block                     ? ferry_find_after(text, at, "}}")
                                                      : 0;
    const size_t next = skip_blanks(text, end);
    return end > 0 && (next == text.size || is_line_end(text.data[next])) ? end : at;
}

/* Bytes begin … end - 1 without tags; an empty line ends a text, and so do a line of templates, and signs behind an
 * entry of a menu. */
static ferry_status take_text(reader *r, size_t begin, size_t end)
{
    const ferry_view text = {r->document->source.data, end};
    const size_t signs = skip_signs(text, begin);
    if (r->in_menu && signs > skip_set(text, begin, FERRY_HTML_SPACE) && r->count > 0 &&
        r->parts[r->count - 1].kind == FERRY_TAG_END) {
        FERRY_TRY(flush(r));
        begin = signs;
    }
    size_t first = begin;
    for (size_t at = begin, next; at < end; at = next) {
        next = skip_set(text, at, FERRY_HTML_SPACE);
        const ferry_view blanks = {text.data, next};
        const bool begins_line = find_one_of(blanks, at, "\n") < next;
        const size_t template = begins_line ? skip_template(text, next) : next;
        if (template > next || read_text_line(blanks, read_text_line(blanks, at).next).end < next) {
            FERRY_TRY(add_text(r, first, at));
            FERRY_TRY(flush(r));
            first = next = template;
        }
        if (next == at) next = find_one_of(text, at, FERRY_HTML_SPACE);
    }
    return add_text(r, first, end);
}

/* ---- attributes ---- */

static bool is_text_of(const reader *r, ferry_view element, ferry_view name)
{
    const bool is_aria = begins(name, 0, "aria-");
    if (ferry_name_is_listed(is_aria ? view_part(name, 5, name.size) : name,
                             is_aria ? " description label placeholder roledescription valuetext "
                                     : " alt label placeholder summary title "))
        return true;
    if (is_named(element, "input") && is_named(name, "value"))
        return ferry_name_is_listed(ferry_html_attribute_find(&r->scanner, "type"), " submit button reset ");
    if (!is_named(element, "meta") || !is_named(name, "content")) return false;
    ferry_view meta = ferry_html_attribute_find(&r->scanner, "name"); /* "description", "twitter:description" */
    if (meta.size == 0) meta = ferry_html_attribute_find(&r->scanner, "property"); /* "og:title" */
    if (meta.size == 0) return false;
    const size_t colon = find_one_of(meta, 0, ":");
    return ferry_name_is_listed(view_part(meta, colon < meta.size ? colon + 1 : 0, meta.size), " description title ");
}

/* Values that people read are texts of their own. */
static ferry_status read_attributes(reader *r, const ferry_inline_tag *tag)
{
    ferry_document *document = r->document;
    for (size_t i = 0; tag->kind != FERRY_TAG_END && i < r->scanner.attribute_count; i++) {
        const ferry_html_attribute *attribute = &r->scanner.attributes[i];
        const size_t begin = (size_t)(attribute->value.data - document->source.data);
        if (attribute->value.size == 0 || !is_text_of(r, tag->name, attribute->name)) continue;
        const char before = document->source.data[begin - 1];
        if (before != '"' && before != '\'') continue; /* it could get blanks */
        FERRY_TRY(read_value(r->document, begin, begin + attribute->value.size));
    }
    return FERRY_OK;
}

ferry_status ferry_html_read_attributes(ferry_document *document, size_t begin, size_t end)
{
    reader r = {.document = document, .source = {document->source.data, end}};
    const ferry_inline_tag tag = ferry_html_tag_read(&r.scanner, r.source, begin);
    return read_attributes(&r, &tag);
}

/* ---- elements ---- */

static bool has_word(ferry_view list, const char *word)
{
    for (size_t at = 0, end; at < list.size; at = skip_set(list, end, FERRY_HTML_SPACE)) {
        end = find_one_of(list, at, FERRY_HTML_SPACE);
        if (ferry_view_is(view_part(list, at, end), word)) return true;
    }
    return false;
}

/* Whether a language is another one than the document's. */
static bool is_other_language(const reader *r, ferry_view language)
{
    const ferry_language *source = r->document->context.source;
    if (r->language.size > 0) return !ferry_html_tag_is_name(language, r->language);
    return source != NULL && !ferry_language_has_name(source, language);
}

/* Whether the page excepts the element, with its attributes, from translation. */
static bool is_excepted(reader *r, const ferry_inline_tag *tag)
{
    ferry_view language = ferry_html_attribute_find(&r->scanner, "lang");
    language.size = skip(language, 0, is_word, SIZE_MAX); /* without its region: "de" of "de-AT" */
    if (language.size > 0 && is_named(tag->name, "html")) r->language = language;
    if (is_named(ferry_html_attribute_find(&r->scanner, "translate"), "no")) return true;
    if (has_word(ferry_html_attribute_find(&r->scanner, "class"), "notranslate")) return true;
    return language.size > 0 && is_other_language(r, language);
}

/* Whether what is within the element is not translated, but its attributes are. */
static bool is_kept(const reader *r, const ferry_inline_tag *tag)
{
    const ferry_view class = ferry_html_attribute_find(&r->scanner, "class");
    return (tag->element & FERRY_ELEMENT_KEPT) != 0 || has_word(class, "math") || has_word(class, "katex") ||
           ferry_view_contains(class, "material-icons") || /* names of icons, which a font shows */
           ferry_view_contains(class, "material-symbols");
}

/* Moves tag->end behind the element's end tag; *content: where that begins, *plain: there are no tags in between.
 * False: it has none. */
static bool skip_element(ferry_view source, ferry_inline_tag *tag, size_t *content, bool *plain)
{
    ferry_html_tag_scanner scanner = {0};
    size_t depth = 1;
    *plain = true;
    size_t at = tag->end;
    while (depth <= MOST_DEPTH && (at = find_one_of(source, at, "<")) < source.size) {
        const size_t begin = at;
        const ferry_inline_tag inner = ferry_html_tag_read(&scanner, source, begin);
        at = inner.end;
        if (inner.kind == FERRY_TAG_TEXT) continue;
        if (ferry_html_tag_is_name(inner.name, tag->name)) {
            depth += inner.kind == FERRY_TAG_START;
            depth -= inner.kind == FERRY_TAG_END;
            *content = begin;
            if (depth == 0) {
                tag->end = at;
                return true;
            }
        }
        *plain = false;
    }
    return false;
}

/* Reads the attributes of the elements within an untranslated one, whose content ends at byte `end`, and texts of
 * drawings and formulas. */
static ferry_status read_inner_attributes(reader *r, size_t begin, size_t end)
{
    const ferry_view text = {r->document->source.data, end};
    for (size_t at = begin, content; (at = find_one_of(text, at, "<")) < end;) {
        ferry_inline_tag tag = ferry_html_tag_read(&r->scanner, text, at);
        bool plain;
        if (tag.kind == FERRY_TAG_START && is_excepted(r, &tag))
            skip_element(text, &tag, &content, &plain);
        else if (tag.kind != FERRY_TAG_TEXT)
            FERRY_TRY(read_attributes(r, &tag));
        at = tag.end;
        if (ferry_name_is_listed(tag.name, " desc mtext text textpath title tspan "))
            FERRY_TRY(read_value(r->document, at, find_one_of(text, at, "<")));
    }
    return FERRY_OK;
}

/* A short one has its place in its sentence; others end it, or leave it. */
static ferry_status take_untranslated(reader *r, ferry_inline_tag *tag, bool excepted)
{
    const ferry_view source = r->source;
    size_t content = tag->content;
    bool plain = false; /* content of RAW is none that is shown */
    if (!excepted) FERRY_TRY(read_attributes(r, tag));
    if ((tag->element & FERRY_ELEMENT_RAW) == 0) {
        if (!skip_element(source, tag, &content, &plain)) return add_part(r, *tag);
        if (!excepted) FERRY_TRY(read_inner_attributes(r, tag->content, content));
    }
    if ((tag->element & FERRY_ELEMENT_BLOCK) != 0) return flush(r);
    const ferry_view text = view_part(source, tag->content, content);
    const bool shown =
        plain && text.size <= SHOWN && !ferry_utf8_is_blank(text) && memchr(text.data, '\n', text.size) == NULL;
    tag->kind = shown ? FERRY_TAG_KEPT : FERRY_TAG_ALONE;
    return add_part(r, *tag);
}

/* Whether an element follows another one of its name as an entry of a menu does: a link behind blanks, or signs with
 * blanks; any element behind "|", "·" or "•", or, with a capital, behind a small letter. */
static bool follows_entry(const reader *r, const ferry_inline_tag *tag)
{
    static const char *const signs[] = {"|", "\u00B7", "\u2022", "&middot;", "&bull;", "] ["};
    const ferry_view source = r->document->source;
    size_t i = r->count;
    while (i > 0 && is_signs(r, &r->parts[i - 1])) i--;
    if (tag->kind != FERRY_TAG_START || i < 2 || r->parts[i - 1].kind != FERRY_TAG_END ||
        !ferry_html_tag_is_name(r->parts[i - 1].name, tag->name))
        return false;
    const ferry_view between = view_part(source, r->parts[i - 1].end, tag->begin);
    const ferry_inline_tag *entry = &r->parts[i - 2];
    const char before = source.data[entry->end - 1], first = byte_at(between, 0);
    if (skip((ferry_view){source.data, entry->end}, entry->begin, is_digit, SIZE_MAX) == entry->end) return false;
    for (size_t k = 0; k < sizeof signs / sizeof *signs; k++)
        if (ferry_view_contains(between, signs[k])) return true;
    if (is_named(tag->name, "a")) return between.size == 0 || is_one_of(first, FERRY_HTML_SPACE "&\xC2");
    return between.size == 0 && before >= 'a' && is_letter(before) && is_capital(byte_at(source, tag->end));
}

/* Whether the tag is that of a component, <TabItem>, on a line of its own. */
static bool is_component(const reader *r, const ferry_inline_tag *tag)
{
    const ferry_view source = r->document->source;
    size_t begin = tag->begin;
    while (begin > 0 && is_blank(source.data[begin - 1])) begin--;
    const size_t end = skip_blanks(source, tag->end);
    return is_capital(byte_at(tag->name, 0)) && is_letter(byte_at(tag->name, 1)) &&
           !is_capital(byte_at(tag->name, 1)) && (begin == 0 || is_line_end(source.data[begin - 1])) &&
           (end == source.size || is_line_end(source.data[end]));
}

/* Takes the tag, or its element, whose end becomes tag->end. */
static ferry_status take_tag(reader *r, ferry_inline_tag *tag)
{
    const bool is_start = tag->kind == FERRY_TAG_START, excepted = is_start && is_excepted(r, tag);
    if (excepted || (is_start && is_kept(r, tag))) return take_untranslated(r, tag, excepted);
    if (follows_entry(r, tag)) {
        r->in_menu = true;
        FERRY_TRY(flush(r));
    }
    FERRY_TRY(read_attributes(r, tag));
    if ((tag->element & (FERRY_ELEMENT_BLOCK | FERRY_ELEMENT_LABEL)) == 0 && !is_component(r, tag))
        return add_part(r, *tag);
    FERRY_TRY(flush(r));
    r->in_menu = false;
    return FERRY_OK;
}

static ferry_status read_parts(reader *r, size_t at)
{
    const ferry_view source = r->source;
    while (at < source.size) {
        const size_t begin = find_one_of(source, at, "<");
        FERRY_TRY(take_text(r, at, begin));
        if (begin == source.size) break;
        ferry_inline_tag tag = ferry_html_tag_read(&r->scanner, source, begin);
        FERRY_TRY(tag.kind == FERRY_TAG_TEXT ? take_text(r, begin, tag.end) : take_tag(r, &tag));
        at = tag.end;
    }
    return flush(r);
}

ferry_status ferry_html_read(ferry_document *document, size_t begin, size_t end)
{
    reader r = {.document = document, .source = {document->source.data, end}};
    const ferry_status status = read_parts(&r, begin);
    free(r.parts);
    return status;
}

/* ---- the format ---- */

static ferry_status read_html(ferry_document *document)
{
    const ferry_view source = document->source, name = declared(source);
    if (is_utf8(name) || is_ascii(source) || (name.size == 0 && ferry_utf8_is_valid(source)))
        return ferry_html_read(document, ferry_front_matter_size(source), source.size);
    const char *advice = "change its encoding, and the declaration: iconv -f ENCODING -t UTF-8";
    if (name.size == 0) return ferry_fail(document->error, FERRY_ERROR_UNSUPPORTED, "expected UTF-8; %s", advice);
    return ferry_fail(document->error, FERRY_ERROR_UNSUPPORTED, "expected UTF-8, found the declared encoding %.*s; %s",
                      (int)(name.size < 40 ? name.size : 40), name.data, advice);
}

static ferry_status write_escaped(ferry_buffer *out, ferry_view text, const char *characters, ferry_error *error)
{
    for (size_t at = 0; at < text.size; at++) {
        const char c = text.data[at];
        const char *name = c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '"' ? "&quot;" : "&#39;";
        const bool escaped = is_one_of(c, characters);
        FERRY_TRY(ferry_buffer_append(out, escaped ? ferry_text_view(name) : view_part(text, at, at + 1), error));
    }
    return FERRY_OK;
}

ferry_status ferry_html_write_text(ferry_buffer *out, ferry_view text, bool begins_line, ferry_error *error)
{
    (void)begins_line;
    return write_escaped(out, text, "&<>", error);
}

static ferry_status write_attribute(ferry_buffer *out, ferry_view text, ferry_error *error)
{
    return write_escaped(out, text, "&<>\"'", error);
}

static ferry_status finish(const ferry_document *document, ferry_buffer *out, size_t begin, ferry_error *error)
{
    const ferry_view name = declared(document->source);
    if (is_utf8(name) || (name.size == 0 && !is_page(document->source)) || !is_ascii(document->source)) return FERRY_OK;
    ferry_buffer numbered = {0};
    const ferry_view text = {out->data + begin, out->size - begin};
    ferry_status status = FERRY_OK;
    for (size_t at = 0, from = 0; at < text.size && status == FERRY_OK; from = at) {
        uint32_t c = 0;
        char number[16];
        if (!ferry_utf8_next(text, &at, &c)) c = 0xFFFD;
        ferry_view bytes = {text.data + from, at - from};
        if (c >= 0x80) bytes = (ferry_view){number, (size_t)snprintf(number, sizeof number, "&#%u;", (unsigned)c)};
        status = ferry_buffer_append(&numbered, bytes, error);
    }
    out->size = begin;
    if (status == FERRY_OK) status = ferry_buffer_append(out, (ferry_view){numbered.data, numbered.size}, error);
    free(numbered.data);
    return status;
}

const ferry_document_format ferry_format_html = {.name = "html",
                                                 .endings = {".html", ".htm", ".xhtml"},
                                                 .read = read_html,
                                                 .write_text = ferry_html_write_text,
                                                 .write_attribute = write_attribute,
                                                 .finish = finish};
