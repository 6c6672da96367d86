/* Subtitles: SubRip (.srt) and WebVTT (.vtt). The lines after one with times ("-->") are a cue: in WebVTT to an empty
 * line, in SubRip, where players show more, to the next cue's number or times. Everything else stays: numbers, times,
 * settings, headers, notes, styles, cues of data. A cue is one text in wrapped lines, unless dividers are in it, which
 * stay: blank lines, what says who speaks ("- ", ">> ", "ANN [SIGHS]: ", <v Ann>), the brackets of a sound, notes of
 * music, \N, \h, <br>. A line that is an element of its own (<i>…</i>) is a text of its own. */
#include "base/utf8.h"
#include "tokenizer/unicode.h"
#include "documents/characters.h"
#include "documents/entities.h"
#include "formats.h"

enum { LINE_COLUMNS = 42 };                                   /* of a line: what guides for subtitles recommend */
enum { MOST_TAG = 256, MOST_LABEL = 32, MOST_BRACKET = 200 }; /* bytes, so that time is linear */

/* ---- lines ---- */

static bool has_times(ferry_view source, const text_line *l)
{
    return ferry_view_contains(view_part(source, l->begin, l->end), "-->");
}

/* Whether the line cannot be text of a cue: it has times, or is the number of the next cue, though no blank line is
 * before it. */
static bool ends_cue(ferry_view source, const text_line *l)
{
    if (has_times(source, l)) return true;
    if (skip(source, l->begin, is_digit, SIZE_MAX) < l->end || l->next == source.size) return false;
    const text_line next = read_text_line(source, l->next);
    return has_times(source, &next);
}

/* ---- what is not text, at byte `at` of a cue: the byte after it, or `at` ---- */

/* The byte after blanks, marks of direction and references to these, with which a line may begin. */
static size_t skip_begin(ferry_view source, size_t at)
{
    char mark[8];
    for (size_t size = 1, bytes; size > 0; at += size) {
        at = skip_marks(source, at);
        size = ferry_entity_read(view_part(source, at, source.size), mark, &bytes);
        if (size > 0 && skip_marks((ferry_view){mark, bytes}, 0) < bytes) break;
    }
    return at;
}

/* Whether a tag begins here, or looks as if: <i, </i, <00:19.000, {\an8; SubStation's \N, \h. */
static bool begins_tag(ferry_view source, size_t at)
{
    const char c = byte_at(source, at), next = byte_at(source, at + 1);
    if (c == '\\') return next == 'N' || next == 'h';
    return c == '{' ? next == '\\' : c == '<' && (is_letter(next) || is_digit(next) || next == '/');
}

static size_t skip_tag(ferry_view source, size_t at)
{
    if (!begins_tag(source, at)) return at;
    const char close = source.data[at] == '{' ? '}' : '>';
    if (source.data[at] == '\\') return at + 2;
    for (size_t end = at; !ends_line(source, end) && end - at < MOST_TAG; end++)
        if (source.data[end] == close) return end + 1;
    return at;
}

/* The bracket that ends what begins with one at `at`, or `at`. */
static size_t find_partner(ferry_view source, size_t at)
{
    const char open = byte_at(source, at), close = open == '[' ? ']' : ')';
    size_t end = at + 1;
    if (open != '[' && open != '(') return at;
    while (end < source.size && end - at < MOST_BRACKET && source.data[end] != close && source.data[end] != open) end++;
    return byte_at(source, end) == close ? end : at;
}

/* A name in capitals, of three words at most, with remarks in brackets: "ANN: ", "MR. B (on the phone): ",
 * "[BOB, softly]: ". */
