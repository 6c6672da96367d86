/* Where the parts of a block are. Between two texts there are the markers of the spans that begin or end there, in the
 * order in which md4c tells of them, or the end of a line; everything else is a block that stays. */
#include <stdlib.h>
#include <string.h>

#include "inline_tags.h"
#include "markdown_parts.h"

enum { MOST_MARKERS = 4096 }; /* bytes before the first text of a block */

/* A span that is open. */
typedef struct span {
    MD_SPANTYPE type;
    size_t part; /* its opening marker */
    size_t size; /* of the marker */
    char marker; /* its first character */
} span;

typedef struct placer {
    ferry_view source;
    const ferry_md_event *events; /* [count] */
    size_t count;
    size_t next;  /* the event that is to be placed */
    size_t at;    /* the source up to here is placed */
    size_t limit; /* where the next text is that is placed already */
    ferry_md_parts *parts;
    span *spans; /* [depth] */
    size_t depth, span_capacity;
    ferry_error *error;
    ferry_status status;
} placer;

static char byte_at(const placer *p, size_t at)
{
    return at < p->limit ? p->source.data[at] : '\0';
}

static bool is_punctuation(char c)
{
    return c > ' ' && c < 0x7F && !((c | 32) >= 'a' && (c | 32) <= 'z') && !(c >= '0' && c <= '9');
}

static bool add_part(placer *p, ferry_md_part part)
{
    ferry_md_parts *parts = p->parts;
    ferry_md_part *last = parts->count > 0 ? &parts->parts[parts->count - 1] : NULL;
    p->at = part.end;
    if (last != NULL && part.kind == FERRY_MD_PLAIN && last->kind == part.kind && last->end == part.begin) {
        last->end = part.end;
        return true;
    }
    ferry_md_part *grown = ferry_array_grow(parts->parts, &parts->capacity, parts->count + 1, sizeof *grown);
    if (grown == NULL) {
        p->status = ferry_fail_memory(p->error, "a document", (parts->count + 1) * sizeof *grown);
        return false;
    }
    parts->parts = grown;
    grown[parts->count++] = part;
    return true;
}

/* ---- text ---- */

/* " | ", " • " and " · " between texts, or "|" as a text of its own: their bytes, or 0. */
static size_t separator_size(ferry_view text, bool is_whole)
{
    static const char *const separators[] = {" | ", " \xE2\x80\xA2 ", " \xC2\xB7 "};
    for (size_t i = 0; i < sizeof separators / sizeof *separators; i++) {
        const size_t size = strlen(separators[i]);
        if (text.size >= size && memcmp(text.data, separators[i], size) == 0) return size;
        if (is_whole && text.size == size - 2 && memcmp(text.data, separators[i] + 1, size - 2) == 0) return size - 2;
    }
    return 0;
}

/* Text, with what is marked in it, and what divides it. */
static bool place_plain(placer *p, size_t begin, size_t end)
{
    const char *data = p->source.data;
    for (size_t at = begin, after; at < end; at = after) {
        const char c = data[at];
        const size_t separator = separator_size((ferry_view){data + at, end - at}, at == begin);
        ferry_md_part part = {.kind = FERRY_MD_PLAIN, .begin = at, .shown_begin = at};
        after = at + (separator > 0 ? separator : 1);
        if (c == FERRY_MD_KEEPS) part.kind = FERRY_MD_KEPT;
        if (c == FERRY_MD_STANDS) part.kind = FERRY_MD_POINT;
        if (c == FERRY_MD_DIVIDES || (separator > 0 && p->depth == 0)) part.kind = FERRY_MD_HARD_BREAK;
        while (after < end && (part.kind == FERRY_MD_PLAIN ? data[after] != ' ' && (unsigned char)data[after] < 0xFD
                                                           : data[after] == c && separator == 0))
            after++;
        part.end = part.shown_end = after;
        if (!add_part(p, part)) return false;
    }
    return true;
}

