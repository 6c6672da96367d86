/* Where the parts of a block are. Between two texts there are the markers of the spans that begin or end there, in the
 * order in which md4c tells of them, or the end of a line; everything else is a block that stays. */
#include "base/array.h"
#include "documents/characters.h"
#include "markdown.h"

enum { MOST_MARKERS = 4096 }; /* bytes before the first text of a block */

/* Adds what is from r->at to byte `end`. */
static bool add_part(ferry_md_reader *r, ferry_md_kind kind, size_t end)
{
    const size_t begin = r->at, count = r->part_count;
    r->at = end;
    if (count > 0 && kind == FERRY_MD_PLAIN && r->parts[count - 1].kind == kind) {
        r->parts[count - 1].end = end;
        return true;
    }
    const ferry_md_part part = {kind, begin, end, begin, end, r->open};
    r->status = ferry_array_append(&r->parts, &r->part_count, &r->part_capacity, &part, sizeof part, r->error);
    return r->status == FERRY_OK;
}

/* ---- text ---- */

/* What divides texts at byte `at`; the signs without blanks are all of the text: the bytes, or 0. */
static size_t separator_size(ferry_view text, size_t at, bool is_first)
{
    static const char *const separators[] = {" | ", " \xE2\x80\xA2 ", " \xC2\xB7 ", "|", "\xE2\x80\xA2", "\xC2\xB7"};
    for (size_t i = 0; i < sizeof separators / sizeof *separators; i++) {
        const size_t size = strlen(separators[i]);
        if (begins_exactly(text, at, separators[i]) && (i < 3 || (is_first && at + size == text.size))) return size;
    }
    return 0;
}

/* Text, with what is marked in it, and what divides it. */
static bool place_plain(ferry_md_reader *r, size_t end)
{
    const ferry_view text = {r->text.data, end};
    for (size_t begin = r->at, at = begin; at < end; at = r->at) {
        const size_t separator = r->open == SIZE_MAX ? separator_size(text, at, at == begin) : 0;
        const bool has_edge =
            text.data[at] == FERRY_MD_EDGE && (unsigned char)byte_at(text, at + 1) >= FERRY_MD_DIVIDES;
        const unsigned char c = (unsigned char)text.data[at + has_edge];
        const bool is_mark = c >= FERRY_MD_DIVIDES;
        const size_t after = is_mark         ? skip_same(text, at + has_edge) + has_edge
                             : separator > 0 ? at + separator
                                             : find_one_of(text, at + 1, " ,\xFD\xFE\xFF");
        const ferry_md_kind kind = is_mark ? (ferry_md_kind)c : separator > 0 ? FERRY_MD_DIVIDES : FERRY_MD_PLAIN;
        ferry_md_part *last = r->part_count > 0 ? &r->parts[r->part_count - 1] : NULL;
        if (c == FERRY_MD_DIVIDES && last != NULL && last->end == at && last->shown_begin >= last->begin &&
            (last->kind == FERRY_MD_CLOSE || last->kind >= FERRY_MD_STANDS))
            last->end = r->at = after; /* attributes of the element, of code, of an image */
        else if (!add_part(r, kind, after))
            return false;
    }
    return true;
}

static bool place_text(ferry_md_reader *r, const ferry_md_event *event)
{
    if (event->type == MD_TEXT_NULLCHAR)
        return r->at < r->seen.size && r->seen.data[r->at] == '\0' && add_part(r, FERRY_MD_STANDS, r->at + 1);
    if (event->begin == event->end) return true;
    size_t begin = event->begin;
    if (r->at + 1 == begin && r->text.data[r->at] == '\\') {
        begin++;
        if (!add_part(r, FERRY_MD_ESCAPED, begin)) return false;
    }
    if (r->at != begin) return false;
    if (event->type != MD_TEXT_ENTITY) return place_plain(r, event->end);
    const ferry_view name = view_part(r->seen, begin, event->end);
    const bool divides = r->open == SIZE_MAX && (ferry_view_is(name, "&bull;") || ferry_view_is(name, "&middot;"));
    return add_part(r, divides ? FERRY_MD_DIVIDES : FERRY_MD_ENTITY, event->end);
}