static size_t skip_label(ferry_view source, size_t at)
{
    size_t capitals = 0, blanks = 0, brackets = 0;
    const size_t colon = find_one_of(source, at, ":\r\n");
    const bool is_name = is_capital(byte_at(source, at)) && byte_at(source, colon) == ':' &&
                         ends_line(source, colon + 1) && colon + 2 < source.size;
    for (size_t next = at; next < source.size && next - at - brackets < MOST_LABEL && blanks < 3;) {
        uint32_t c;
        const size_t bracket = find_partner(source, next);
        if (bracket > next && find_one_of(source, next, "\r\n") > bracket &&
            (capitals > 0 || source.data[next] == '[')) {
            brackets += bracket - next;
            capitals += is_capital(byte_at(source, next + 1));
            next = bracket + 1;
            continue;
        }
        if (!ferry_utf8_next(source, &next, &c)) return at;
        const ferry_character kind = ferry_unicode_character(c);
        if (c == ':' && (ends_line(source, next) || is_blank(source.data[next])))
            return capitals > 0 ? skip_blanks(source, next) : at;
        capitals += kind == FERRY_CHARACTER_UPPER;
        blanks += c == ' ';
        if (is_name && kind <= FERRY_CHARACTER_MARK && (kind == FERRY_CHARACTER_UPPER || source.data[next - 2] != ' '))
            continue;
        if (kind != FERRY_CHARACTER_UPPER && kind != FERRY_CHARACTER_MARK && kind != FERRY_CHARACTER_NUMBER &&
            (c >= 0x80 || !is_one_of((char)c, " .'-#&")))
            return at;
    }
    return at;
}

/* Dashes and arrows: "-", ">>". */
static size_t skip_signs(ferry_view source, size_t at, size_t *count)
{
    static const char *const signs[] = {"-", "\xE2\x80\x90", "\xE2\x80\x93", "\xE2\x80\x94", ">", "&gt;"};
    *count = 0;
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        for (; begins_exactly(source, at, signs[i]); ++*count) at += strlen(signs[i]);
    return at;
}

/* What says that another person speaks: a dash, ">>", a name. A dash has a blank behind it, unless it begins a line;
 * only ">>" may follow what is no end of a sentence (`ended`). */
static size_t skip_speaker(ferry_view source, size_t begin, bool begins_line, bool ended)
{
    size_t count;
    const bool arrows = source.data[begin] == '>' || source.data[begin] == '&';
    const size_t at = skip_signs(source, begin, &count), after = skip_blanks(source, at);
    if (count > 0 && ends_line(source, after)) return begin;
    if (arrows ? count < 2 : !begins_line && !ended) return begin;
    if (!arrows && !begins_line && count > 0 && after == at) return begin;
    return skip_label(source, after);
}

/* Notes of music: ♪ ♫ ♬. */
static size_t skip_music(ferry_view source, size_t at)
{
    while (begins_exactly(source, at, "\xE2\x99") && is_one_of(byte_at(source, at + 2), "\xAA\xAB\xAC")) at += 3;
    return at;
}

/* The bracket that ends what begins with one at `at`, or `at`. It is a text of its own where it takes the rest of the
 * line, or where a text begins, and before a blank: "[DOOR OPENS]", "(sighs) No." */
static size_t find_bracket(ferry_view source, size_t at, bool ended)
{
    const size_t end = find_partner(source, at), after = skip_marks(source, end + 1);
    if (end == at || ends_line(source, after) || begins_tag(source, after)) return end;
    return (ended || source.data[at] == '[') && after > end + 1 ? end : at;
}

/* An element that takes its line, or *words*. */
static bool is_element(ferry_view source, const text_line *l)
{
    size_t begin = skip_begin(source, l->begin), end = l->end;
    while (byte_at(source, begin) == '{' && skip_tag(source, begin) > begin) begin = skip_tag(source, begin);
    uint32_t c;
    for (size_t at = end; at > begin && ferry_utf8_previous(source, &at, &c) && (c == ' ' || c == '\t' || is_mark(c));)
        end = at;
    if (end > begin + 2 && is_one_of(source.data[begin], "*_") && source.data[end - 1] == source.data[begin])
        return true;
    const size_t name = begin + 1, size = skip(source, name, is_letter, SIZE_MAX) - name;
    return size > 0 && end - begin > 2 * size + strlen("<></>") && byte_at(source, begin) == '<' &&
           source.data[end - 1] == '>' && begins_exactly(source, end - size - 3, "</") &&
           memcmp(source.data + name, source.data + end - size - 1, size) == 0;
}

/* ---- cues ---- */

typedef enum part { BLANK, TEXT, REFERENCE, OPEN, CLOSE, POINT, LINE_END, DIVIDER } part;