static bool place_text(placer *p, const ferry_md_event *event)
{
    if (event->text == MD_TEXT_NULLCHAR) {
        return p->at < p->limit && p->source.data[p->at] == '\0' &&
               add_part(p, (ferry_md_part){.kind = FERRY_MD_POINT, .begin = p->at, .end = p->at + 1});
    }
    if (!event->placed || event->begin == event->end) return event->begin == event->end;
    size_t begin = event->begin;
    if (p->at + 1 == begin && p->source.data[p->at] == '\\' && is_punctuation(p->source.data[begin])) {
        const ferry_md_part escaped = {.kind = FERRY_MD_ESCAPED, .begin = p->at, .end = begin + 1};
        if (!add_part(p, escaped)) return false;
        begin++;
    }
    if (p->at != begin) return false;
    if (event->text != MD_TEXT_ENTITY) return place_plain(p, begin, event->end);
    const ferry_view name = {p->source.data + begin, event->end - begin};
    const bool divides = p->depth == 0 && (ferry_view_is(name, "&bull;") || ferry_view_is(name, "&middot;"));
    const ferry_md_kind kind = divides ? FERRY_MD_HARD_BREAK : FERRY_MD_ENTITY;
    return add_part(p, (ferry_md_part){.kind = kind, .begin = begin, .end = event->end});
}

/* A tag that may be several texts, one for each of its lines. */
static bool place_tag(placer *p, const ferry_md_event *event)
{
    ferry_inline_tag tag;
    if (!event->placed || p->at != event->begin) return false;
    const size_t size = ferry_inline_tag_read((ferry_view){p->source.data + p->at, p->source.size - p->at}, &tag);
    const size_t end = p->at + size;
    if (size == 0 || !add_part(p, (ferry_md_part){.kind = FERRY_MD_TAG, .begin = p->at, .end = end})) return false;
    while (p->next < p->count && p->events[p->next].kind == FERRY_MD_TEXT && p->events[p->next].text == MD_TEXT_HTML &&
           (!p->events[p->next].placed || p->events[p->next].end <= end))
        p->next++;
    return true;
}

/* The end of a line, and what the next one begins with. */
static bool place_break(placer *p, const ferry_md_event *event)
{
    const bool hard = event->text == MD_TEXT_BR;
    size_t at = p->at;
    while (byte_at(p, at) == ' ' || byte_at(p, at) == '\t') at++;
    if (hard && byte_at(p, at) == '\\') at++;
    if (byte_at(p, at) == '\r') at++;
    if (byte_at(p, at) == '\n') at++;
    if (at == p->at || (byte_at(p, at - 1) != '\n' && byte_at(p, at - 1) != '\r')) return false;
    while (byte_at(p, at) == ' ' || byte_at(p, at) == '\t' || byte_at(p, at) == '>') at++;
    return add_part(p, (ferry_md_part){.kind = hard ? FERRY_MD_HARD_BREAK : FERRY_MD_BREAK, .begin = p->at, .end = at});
}

/* ---- code ---- */

static size_t count_backticks(const placer *p, size_t at)
{
    size_t end = at;
    while (end < p->source.size && p->source.data[end] == '`') end++;
    return end - at;
}

/* Code, with its texts and its end. */
static bool place_code(placer *p)
{
    const size_t begin = p->at, ticks = count_backticks(p, begin);
    if (ticks == 0 || (begin > 0 && p->source.data[begin - 1] == '`')) return false;
    size_t end = begin + ticks, last = end;
    for (; p->next < p->count && p->events[p->next].kind == FERRY_MD_TEXT; p->next++)
        if (p->events[p->next].placed) last = p->events[p->next].end;
    if (p->next == p->count || p->events[p->next++].kind != FERRY_MD_LEAVE || last < end) return false;
    for (size_t run = 0; run != ticks; end += run) {
        while (end < p->source.size && p->source.data[end] != '`') end++;
        run = count_backticks(p, end);
        if (run == 0) return false;
    }
    ferry_md_part part = {.kind = FERRY_MD_KEPT, .begin = begin, .end = end};
    part.shown_begin = begin + ticks;
    part.shown_end = end - ticks;
    return last <= part.shown_end && add_part(p, part);
}

