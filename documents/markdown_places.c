/* Where the parts of a block are. Between two texts there are the markers of the spans that begin or end there, in the
 * order in which md4c tells of them, or the end of a line; everything else is a block that stays. */
#include "lines.h"
#include "markdown_parts.h"

enum { MOST_MARKERS = 4096 }; /* bytes before the first text of a block */

typedef struct placer {
    ferry_view source;
    ferry_view seen;              /* the source up to the next text that is placed already */
    const ferry_md_event *events; /* [count] */
    size_t count;
    size_t next; /* the event that is to be placed */
    size_t at;   /* the source up to here is placed */
    size_t open; /* the part that opens the innermost element; SIZE_MAX: there is none */
    ferry_md_parts *parts;
    ferry_error *error;
    ferry_status status;
} placer;

/* Adds what is from p->at to byte `end`. */
static bool add_part(placer *p, ferry_md_kind kind, size_t end)
{
    ferry_md_parts *parts = p->parts;
    const size_t begin = p->at, count = parts->count;
    p->at = end;
    if (count > 0 && kind == FERRY_MD_PLAIN && parts->parts[count - 1].kind == kind) {
        parts->parts[count - 1].end = end;
        return true;
    }
    ferry_md_part *grown = ferry_array_grow(parts->parts, &parts->capacity, count + 1, sizeof *grown);
    if (grown == NULL) {
        p->status = ferry_fail_memory(p->error, "a document", (count + 1) * sizeof *grown);
        return false;
    }
    parts->parts = grown;
    grown[parts->count++] = (ferry_md_part){kind, begin, end, begin, end, p->open, parts->tag_count};
    return true;
}

/* ---- text ---- */

/* " | ", " • " and " · " in a text, or "|" as all of it: the bytes of what is at byte `at`, or 0. */
static size_t separator_size(ferry_view text, size_t at, bool is_first)
{
    static const char *const separators[] = {"|", "\xE2\x80\xA2", "\xC2\xB7"};
    const size_t blank = text.data[at] == ' ';
    for (size_t i = 0; i < sizeof separators / sizeof *separators; i++) {
        const size_t end = at + blank + strlen(separators[i]);
        const bool ends = blank > 0 ? byte_at(text, end) == ' ' : is_first && end == text.size;
        if (ends && begins_exactly(text, at + blank, separators[i])) return end + blank - at;
    }
    return 0;
}

static bool is_mark(char c)
{
    return (unsigned char)c >= FERRY_MD_DIVIDES;
}

/* Text, with what is marked in it, and what divides it. */
static bool place_plain(placer *p, size_t end)
{
    const ferry_view text = {p->source.data, end};
    for (size_t begin = p->at, at = begin, after; at < end; at = after) {
        const size_t separator = separator_size(text, at, at == begin);
        ferry_md_kind kind = is_mark(text.data[at]) ? (ferry_md_kind)(unsigned char)text.data[at] : FERRY_MD_PLAIN;
        after = separator > 0 ? at + separator : kind != FERRY_MD_PLAIN ? skip_same(text, at) : at + 1;
        if (separator > 0 && p->open == SIZE_MAX) kind = FERRY_MD_DIVIDES;
        while (kind == FERRY_MD_PLAIN && after < end && text.data[after] != ' ' && !is_mark(text.data[after])) after++;
        if (!add_part(p, kind, after)) return false;
    }
    return true;
}

static bool place_text(placer *p, const ferry_md_event *event)
{
    if (event->type == MD_TEXT_NULLCHAR)
        return p->at < p->seen.size && p->seen.data[p->at] == '\0' && add_part(p, FERRY_MD_STANDS, p->at + 1);
    if (event->begin == event->end) return true;
    size_t begin = event->begin;
    if (p->at + 1 == begin && p->source.data[p->at] == '\\') {
        begin++;
        if (!add_part(p, FERRY_MD_ESCAPED, begin)) return false;
    }
    if (p->at != begin) return false;
    if (event->type != MD_TEXT_ENTITY) return place_plain(p, event->end);
    const ferry_view name = view_part(p->source, begin, event->end);
    const bool divides = p->open == SIZE_MAX && (ferry_view_is(name, "&bull;") || ferry_view_is(name, "&middot;"));
    return add_part(p, divides ? FERRY_MD_DIVIDES : FERRY_MD_ENTITY, event->end);
}