typedef struct reader {
    ferry_document *document;
    ferry_view cue;                       /* the source up to the cue's end */
    ferry_view line_end;                  /* of the line with the times */
    size_t line;                          /* where the line begins */
    size_t bracket;                       /* ends what is in brackets; 0: nothing is */
    bool begins_line, after_blank, ended; /* before are tags alone, a blank, the end of a sentence */
    char reference[8];                    /* [reference_size] what the last one stands for */
    size_t reference_size;
    size_t run, end; /* bytes of the block up to `run` are in the document, up to `end` are text; 0: none has begun */
} reader;

static part part_of_tag(ferry_view tag)
{
    const bool closes = tag.data[1] == '/';
    const ferry_view name = view_part(tag, 1 + closes, skip(tag, 1 + closes, is_letter, SIZE_MAX));
    if (*tag.data != '<') return *tag.data == '{' ? POINT : DIVIDER;
    if (is_named(name, "br") || ferry_view_is(name, "v")) return DIVIDER;
    return closes ? CLOSE : name.size > 0 && tag.data[tag.size - 2] != '/' ? OPEN : POINT;
}

/* What is at byte `at` of the cue; *end: where that ends. */
static part read_part(reader *r, size_t at, size_t *end)
{
    const ferry_view cue = r->cue;
    if (is_line_end(cue.data[at])) {
        const text_line before = read_text_line(cue, r->line), next = read_text_line(cue, before.next);
        r->line = next.begin;
        *end = skip_blanks(cue, next.begin);
        const bool is_blank_line = skip_blanks(cue, next.begin) >= next.end;
        return is_blank_line || is_element(cue, &before) || is_element(cue, &next) ? DIVIDER : LINE_END;
    }
    if (r->begins_line && (*end = skip_begin(cue, at)) > at) return BLANK;
    if ((*end = skip_tag(cue, at)) > at) return part_of_tag((ferry_view){cue.data + at, *end - at});
    if ((*end = skip_music(cue, at)) > at) return DIVIDER;
    if (r->after_blank && (*end = skip_speaker(cue, at, r->begins_line, r->ended)) > at) return DIVIDER;
    *end = at + 1;
    if (at == r->bracket) return DIVIDER;
    if (at > r->bracket && (r->begins_line || (r->ended && r->after_blank))) {
        const size_t bracket = find_bracket(cue, at, r->ended);
        if (bracket > at) r->bracket = bracket;
        if (bracket > at) return DIVIDER;
    }
    if (is_blank(cue.data[at])) return BLANK;
    const size_t size = ferry_entity_read(view_part(cue, at, cue.size), r->reference, &r->reference_size);
    if (size > 0) *end = at + size;
    return size > 0 ? REFERENCE : TEXT;
}

static ferry_status end_block(reader *r)
{
    const size_t end = r->end;
    if (end == 0) return FERRY_OK;
    r->end = 0;
    FERRY_TRY(ferry_document_text(r->document, r->run, end, (ferry_view){NULL, 0}));
    return ferry_document_end_segment(r->document, end);
}

/* Text, or a tag, which begins a block if none has begun. */
static ferry_status add_part(reader *r, part kind, size_t at, size_t end)
{
    ferry_document *d = r->document;
    if (r->end == 0 && (kind == CLOSE || kind == POINT)) return FERRY_OK;
    if (r->end == 0) {
        FERRY_TRY(ferry_document_begin_segment(d, at));
        FERRY_TRY(ferry_document_wrap(d, LINE_COLUMNS, r->line_end));
        r->run = at;
    } else if (skip_blanks(r->cue, r->end) < at) { /* a line ends before it, or marks are there */
        FERRY_TRY(ferry_document_text(d, r->run, r->end, (ferry_view){NULL, 0}));
        if (r->line > r->end) FERRY_TRY(ferry_document_break(d, r->end, skip_blanks(r->cue, r->line), true));
        r->run = at;
    }
    r->end = end;
    if (kind == TEXT) return FERRY_OK;
    FERRY_TRY(ferry_document_text(d, r->run, at, (ferry_view){NULL, 0}));
    r->run = end;
    if (kind == OPEN) return ferry_document_open(d, at, end);
    if (kind == CLOSE) return ferry_document_close(d, at, end);
    if (kind == POINT) return ferry_document_point(d, at, end);
    const ferry_view text = {r->reference, r->reference_size}; /* SubRip has no references, but files do: they stay */
    return d->format == &ferry_format_vtt ? ferry_document_text(d, at, end, text)
                                          : ferry_document_kept(d, at, end, text);
}