/* A tag that may be several texts, one for each of its lines. */
static bool place_tag(ferry_md_reader *r, const ferry_md_event *event)
{
    ferry_inline_tag tag;
    if (r->at != event->begin) return false;
    const size_t size = ferry_inline_tag_read(view_part(r->seen, r->at, r->text.size), &tag);
    if (size == 0 || !add_part(r, FERRY_MD_TAG, r->at + size)) return false;
    while (r->next < r->event_count && r->events[r->next].kind == FERRY_MD_TEXT &&
           r->events[r->next].type == MD_TEXT_HTML && r->events[r->next].end <= r->at)
        r->next++;
    return true;
}

/* The end of a line, and what the next one begins with. */
static bool place_break(ferry_md_reader *r, bool hard)
{
    size_t at = skip_blanks(r->seen, r->at);
    at += hard && byte_at(r->seen, at) == '\\';
    at += byte_at(r->seen, at) == '\r';
    at += byte_at(r->seen, at) == '\n';
    if (at == r->at || !is_line_end(r->text.data[at - 1])) return false;
    return add_part(r, hard ? FERRY_MD_DIVIDES : FERRY_MD_BREAK, skip_set(r->seen, at, " \t>"));
}

/* Code, with its texts and its end. */
static bool place_code(ferry_md_reader *r)
{
    const size_t begin = r->at, ticks = byte_at(r->seen, begin) == '`' ? skip_same(r->seen, begin) - begin : 0;
    size_t close = begin + ticks;
    if (ticks == 0 || (begin > 0 && r->text.data[begin - 1] == '`')) return false;
    for (; r->next + 1 < r->event_count && r->events[r->next].kind == FERRY_MD_TEXT; r->next++)
        if (r->events[r->next].begin < r->events[r->next].end) close = r->events[r->next].end;
    r->seen.size = r->events[r->next++].begin;
    close = find_one_of(r->seen, close, "`");
    if (close == r->seen.size || skip_same(r->seen, close) != close + ticks) return false;
    if (!add_part(r, FERRY_MD_KEPT, close + ticks)) return false;
    r->parts[r->part_count - 1].shown_begin = begin + ticks;
    r->parts[r->part_count - 1].shown_end = close;
    return true;
}

/* ---- elements ---- */

/* The markers that elements begin with. */
static const char *const markers[][2] = {[MD_SPAN_EM] = {"*", "_"},
                                         [MD_SPAN_STRONG] = {"**", "__"},
                                         [MD_SPAN_A] = {"[", "<"},
                                         [MD_SPAN_IMG] = {"![", "!["},
                                         [MD_SPAN_DEL] = {"~~", "~"}};

static bool enter(ferry_md_reader *r, int type)
{
    if (type == MD_SPAN_CODE) return place_code(r);
    const char *const *marker = markers[type];
    if (!begins_exactly(r->seen, r->at, *marker)) marker++;
    if (!begins_exactly(r->seen, r->at, *marker) || !add_part(r, FERRY_MD_OPEN, r->at + strlen(*marker))) return false;
    r->open = r->part_count - 1;
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
        const bool quotes = at == first ? c == '<' : is_one_of(c, "\"'(") && is_one_of(text.data[at - 1], " \t\r\n");
        if (c == '\\')
            at++;
        else if (quote != '\0')
            quote = c == quote ? '\0' : quote;
        else if (c == (is_label ? ']' : ')') && depth-- == 0)
            return at + 1;
        else if (!is_label && quotes)
            quote = c == '<' ? '>' : c == '(' ? ')' : c;
        else
            depth += !is_label && c == '(';
    }
    return 0;
}

/* The end of a link or an image, which part `open` begins. Addresses, and links whose text, one word, names the target,
 * are kept; an image stands alone. */