/* A tag that may be several texts, one for each of its lines. */
static bool place_tag(placer *p, const ferry_md_event *event)
{
    ferry_md_parts *parts = p->parts;
    ferry_inline_tag tag;
    if (p->at != event->begin) return false;
    const size_t size = ferry_inline_tag_read(view_part(p->source, p->at, p->source.size), &tag);
    tag.part = parts->count;
    if (size == 0 || !add_part(p, FERRY_MD_TAG, p->at + size)) return false;
    ferry_inline_tag *grown = ferry_array_grow(parts->tags, &parts->tag_capacity, parts->tag_count + 1, sizeof *grown);
    if (grown == NULL) {
        p->status = ferry_fail_memory(p->error, "tags", (parts->tag_count + 1) * sizeof *grown);
        return false;
    }
    parts->tags = grown;
    grown[parts->tag_count++] = tag;
    while (p->next < p->count && p->events[p->next].kind == FERRY_MD_TEXT && p->events[p->next].type == MD_TEXT_HTML &&
           p->events[p->next].end <= p->at)
        p->next++;
    return true;
}

/* The end of a line, and what the next one begins with. */
static bool place_break(placer *p, bool hard)
{
    size_t at = skip_blanks(p->seen, p->at);
    at += hard && byte_at(p->seen, at) == '\\';
    at += byte_at(p->seen, at) == '\r';
    at += byte_at(p->seen, at) == '\n';
    if (at == p->at || !is_line_end(p->source.data[at - 1])) return false;
    return add_part(p, hard ? FERRY_MD_DIVIDES : FERRY_MD_BREAK, skip_set(p->seen, at, " \t>"));
}

/* Sets what is seen for the event that is the next one. */
static void look_ahead(placer *p)
{
    p->seen.size = p->next < p->count ? p->events[p->next].begin : p->source.size;
}

/* Code, with its texts and its end. */
static bool place_code(placer *p)
{
    const size_t begin = p->at, ticks = byte_at(p->seen, begin) == '`' ? skip_same(p->seen, begin) - begin : 0;
    size_t close = begin + ticks;
    if (ticks == 0 || (begin > 0 && p->source.data[begin - 1] == '`')) return false;
    for (; p->next < p->count && p->events[p->next].kind == FERRY_MD_TEXT; p->next++)
        if (p->events[p->next].begin < p->events[p->next].end) close = p->events[p->next].end;
    p->next++;
    look_ahead(p);
    close = find_one_of(p->seen, close, "`");
    if (close == p->seen.size || skip_same(p->seen, close) != close + ticks) return false;
    if (!add_part(p, FERRY_MD_KEPT, close + ticks)) return false;
    p->parts->parts[p->parts->count - 1].shown_begin = begin + ticks;
    p->parts->parts[p->parts->count - 1].shown_end = close;
    return true;
}

/* ---- elements ---- */

static bool enter(placer *p, MD_SPANTYPE type)
{
    static const char *const markers[] = {
        [MD_SPAN_EM] = "*_", [MD_SPAN_STRONG] = "*_", [MD_SPAN_DEL] = "~", [MD_SPAN_A] = "[<", [MD_SPAN_IMG] = "!"};
    if (type == MD_SPAN_CODE) return place_code(p);
    const char first = byte_at(p->seen, p->at);
    const bool twice = byte_at(p->seen, p->at + 1) == (type == MD_SPAN_IMG ? '[' : first);
    const bool is_long = twice && type != MD_SPAN_EM && type != MD_SPAN_A;
    if (!is_one_of(first, markers[type]) || (!is_long && (type == MD_SPAN_STRONG || type == MD_SPAN_IMG))) return false;
    if (!add_part(p, FERRY_MD_OPEN, p->at + 1 + is_long)) return false;
    p->open = p->parts->count - 1;
    return true;
}