/* ---- links ---- */

/* Blanks, and at most one end of a line. */
static size_t skip_space(const placer *p, size_t at)
{
    while (strchr(" \t\r\n", byte_at(p, at)) != NULL && byte_at(p, at) != '\0') {
        const bool ends = byte_at(p, at) == '\n';
        at++;
        while (ends && byte_at(p, at) == '>') at++;
    }
    return at;
}

/* The byte after `close`, from `at`; 0: there is none. */
static size_t find_close(const placer *p, size_t at, char close)
{
    for (; at < p->limit; at++) {
        if (p->source.data[at] == close) return at + 1;
        if (p->source.data[at] == '\\') at++;
    }
    return 0;
}

static size_t skip_destination(const placer *p, size_t at)
{
    size_t depth = 0;
    if (byte_at(p, at) == '<') return find_close(p, at + 1, '>');
    for (; at < p->limit; at++) {
        const char c = p->source.data[at];
        if ((unsigned char)c <= ' ' || (c == ')' && depth == 0)) break;
        if (c == '\\' && is_punctuation(byte_at(p, at + 1))) at++;
        if (c == '(') depth++;
        if (c == ')') depth--;
    }
    return at;
}

/* "(destination "title")" at `at`: the byte after it; 0: there is none. */
static size_t skip_target(const placer *p, size_t at)
{
    at = skip_destination(p, skip_space(p, at + 1));
    if (at == 0) return 0;
    at = skip_space(p, at);
    const char c = byte_at(p, at);
    if (c == '"' || c == '\'' || c == '(') {
        at = find_close(p, at + 1, c == '(' ? ')' : c);
        if (at == 0) return 0;
        at = skip_space(p, at);
    }
    return byte_at(p, at) == ')' ? at + 1 : 0;
}

/* The marker at which a link or image ends: the byte after it, or 0. *by_text: its text is what names its target. */
static size_t skip_link_end(const placer *p, const span *link, bool *by_text)
{
    size_t end = 0;
    *by_text = false;
    if (byte_at(p, p->at) != (link->marker == '<' ? '>' : ']')) return 0;
    if (link->marker == '<') return p->at + 1;
    if (byte_at(p, p->at + 1) == '(') end = skip_target(p, p->at + 1);
    if (byte_at(p, p->at + 1) == '[') end = find_close(p, p->at + 2, ']');
    *by_text = end == 0 || (byte_at(p, p->at + 1) == '[' && end == p->at + 3); /* "]", "][]" */
    return end != 0 ? end : p->at + 1;
}

/* ---- spans ---- */

static size_t marker_size(const placer *p, MD_SPANTYPE type)
{
    const char first = byte_at(p, p->at), second = byte_at(p, p->at + 1);
    switch (type) {
    case MD_SPAN_EM: return first == '*' || first == '_';
    case MD_SPAN_STRONG: return first == second && (first == '*' || first == '_') ? 2 : 0;
    case MD_SPAN_DEL: return first != '~' ? 0 : second == '~' ? 2 : 1;
    case MD_SPAN_A: return first == '[' || first == '<';
    case MD_SPAN_IMG: return first == '!' && second == '[' ? 2 : 0;
    default: return 0;
    }
}

static bool enter(placer *p, MD_SPANTYPE type)
{
    if (type == MD_SPAN_CODE) return place_code(p);
    const size_t size = marker_size(p, type);
    span *grown = ferry_array_grow(p->spans, &p->span_capacity, p->depth + 1, sizeof *grown);
    if (grown == NULL) {
        p->status = ferry_fail_memory(p->error, "a document", (p->depth + 1) * sizeof *grown);
        return false;
    }
    p->spans = grown;
    if (size == 0) return false;
    grown[p->depth++] = (span){.type = type, .part = p->parts->count, .size = size, .marker = byte_at(p, p->at)};
    return add_part(p, (ferry_md_part){.kind = FERRY_MD_OPEN, .begin = p->at, .end = p->at + size});
}