static bool leave_link(ferry_md_reader *r, size_t open)
{
    ferry_md_part whole = r->parts[open];
    const char marker = r->text.data[whole.begin], after = byte_at(r->seen, r->at + 1);
    size_t end = r->at + 1;
    if (byte_at(r->seen, r->at) != (marker == '<' ? '>' : ']')) return false;
    const bool has_target = marker != '<' && is_one_of(after, "([");
    if (has_target) end = skip_target(r->seen, end);
    if (end == 0) return false;
    const bool by_text = !has_target || (after == '[' && end == r->at + 3); /* "]", "][]" */
    if (marker == '[' && !by_text) return add_part(r, FERRY_MD_CLOSE, end);
    size_t text = open + 1; /* of links, it may have several lines */
    while (text < r->part_count &&
           (r->parts[text].kind == FERRY_MD_PLAIN || (r->parts[text].kind == FERRY_MD_BREAK && marker == '[')))
        text++;
    const bool has_text = text == r->part_count && text > open + 1;
    if (marker == '[' && has_text && find_one_of(r->seen, whole.end, " \n") < r->at) {
        whole.end = r->at + 1;
        if (!add_part(r, FERRY_MD_CLOSE, end)) return false;
        r->parts[r->part_count - 1].shown_begin = whole.begin;
        r->parts[r->part_count - 1].shown_end = whole.end;
        return true;
    }
    whole.kind = marker == '!' ? FERRY_MD_STANDS : FERRY_MD_KEPT;
    whole.shown_begin = whole.end;
    whole.shown_end = marker == '!' && (by_text || !has_text) ? whole.end : r->at;
    whole.end = r->at = end;
    r->parts[open] = whole;
    r->part_count = open + 1;
    return true;
}

static bool leave(ferry_md_reader *r, int type)
{
    if (r->open == SIZE_MAX) return false;
    const size_t open = r->open;
    const ferry_view marker = view_part(r->seen, r->parts[open].begin, r->parts[open].end);
    if (*marker.data != *markers[type][0] && *marker.data != *markers[type][1]) return false;
    r->open = r->parts[open].outer;
    if (type == MD_SPAN_A || type == MD_SPAN_IMG) return leave_link(r, open);
    const size_t end = r->at + marker.size;
    return end <= r->seen.size && ferry_view_equal(view_part(r->seen, r->at, end), marker) &&
           add_part(r, FERRY_MD_CLOSE, end);
}

/* ---- blocks ---- */

static bool place_event(ferry_md_reader *r, const ferry_md_event *event)
{
    if (event->kind == FERRY_MD_ENTER) return enter(r, event->type);
    if (event->kind == FERRY_MD_LEAVE) return leave(r, event->type);
    switch (event->type) {
    case MD_TEXT_BR: return place_break(r, true);
    case MD_TEXT_SOFTBR: return place_break(r, false);
    case MD_TEXT_HTML: return place_tag(r, event);
    default: return place_text(r, event);
    }
}

/* Places all events, if the first of them is at byte `begin`. */
static bool place_all(ferry_md_reader *r, size_t begin)
{
    r->at = begin;
    r->next = r->part_count = 0;
    r->open = SIZE_MAX;
    while (r->next < r->event_count) {
        r->seen.size = r->events[r->next].begin;
        if (!place_event(r, &r->events[r->next++])) return false;
    }
    return true;
}

ferry_status ferry_md_place(ferry_md_reader *r)
{
    ferry_md_event *events = r->events;
    size_t begin = r->text.size;
    for (size_t i = r->event_count; i-- > 0; begin = events[i].begin)
        if (events[i].begin == events[i].end) events[i].begin = events[i].end = begin;
    if (begin == r->text.size) return FERRY_OK;
    /* Markers may be before the first text. */
    const size_t first = begin > r->least + MOST_MARKERS ? begin - MOST_MARKERS : r->least;
    begin -= events->begin < events->end && begin > r->least && r->text.data[begin - 1] == '\\';
    bool done = place_all(r, begin);
    while (!done && begin > first && r->status == FERRY_OK) done = place_all(r, --begin);
    if (!done) r->part_count = 0;
    return r->status;
}