/* "(destination "title")" or "[label]" at byte `begin`: the byte after it; 0: it does not end. */
static size_t skip_target(ferry_view text, size_t begin)
{
    const bool is_label = text.data[begin] == '[';
    const size_t first = skip_set(text, begin + 1, " \t\r\n>");
    size_t depth = 0;
    char quote = '\0'; /* what ends the quotation */
    for (size_t at = first; at < text.size; at++) {
        const char c = text.data[at];
        if (c == '\\')
            at++;
        else if (quote != '\0')
            quote = c == quote ? '\0' : quote;
        else if (c == (is_label ? ']' : ')') && depth-- == 0)
            return at + 1;
        else if (!is_label && c == '<' && at == first)
            quote = '>';
        else if (!is_label && at > first && is_one_of(c, "\"'(") && is_one_of(text.data[at - 1], " \t\r\n"))
            quote = c == '(' ? ')' : c;
        else if (!is_label && c == '(')
            depth++;
    }
    return 0;
}

/* The end of a link or an image, which part `open` begins. Addresses, and links whose text names the target, are kept;
 * an image stands alone. */
static bool leave_link(placer *p, size_t open)
{
    ferry_md_part whole = p->parts->parts[open];
    const char marker = p->source.data[whole.begin], after = byte_at(p->seen, p->at + 1);
    size_t end = p->at + 1;
    if (byte_at(p->seen, p->at) != (marker == '<' ? '>' : ']')) return false;
    const bool has_target = marker != '<' && is_one_of(after, "([");
    if (has_target) end = skip_target(p->seen, end);
    if (end == 0) return false;
    const bool by_text = !has_target || (after == '[' && end == p->at + 3); /* "]", "][]" */
    if (marker == '[' && !by_text) return add_part(p, FERRY_MD_CLOSE, end);
    const bool has_text = p->parts->count == open + 2 && p->parts->parts[open + 1].kind == FERRY_MD_PLAIN;
    whole.kind = marker == '!' ? FERRY_MD_STANDS : FERRY_MD_KEPT;
    whole.shown_begin = whole.end;
    whole.shown_end = marker == '!' && (by_text || !has_text) ? whole.end : p->at;
    whole.end = p->at = end;
    p->parts->parts[open] = whole;
    p->parts->count = open + 1;
    p->parts->tag_count = whole.tag;
    return true;
}

static bool leave(placer *p)
{
    const size_t open = p->open;
    const ferry_md_part *begin = &p->parts->parts[open];
    const char marker = p->source.data[begin->begin];
    const size_t end = p->at + (begin->end - begin->begin);
    p->open = begin->outer;
    if (is_one_of(marker, "[<!")) return leave_link(p, open);
    for (size_t at = p->at; at < end; at++)
        if (byte_at(p->seen, at) != marker) return false;
    return add_part(p, FERRY_MD_CLOSE, end);
}

/* ---- blocks ---- */

static bool place_event(placer *p, const ferry_md_event *event)
{
    if (event->kind == FERRY_MD_ENTER) return enter(p, (MD_SPANTYPE)event->type);
    if (event->kind == FERRY_MD_LEAVE) return leave(p);
    switch (event->type) {
    case MD_TEXT_BR: return place_break(p, true);
    case MD_TEXT_SOFTBR: return place_break(p, false);
    case MD_TEXT_HTML: return place_tag(p, event);
    default: return place_text(p, event);
    }
}

/* Places all events, if the first of them is at byte `begin`. */
static bool place_all(placer *p, size_t begin)
{
    p->at = begin;
    p->next = p->parts->count = p->parts->tag_count = 0;
    p->open = SIZE_MAX;
    while (p->next < p->count) {
        look_ahead(p);
        if (!place_event(p, &p->events[p->next++])) return false;
    }
    return true;
}

ferry_status ferry_md_place(ferry_view source, size_t least, ferry_md_event *events, size_t count,
                            ferry_md_parts *parts, ferry_error *error)
{
    placer p = {.source = source, .seen = source, .events = events, .count = count, .parts = parts, .error = error};
    size_t begin = source.size;
    for (size_t i = count; i-- > 0; begin = events[i].begin)
        if (events[i].begin == events[i].end) events[i].begin = events[i].end = begin;
    if (begin == source.size) return FERRY_OK;
    /* Markers may be before the first text. */
    const size_t first = begin > least + MOST_MARKERS ? begin - MOST_MARKERS : least;
    begin -= events->begin < events->end && begin > least && source.data[begin - 1] == '\\';
    bool done = place_all(&p, begin);
    while (!done && begin > first && p.status == FERRY_OK) done = place_all(&p, --begin);
    if (!done) parts->count = parts->tag_count = 0;
    return p.status;
}