static ferry_status add_cue(reader *r, size_t at)
{
    r->line = at;
    r->bracket = 0;
    r->begins_line = r->after_blank = r->ended = true;
    at = skip_blanks(r->cue, at);
    for (size_t end; at < r->cue.size; at = end) {
        const part kind = read_part(r, at, &end);
        const char c = r->cue.data[end - 1];
        if (kind == DIVIDER)
            FERRY_TRY(end_block(r));
        else if (kind != BLANK && kind != LINE_END)
            FERRY_TRY(add_part(r, kind, at, end));
        if (kind >= OPEN && kind <= POINT) continue;
        r->after_blank = kind != TEXT && kind != REFERENCE;
        r->begins_line = kind >= LINE_END || (kind == BLANK && r->begins_line);
        if (kind != BLANK && kind != LINE_END)
            r->ended = kind == DIVIDER || c == '.' || c == '?' || c == '!' ||
                       begins_exactly(r->cue, end - 3, "\xE2\x80\xA6") ||
                       (r->ended && (c == '"' || c == '\'' || c == ')'));
    }
    return end_block(r);
}

/* Whether the cue is an object or a list of such, for a script. */
static bool is_data(ferry_view cue, size_t at)
{
    const size_t begin = skip_set(cue, at, " \t\r\n"), second = skip_set(cue, begin + 1, " \t\r\n");
    if (byte_at(cue, begin) == '[') return byte_at(cue, second) == '{';
    return byte_at(cue, begin) == '{' && (byte_at(cue, second) == '"' || ends_line(cue, skip_blanks(cue, begin + 1)));
}

static ferry_status read_subtitles(ferry_document *document)
{
    const ferry_view source = document->source;
    reader r = {.document = document, .cue = source};
    for (size_t at = 0; at < source.size;) {
        const text_line times = read_text_line(source, at);
        const size_t begin = at = times.next;
        if (!has_times(source, &times)) continue;
        r.line_end = view_part(source, times.end, times.next);
        r.cue.size = begin;
        while (at < source.size) {
            const text_line l = read_text_line(source, at);
            const bool is_empty = l.begin == l.end && document->format == &ferry_format_vtt;
            if (is_empty || ends_cue(source, &l)) break;
            r.cue.size = l.end;
            at = l.next;
        }
        if (!is_data(r.cue, begin)) FERRY_TRY(add_cue(&r, begin));
    }
    return FERRY_OK;
}

/* ---- the formats ---- */

/* Not with what would say that another person speaks. */
static bool may_begin_line(ferry_view text)
{
    size_t signs;
    return skip_signs(text, 0, &signs) == 0 && skip_label(text, 0) == 0 && skip_music(text, 0) == 0;
}

static bool is_time(ferry_view span)
{
    return byte_at(span, 0) == '<' && is_digit(byte_at(span, 1));
}

/* SubRip cannot say that what looks like a tag is none: there are as many tags, those that are not complete included,
 * and bytes of them. */
static ferry_status check(ferry_view before, ferry_view after, bool *same, ferry_error *error)
{
    const ferry_view texts[] = {before, after};
    size_t counts[2] = {0}, sizes[2] = {0};
    bool is_text = true;
    (void)error;
    for (size_t i = 0, end; i < 2; i++) {
        for (size_t at = 0; at<texts[i].size; at = end> at ? end : at + 1) {
            end = skip_tag(texts[i], at);
            counts[i] += begins_tag(texts[i], at);
            sizes[i] += end - at;
        }
        for (text_line l = {.next = 0}; l.next < texts[i].size && is_text;) {
            l = read_text_line(texts[i], l.next);
            is_text = skip_blanks(texts[i], l.begin) < l.end && !ends_cue(texts[i], &l);
        }
    }
    *same = is_text && counts[0] == counts[1] && sizes[0] == sizes[1];
    return FERRY_OK;
}

const ferry_document_format ferry_format_srt = {
    .name = "srt", .endings = {".srt"}, .read = read_subtitles, .may_begin_line = may_begin_line, .check = check};
const ferry_document_format ferry_format_vtt = {.name = "vtt",
                                                .endings = {".vtt"},
                                                .read = read_subtitles,
                                                .write_text = ferry_html_write_text,
                                                .may_begin_line = may_begin_line,
                                                .keeps_order = is_time,
                                                .check = check};