/* The end of a link or an image. Addresses, and links whose text names the target, are kept; an image stands alone. */
static bool leave_link(placer *p, const span *link)
{
    bool by_text;
    const size_t end = skip_link_end(p, link, &by_text);
    if (end == 0) return false;
    if (link->type == MD_SPAN_A && !by_text && link->marker == '[')
        return add_part(p, (ferry_md_part){.kind = FERRY_MD_CLOSE, .begin = p->at, .end = end});
    ferry_md_part whole = p->parts->parts[link->part];
    whole.kind = link->type == MD_SPAN_A ? FERRY_MD_KEPT : FERRY_MD_POINT;
    whole.shown_begin = whole.end;
    whole.shown_end = p->at;
    whole.end = end;
    const bool is_plain = p->parts->count == link->part + 2 && whole.shown_begin < whole.shown_end &&
                          p->parts->parts[link->part + 1].kind == FERRY_MD_PLAIN;
    if (whole.kind == FERRY_MD_POINT && (by_text || !is_plain)) whole.shown_end = whole.shown_begin;
    p->parts->count = link->part;
    return add_part(p, whole);
}

static bool leave(placer *p, MD_SPANTYPE type)
{
    if (p->depth == 0 || p->spans[p->depth - 1].type != type) return false;
    const span *last = &p->spans[--p->depth];
    if (type == MD_SPAN_A || type == MD_SPAN_IMG) return leave_link(p, last);
    for (size_t i = 0; i < last->size; i++)
        if (byte_at(p, p->at + i) != last->marker) return false;
    return add_part(p, (ferry_md_part){.kind = FERRY_MD_CLOSE, .begin = p->at, .end = p->at + last->size});
}

/* ---- blocks ---- */

/* Sets p->limit for the events from p->next on. */
static void find_limit(placer *p, size_t *placed)
{
    if (*placed < p->next) *placed = p->next;
    while (*placed < p->count && !p->events[*placed].placed) (*placed)++;
    p->limit = *placed < p->count ? p->events[*placed].begin : p->source.size;
}

static bool place_event(placer *p, const ferry_md_event *event)
{
    if (event->kind == FERRY_MD_ENTER) return enter(p, event->span);
    if (event->kind == FERRY_MD_LEAVE) return leave(p, event->span);
    if (event->text == MD_TEXT_BR || event->text == MD_TEXT_SOFTBR) return place_break(p, event);
    return event->text == MD_TEXT_HTML ? place_tag(p, event) : place_text(p, event);
}

/* Places all events, if the first of them is at byte `begin`. */
static bool place_all(placer *p, size_t begin)
{
    size_t placed = 0;
    p->at = begin;
    p->next = p->depth = p->parts->count = 0;
    while (p->next < p->count) {
        find_limit(p, &placed);
        if (!place_event(p, &p->events[p->next++])) return false;
    }
    return p->depth == 0;
}

ferry_status ferry_md_place(ferry_view source, size_t least, const ferry_md_event *events, size_t count,
                            ferry_md_parts *parts, ferry_error *error)
{
    placer p = {.source = source, .events = events, .count = count, .parts = parts, .error = error};
    size_t placed = 0;
    find_limit(&p, &placed);
    size_t begin = p.limit;
    bool done = false;
    if (placed == 0 && count > 0 && begin > least && source.data[begin - 1] == '\\' &&
        is_punctuation(source.data[begin]))
        begin--;
    /* Markers may be before the first text. */
    for (; placed < count && !done && p.status == FERRY_OK; begin--) {
        const char c = begin < source.size ? source.data[begin] : '\0';
        if (begin == events[placed].begin || is_punctuation(c)) done = place_all(&p, begin);
        if (begin == least || events[placed].begin - begin == MOST_MARKERS) break;
    }
    free(p.spans);
    if (!done) parts->count = 0;
    return p.status;
}
