/* Subtitles: SubRip (.srt) and WebVTT (.vtt). The lines from one with times ("-->") to a blank one are a cue's text,
 * which is translated by itself; everything else stays: numbers, times, settings, headers, notes, styles. A line that
 * begins with a dash is what another person says. */
#include <string.h>

#include "formats.h"

enum {
    LINE_COLUMNS = 42, /* which a line may have: what guides for subtitles recommend */
    TAG_BYTES = 256    /* of a tag, at most */
};

typedef struct line {
    size_t begin, end, next; /* without and with what ends it: "\n", "\r\n", "\r" */
} line;

typedef struct reader {
    ferry_document *document;
    ferry_view source;
    bool references; /* "&amp;" is "&" */
    bool begun;      /* a block has begun, and */
    size_t end;      /* where the text of its last line ends */
} reader;

static line read_line(ferry_view source, size_t begin)
{
    line l = {.begin = begin, .end = begin};
    while (l.end < source.size && source.data[l.end] != '\n' && source.data[l.end] != '\r') l.end++;
    l.next = l.end + (l.end < source.size);
    if (l.next < source.size && source.data[l.end] == '\r' && source.data[l.next] == '\n') l.next++;
    return l;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool is_blank_line(ferry_view source, const line *l)
{
    size_t at = l->begin;
    while (at < l->end && is_blank(source.data[at])) at++;
    return at == l->end;
}

static bool has_times(ferry_view source, const line *l)
{
    return ferry_view_contains((ferry_view){source.data + l->begin, l->end - l->begin}, "-->");
}

static bool is_letter(char c)
{
    return (c | 32) >= 'a' && (c | 32) <= 'z';
}

/* Whether the line is the number of the next cue, though no blank line is before it. */
static bool is_number(ferry_view source, const line *l)
{
    size_t at = l->begin;
    while (at < l->end && source.data[at] >= '0' && source.data[at] <= '9') at++;
    if (at == l->begin || at < l->end || l->next == source.size) return false;
    const line next = read_line(source, l->next);
    return has_times(source, &next);
}

/* ---- parts of text ---- */

/* The byte after the tag that begins at `at`: <i>, </i>, <v Name>, <00:19.000>, {\an8}; or `at`. */
static size_t skip_tag(ferry_view source, size_t at, size_t end)
{
    if (end - at < 3) return at;
    const char c = source.data[at], next = source.data[at + 1];
    if (c == '{' && next != '\\') return at;
    if (c != '{' && (c != '<' || !(is_letter(next) || next == '/' || (next >= '0' && next <= '9')))) return at;
    const size_t most = end - at < TAG_BYTES ? end - at : TAG_BYTES;
    const char *close = memchr(source.data + at, c == '{' ? '}' : '>', most);
    return close != NULL ? (size_t)(close - source.data) + 1 : at;
}

/* The byte after the dash that begins a line at `at`, and the blanks after it; or `at`. */
static size_t skip_dash(ferry_view source, size_t at, size_t end)
{
    static const char *const dashes[] = {"-", "\xE2\x80\x90", "\xE2\x80\x93", "\xE2\x80\x94"};
    for (size_t i = 0; i < sizeof dashes / sizeof *dashes; i++) {
        const size_t size = strlen(dashes[i]);
        if (end - at <= size || memcmp(source.data + at, dashes[i], size) != 0) continue;
        at += size;
        while (at < end && is_blank(source.data[at])) at++;
        return at;
    }
    return at;
}

/* A character that WebVTT gives by name at `at`; its size, or 0. */
static size_t read_reference(ferry_view source, size_t at, size_t end, ferry_view *decoded)
{
    static const char *const names[][2] = {{"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}, {"&nbsp;", "\xC2\xA0"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const size_t size = strlen(names[i][0]);
        if (end - at < size || memcmp(source.data + at, names[i][0], size) != 0) continue;
        *decoded = ferry_text_view(names[i][1]);
        return size;
    }
    return 0;
}

static ferry_status add_tag(const reader *r, size_t begin, size_t end)
{
    const char next = r->source.data[begin + 1];
    if (r->source.data[begin] == '<' && next == '/') return ferry_document_close(r->document, begin, end);
    if (r->source.data[begin] == '<' && is_letter(next)) return ferry_document_open(r->document, begin, end);
    return ferry_document_point(r->document, begin, end);
}

static ferry_status add_text(const reader *r, size_t at, size_t end)
{
    const ferry_view same = {NULL, 0};
    size_t begin = at;
    while (at < end) {
        ferry_view decoded;
        const size_t after = skip_tag(r->source, at, end);
        const size_t reference = r->references ? read_reference(r->source, at, end, &decoded) : 0;
        if (after == at && reference == 0) {
            at++;
            continue;
        }
        FERRY_TRY(ferry_document_text(r->document, begin, at, same));
        if (after > at) FERRY_TRY(add_tag(r, at, after));
        if (after == at) FERRY_TRY(ferry_document_text(r->document, at, at + reference, decoded));
        begin = at = after > at ? after : at + reference;
    }
    return ferry_document_text(r->document, begin, end, same);
}

/* ---- cues ---- */

/* Where the text of the line begins: behind blanks, and behind tags and a dash if there is a dash. */
static size_t find_text(ferry_view source, const line *l, bool *dash)
{
    size_t at = l->begin, begin;
    while (at < l->end && is_blank(source.data[at])) at++;
    begin = at;
    for (size_t after; (after = skip_tag(source, at, l->end)) > at;) at = after;
    const size_t text = skip_dash(source, at, l->end);
    *dash = text > at;
    return *dash ? text : begin;
}

/* A line of a cue. */
static ferry_status add_line(reader *r, const line *l)
{
    bool dash;
    const size_t text = find_text(r->source, l, &dash), before = r->end;
    r->end = l->end;
    while (r->end > text && is_blank(r->source.data[r->end - 1])) r->end--;
    if (r->begun && dash) {
        FERRY_TRY(ferry_document_end_block(r->document, before));
        r->begun = false;
    }
    if (r->begun) {
        FERRY_TRY(ferry_document_break(r->document, before, text, true));
    } else {
        FERRY_TRY(ferry_document_begin_block(r->document, text));
        const ferry_view line_end = {r->source.data + l->end, l->next - l->end};
        if (line_end.size > 0) FERRY_TRY(ferry_document_wrap(r->document, LINE_COLUMNS, line_end));
    }
    r->begun = true;
    return add_text(r, text, r->end);
}

/* The lines up to a blank one; *at: the byte after them. */
static ferry_status add_cue(reader *r, size_t *at)
{
    r->begun = false;
    while (*at < r->source.size) {
        const line l = read_line(r->source, *at);
        if (is_blank_line(r->source, &l) || has_times(r->source, &l) || is_number(r->source, &l)) break;
        FERRY_TRY(add_line(r, &l));
        *at = l.next;
    }
    return r->begun ? ferry_document_end_block(r->document, r->end) : FERRY_OK;
}

static ferry_status read_cues(ferry_document *document, bool references)
{
    reader r = {.document = document, .source = document->source, .references = references};
    for (size_t at = 0; at < r.source.size;) {
        const line l = read_line(r.source, at);
        at = l.next;
        if (has_times(r.source, &l)) FERRY_TRY(add_cue(&r, &at));
    }
    return FERRY_OK;
}

/* ---- the formats ---- */

static ferry_status read_srt(ferry_document *document)
{
    return read_cues(document, false);
}

static ferry_status read_vtt(ferry_document *document)
{
    return read_cues(document, true);
}

static ferry_status write_vtt(ferry_string *out, ferry_view text, bool begins_line, ferry_error *error)
{
    (void)begins_line;
    for (size_t i = 0; i < text.size; i++) {
        const char c = text.data[i];
        const ferry_view name = ferry_text_view(c == '&' ? "&amp;" : c == '<' ? "&lt;" : "&gt;");
        const bool special = c == '&' || c == '<' || c == '>';
        FERRY_TRY(ferry_string_append(out, special ? name : (ferry_view){text.data + i, 1}, error));
    }
    return FERRY_OK;
}

static const char *const srt_endings[] = {".srt", NULL}, *const vtt_endings[] = {".vtt", NULL};
const ferry_document_format ferry_format_srt = {.name = "srt", .endings = srt_endings, .read = read_srt};
const ferry_document_format ferry_format_vtt = {
    .name = "vtt", .endings = vtt_endings, .read = read_vtt, .write_text = write_vtt};
